"""Method: a private learner's name, function and paper; one file and one line each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from holdfast.learn.problem import Problem
from holdfast.learn.rows.examples import Examples
from holdfast.privacy.account import Account


@dataclass(frozen=True, kw_only=True, eq=False)
class Fit:
    """What a method releases: weights, and what a reader needs to judge them. Nothing un-noised.

    `noise_std` is the standard deviation of the noise in each coefficient, where the method knows it.
    """

    weights: NDArray[np.float64]
    theorem: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    noise_std: float | None = None
    assumptions: tuple[str, ...] = ()


class RunLearner(Protocol):
    """A method's function: rows and problem in, a fit out; everything private passes through the account.

    The method spends the account's whole remaining limit unless its options say otherwise.
    """

    def __call__(self, examples: Examples, problem: Problem, *, account: Account, **options: Any) -> Fit:
        """Fit."""


@dataclass(frozen=True, kw_only=True)
class Learner:
    """An entry of METHODS."""

    name: str
    run: RunLearner
    paper: str
    needs: tuple[str, ...] = ()
    """Of "convex", "lipschitz", "smooth", "strongly_convex", "delta"."""
    pure: bool = False
    """Whether it works without delta."""
    adjacencies: tuple[str, ...] = ("replace", "zero_out", "add_remove")
    currency: str = "gdp"
    """What an account opened for it counts in, where delta > 0."""
    outputs: tuple[str, ...] = ("one",)
    """Losses it takes: of "one" prediction, of "several" (a softmax), or of both kinds."""

    def takes(self, problem: Problem) -> bool:
        """Whether the problem's loss is of a kind that it takes."""
        return problem.outputs in self.outputs

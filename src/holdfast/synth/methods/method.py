"""Method: a private synthesiser's name, function and paper; one file and one line each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from holdfast.privacy.account import Account
from holdfast.synth.exact_counts import ExactCounts
from holdfast.synth.models.model import Measurement, Model
from holdfast.synth.workload import Workload


@dataclass(frozen=True, kw_only=True, eq=False)
class Synthesis:
    """What a method releases: a model, the noisy tables it rests on, and what a reader needs. Nothing un-noised."""

    model: Model
    theorem: str
    measurements: tuple[Measurement, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    assumptions: tuple[str, ...] = ()


class RunSynthesis(Protocol):
    """A method's function: exact counts and a workload in, a synthesis out; noise only through the account.

    The method spends the account's whole remaining limit unless its options say otherwise.
    """

    def __call__(
        self, data: ExactCounts, workload: Workload, *, account: Account, **options: Any
    ) -> Synthesis:
        """Synthesise."""


@dataclass(frozen=True, kw_only=True)
class SynthesisMethod:
    """An entry of METHODS."""

    name: str
    run: RunSynthesis
    paper: str
    pure: bool = False
    """Whether it works without delta."""
    most_cells: int | None = None
    """The largest universe (product of all domain sizes) it can hold, where it holds all of it."""
    adjacencies: tuple[str, ...] = ("replace", "zero_out", "add_remove")
    currency: str = "zcdp"
    """What an account opened for it counts in, where delta > 0."""
    zeros: bool = False
    """Whether its function takes `constraints`: declared impossible cells, which then never get any weight."""

"""Trial: one attempt to refute one statement, and the Outcome it leaves.

A trial that uses chance spends an error: the probability, at most, with which it refutes a true statement.
A trial by computation alone spends none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import require
from holdfast.noise.source import Source

Test = Literal["law", "neighbours", "audit", "analysis"]
TESTS: tuple[Test, ...] = ("law", "neighbours", "audit", "analysis")

Draw = Callable[[Source, int], NDArray[np.float64]]
"""So many independent releases from this source, as numbers; each by a call of its own."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one trial found: the statement is refuted when the statistic exceeds the bound.

    `error` is the probability, at most, that a true statement is refuted; 0 for a computation.

    >>> Outcome(test="neighbours", what="ridge", statistic=2.12, bound=0.4, error=0.0).refuted
    True
    """

    test: Test
    what: str
    statistic: float
    bound: float
    error: float
    detail: str = ""

    def __post_init__(self) -> None:
        require(self.test in TESTS, "test", self.test, f"one of {TESTS}")
        require(0 <= self.error < 1, "error", self.error, "in [0, 1)")

    @property
    def refuted(self) -> bool:
        """Whether the statement is shown to be false; a statistic that is no number shows it too."""
        return not self.statistic <= self.bound

    def summary(self) -> str:
        """One line."""
        verdict = "REFUTED" if self.refuted else "survived"
        sign = ">" if self.refuted else "<="
        tail = f"; {self.detail}" if self.detail else ""
        return f"{self.test:<10} {verdict:<8} {self.statistic:.4g} {sign} {self.bound:.4g}  {self.what}{tail}"

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self) | {"refuted": self.refuted}


class Trial(Protocol):
    """One attempt; `spends` says whether chance is involved, so that it needs a share of the error."""

    @property
    def spends(self) -> bool:
        """Whether it can refute a true statement by chance."""

    def run(self, source: Source, *, error: float) -> Outcome:
        """Try, with at most this probability of refuting a true statement."""


@dataclass(frozen=True, kw_only=True)
class Analysis:
    """A statement compared with its exact value: `value` must not exceed `claimed`."""

    what: str
    value: Callable[[], float]
    claimed: float
    detail: str = ""
    spends: bool = False

    def run(self, source: Source, *, error: float) -> Outcome:
        """Compute."""
        return Outcome(
            test="analysis", what=self.what, statistic=self.value(), bound=self.claimed, error=0.0,
            detail=self.detail,
        )  # fmt: skip

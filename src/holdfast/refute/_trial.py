"""Trial: one attempt to refute one statement, and its Outcome.

A trial that uses chance spends an error: the probability, at most, with which it refutes a true statement.
A trial by computation alone spends none. The kinds:

* `Analysis`: a statement compared with its exact value.
* `Law`: whether a sampler draws from the law that its proof is about. The distance of the empirical distribution
  function from the declared one, against the bound of Dvoretzky, Kiefer and Wolfowitz with Massart's constant (1990):
  P[sup |F_n - F| > r] <= 2 exp(-2 n r^2), for every n and every law, with atoms or without. Draws come from
  separate calls, so noise used twice shows.
* `Neighbours`: how far one privacy unit really moves what is computed. Brute force, not proof: values on many
  neighbouring tables, random and built to be bad, with the same coins, against the sensitivity that the noise is
  scaled to. One distance above it refutes the proof. For a worst case that is known the distance must also come
  near, else the bound is vacuous or the test is blind.
* `ReplayTrial`, `FreshnessTrial`, `SamplingTrial`, `PriceTrial` (files of their own): runs of methods, recorded by a
  witness.
* `TwoWorlds` (a file of its own): draws with and without one unit, against the claimed curve.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast.errors import require
from holdfast.noise._source import Source

Test = Literal["replay", "freshness", "sampling", "law", "neighbours", "audit", "analysis"]
TESTS: tuple[Test, ...] = ("replay", "freshness", "sampling", "law", "neighbours", "audit", "analysis")
Draw = Callable[[Source, int], NDArray[np.float64]]
"""From a source and a number, that many independent releases, as numbers, each drawn by a call of its own."""
LEAST_SHARE = 1.0 / 3.0
"""The share of the claimed sensitivity that a known worst case must reach (soundness notes, section 17)."""


class Trial(Protocol):
    """One attempt; `spends` says whether chance is involved, so that it needs a share of the error."""

    @property
    def test(self) -> Test:
        """The kind of trial."""

    @property
    def spends(self) -> bool:
        """Whether it can refute a true statement by chance."""

    def run(self, source: Source, *, error: float) -> Outcome:
        """Make the attempt; a true statement is refuted with at most this probability."""


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
    p_value: float | None = None
    reached: Mapping[str, float] = field(default_factory=dict)
    """Of a replay: the largest distance that each kind of release reached."""
    raised: tuple[str, ...] = ()
    """The classes of the exceptions that ended the run, where these are what refutes."""

    def __post_init__(self) -> None:
        require(self.test in TESTS, "test", self.test, f"one of {TESTS}")
        require(0 <= self.error < 1, "error", self.error, "in [0, 1)")

    @property
    def power(self) -> float | None:
        """Of a replay: the largest distance of all kinds, at most 1."""
        return min(1.0, max(self.reached.values(), default=0.0)) if self.test == "replay" else None

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


@dataclass(frozen=True, kw_only=True)
class Analysis:
    """A statement compared with its exact value: `value` must not exceed `claimed`."""

    what: str
    value: Callable[[], float]
    claimed: float
    detail: str = ""
    spends: bool = False
    test: Test = "analysis"

    def run(self, source: Source, *, error: float) -> Outcome:
        """Compute the value and compare."""
        return Outcome(
            test="analysis",
            what=self.what,
            statistic=self.value(),
            bound=self.claimed,
            error=0.0,
            detail=self.detail,
        )


@dataclass(frozen=True, kw_only=True)
class Law:
    """Draws against a declared law; vectors also for dependence between their first two numbers.

    `draw` gives a column of numbers, or two columns of one law. Where they are independent, or symmetric
    about `centre` as spherical noise is, P[both <= centre] = F(centre)^2; Hoeffding's bound tests it.
    """

    what: str
    draw: Draw
    cdf: Callable[[Floats], Floats]
    draws: int = 2500
    centre: float = 0.0
    spends: bool = True
    test: Test = "law"

    def run(self, source: Source, *, error: float) -> Outcome:
        """Draw and compare."""
        sample = np.asarray(self.draw(source, self.draws), dtype=np.float64)
        first = sample if sample.ndim == 1 else sample[:, 0]
        columns = 1 if sample.ndim == 1 else 2
        radius = dkw_radius(self.draws, error=error / columns)
        statistic, detail = law_distance(first, self.cdf), f"{self.draws} draws"
        if columns == 2:
            both = float(np.mean(np.all(sample[:, :2] <= self.centre, axis=1)))
            expected = float(self.cdf(np.array([self.centre]))[0]) ** 2
            if abs(both - expected) > max(statistic, radius):
                statistic, detail = abs(both - expected), "two numbers of one release depend on each other"
        return Outcome(
            test="law", what=self.what, statistic=statistic, bound=radius, error=error, detail=detail
        )


def dkw_radius(draws: int, *, error: float) -> float:
    """The distance that the empirical distribution function exceeds with probability at most `error`.

    >>> round(dkw_radius(2500, error=1e-8), 4)
    0.0618
    """
    require(draws >= 1, "draws", draws, ">= 1")
    require(0 < error < 1, "error", error, "in (0, 1)")
    return math.sqrt(math.log(2.0 / error) / (2.0 * draws))


def law_distance(sample: Floats, cdf: Callable[[Floats], Floats]) -> float:
    """sup |F_n - F| over the sample's values and points shortly before them: never more than the supremum.

    A sixteenth of the gap before a value F_n is what it is just before its jump, and no declared atom of a grid
    of that width lies there. (Half way between two values a jump of F_n may hide two thirds of the distance.)

    >>> law_distance(np.array([0.25, 0.75]), lambda x: np.clip(x, 0, 1))
    0.25
    """
    values, counts = np.unique(sample, return_counts=True)
    empirical = np.cumsum(counts) / sample.size
    before_jumps = values[1:] - np.diff(values) / 16.0
    gaps = [np.abs(empirical - cdf(values))]
    if before_jumps.size:
        gaps.append(np.abs(empirical[:-1] - cdf(before_jumps)))
    # Below the smallest value the empirical distribution function is 0.
    below = values[:1] - max(1e-9 * abs(float(values[0])), 1e-12)
    gaps.append(np.abs(cdf(below)))
    return float(max(np.max(gap) for gap in gaps))


@dataclass(frozen=True, kw_only=True)
class Neighbours:
    """Observed distances over claimed sensitivities; `shares` yields one share for each pair tried.

    The largest must be at most 1, and at least `least`: a pair nearer than that is reported as refuted
    too, with the statistic `least / share`, because the test would then see no fault.
    """

    what: str
    shares: Callable[[Source], Iterable[float]]
    least: float = LEAST_SHARE
    spends: bool = False
    test: Test = "neighbours"

    def run(self, source: Source, *, error: float) -> Outcome:
        """Try every pair."""
        shares = [float(share) for share in self.shares(source)]
        largest = math.nan if not shares or any(math.isnan(s) for s in shares) else max(shares)
        detail = f"largest of {len(shares)} pairs, observed / claimed"
        if largest < self.least:
            return Outcome(
                test="neighbours",
                what=self.what,
                statistic=self.least / max(largest, 1e-300),
                bound=1.0,
                error=0.0,
                detail=f"no pair comes within {self.least:.2f} of the claim: the test is blind",
            )
        return Outcome(
            test="neighbours", what=self.what, statistic=largest, bound=1.0, error=0.0, detail=detail
        )

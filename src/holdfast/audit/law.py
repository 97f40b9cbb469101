"""Law: whether a sampler draws from the law that its proof is about.

The distance of the empirical distribution function from the declared one, against the bound of Dvoretzky,
Kiefer and Wolfowitz with Massart's constant (1990): P[sup |F_n - F| > r] <= 2 exp(-2 n r^2), for every n
and every law, with atoms or without. Draws come from separate calls, so noise used twice shows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast.audit.trial import Draw, Outcome
from holdfast.errors import require
from holdfast.noise.source import Source

Floats = NDArray[np.float64]


def dkw_radius(draws: int, *, error: float) -> float:
    """The distance that the empirical distribution function exceeds with probability at most `error`.

    >>> round(dkw_radius(2500, error=1e-8), 4)
    0.0618
    """
    require(draws >= 1, "draws", draws, ">= 1")
    require(0 < error < 1, "error", error, "in (0, 1)")
    return math.sqrt(math.log(2.0 / error) / (2.0 * draws))


def law_distance(sample: Floats, cdf: Callable[[Floats], Floats]) -> float:
    """sup |F_n - F| over the sample's values and the midpoints between them: never more than the supremum.

    At a midpoint F_n is what it is just before the next value, and no declared atom of a grid lies there.

    >>> law_distance(np.array([0.25, 0.75]), lambda x: np.clip(x, 0, 1))
    0.25
    """
    values, counts = np.unique(sample, return_counts=True)
    reached = np.cumsum(counts) / sample.size
    between = 0.5 * (values[:-1] + values[1:])
    gaps = [np.abs(reached - cdf(values))]
    if between.size:
        gaps.append(np.abs(reached[:-1] - cdf(between)))
    # Below the smallest value nothing was drawn.
    below = values[:1] - max(1e-9 * abs(float(values[0])), 1e-12)
    gaps.append(np.abs(cdf(below)))
    return float(max(np.max(gap) for gap in gaps))


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

    def run(self, source: Source, *, error: float) -> Outcome:
        """Draw and compare."""
        sample = np.asarray(self.draw(source, self.draws), dtype=np.float64)
        first = sample if sample.ndim == 1 else sample[:, 0]
        tests = 1 if sample.ndim == 1 else 2
        radius = dkw_radius(self.draws, error=error / tests)
        statistic, detail = law_distance(first, self.cdf), f"{self.draws} draws"
        if tests == 2:
            both = float(np.mean(np.all(sample[:, :2] <= self.centre, axis=1)))
            expected = float(self.cdf(np.array([self.centre]))[0]) ** 2
            if abs(both - expected) > max(statistic, radius):
                statistic, detail = abs(both - expected), "two numbers of one release depend on each other"
        return Outcome(
            test="law", what=self.what, statistic=statistic, bound=radius, error=error, detail=detail
        )


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """Whether a bound that is claimed to hold with some confidence does; exact binomial test.

    `holds` gives one for each time the bound held and zero for each time it did not.
    """

    what: str
    holds: Draw
    confidence: float
    draws: int = 20_000
    spends: bool = True

    def run(self, source: Source, *, error: float) -> Outcome:
        """Draw, and compare the upper limit of the coverage with the confidence."""
        from holdfast.audit.multi_run import clopper_pearson_upper

        held = int(np.sum(self.holds(source, self.draws)))
        missed = 1.0 - clopper_pearson_upper(held, self.draws, error=error)
        return Outcome(
            test="law", what=self.what, statistic=missed, bound=1.0 - self.confidence, error=error,
            detail=f"held {held / self.draws:.3f} of {self.draws} times, claimed {self.confidence:g}",
        )  # fmt: skip

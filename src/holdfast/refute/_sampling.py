"""SamplingTrial: whether rows are drawn with the rate that the price was computed for.

Amplification by sampling is a claim about secret coins, which no output shows. So each row is blanked or turned
round, and the run is replayed with the same outputs and the same coins: the steps whose value moves are those in
which the row was drawn. For a Poisson rate q, inclusions must be independent coins of chance q: over all rows and
steps, for each row, in pairs of rows and of steps, and in the sizes of batches; for batches of fixed size, each row's
rate and the overlaps. All p-values are exact, by binomial and hypergeometric laws.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Bools
from holdfast.noise._source import Source
from holdfast.privacy._account.witness import Draw, replaying
from holdfast.refute._prefixes import Prefix
from holdfast.refute._replay import Setup, recorded
from holdfast.refute._trial import Outcome, Test

MOST_RUNS = 20


@dataclass(frozen=True, kw_only=True)
class SamplingTrial:
    """Runs of one case whose mechanism declares a sampling rate below 1."""

    case: Setup
    rows: int
    coins: int = 1500
    """Runs are made until there are so many, or twenty."""
    spends: bool = True
    test: Test = "sampling"

    def run(self, source: Source, *, error: float) -> Outcome:
        """Find out who was drawn when, and test it."""
        found: list[tuple[Bools, list[Draw]]] = []
        while sum(drawn.size for drawn, _ in found) < self.coins and len(found) < MOST_RUNS:
            found.append(self._drawn(int(source.words(1)[0] >> np.uint64(1))))
        random = np.random.Generator(np.random.PCG64(int(source.words(1)[0])))
        tests = [one for drawn, steps in found[:1] for one in _p_values([d for d, _ in found], steps, random)]
        name, least = min(tests, key=lambda one: one[1])
        p = min(1.0, least * len(tests))
        rate = float(np.mean([drawn.mean() for drawn, _ in found]))
        return Outcome(
            test="sampling",
            what=self.case.name,
            statistic=-math.log10(max(p, 1e-300)),
            bound=-math.log10(error),
            error=error,
            p_value=p,
            detail=f"{name}, p = {p:.2g}; drawn with rate {rate:.4f}, declared {_rate(found[0][1][0]):.4f}",
        )

    def _drawn(self, seed: int) -> tuple[Bools, list[Draw]]:
        world = self.case.plain(self.rows)
        tape = Prefix(kind="random", size=1.0, seed=seed % 2**31).tape
        whole = recorded(self.case, world, seed=seed, tape=tape)
        steps = [step for step in whole.transcript.steps if _rate(step) < 1]
        drawn = np.zeros((len(steps), self.rows), dtype=bool)
        for row in range(self.rows):
            for other in self.case.touched(world, row):
                told = recorded(self.case, other, seed=seed, tape=replaying(whole.outputs)).transcript.steps
                for place, step in enumerate(steps):
                    drawn[place, row] |= bool(np.any(step.value != told[step.number].value))
        return drawn, steps


def declares_a_rate(case: Setup, rows: int) -> bool:
    """Whether any of a case's releases is on a sample."""
    seen = recorded(case, case.plain(rows), seed=0)
    return any(_rate(step) < 1 for step in seen.transcript.steps)


def draws_fixed_batches(case: Setup, rows: int) -> bool:
    """Whether any of a case's releases is on a sample of fixed size."""
    seen = recorded(case, case.plain(rows), seed=0)
    return any(step.mechanism.sample_size is not None for step in seen.transcript.steps)


def _rate(step: Draw) -> float:
    return step.mechanism.sampling_rate


def _p_values(
    found: list[Bools], steps: list[Draw], random: np.random.Generator
) -> Iterator[tuple[str, float]]:
    from scipy.stats import binom, hypergeom

    rate, rows = _rate(steps[0]), found[0].shape[1]
    batch = steps[0].mechanism.sample_size
    drawn = np.concatenate(found)
    sizes = drawn.sum(axis=1)
    each = drawn.sum(axis=0)
    yield "a row's own rate", rows * min(_exact(int(count), binom(len(drawn), rate)) for count in each)
    both = [
        (one[a] & one[b]).sum() for one in found for a, b in zip(*np.triu_indices(len(one), 1), strict=True)
    ]
    if batch is None:
        yield "the rate of all rows", _exact(int(drawn.sum()), binom(drawn.size, rate))
        yield "the sizes of batches", _sizes(sizes, binom(rows, rate), random)
        together: Any = binom(rows, rate**2)
    else:
        yield "the sizes of batches", 1.0 if bool(np.all(sizes == batch)) else 0.0
        together = hypergeom(rows, batch, batch)
    if both:
        yield "batches of two steps", len(both) * min(_exact(int(count), together) for count in set(both))
    first, second = np.triu_indices(rows, 1)
    pairs = (drawn[:, first] & drawn[:, second]).sum(axis=0)
    chance = rate**2 if batch is None else rate * (batch - 1) / (rows - 1)
    yield "two rows together", len(pairs) * min(_exact(int(n), binom(len(drawn), chance)) for n in set(pairs))


def _exact(count: int, law: object) -> float:
    """Two-sided: twice the smaller tail."""
    below, above = law.cdf(count), law.sf(count - 1)  # type: ignore[attr-defined]
    return float(min(1.0, 2.0 * min(below, above)))


def _sizes(sizes: NDArray[np.int64], law: object, random: np.random.Generator) -> float:
    """Sizes as uniform numbers, their variance as normal ones: batches of one size have none."""
    from scipy.special import ndtri
    from scipy.stats import chi2

    low, high = law.cdf(sizes - 1), law.cdf(sizes)  # type: ignore[attr-defined]
    scores = ndtri(np.clip(low + random.random(sizes.size) * (high - low), 1e-15, 1.0 - 1e-15))
    below = float(chi2.cdf(np.sum(scores**2), sizes.size))
    return min(1.0, 2.0 * min(below, 1.0 - below))

"""FreshnessTrial: whether noise has its declared law, is new in every step, and is independent of all other noise.

A replay feeds recorded outputs back, so it cannot see how they were drawn. Here outputs are drawn, and each is mapped
to a standard normal number (a normal score) by the law that its mechanism declares. These scores must be normal
(Kolmogorov and Smirnov, by the bound of Dvoretzky, Kiefer, Wolfowitz and Massart), have variance 1 (chi-square, exact),
and be uncorrelated between steps, runs and coordinates (the exact law of a correlation of independent normal vectors).
All p-values are exact or bounds, and the smallest counts, times their number.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast._arrays import Floats
from holdfast.noise._source import Source
from holdfast.privacy._account.witness import Draw
from holdfast.privacy._mechanisms.mechanism import Mechanism
from holdfast.refute._replay import ReplayCase, record_run
from holdfast.refute._trial import Outcome, Test, law_distance

NORMAL_SCORES = 800
"""Scores per trial: enough for the variance test to see noise that is 1.3 times too small, at a level of 1e-9
(soundness, section 22)."""
MOST_COORDINATES, MOST_RUNS = 12, 200


@dataclass(frozen=True, kw_only=True)
class FreshnessTrial:
    """Repeated runs of one case on one plain table, each with noise of its own."""

    case: ReplayCase
    rows: int
    numbers: int = NORMAL_SCORES
    """Runs are repeated until there are so many scores."""
    spends: bool = True
    test: Test = "freshness"

    def run(self, source: Source, *, error: float) -> Outcome:
        """Repeat runs until there are enough scores, then test these."""
        world, random = (
            self.case.plain(self.rows),
            np.random.Generator(np.random.PCG64(int(source.words(1)[0]))),
        )
        runs: list[list[Floats]] = []
        while sum(row.size for run in runs for row in run) < self.numbers and len(runs) < MOST_RUNS:
            recorded = record_run(self.case, world, seed=int(source.words(1)[0] >> np.uint64(1)))
            if recorded.error or not recorded.transcript.steps:
                return Outcome(
                    test="freshness",
                    what=self.case.name,
                    statistic=math.inf,
                    bound=-math.log10(error),
                    error=error,
                    detail=recorded.error or "nothing was drawn",
                    raised=tuple(filter(None, (recorded.raised,))),
                )
            runs.append([normal_scores(step, random) for step in recorded.transcript.steps])
        what, p = smallest_p_value(runs)
        return Outcome(
            test="freshness",
            what=self.case.name,
            statistic=-math.log10(max(p, 1e-300)),
            bound=-math.log10(error),
            error=error,
            p_value=p,
            detail=f"{what}, p = {p:.2g}; {sum(row.size for run in runs for row in run)} numbers of {len(runs)} runs",
        )


@dataclass(frozen=True, kw_only=True)
class MechanismFreshness:
    """Draws of a mechanism by itself, as if they were the steps of runs."""

    mechanism: Mechanism
    sample: Callable[[Any, Source], Any]
    steps: int = 40
    runs: int = 20
    spends: bool = True
    test: Test = "freshness"

    def run(self, source: Source, *, error: float) -> Outcome:
        """Draw at the mechanism's probe values in turn, and test the scores."""
        random = np.random.Generator(np.random.PCG64(int(source.words(1)[0])))
        probes = [self.mechanism.check(value) for value in self.mechanism.probes()]
        runs = []
        for _ in range(self.runs):
            steps = [
                Draw(number=number, mechanism=self.mechanism, value=value, output=self.sample(value, source))
                for number, value in zip(range(self.steps), itertools.cycle(probes))
            ]
            runs.append([normal_scores(step, random) for step in steps])
        what, p = smallest_p_value(runs)
        return Outcome(
            test="freshness",
            what="draws one after the other",
            statistic=-math.log10(max(p, 1e-300)),
            bound=-math.log10(error),
            error=error,
            p_value=p,
            detail=f"{what}, p = {p:.2g}; {self.steps * self.runs} draws",
        )


def normal_scores(step: Draw, random: np.random.Generator) -> Floats:
    """The output of a step as numbers that are standard normal if it has the declared law at the step's value.

    Where the law has an atom, the output is spread evenly over the jump of the distribution function, by coins of the
    test. Of coordinates that depend on each other by the declared law, only one is used.
    """
    from scipy.special import ndtri

    uniform = np.array([_uniform(*coordinate, random) for coordinate in _coordinates(step, random)])
    return np.asarray(ndtri(np.clip(uniform, 1e-15, 1.0 - 1e-15)))


def _coordinates(step: Draw, random: np.random.Generator) -> Iterator[tuple[Mechanism, Any, float]]:
    mechanism, output = step.mechanism, np.ravel(step.output)
    centre = np.asarray(mechanism.centre(step.value, step.output))
    if np.ndim(step.output) == 0:
        yield mechanism, centre, float(output[0])
        return
    many = mechanism.independent_coordinates
    chosen = range(min(output.size, MOST_COORDINATES)) if many else [int(random.integers(output.size))]
    flat = centre.ravel()
    for place in chosen:
        # `cdf` gives the law of the first coordinate, so the centre is rolled until this coordinate is the first.
        yield mechanism, np.roll(flat, -place), float(output[place])


def _uniform(mechanism: Mechanism, centre: Any, output: float, random: np.random.Generator) -> float:
    below = output - max(abs(output) * 4e-15, 1e-300)
    low, high = mechanism.cdf(centre, np.array([below, output]))
    return float(low + random.random() * max(0.0, high - low))


def smallest_p_value(runs: list[list[Floats]]) -> tuple[str, float]:
    """The test with the smallest p-value, and that p-value times the number of tests."""
    tests = list(p_values(runs))
    name, least = min(tests, key=lambda test: test[1])
    return name, min(1.0, least * len(tests))


def p_values(runs: list[list[Floats]]) -> Iterator[tuple[str, float]]:
    """Each test of the scores by its name, with its p-value."""
    from scipy.special import ndtr
    from scipy.stats import chi2

    rows = [row for run in runs for row in run]
    numbers = np.concatenate(rows)
    distance = law_distance(numbers, lambda at: np.asarray(ndtr(at)))
    yield "law", min(1.0, 2.0 * math.exp(-2.0 * numbers.size * distance**2))
    yield "variance", _two_sided_p_value(chi2.cdf(np.sum(numbers**2), numbers.size))
    sums = np.array([np.sum(row) / math.sqrt(row.size) for row in rows])
    yield "one number in all coordinates", _two_sided_p_value(chi2.cdf(np.sum(sums**2), sums.size))
    yield "steps depend on each other", _correlation_p_value(_stacked_steps(runs))
    yield "runs depend on each other", _correlation_p_value([np.concatenate(run) for run in runs], near=True)


def _two_sided_p_value(below: float) -> float:
    return float(min(1.0, 2.0 * min(below, 1.0 - below)))


def _stacked_steps(runs: list[list[Floats]]) -> list[Floats]:
    """The scores of each step, joined over all runs; steps whose runs differ in size are left out."""
    length = min(len(run) for run in runs)
    return [
        np.concatenate([run[step] for run in runs])
        for step in range(length)
        if len({run[step].size for run in runs}) == 1
    ]


def _correlation_p_value(vectors: list[Floats], *, near: bool = False) -> float:
    """The least p-value of a correlation between two vectors, times the number of pairs (`near`: consecutive ones).

    The cosine c of two independent standard normal vectors of n numbers has (1 + c) / 2 ~ Beta((n - 1)/2, (n - 1)/2).
    """
    from scipy.stats import beta

    least, pairs = 1.0, 0
    for size in {vector.size for vector in vectors}:
        if size < 3:
            continue
        stacked = np.stack([vector / np.linalg.norm(vector) for vector in vectors if vector.size == size])
        cosines = stacked @ stacked.T
        first, second = np.triu_indices(len(stacked), 1)
        if near:
            first, second = first[second == first + 1], second[second == first + 1]
        if first.size:
            half = 0.5 * (size - 1)
            tail = beta.cdf(0.5 * (1.0 - np.abs(cosines[first, second])), half, half)
            least, pairs = min(least, 2.0 * float(np.min(tail))), pairs + first.size
    return min(1.0, least * max(1, pairs))

"""SamplingTrial: whether rows are drawn with the rate that the price was computed for.

Amplification by sampling is a claim about secret coins, which no output shows. So each row in turn is blanked or
changed, and the run is replayed with the same outputs and the same coins: the steps whose value moves are those whose
batch holds the row. For a Poisson rate q, inclusions must be independent coins of probability q; this is tested over
all rows and steps, for each row, in pairs of rows and of steps, and in the sizes of batches. For batches of fixed size
each row's rate and the overlaps of batches are tested. All p-values are exact, by binomial and hypergeometric laws.
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
from holdfast.privacy._account.witness import Draw, replay_tape
from holdfast.refute._prefixes import Prefix
from holdfast.refute._replay import ReplayCase, record_run
from holdfast.refute._trial import Outcome, Test

MOST_RUNS = 20


@dataclass(frozen=True, kw_only=True)
class SamplingTrial:
    """Runs of one case whose mechanism declares a sampling rate below 1."""

    case: ReplayCase
    rows: int
    coins: int = 1500
    """Runs are repeated until so many inclusions (rows times steps) were seen, but at most `MOST_RUNS` times."""
    spends: bool = True
    test: Test = "sampling"

    def run(self, source: Source, *, error: float) -> Outcome:
        """Find which rows each step drew, and test that against the declared rate."""
        runs: list[tuple[Bools, list[Draw]]] = []
        while sum(included.size for included, _ in runs) < self.coins and len(runs) < MOST_RUNS:
            runs.append(self._inclusions(int(source.words(1)[0] >> np.uint64(1))))
        random = np.random.Generator(np.random.PCG64(int(source.words(1)[0])))
        first_steps = runs[0][1]
        tests = list(_p_values([included for included, _ in runs], first_steps, random))
        name, least = min(tests, key=lambda test: test[1])
        p = min(1.0, least * len(tests))
        rate = float(np.mean([included.mean() for included, _ in runs]))
        return Outcome(
            test="sampling",
            what=self.case.name,
            statistic=-math.log10(max(p, 1e-300)),
            bound=-math.log10(error),
            error=error,
            p_value=p,
            detail=f"{name}, p = {p:.2g}; drawn with rate {rate:.4f}, declared {_rate(first_steps[0]):.4f}",
        )

    def _inclusions(self, seed: int) -> tuple[Bools, list[Draw]]:
        """Whether each sampled step (a row of the array) drew each record (a column), and these steps."""
        world = self.case.plain(self.rows)
        tape = Prefix(kind="random", size=1.0, seed=seed % 2**31).tape
        recording = record_run(self.case, world, seed=seed, tape=tape)
        steps = [step for step in recording.transcript.steps if _rate(step) < 1]
        included = np.zeros((len(steps), self.rows), dtype=bool)
        for row in range(self.rows):
            for changed in self.case.change_record(world, row):
                replayed = record_run(
                    self.case, changed, seed=seed, tape=replay_tape(recording.outputs)
                ).transcript.steps
                for place, step in enumerate(steps):
                    included[place, row] |= bool(np.any(step.value != replayed[step.number].value))
        return included, steps


def declares_a_rate(case: ReplayCase, rows: int) -> bool:
    """Whether any of a case's releases is on a sample."""
    run = record_run(case, case.plain(rows), seed=0)
    return any(_rate(step) < 1 for step in run.transcript.steps)


def draws_fixed_batches(case: ReplayCase, rows: int) -> bool:
    """Whether any of a case's releases is on a sample of fixed size."""
    run = record_run(case, case.plain(rows), seed=0)
    return any(step.mechanism.sample_size is not None for step in run.transcript.steps)


def _rate(step: Draw) -> float:
    return step.mechanism.sampling_rate


def _p_values(
    inclusions: list[Bools], steps: list[Draw], random: np.random.Generator
) -> Iterator[tuple[str, float]]:
    from scipy.stats import binom, hypergeom

    rate, rows = _rate(steps[0]), inclusions[0].shape[1]
    batch = steps[0].mechanism.sample_size
    included = np.concatenate(inclusions)
    batch_sizes = included.sum(axis=1)
    row_counts = included.sum(axis=0)
    yield (
        "a row's own rate",
        rows * min(_exact_p_value(int(count), binom(len(included), rate)) for count in row_counts),
    )
    overlaps = [
        (run[a] & run[b]).sum()
        for run in inclusions
        for a, b in zip(*np.triu_indices(len(run), 1), strict=True)
    ]
    if batch is None:
        yield "the rate of all rows", _exact_p_value(int(included.sum()), binom(included.size, rate))
        yield "the sizes of batches", _size_variance_p_value(batch_sizes, binom(rows, rate), random)
        overlap_law: Any = binom(rows, rate**2)
    else:
        yield "the sizes of batches", 1.0 if bool(np.all(batch_sizes == batch)) else 0.0
        overlap_law = hypergeom(rows, batch, batch)
    if overlaps:
        yield (
            "batches of two steps",
            len(overlaps) * min(_exact_p_value(int(count), overlap_law) for count in set(overlaps)),
        )
    first, second = np.triu_indices(rows, 1)
    pairs = (included[:, first] & included[:, second]).sum(axis=0)
    chance = rate**2 if batch is None else rate * (batch - 1) / (rows - 1)
    yield (
        "two rows together",
        len(pairs) * min(_exact_p_value(int(n), binom(len(included), chance)) for n in set(pairs)),
    )


def _exact_p_value(count: int, law: object) -> float:
    """Two-sided: twice the smaller tail."""
    below, above = law.cdf(count), law.sf(count - 1)  # type: ignore[attr-defined]
    return float(min(1.0, 2.0 * min(below, above)))


def _size_variance_p_value(sizes: NDArray[np.int64], law: object, random: np.random.Generator) -> float:
    """The p-value of the variance of batch sizes, which are mapped to normal numbers by their law."""
    from scipy.special import ndtri
    from scipy.stats import chi2

    low, high = law.cdf(sizes - 1), law.cdf(sizes)  # type: ignore[attr-defined]
    scores = ndtri(np.clip(low + random.random(sizes.size) * (high - low), 1e-15, 1.0 - 1e-15))
    below = float(chi2.cdf(np.sum(scores**2), sizes.size))
    return min(1.0, 2.0 * min(below, 1.0 - below))

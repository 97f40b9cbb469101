"""fit_rows: synthetic records, changed one value at a time until their joint counts agree with many noisy tables.

Minimises  sum over tables of |counts of the rows - noisy table|^2 / noise_std^2  by coordinate descent. For a
batch of records and one column, every value that the column could take is scored at once, and a record changes to
the best value where that lowers the sum. All records of a batch change together, so a sweep over the rows can
overshoot; the best sweep is returned. The start is given rows, sampled from a model, or independent columns.

The noise is fitted, too. Where tables are much noisier than their counts, give a `least_gain`, by which a change must
lower the sum (0 takes every improvement, 2 is Akaike's price of one parameter), or fit fewer tables. On Adult with the
64 three-way tables (about 4 s a sweep on one core; four sweeps from independent columns) noise of deviation 5.8,
epsilon 10, gives average total variation 0.032 and largest error 0.001 (studies/benchmarks/synth_seed_methods.py).
`ReconciledModel` starts from rows sampled from a graphical model and fits them to more tables than a junction tree
can hold. Post-processing of released values: no privacy cost.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Codes, Floats
from holdfast._progress import progress
from holdfast.errors import require
from holdfast.noise._source import Source
from holdfast.noise._uniform import permutation
from holdfast.synth._models.coordinate_scores import CoordinateScores
from holdfast.synth._models.graphical.junction_tree import Columns
from holdfast.synth._models.model import Measurement, Model
from holdfast.synth._models.product import ProductModel
from holdfast.synth._rows.pair_excess import PairExcess
from holdfast.synth._rows.triple_excess import TripleExcess

#: Records that change together: few enough not to overshoot, many enough for fast array operations.
BATCH_ROWS = 256
#: A batch has at least this fraction of all rows, one in 400: overshooting depends on the share of rows that change.
MOST_BATCHES = 400
#: Records visited in one pass over a column; of more rows, each pass visits the next so many.
MOST_VISITED_ROWS = 200_000
#: The most table cells looked up in one pass over all columns; beyond, fewer records are visited, in four batches.
MOST_LOOKUPS = 1_000_000_000
#: Passes over all rows and columns of a reconciled model; later ones gain little.
RECONCILING_SWEEPS = 3
#: Records of a reconciled model that change together: they are near its tables already, so smaller steps are better.
RECONCILING_BATCH_ROWS = 128
#: How far an estimate may be from a noisy cell, in standard deviations of its noise (Efron and Morris 1972).
MOST_DEVIATIONS = 3.0
#: The probability that noise alone is taken for evidence against a model, in all tables together.
FALSE_ALARM = 0.05
#: Where there are many tables, this many standard deviations of a model error due to noise are subtracted from it.
DISCOUNTED_DEVIATIONS = 3.5
#: The least count of a cell when its variance is estimated, as a fraction of an even share of the records.
LEAST_CELL_SHARE = 1e-3
#: The variance of a cell about the model, as a multiple of a Poisson count's.
OVERDISPERSION = 10.0


def fit_rows(
    measurements: Sequence[Measurement],
    domain: Mapping[str, int],
    rows: int,
    source: Source,
    *,
    start: Codes | None = None,
    sweeps: int = 5,
    least_gain: float = 0.0,
    batch: int = BATCH_ROWS,
    allowed: Sequence[tuple[Sequence[str], NDArray[np.bool_]]] = (),
) -> Codes:
    """`rows` records as cell codes, fitted to all noisy tables together by coordinate descent.

    Tables are scaled to the number of rows. `allowed` are masks of possible cells: no record changes into an
    impossible one. The result never fits worse than the start.
    """
    require(rows >= 1, "rows", rows, ">= 1")
    require(bool(measurements), "measurements", 0, "at least one noisy table")
    require(sweeps >= 0, "sweeps", sweeps, ">= 0")
    require(least_gain >= 0, "least_gain", least_gain, ">= 0")
    require(batch >= 1, "batch", batch, ">= 1")
    batch = max(batch, rows // MOST_BATCHES)
    total = _total(measurements)
    if start is None:
        start = independent_rows(measurements, domain, rows, source)
    require(start.shape == (rows, len(domain)), "start.shape", start.shape, f"({rows}, {len(domain)})")
    state = _state(measurements, domain, start, scale=rows / total, allowed=allowed)
    del start  # the state has its own copy, and a million rows take much memory
    lookups, visited = state.lookups(), MOST_VISITED_ROWS
    if min(rows, MOST_VISITED_ROWS) * lookups > MOST_LOOKUPS:
        visited = max(batch, MOST_LOOKUPS // lookups)
        batch = max(batch, visited // 4)
    small = np.min_scalar_type(max(domain.values()))
    best, least = state.codes.astype(small), state.misfit()
    order = [column for column in range(len(domain)) if state.touches(column)]
    with progress(desc="fitting rows", total=sweeps * len(order)) as bar:
        for _ in range(sweeps):
            changes = 0
            columns = np.array(order)[permutation(source, len(order))].tolist()
            for column, records in zip(
                columns, _visiting_orders(rows, len(columns), visited, source), strict=True
            ):
                for first in range(0, len(records), batch):
                    changes += _improve(state, records[first : first + batch], column, least_gain)
                bar.update()
            if (fit := state.misfit()) < least:
                best, least = state.codes.astype(small), fit
            if changes == 0:
                break
    del state
    return best.astype(np.int64)


def _visiting_orders(rows: int, passes: int, most: int, source: Source) -> Iterator[Codes]:
    """For each pass over a column, the records to visit in random order: all, or the next `most` of one order."""
    whole = permutation(source, rows) if rows > most else None
    for number in range(passes):
        if whole is None:
            yield permutation(source, rows)
        else:
            yield whole.take(range(number * most, (number + 1) * most), mode="wrap")


def misfit(measurements: Sequence[Measurement], domain: Mapping[str, int], codes: Codes) -> float:
    """The sum that `fit_rows` minimises: squared distances in units of the noise."""
    return _state(measurements, domain, codes, scale=len(codes) / _total(measurements)).misfit()


def independent_rows(
    measurements: Sequence[Measurement], domain: Mapping[str, int], rows: int, source: Source
) -> Codes:
    """Records whose columns are independent, each distributed as the mean of the noisy tables that contain it."""
    weights: dict[str, Floats] = {}
    for name, cells in domain.items():
        column, precision = np.zeros(cells), 0.0
        for entry in measurements:
            if name in entry.columns:
                axis = tuple(place for place, other in enumerate(entry.columns) if other != name)
                # The sum of k noisy cells has variance k sigma^2.
                trust = cells / (entry.values.size * entry.noise_std**2)
                column += trust * entry.values.sum(axis=axis)
                precision += trust
        shares = np.maximum(column / precision, 0.0) if precision > 0 else np.ones(cells)
        weights[name] = shares if shares.sum() > 0 else np.ones(cells)
    return ProductModel(columns=weights, total=float(rows)).sample(rows, source)


def _total(measurements: Sequence[Measurement]) -> float:
    """The number of records, estimated from the sums of the tables, weighted by precision; at least one."""
    trust = np.array([1.0 / (entry.values.size * entry.noise_std**2) for entry in measurements])
    sums = np.array([entry.total for entry in measurements])
    return max(1.0, float(np.dot(trust, sums) / trust.sum()))


class _State(Protocol):
    """The rows, and by how much their counts exceed those of the tables, cell by cell.

    `scores` returns precision times excess for every value of a column, and the sum of the precisions of its tables.
    """

    codes: Codes

    def lookups(self) -> int: ...
    def touches(self, column: int) -> bool: ...
    def misfit(self) -> float: ...
    def scores(self, codes: Codes, column: int) -> tuple[Floats, float]: ...
    def cells_that_move(self, codes: Codes, column: int) -> Codes: ...
    def move(self, before: Codes, after: Codes, column: int) -> None: ...


def _state(
    measurements: Sequence[Measurement],
    domain: Mapping[str, int],
    codes: Codes,
    *,
    scale: float,
    allowed: Sequence[tuple[Sequence[str], NDArray[np.bool_]]] = (),
) -> _State:
    if not allowed and PairExcess.takes(measurements, domain):
        return PairExcess(measurements, domain, codes, scale=scale)
    if not allowed and TripleExcess.takes(measurements, domain):
        return TripleExcess(measurements, domain, codes, scale=scale)
    return _TableExcess(measurements, domain, codes, scale=scale, allowed=allowed)


def _improve(state: _State, batch: Codes, column: int, least_gain: float) -> int:
    """Change records of the batch to the column's best value where that lowers the sum; returns how many changed."""
    codes = state.codes[batch]
    at = np.arange(len(batch))
    scores, step = state.scores(codes, column)
    best = np.argmin(scores, axis=1)
    # Leaving v for u changes the sum by 2 precision (excess[u] - excess[v] + 1), for each table of the column.
    gain = 2.0 * (scores[at, codes[:, column]] - scores[at, best] - step)
    movers = np.flatnonzero((gain > least_gain) & (best != codes[:, column]))
    # Together, k records that change from v to u gain most where k = gain / (4 step): more would overshoot.
    room = np.maximum(1.0, np.floor(gain[movers] / (8.0 * step)))
    movers = movers[_rank(state.cells_that_move(codes[movers], column), best[movers]) < room]
    if len(movers) == 0:
        return 0
    before, after = codes[movers], codes[movers]
    after[:, column] = best[movers]
    state.move(before, after, column)
    state.codes[batch[movers]] = after
    return len(movers)


class _TableExcess:
    """The state of `fit_rows` for tables of any number of columns, looked up one by one."""

    def __init__(
        self,
        measurements: Sequence[Measurement],
        domain: Mapping[str, int],
        codes: Codes,
        *,
        scale: float,
        allowed: Sequence[tuple[Sequence[str], NDArray[np.bool_]]] = (),
    ) -> None:
        self.codes = np.array(codes, dtype=np.int64)
        self.coordinates = CoordinateScores(domain, [entry.columns for entry in measurements])
        self.precision = [(scale * entry.noise_std) ** -2 for entry in measurements]
        self.excess = []
        for place, entry in enumerate(measurements):
            counts = np.bincount(self.coordinates.cells(self.codes, place), minlength=entry.values.size)
            self.excess.append(counts - scale * entry.values.reshape(-1))
        # The score of a value is precision times excess: records change from cells with too many to cells with too few.
        self._scores = [p * e for p, e in zip(self.precision, self.excess, strict=True)]
        self._constraints = CoordinateScores(domain, [columns for columns, _ in allowed])
        self._penalties = [np.where(mask, 0.0, np.inf).reshape(-1) for _, mask in allowed]

    def lookups(self) -> int:
        """The number of table cells looked up for one record in one pass over all columns."""
        return sum(len(self.coordinates.touching(column)) for column in range(len(self.coordinates.domain)))

    def touches(self, column: int) -> bool:
        """Whether some table has the column."""
        return bool(self.coordinates.touching(column))

    def misfit(self) -> float:
        """Squared distances from the tables, in units of their noise."""
        parts = zip(self.excess, self.precision, strict=True)
        return float(sum(precision * np.dot(excess, excess) for excess, precision in parts))

    def scores(self, codes: Codes, column: int) -> tuple[Floats, float]:
        """Precision times excess for every value of the column, and the summed precision of the column's tables."""
        scores = self.coordinates.scores(codes, column, self._scores)
        if self._penalties:
            scores += self._constraints.scores(codes, column, self._penalties)
        return scores, sum(self.precision[place] for place in self.coordinates.touching(column))

    def cells_that_move(self, codes: Codes, column: int) -> Codes:
        """The cell of each record in the column's first table; at most a few records of one cell change together."""
        return self.coordinates.cells(codes, self.coordinates.touching(column)[0])

    def move(self, before: Codes, after: Codes, column: int) -> None:
        """Update the excess for records that change from one value of the column to another."""
        for codes, by in ((before, -1.0), (after, 1.0)):
            for place in self.coordinates.touching(column):
                cells = self.coordinates.cells(codes, place)
                np.add.at(self.excess[place], cells, by)
                np.add.at(self._scores[place], cells, by * self.precision[place])


def _rank(cells: Codes, targets: Codes) -> Codes:
    """The place of each record among those that go from the same cell to the same value.

    >>> _rank(np.array([4, 4, 7, 4]), np.array([1, 1, 1, 0])).tolist()
    [0, 1, 0, 0]
    """
    order = np.lexsort((targets, cells))
    first = np.ones(len(order), dtype=bool)
    first[1:] = (np.diff(cells[order]) != 0) | (np.diff(targets[order]) != 0)
    starts = np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order)) - starts
    return rank


@dataclass(frozen=True, kw_only=True, eq=False)
class ReconciledModel:
    """A base model, and more accurate tables of some columns to which its rows are fitted (a `Model`).

    The tables need not agree with each other, and no junction tree could hold them all; rows can come close to all
    of them. `allowed` are masks of possible cells.
    """

    base: Model
    tables: Mapping[Columns, Floats]
    allowed: Sequence[tuple[Columns, NDArray[np.bool_]]] = ()

    @property
    def domain(self) -> Mapping[str, int]:
        """Columns in order, with their numbers of cells."""
        return self.base.domain

    @property
    def total(self) -> float:
        """The number of records that the model describes."""
        return self.base.total

    def project(self, columns: Sequence[str]) -> Floats:
        """The more accurate table where there is one of exactly these columns, else the base model's."""
        wanted = tuple(columns)
        for held, values in self.tables.items():
            if set(held) == set(wanted):
                return values.transpose([held.index(name) for name in wanted])
        return self.base.project(wanted)

    def sample(self, rows: int, source: Source) -> Codes:
        """Rows sampled from the base model, then fitted to the tables."""
        if rows == 0 or not self.tables:
            return self.base.sample(rows, source)
        wanted = [
            Measurement(columns=columns, values=values, noise_std=1.0)
            for columns, values in self.tables.items()
        ]
        return fit_rows(
            wanted,
            self.domain,
            rows,
            source,
            start=self.base.sample(rows, source),
            sweeps=RECONCILING_SWEEPS,
            batch=RECONCILING_BATCH_ROWS,
            allowed=self.allowed,
        )


def shrink_to_model(noisy: Measurement, expected: Floats, total: float, *, cells: int = 0) -> Floats:
    """The noisy table, shrunk towards the model's where the noise is larger than the variation of a count.

    Each cell is the posterior mean of a normal count around the model's, given its noisy value. The prior variance is
    `OVERDISPERSION` times the model's count, plus the error of the model that `model_error` estimates. No cell moves
    further from its noisy value than `limit_deviations` allows. Then cells are made >= 0 and to sum to the total; the
    difference is divided in proportion to posterior variance, so that cells that are known well change least. With
    `cells`, the number of cells of all tables that are measured together, a deviation counts against the model only if
    noise alone would rarely show it in any of them.

    >>> noisy = Measurement(columns=("a",), values=[9.0, 1.0], noise_std=1.0)
    >>> shrink_to_model(noisy, np.array([5.0, 5.0]), 10.0).round(2)
    array([8.92, 1.08])
    """
    prior = np.maximum(expected, LEAST_CELL_SHARE * total / expected.size)
    relative_error = model_error(noisy, prior, DISCOUNTED_DEVIATIONS if cells else 0.0)
    variance = OVERDISPERSION * prior + relative_error * prior**2
    trust = variance / (variance + noisy.noise_std**2)
    most = significant_deviations(cells) if cells else MOST_DEVIATIONS
    posterior = limit_deviations(expected + (noisy.values - expected) * trust, noisy, most)
    return _with_total(posterior, trust, total)


def model_error(noisy: Measurement, expected: Floats, discount: float = 0.0) -> float:
    """The squared relative error of the model on a table, estimated by the method of moments.

    The error of a model that lacks a dependence is a share of a cell's count. So the squared differences exceed the
    variance of noise and counts by `model_error * expected**2` on average; the estimate is by weighted least squares,
    in which large cells count most. For a table that the model holds it is about 0. Noise alone gives a positive
    estimate in half of the tables, so `discount` standard deviations of the estimate are subtracted.

    >>> noisy = Measurement(columns=("a",), values=[3000.0, 1000.0], noise_std=1.0)
    >>> round(model_error(noisy, np.array([2000.0, 2000.0])), 2)  # each is half of the model's away from it
    0.24
    >>> model_error(Measurement(columns=("a",), values=[3000.0, 1000.0], noise_std=900.0), np.array([2e3, 2e3]), 2.0)
    0.0
    """
    variance = OVERDISPERSION * expected + noisy.noise_std**2
    leverage = (expected / variance) ** 2
    excess = float((leverage * ((noisy.values - expected) ** 2 - variance)).sum())
    # A squared normal number has a variance of twice its own square.
    by_chance = discount * math.sqrt(float((2.0 * (leverage * variance) ** 2).sum()))
    return max(0.0, (excess - by_chance) / float((leverage * expected**2).sum()))


def significant_deviations(cells: int) -> float:
    """The number of standard deviations that any of `cells` normal numbers exceeds with probability <= `FALSE_ALARM`.

    >>> round(significant_deviations(80_000), 2)
    4.98
    """
    return NormalDist().inv_cdf(1.0 - FALSE_ALARM / (2.0 * max(1, cells)))


def limit_deviations(estimate: Floats, noisy: Measurement, most: float = MOST_DEVIATIONS) -> Floats:
    """The estimate, moved to within `MOST_DEVIATIONS` of the noisy table if some cell is more than `most` away.

    Distances are in standard deviations of the noise. Limited translation (Efron and Morris 1972): an estimate that is
    better on average may be far off where its model is wrong. With the limit no cell can be off by much more than
    the noise, and the average hardly changes. Noise alone exceeds `MOST_DEVIATIONS` in a few of a thousand cells, so
    where there are many, `most` should be `significant_deviations`.
    """
    if float(np.abs(noisy.values - estimate).max(initial=0.0)) <= most * noisy.noise_std:
        return estimate
    reach = MOST_DEVIATIONS * noisy.noise_std
    return np.clip(estimate, noisy.values - reach, noisy.values + reach)


def _with_total(values: Floats, variances: Floats, total: float) -> Floats:
    """The nearest counts >= 0 that sum to the total: max(0, values + t variances), for the t that gives the total."""
    reach = 1.0 + float(np.abs(values).max()) + total
    least = float(variances.min())
    low, high = -reach / least, reach / least  # no cell left; every cell above the total
    for _ in range(100):
        middle = (low + high) / 2.0
        if float(np.maximum(values + middle * variances, 0.0).sum()) > total:
            high = middle
        else:
            low = middle
    return np.asarray(np.maximum(values + high * variances, 0.0))

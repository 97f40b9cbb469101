"""fit_rows: records moved, one value at a time, until their joint counts agree with many noisy tables.

Minimises  sum over tables of |counts of the rows - noisy table|^2 / noise_std^2  by coordinate descent: for a
batch of records and one column, every value the column could take is scored at once, and records move to the
best one where that pays. A batch moves at once, so a sweep can overshoot: the best sweep is kept. Starts from
given rows (drawn from a model that already knows the shape) or from independent columns.

The noise is part of what is fitted: with tables much noisier than their counts, ask for a `least_gain` (a move
must lower the sum by at least that much: 0 takes every improvement, 2 is Akaike's price of one number), or fit
fewer tables. On Adult with the 64 three-way tables (about 4 s a sweep on one core; four sweeps from independent
columns) noise of deviation 5.8, epsilon 10, gives average total variation 0.032 and largest error 0.001
(studies/benchmarks/synth_seed_methods.py). `ReconciledModel` starts from the rows of a graphical model and fits
them to more tables than a junction tree can hold. Post-processing of released values: no privacy cost.
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

#: Records that move at once: few enough not to overshoot together, many enough to keep the arrays busy.
BATCH = 256
#: Of more rows than this times the batch, a share moves at once: what overshoots is the share, not the number.
SHARES = 400
#: Records that are asked to move in one pass over a column, taken in turn: of more, so many hold all that must move.
MOST_VISITED_ROWS = 200_000
#: Cells of tables that are looked up in one pass over all columns: beyond it fewer records are asked, in four parts.
MOST_LOOKUPS = 1_000_000_000
#: Passes over all rows and columns of a reconciled model; later ones gain little.
SWEEPS = 3
#: The same for the rows of a reconciled model, which are close to its tables from the start: fewer overshoot less.
FINE_BATCH = 128
#: How far from a noisy cell an estimate may be, in deviations of its noise (Efron and Morris 1972).
LIMIT = 3.0
#: The chance that noise alone is taken for evidence against a model, in all tables together.
BY_CHANCE = 0.05
#: Where many tables are looked at, how many deviations of what noise alone finds of a model's error are taken off.
DOUBT = 3.5
#: Of an even share of the records, what a cell is taken to hold at least where it is asked how much it varies.
UNSEEN = 1e-3
#: How much more than a Poisson count a cell is taken to differ from the model, in variance.
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
    batch: int = BATCH,
    allowed: Sequence[tuple[Sequence[str], NDArray[np.bool_]]] = (),
) -> Codes:
    """`rows` records as cell codes, as close to all noisy tables at once as coordinate descent brings them.

    Tables are scaled to the number of rows. `allowed` are masks of possible cells: no record moves into a cell
    that is not. The result never fits worse than the start.
    """
    require(rows >= 1, "rows", rows, ">= 1")
    require(bool(measurements), "measurements", 0, "at least one noisy table")
    require(sweeps >= 0, "sweeps", sweeps, ">= 0")
    require(least_gain >= 0, "least_gain", least_gain, ">= 0")
    require(batch >= 1, "batch", batch, ">= 1")
    batch = max(batch, rows // SHARES)
    total = _total(measurements)
    if start is None:
        start = independent_rows(measurements, domain, rows, source)
    require(start.shape == (rows, len(domain)), "start.shape", start.shape, f"({rows}, {len(domain)})")
    state = _state(measurements, domain, start, scale=rows / total, allowed=allowed)
    del start  # the state has its own copy, and a million rows are large
    lookups, visited = state.lookups(), MOST_VISITED_ROWS
    if min(rows, MOST_VISITED_ROWS) * lookups > MOST_LOOKUPS:
        visited = max(batch, MOST_LOOKUPS // lookups)
        batch = max(batch, visited // 4)
    small = np.min_scalar_type(max(domain.values()))
    best, least = state.codes.astype(small), state.misfit()
    order = [column for column in range(len(domain)) if state.touches(column)]
    with progress(desc="fitting rows", total=sweeps * len(order)) as bar:
        for _ in range(sweeps):
            moved = 0
            turns = np.array(order)[permutation(source, len(order))].tolist()
            for column, shuffled in zip(
                turns, _turns_of_records(rows, len(turns), visited, source), strict=True
            ):
                for first in range(0, len(shuffled), batch):
                    moved += _improve(state, shuffled[first : first + batch], column, least_gain)
                bar.update()
            if (fit := state.misfit()) < least:
                best, least = state.codes.astype(small), fit
            if moved == 0:
                break
    del state
    return best.astype(np.int64)


def _turns_of_records(rows: int, turns: int, most: int, source: Source) -> Iterator[Codes]:
    """The records of each turn, in random order: all of them, or the next `most` of one order."""
    whole = permutation(source, rows) if rows > most else None
    for turn in range(turns):
        if whole is None:
            yield permutation(source, rows)
        else:
            yield whole.take(range(turn * most, (turn + 1) * most), mode="wrap")


def misfit(measurements: Sequence[Measurement], domain: Mapping[str, int], codes: Codes) -> float:
    """The sum that `fit_rows` lowers: squared distances in units of the noise."""
    return _state(measurements, domain, codes, scale=len(codes) / _total(measurements)).misfit()


def independent_rows(
    measurements: Sequence[Measurement], domain: Mapping[str, int], rows: int, source: Source
) -> Codes:
    """Records whose columns are independent, each as the noisy tables that hold it say on average."""
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
    """The records that the tables speak of: each table's sum, weighted by how little noise it has; at least one."""
    trust = np.array([1.0 / (entry.values.size * entry.noise_std**2) for entry in measurements])
    sums = np.array([entry.total for entry in measurements])
    return max(1.0, float(np.dot(trust, sums) / trust.sum()))


class _State(Protocol):
    """The rows, and by how much their counts exceed the tables, cell by cell."""

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
    """Move each record of the batch to the column's best value, where that lowers the sum; count the moves."""
    codes = state.codes[batch]
    at = np.arange(len(batch))
    scores, step = state.scores(codes, column)
    best = np.argmin(scores, axis=1)
    # Leaving v for u changes the sum by 2 precision (excess[u] - excess[v] + 1), for each table of the column.
    gain = 2.0 * (scores[at, codes[:, column]] - scores[at, best] - step)
    movers = np.flatnonzero((gain > least_gain) & (best != codes[:, column]))
    # k records that leave v for u together gain most where k = gain / (4 step): no more of them go at once.
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
    """Tables of any number of columns, looked up one by one."""

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
        # What a value scores: precision times excess, so that records leave full cells for empty ones.
        self._scores = [p * e for p, e in zip(self.precision, self.excess, strict=True)]
        self._barriers = CoordinateScores(domain, [columns for columns, _ in allowed])
        self._walls = [np.where(mask, 0.0, np.inf).reshape(-1) for _, mask in allowed]

    def lookups(self) -> int:
        """Cells that are looked up for one record in one pass over all columns."""
        return sum(len(self.coordinates.touching(column)) for column in range(len(self.coordinates.domain)))

    def touches(self, column: int) -> bool:
        """Whether some table has the column."""
        return bool(self.coordinates.touching(column))

    def misfit(self) -> float:
        """Squared distances from the tables, in units of their noise."""
        parts = zip(self.excess, self.precision, strict=True)
        return float(sum(precision * np.dot(excess, excess) for excess, precision in parts))

    def scores(self, codes: Codes, column: int) -> tuple[Floats, float]:
        """Precision times excess in the cells of each record, for every value of the column; and of leaving one."""
        scores = self.coordinates.scores(codes, column, self._scores)
        if self._walls:
            scores += self._barriers.scores(codes, column, self._walls)
        return scores, sum(self.precision[place] for place in self.coordinates.touching(column))

    def cells_that_move(self, codes: Codes, column: int) -> Codes:
        """The cell of each record in the column's first table: those that move together share it."""
        return self.coordinates.cells(codes, self.coordinates.touching(column)[0])

    def move(self, before: Codes, after: Codes, column: int) -> None:
        """Records go from one value of the column to another."""
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
    """A graphical model and better tables of some columns (`holdfast.synth._models.model.Model`).

    The tables need not agree with each other, and no junction tree could hold them all; whole rows can come
    close to all at once. `allowed` are masks of possible cells.
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
        """How many records it stands for."""
        return self.base.total

    def project(self, columns: Sequence[str]) -> Floats:
        """The better table where there is one of exactly these columns, else the graphical model's."""
        wanted = tuple(columns)
        for held, values in self.tables.items():
            if set(held) == set(wanted):
                return values.transpose([held.index(name) for name in wanted])
        return self.base.project(wanted)

    def sample(self, rows: int, source: Source) -> Codes:
        """Rows of the graphical model, fitted to the tables: no better start and no worse end."""
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
            sweeps=SWEEPS,
            batch=FINE_BATCH,
            allowed=self.allowed,
        )


def shrunk(noisy: Measurement, expected: Floats, total: float, *, cells: int = 0) -> Floats:
    """The noisy table, drawn towards the model's where the noise exceeds what a count of that size varies.

    Each cell is the posterior mean of a normal count around the model's, of variance `OVERDISPERSION` times it
    and what `model_error` finds, seen through the noise, but never further than `limit_deviations` allows; then
    no cell is below 0 and all sum to the total. What is too much or too little is shared out by posterior
    variance: in proportion to the cells it would fall on those that are known best. Of a sweep over so many
    `cells` in all, where noise is large, only what noise alone would rarely show in any of them counts against
    the model.

    >>> shrunk(Measurement(columns=("a",), values=[9.0, 1.0], noise_std=1.0), np.array([5.0, 5.0]), 10.0).round(2)
    array([8.92, 1.08])
    """
    held = np.maximum(expected, UNSEEN * total / expected.size)
    varies = OVERDISPERSION * held + model_error(noisy, held, DOUBT if cells else 0.0) * held**2
    trust = varies / (varies + noisy.noise_std**2)
    most = most_by_chance(cells) if cells else LIMIT
    drawn = limit_deviations(expected + (noisy.values - expected) * trust, noisy, most)
    return _summing(drawn, trust, total)


def model_error(noisy: Measurement, expected: Floats, doubt: float = 0.0) -> float:
    """The squared relative error of the model on this table, by moments: what its cells differ beyond noise and counts.

    A model that lacks a dependence is off by a share of a cell, not by the root of it. The squares of the
    differences exceed the variance of noise and counts by `model_error * expected**2` on average; least squares
    with the variances of those squares as weights. Large cells decide, and a table that the model holds finds
    about 0. Noise alone finds something in half of the tables; what it finds by `doubt` of its deviations is
    taken off.

    >>> noisy = Measurement(columns=("a",), values=[3000.0, 1000.0], noise_std=1.0)
    >>> round(model_error(noisy, np.array([2000.0, 2000.0])), 2)  # each is half of the model's away from it
    0.24
    >>> model_error(Measurement(columns=("a",), values=[3000.0, 1000.0], noise_std=900.0), np.array([2e3, 2e3]), 2.0)
    0.0
    """
    known = OVERDISPERSION * expected + noisy.noise_std**2
    leverage = (expected / known) ** 2
    excess = float((leverage * ((noisy.values - expected) ** 2 - known)).sum())
    # A squared normal number has a variance of twice its own square.
    by_chance = doubt * math.sqrt(float((2.0 * (leverage * known) ** 2).sum()))
    return max(0.0, (excess - by_chance) / float((leverage * expected**2).sum()))


def most_by_chance(cells: int) -> float:
    """How many deviations the largest of so many normal numbers exceeds with a chance of at most `BY_CHANCE`.

    >>> round(most_by_chance(80_000), 2)
    4.98
    """
    return NormalDist().inv_cdf(1.0 - BY_CHANCE / (2.0 * max(1, cells)))


def limit_deviations(estimate: Floats, noisy: Measurement, most: float = LIMIT) -> Floats:
    """The estimate; of a table with a cell beyond `most` deviations of noise, nowhere further than `LIMIT` from it.

    Efron and Morris (1972), limited translation: an estimate that is better on average may be far off where the
    model behind it is wrong. So close to what was measured, no cell can be off by much more than the noise, and
    the average hardly changes. Noise alone is beyond `LIMIT` in a few of thousand cells: of many,
    `most_by_chance` is evidence.
    """
    if float(np.abs(noisy.values - estimate).max(initial=0.0)) <= most * noisy.noise_std:
        return estimate
    reach = LIMIT * noisy.noise_std
    return np.clip(estimate, noisy.values - reach, noisy.values + reach)


def _summing(values: Floats, give: Floats, total: float) -> Floats:
    """max(0, values + t give) for the t with which they sum to the total: the nearest ones, `give` being variances."""
    reach = 1.0 + float(np.abs(values).max()) + total
    least = float(give.min())
    low, high = -reach / least, reach / least  # no cell left; every cell above the total
    for _ in range(100):
        middle = (low + high) / 2.0
        if float(np.maximum(values + middle * give, 0.0).sum()) > total:
            high = middle
        else:
            low = middle
    return np.asarray(np.maximum(values + high * give, 0.0))

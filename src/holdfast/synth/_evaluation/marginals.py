"""Errors of one- and two-way tables, and the earth mover's distance of ordered columns."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from holdfast._arrays import Floats
from holdfast.data._schema import Categorical, Numeric, Schema
from holdfast.synth._evaluation.compared_rows import ComparedRows
from holdfast.synth._evaluation.workload_errors import shares


@dataclass(frozen=True, kw_only=True)
class TableError:
    """The error of a table of some columns: half the sum of the differences of all shares, and the largest one."""

    columns: tuple[str, ...]
    total_variation: float
    largest: float
    where: str
    """The cell with the largest error."""
    by_chance: float
    """The total variation that two samples of these sizes from one population would show on average."""

    @property
    def name(self) -> str:
        """The columns in words."""
        return " x ".join(self.columns)


@dataclass(frozen=True, kw_only=True)
class Marginals:
    """All tables of one width."""

    errors: tuple[TableError, ...]
    left_out: tuple[tuple[str, ...], ...] = ()
    """Tables that would have too many cells."""

    @property
    def average(self) -> float:
        """The mean total variation."""
        return float(np.mean([error.total_variation for error in self.errors])) if self.errors else math.nan

    @property
    def by_chance(self) -> float:
        """The mean total variation that chance alone would show."""
        return float(np.mean([error.by_chance for error in self.errors])) if self.errors else math.nan

    @property
    def worst(self) -> TableError | None:
        """The table with the largest error of a single cell."""
        return max(self.errors, key=lambda error: error.largest, default=None)


def marginal_errors(real: ComparedRows, synthetic: ComparedRows, *, width: int) -> Marginals:
    """Every table of one or of two columns, over all rows of both."""
    wanted = [columns for columns in real.counts if len(columns) == width]
    left = [] if width == 1 else _pairs_not_counted(real)
    return Marginals(
        errors=tuple(
            marginal_error(columns, real.counts[columns], synthetic.counts[columns], real.schema)
            for columns in wanted
        ),
        left_out=tuple(left),
    )


def _pairs_not_counted(rows: ComparedRows) -> list[tuple[str, ...]]:
    names, counted = rows.names, set(rows.counts)
    every = [(a, b) for place, a in enumerate(names) for b in names[place + 1 :]]
    return [pair for pair in every if pair not in counted]


def marginal_error(columns: Sequence[str], real: Floats, synthetic: Floats, schema: Schema) -> TableError:
    """One table of counts against another.

    >>> from holdfast.data import Categorical
    >>> schema = Schema([Categorical("sex", ["F", "M"])])
    >>> error = marginal_error(["sex"], np.array([60.0, 40.0]), np.array([5.0, 5.0]), schema)
    >>> round(error.total_variation, 3), round(error.largest, 3), error.where
    (0.1, 0.1, 'F')
    """
    gap = shares(synthetic) - shares(real)
    worst = largest_cell(np.abs(gap))
    return TableError(
        columns=tuple(columns),
        total_variation=0.5 * float(np.abs(gap).sum()),
        largest=float(np.abs(gap).max()),
        where=cell_words(columns, worst, schema),
        by_chance=chance_distance(shares(real), float(real.sum()), float(synthetic.sum())),
    )


def cell_words(columns: Sequence[str], cell: Sequence[int], schema: Schema) -> str:
    """A cell by the labels of its columns."""
    return ", ".join(schema[name].labels[int(at)] for name, at in zip(columns, cell, strict=True))


def largest_cell(gaps: Floats) -> tuple[int, ...]:
    """The cell with the largest value."""
    return tuple(int(at) for at in np.unravel_index(int(np.argmax(gaps)), gaps.shape))


def chance_distance(share: Floats, first: float, second: float) -> float:
    """The expected total variation of two samples of one population with these shares, by the normal law.

    The difference of two observed shares has variance p (1 - p) (1/n + 1/m), and E|N(0, s^2)| = s sqrt(2 / pi).

    >>> round(chance_distance(np.array([0.5, 0.5]), 1000, 1000), 4)
    0.0178
    """
    if first <= 0 or second <= 0:
        return math.nan
    variance = share * (1.0 - share) * (1.0 / first + 1.0 / second)
    return 0.5 * math.sqrt(2.0 / math.pi) * float(np.sqrt(np.maximum(variance, 0.0)).sum())


def earth_mover(values: Floats, weights: Floats, others: Floats, other_weights: Floats) -> float:
    """The earth mover's distance of two distributions on numbers: the area between their cumulative distributions.

    >>> earth_mover(np.array([0.0, 1.0]), np.array([1.0, 1.0]), np.array([1.0]), np.array([4.0]))
    0.5
    """
    if not len(values) or not len(others) or weights.sum() <= 0 or other_weights.sum() <= 0:
        return math.nan
    places = np.unique(np.concatenate([values, others]))
    below = [_distribution_at(places, v, w) for v, w in ((values, weights), (others, other_weights))]
    return float(np.sum(np.abs(below[0] - below[1])[:-1] * np.diff(places)))


def _distribution_at(places: Floats, values: Floats, weights: Floats) -> Floats:
    order = np.argsort(values, kind="stable")
    cumulated = np.concatenate([[0.0], np.cumsum(weights[order])])
    return np.asarray(cumulated[np.searchsorted(values[order], places, side="right")] / cumulated[-1])


@dataclass(frozen=True, kw_only=True)
class MovedColumn:
    """The earth mover's distance of an ordered column, in its own unit and as a share of its declared range."""

    column: str
    distance: float
    of_range: float
    steps: bool = False
    """Whether the unit is a step from one ordered category to the next."""


def moved_columns(real: ComparedRows, synthetic: ComparedRows) -> tuple[MovedColumn, ...]:
    """Earth mover's distances: of numbers in the sampled rows, of ordered categories in all rows, without missing."""
    moves = []
    steps = category_steps(real.schema)
    for place, name in enumerate(real.names):
        column = real.schema[name]
        if isinstance(column, Numeric):
            ours, theirs = (rows.values[:, place] for rows in (real, synthetic))
            ours, theirs = ours[~np.isnan(ours)], theirs[~np.isnan(theirs)]
            distance = earth_mover(ours, np.ones(len(ours)), theirs, np.ones(len(theirs)))
            moves.append(
                MovedColumn(column=name, distance=distance, of_range=distance / (column.high - column.low))
            )
        elif name in steps:
            held = ~np.isnan(steps[name])
            at = steps[name][held]
            distance = earth_mover(at, real.counts[name,][held], at, synthetic.counts[name,][held])
            most = max(1.0, float(at.max()))
            moves.append(MovedColumn(column=name, distance=distance, of_range=distance / most, steps=True))
    return tuple(moves)


def category_steps(schema: Schema) -> Mapping[str, Floats]:
    """For each column of ordered categories the ranks of its cells; NaN for the cells of other and missing values."""
    places_of = {}
    for name in schema.names:
        column = schema[name]
        if isinstance(column, Categorical) and column.ordered:
            places = np.full(column.cells, np.nan)
            places[: len(column.declared_labels)] = np.arange(len(column.declared_labels))
            places_of[name] = places
    return places_of


def numeric_places(schema: Schema) -> Mapping[str, Floats]:
    """For each numeric column the midpoints of its cells; NaN for the cell of missing values."""
    places_of = {}
    for name in schema.names:
        column = schema[name]
        if isinstance(column, Numeric):
            places = np.array(column.midpoints)
            if column.has_null_cell:
                places[-1] = np.nan
            places_of[name] = places
    return places_of

"""Associations: the strength of the dependence of every two columns, whatever their kinds, from two-way tables.

Numbers with numbers: Pearson's correlation, with its sign. Categories with categories: Cramer's V, corrected for the
bias that independent columns show in small tables (Bergsma 2013). A number with categories: the correlation ratio, the
share of its standard deviation that lies between the categories. Numbers are the midpoints of their cells.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from holdfast._arrays import Floats
from holdfast.data._schema import Numeric, Schema
from holdfast.synth._evaluation.marginals import numeric_places

PEARSON, CRAMER, RATIO = "Pearson's correlation", "Cramer's V", "correlation ratio"
Pairs = Callable[[str, str], Floats | None]
"""The two-way table of two columns, or None."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Associations:
    """Matrices of strengths over pairs of columns; NaN where a table is absent or a column does not vary."""

    names: tuple[str, ...]
    real: Floats
    synthetic: Floats
    kinds: Mapping[tuple[str, str], str]

    @property
    def differences(self) -> Floats:
        """Synthetic minus real: positive where columns depend on each other more strongly than they should."""
        return self.synthetic - self.real

    @property
    def average(self) -> float:
        """The mean absolute difference over the pairs that have a strength in both."""
        gaps = np.abs(self._upper_triangle(self.differences))
        return float(np.mean(gaps)) if gaps.size else math.nan

    def largest(self, most: int = 1) -> list[tuple[str, str, float, float]]:
        """The pairs that differ most: the two columns, the strength in the real and in the synthetic rows."""
        gaps = np.where(np.isnan(self.differences), -1.0, np.abs(self.differences))
        gaps[np.tril_indices(len(self.names))] = -1.0
        order = np.argsort(gaps, axis=None, kind="stable")[::-1]
        places = [tuple(int(i) for i in np.unravel_index(at, gaps.shape)) for at in order[:most]]
        return [
            (self.names[i], self.names[j], float(self.real[i, j]), float(self.synthetic[i, j]))
            for i, j in places
            if gaps[i, j] >= 0
        ]

    def _upper_triangle(self, matrix: Floats) -> Floats:
        values = matrix[np.triu_indices(len(self.names), 1)]
        return values[~np.isnan(values)]


def associations(real: Pairs, synthetic: Pairs, schema: Schema, names: Sequence[str]) -> Associations:
    """The strengths of all pairs of columns, in the real and in the synthetic rows."""
    places = numeric_places(schema)
    size = len(names)
    matrices = [np.full((size, size), math.nan) for _ in range(2)]
    kinds = {}
    for i, first in enumerate(names):
        for j in range(i + 1, size):
            second = names[j]
            kinds[first, second] = kind_of_pair(schema, first, second)
            for matrix, tables in zip(matrices, (real, synthetic), strict=True):
                table = tables(first, second)
                if table is not None:
                    matrix[i, j] = matrix[j, i] = association(table, places.get(first), places.get(second))
    for matrix in matrices:
        np.fill_diagonal(matrix, 1.0)
    return Associations(names=tuple(names), real=matrices[0], synthetic=matrices[1], kinds=kinds)


def kind_of_pair(schema: Schema, first: str, second: str) -> str:
    """The name of the measure for two columns."""
    numeric = isinstance(schema[first], Numeric) + isinstance(schema[second], Numeric)
    return (CRAMER, RATIO, PEARSON)[numeric]


def association(table: Floats, first: Floats | None, second: Floats | None) -> float:
    """The strength of one two-way table of counts; `first` and `second` are the numbers of numeric columns.

    >>> both = np.array([[30.0, 10.0], [10.0, 30.0]])
    >>> round(association(both, np.array([0.0, 1.0]), np.array([1.0, 0.0])), 3)
    -0.5
    >>> round(association(both, None, None), 3), round(association(both, None, np.array([0.0, 1.0])), 3)
    (0.49, 0.5)
    """
    if first is not None:
        table, first = table[~np.isnan(first)], first[~np.isnan(first)]
    if second is not None:
        table, second = table[:, ~np.isnan(second)], second[~np.isnan(second)]
    if table.size == 0 or table.sum() <= 0:
        return math.nan
    if first is not None and second is not None:
        return _pearson(table, first, second)
    if first is not None:
        return _ratio(table, first)
    return _cramer(table) if second is None else _ratio(table.T, second)


def _pearson(table: Floats, first: Floats, second: Floats) -> float:
    weight = table / table.sum()
    a = first - weight.sum(axis=1) @ first
    b = second - weight.sum(axis=0) @ second
    spread = math.sqrt((weight.sum(axis=1) @ a**2) * (weight.sum(axis=0) @ b**2))
    return float(a @ weight @ b) / spread if spread > 0 else math.nan


def _ratio(table: Floats, numbers: Floats) -> float:
    """sqrt(between / total variance) of the numbers along the first axis, over the categories along the second."""
    weight = table / table.sum()
    centred = numbers - weight.sum(axis=1) @ numbers
    total = float(weight.sum(axis=1) @ centred**2)
    inside = weight.sum(axis=0)
    held = inside > 0
    between = float(np.sum((centred @ weight)[held] ** 2 / inside[held]))
    return math.sqrt(min(between / total, 1.0)) if total > 0 else math.nan


def _cramer(table: Floats) -> float:
    """Bergsma (2013), section 4: phi^2 less its mean under independence, over the smaller corrected dimension."""
    total = float(table.sum())
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    table = table[np.ix_(rows > 0, columns > 0)]
    r, c = table.shape
    if min(r, c) < 2 or total <= 1:
        return math.nan
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / total
    phi = float(np.sum((table - expected) ** 2 / expected)) / total
    phi = max(0.0, phi - (r - 1) * (c - 1) / (total - 1))
    smaller = min(r - (r - 1) ** 2 / (total - 1), c - (c - 1) ** 2 / (total - 1)) - 1
    return math.sqrt(min(phi / smaller, 1.0)) if smaller > 0 else math.nan

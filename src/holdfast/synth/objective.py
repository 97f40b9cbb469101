"""Objective: a sum of functions of a few columns each, to be maximised over records. Public values only."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from holdfast.synth.fibres import Fibres
from holdfast.synth.universe import AllCells

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Columns = tuple[str, ...]


@dataclass(kw_only=True, eq=False)
class Objective:
    """f(x) = the sum over column sets of a table's value at x. Queries are added with their weights, as they come.

    >>> gain = Objective(domain={"a": 2, "b": 3})
    >>> gain.add(("a", "b"), np.eye(2, 3), 2.0)
    >>> gain.values(np.array([[0, 0], [1, 0]])).tolist()
    [2.0, 0.0]
    """

    domain: Mapping[str, int]
    tables: dict[Columns, Floats] = field(default_factory=dict)

    def add(self, columns: Columns, table: Floats, weight: float = 1.0) -> None:
        """A weighted function of some columns."""
        if columns not in self.tables:
            self.tables[columns] = np.zeros(table.shape)
        self.tables[columns] += weight * table

    def values(self, codes: Codes) -> Floats:
        """f at each record."""
        fibres = Fibres(self.domain, list(self.tables))
        return fibres.totals(codes, [table.reshape(-1) for table in self.tables.values()])

    def everywhere(self) -> Floats:
        """f at every possible record, where these are few."""
        universe = AllCells(self.domain)
        made = np.zeros(universe.size)
        for columns, table in self.tables.items():
            made += universe.values(columns, table)
        return made

    def bound(self) -> float:
        """An upper bound on f that needs no search: the largest value of each table."""
        return math.fsum(float(table.max()) for table in self.tables.values())


@dataclass(frozen=True, kw_only=True, eq=False)
class Optima:
    """Records found for each of several perturbed objectives, how good they are and how good any could be."""

    codes: Codes
    values: Floats
    bounds: Floats

    @property
    def gap(self) -> float:
        """The largest distance from a bound, 0 where all are proved optimal."""
        return float(np.max(np.maximum(self.bounds - self.values, 0.0)))


def one_hot_starts(domain: Mapping[str, int]) -> list[int]:
    """Where each column's cells begin in a one-hot encoded record; one more, for the end.

    >>> one_hot_starts({"a": 2, "b": 3})
    [0, 2, 5]
    """
    return [0, *accumulate(domain.values())]


def linear(codes: Codes, noise: Floats, domain: Mapping[str, int]) -> Floats:
    """<one-hot record, noise>, row by row: each record has its own noise vector."""
    starts = one_hot_starts(domain)
    at = np.arange(len(codes))
    made = np.zeros(len(codes))
    for column in range(len(domain)):
        made += noise[at, starts[column] + codes[:, column]]
    return made

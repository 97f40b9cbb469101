"""CoordinateScores: the score of a record for every value that one column could take, the others being fixed.

A score is a sum of functions of a few columns each, given as tables. It is looked up along the axis of one column, for
many records at once: one step of coordinate ascent, and of fitting rows to noisy tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from holdfast._arrays import Codes, Floats


class CoordinateScores:
    """The cells of given tables that contain a record, and those that would if one of its columns changed."""

    def __init__(self, domain: Mapping[str, int], column_sets: Sequence[Sequence[str]]) -> None:
        self.domain = dict(domain)
        names = list(domain)
        self._strides: list[dict[int, int]] = []
        for columns in column_sets:
            stride, strides = 1, {}
            for name in reversed(columns):
                strides[names.index(name)] = stride
                stride *= domain[name]
            self._strides.append(strides)
        self._touching = [
            [place for place, strides in enumerate(self._strides) if column in strides]
            for column in range(len(names))
        ]
        self._cells = tuple(domain.values())

    def touching(self, column: int) -> list[int]:
        """The places of the sets that contain a column."""
        return self._touching[column]

    def cells(self, codes: Codes, place: int) -> Codes:
        """The flat cell of each record in one set."""
        cells = np.zeros(len(codes), dtype=np.int64)
        for column, stride in self._strides[place].items():
            cells += codes[:, column] * stride
        return cells

    def scores(self, codes: Codes, column: int, tables: Sequence[Floats]) -> Floats:
        """The sum of the flat tables at each record, for every value that the column could take."""
        values = np.arange(self._cells[column])
        scores = np.zeros((len(codes), self._cells[column]))
        for place in self._touching[column]:
            stride = self._strides[place][column]
            base = self.cells(codes, place) - codes[:, column] * stride
            scores += tables[place][base[:, None] + stride * values]
        return scores

    def totals(self, codes: Codes, tables: Sequence[Floats]) -> Floats:
        """The sum of all tables at each record."""
        totals = np.zeros(len(codes))
        for place, table in enumerate(tables):
            totals += table[self.cells(codes, place)]
        return totals

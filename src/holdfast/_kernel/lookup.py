"""Scores and clipped gradients of rows whose features are looked up in tables, in C (lookup.c) or in NumPy.

A row is one cell per column. Whatever is linear in its features needs only one number per cell, so a pass over the rows
costs one look-up per row and column, however many features a cell stands for. Results are private until a mechanism
has released them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast._kernel import implementation_module
from holdfast.errors import require

Codes = NDArray[np.uint16]
Loss = Literal["logistic", "softmax", "squared"]
LOOKUP_LOSSES: dict[str, int] = {"logistic": 0, "softmax": 1, "squared": 2}
MOST_CODES = 2**16
"""The most cells that a column may have: a code takes two bytes."""
NUMPY_BLOCK_ROWS = 4_096


@dataclass(frozen=True, kw_only=True, eq=False)
class CellPlan:
    """Which table entries a row looks up: one per column, and one per pair of columns.

    All cells are numbered one after the other, those of the columns first. A pair has levels x levels cells: `level_of`
    says to which of its levels each cell of a column belongs.

    >>> plan = CellPlan(cells=(2, 3), outputs=1)
    >>> table = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0], [10.0, 0.0], [20.0, 0.0]])
    >>> plan.scores(np.array([[1, 2], [0, 1]], dtype=np.uint16), table, np.array([0.5])).tolist()
    [[21.5], [10.5]]
    """

    cells: tuple[int, ...]
    outputs: int = 1
    pairs: tuple[tuple[int, int], ...] = ()
    levels: int = 1
    level_of: tuple[NDArray[np.uint8], ...] = ()
    """For each column the levels of its cells; what it says of columns that are in no pair is not used."""

    def __post_init__(self) -> None:
        most = max(self.cells, default=1)
        require(1 <= most <= MOST_CODES, "cells", most, f"from 1 to {MOST_CODES} in a column")
        require(not self.pairs or len(self.level_of) == len(self.cells), "level_of", "...", "one per column")

    @cached_property
    def first_cell(self) -> NDArray[np.int64]:
        """The number of each column's first cell."""
        return np.asarray(np.concatenate([[0], np.cumsum(self.cells)[:-1]]), dtype=np.int64)

    @cached_property
    def pair_cell(self) -> NDArray[np.int64]:
        """The number of each pair's first cell; the pairs come after the columns."""
        return np.asarray(sum(self.cells) + self.levels**2 * np.arange(len(self.pairs)), dtype=np.int64)

    @property
    def total(self) -> int:
        """The number of all cells."""
        return sum(self.cells) + len(self.pairs) * self.levels**2

    @cached_property
    def level(self) -> NDArray[np.uint8]:
        """The level of each cell of each column, column after column."""
        if not self.pairs:
            return np.zeros(sum(self.cells), dtype=np.uint8)
        return np.concatenate(self.level_of).astype(np.uint8)

    def places(self, codes: Codes) -> NDArray[np.int64]:
        """The cells that each row looks up, in shape (rows, columns + pairs)."""
        mains = np.asarray(self.first_cell + np.minimum(codes.astype(np.int64), np.array(self.cells) - 1))
        if not self.pairs:
            return mains
        left, right = np.array(self.pairs).T
        level = self.level.astype(np.int64)[mains]
        return np.hstack([mains, self.pair_cell + self.levels * level[:, left] + level[:, right]])

    def scores(self, codes: Codes, table: Floats, constant: Floats) -> Floats:
        """The constant plus the table entries of each row, in shape (rows, K); the table's last column is not read."""
        self._check(codes, table)
        scores: Floats = _kernel().lookup_scores(self, np.ascontiguousarray(codes), table, constant)
        return scores

    def gradient(
        self,
        codes: Codes,
        labels: Floats,
        *,
        loss: Loss,
        table: Floats,
        constant: Floats,
        clip: float,
        steps_per_unit: float,
    ) -> NDArray[np.int64]:
        """The sum of clipped slopes over the rows of each cell, in whole multiples of 1 / steps_per_unit.

        The shape is (cells + 1, K), and the last row belongs to the constant. `table` holds for each cell its part of
        each of the K scores, then the squared length of its features.
        """
        self._check(codes, table)
        sums: NDArray[np.int64] = _kernel().lookup_gradient(
            self, np.ascontiguousarray(codes), labels, loss, table, constant, clip, steps_per_unit
        )
        return sums

    def _check(self, codes: Codes, table: Floats) -> None:
        columns = len(self.cells)
        require(codes.ndim == 2 and codes.shape[1] == columns, "codes", codes.shape, f"(rows, {columns})")
        require(table.shape == (self.total, self.outputs + 1), "table", table.shape, "(cells, outputs + 1)")


def _kernel() -> Any:
    """The compiled functions, or `NumpyLookup` where there are none."""
    if implementation_module()[0] != "c":
        return NumpyLookup
    from holdfast._kernel import native_lookup

    return native_lookup


class NumpyLookup:
    """The look-up sums in NumPy: tests compare the C code with them, and they run where nothing was compiled."""

    @staticmethod
    def lookup_scores(plan: CellPlan, codes: Codes, table: Floats, constant: Floats) -> Floats:
        """The scores, computed for a block of rows at a time."""
        scores = np.empty((len(codes), plan.outputs))
        for start in range(0, len(codes), NUMPY_BLOCK_ROWS):
            places = plan.places(codes[start : start + NUMPY_BLOCK_ROWS])
            scores[start : start + NUMPY_BLOCK_ROWS] = constant + table[places, :-1].sum(axis=1)
        return scores

    @staticmethod
    def lookup_gradient(
        plan: CellPlan,
        codes: Codes,
        labels: Floats,
        loss: Loss,
        table: Floats,
        constant: Floats,
        clip: float,
        steps_per_unit: float,
    ) -> NDArray[np.int64]:
        """The clipped gradient, as `hf_lookup_gradient` computes it."""
        sums = np.zeros((plan.total + 1, plan.outputs), dtype=np.int64)
        for start in range(0, len(codes), NUMPY_BLOCK_ROWS):
            places = plan.places(codes[start : start + NUMPY_BLOCK_ROWS])
            row_sums = table[places].sum(axis=1)
            slopes = lookup_slopes(
                loss, constant + row_sums[:, :-1], labels[start : start + NUMPY_BLOCK_ROWS]
            )
            length = np.linalg.norm(slopes, axis=1) * np.sqrt(1.0 + row_sums[:, -1])
            usable = (length > 0) & np.isfinite(length)
            scale = np.where(usable, np.minimum(1.0, clip / np.where(usable, length, 1.0)), 0.0)
            grid_steps = np.trunc(np.where(usable[:, None], slopes, 0.0) * (scale * steps_per_unit)[:, None])
            for k in range(plan.outputs):
                steps = grid_steps[:, k].astype(np.int64)
                np.add.at(sums[:, k], places, steps[:, None])
                sums[-1, k] += steps.sum()
        return sums


def lookup_slopes(loss: Loss, scores: Floats, labels: Floats) -> Floats:
    """The derivatives of the loss by each of the K scores, in shape (rows, K)."""
    with np.errstate(over="ignore"):
        if loss == "logistic":
            sign = np.where(labels > 0, 1.0, -1.0)[:, None]
            return np.asarray(-sign / (1.0 + np.exp(sign * scores)))
        if loss == "squared":
            return np.asarray(scores - labels[:, None])
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        return np.asarray(p - (np.arange(scores.shape[1]) == labels[:, None]))

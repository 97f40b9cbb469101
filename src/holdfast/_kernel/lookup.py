"""Sums over rows whose features are looked up in tables: scores, and gradients that are clipped row by row.

`lookup.c` says how; here are what it is told, the same in NumPy, and the choice between the two. Linear in the
features means one number per cell, so a pass costs one look-up per row and column, however wide the features are.
What comes back is private until a mechanism has released it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
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
"""Cells of one column: a code takes two bytes."""
NUMPY_ROWS = 4_096


@dataclass(frozen=True, kw_only=True, eq=False)
class CellPlan:
    """Which numbers a row looks up: one per column, and one per pair of columns at their levels.

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
    """For each column its cells' levels; only columns in pairs need true ones."""

    def __post_init__(self) -> None:
        most = max(self.cells, default=1)
        require(1 <= most <= MOST_CODES, "cells", most, f"from 1 to {MOST_CODES} in a column")
        require(not self.pairs or len(self.level_of) == len(self.cells), "level_of", "...", "one per column")

    @cached_property
    def first_cell(self) -> NDArray[np.int64]:
        """Of each column."""
        return np.asarray(np.concatenate([[0], np.cumsum(self.cells)[:-1]]), dtype=np.int64)

    @cached_property
    def pair_cell(self) -> NDArray[np.int64]:
        """The first cell of each pair, behind those of the columns."""
        return np.asarray(sum(self.cells) + self.levels**2 * np.arange(len(self.pairs)), dtype=np.int64)

    @property
    def total(self) -> int:
        """All cells."""
        return sum(self.cells) + len(self.pairs) * self.levels**2

    @cached_property
    def level(self) -> NDArray[np.uint8]:
        """Of every column's cells."""
        if not self.pairs:
            return np.zeros(sum(self.cells), dtype=np.uint8)
        return np.concatenate(self.level_of).astype(np.uint8)

    def places(self, codes: Codes) -> NDArray[np.int64]:
        """Where the rows' numbers lie, (rows, columns + pairs)."""
        mains = np.asarray(self.first_cell + np.minimum(codes.astype(np.int64), np.array(self.cells) - 1))
        if not self.pairs:
            return mains
        left, right = np.array(self.pairs).T
        level = self.level.astype(np.int64)[mains]
        return np.hstack([mains, self.pair_cell + self.levels * level[:, left] + level[:, right]])

    def scores(self, codes: Codes, table: Floats, constant: Floats) -> Floats:
        """constant + the sum of the rows' table entries, (rows, K); the last column of the table is not read."""
        self._check(codes, table)
        made: Floats = _kernel().lookup_scores(self, np.ascontiguousarray(codes), table, constant)
        return made

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
        """What is summed over each cell's rows, (cells + 1, K), in whole multiples of 1 / steps_per_unit.

        The last row is the constant's. `table` holds, per cell, its part of each score and its squared length.
        """
        self._check(codes, table)
        made: NDArray[np.int64] = _kernel().lookup_gradient(
            self, np.ascontiguousarray(codes), labels, loss, table, constant, clip, steps_per_unit
        )
        return made

    def _check(self, codes: Codes, table: Floats) -> None:
        wide = len(self.cells)
        require(codes.ndim == 2 and codes.shape[1] == wide, "codes", codes.shape, f"(rows, {wide})")
        require(table.shape == (self.total, self.outputs + 1), "table", table.shape, "(cells, outputs + 1)")


MOST_GATHERED = 0.25
"""Of a matrix's numbers: with more that are not 0, products of whole matrices are faster."""


@dataclass(frozen=True, kw_only=True, eq=False)
class GatheredRows:
    """Rows of which most numbers are 0, as the others: which column each is of, and what it is; compiled only.

    Row i has those from first[i] to first[i + 1]. One-hot columns cost one look-up each, not one product per category.
    """

    columns: int
    first: NDArray[np.int64]
    column: Codes
    value: Floats

    @classmethod
    def of(cls, blocks: list[Floats], columns: int) -> GatheredRows | None:
        """The rows of these blocks; None where too few numbers are 0, or without the compiled kernel."""
        name, native = implementation_module()
        if name != "c" or columns > MOST_CODES:
            return None
        room = int(MOST_GATHERED * sum(map(len, blocks)) * columns)
        found = native.gather(blocks, columns, room)
        return found and cls(columns=columns, first=found[0], column=found[1], value=found[2])

    def products(self, weights: Floats) -> Floats:
        """<x, w> for each row."""
        return self._each(weights)

    def forms(self, form: Floats) -> Floats:
        """x^T F x for each row; of a vector, the sum of F x^2."""
        return self._each(form) if form.ndim == 2 else self.squared()._each(form)

    def squared(self) -> GatheredRows:
        """Every number squared."""
        return replace(self, value=self.value * self.value)

    def total(self, weights: Floats, *, block: int) -> Floats:
        """The sum of a x: over blocks of so many rows, then of those."""
        made: Floats = implementation_module()[1].gathered_total(self, weights, block, gram=False)
        return made

    def gram(self, scales: Floats, *, block: int) -> Floats:
        """The sum of t^2 x x^T, in the same order."""
        upper = implementation_module()[1].gathered_total(self, scales, block, gram=True)
        return np.asarray(upper + np.triu(upper, 1).T)

    def _each(self, numbers: Floats) -> Floats:
        made: Floats = implementation_module()[1].gathered_each(self, numbers)
        return made


def _kernel() -> Any:
    """The compiled functions, or those below."""
    name, native = implementation_module()
    return native if name == "c" else NumpyLookup


class NumpyLookup:
    """The same in NumPy: the oracle of the tests, and what runs without a compiler."""

    @staticmethod
    def lookup_scores(plan: CellPlan, codes: Codes, table: Floats, constant: Floats) -> Floats:
        """A block of rows at a time."""
        made = np.empty((len(codes), plan.outputs))
        for start in range(0, len(codes), NUMPY_ROWS):
            places = plan.places(codes[start : start + NUMPY_ROWS])
            made[start : start + NUMPY_ROWS] = constant + table[places, :-1].sum(axis=1)
        return made

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
        """As in `hf_lookup_gradient`."""
        made = np.zeros((plan.total + 1, plan.outputs), dtype=np.int64)
        for start in range(0, len(codes), NUMPY_ROWS):
            places = plan.places(codes[start : start + NUMPY_ROWS])
            found = table[places].sum(axis=1)
            slopes = lookup_slopes(loss, constant + found[:, :-1], labels[start : start + NUMPY_ROWS])
            length = np.linalg.norm(slopes, axis=1) * np.sqrt(1.0 + found[:, -1])
            fine = (length > 0) & np.isfinite(length)
            scale = np.where(fine, np.minimum(1.0, clip / np.where(fine, length, 1.0)), 0.0)
            whole = np.trunc(np.where(fine[:, None], slopes, 0.0) * (scale * steps_per_unit)[:, None])
            for k in range(plan.outputs):
                steps = whole[:, k].astype(np.int64)
                np.add.at(made[:, k], places, steps[:, None])
                made[-1, k] += steps.sum()
        return made


def lookup_slopes(loss: Loss, scores: Floats, labels: Floats) -> Floats:
    """The derivatives of the loss in the scores, (rows, K)."""
    with np.errstate(over="ignore"):
        if loss == "logistic":
            sign = np.where(labels > 0, 1.0, -1.0)[:, None]
            return np.asarray(-sign / (1.0 + np.exp(sign * scores)))
        if loss == "squared":
            return np.asarray(scores - labels[:, None])
        made = np.exp(scores - scores.max(axis=1, keepdims=True))
        made /= made.sum(axis=1, keepdims=True)
        return np.asarray(made - (np.arange(scores.shape[1]) == labels[:, None]))

"""Rows kept for the certified sampler, and the three questions that it asks of them, compiled or in NumPy.

A gap is a Bregman divergence: loss(p + u) - loss(p) - slope(p) u of one row, at prediction p and change u. Everything
here is private: sums over rows without noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from importlib import import_module
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import require

FloatArray = NDArray[np.float64]
WordArray = NDArray[np.uint64]
#: The losses, in the order of `enum hf_gap_loss` in bregman.h.
GAP_LOSSES = {"logistic": 0, "huber": 1, "huber_regression": 2}
SPARSE = 1.0 / 3.0
"""Rows with a smaller share of entries that are not zero are kept without the zeros."""


class ThinnedTest(IntEnum):
    """How a thinned test ended, with the numbers of `enum hf_verdict` in bregman.h."""

    PASSED = 0
    FIRED = 1
    MORE_WORDS = 2


@dataclass(frozen=True, kw_only=True, eq=False)
class KeptRows:
    """Clipped rows, dense or without their zeros, and labels as the loss takes them."""

    values: FloatArray
    labels: FloatArray
    dimension: int
    loss: str
    width: float = 1.0
    starts: NDArray[np.int64] | None = None
    columns: NDArray[np.int32] | None = None

    def __post_init__(self) -> None:
        require(self.loss in GAP_LOSSES, "loss", self.loss, f"one of {sorted(GAP_LOSSES)}")
        require(self.values.dtype == np.float64, "values.dtype", self.values.dtype, "float64")
        if self.columns is None:
            require(
                self.values.size == self.count * self.dimension,
                "values.size",
                self.values.size,
                "rows by columns",
            )
        require(self.labels.dtype == np.float64, "labels.dtype", self.labels.dtype, "float64")

    @property
    def count(self) -> int:
        """How many rows; private under add_remove."""
        return int(self.labels.size)

    @classmethod
    def of(cls, rows: FloatArray, labels: FloatArray, *, loss: str, width: float = 1.0) -> KeptRows:
        """As they are, or without zeros where that is shorter; the same answers either way.

        >>> KeptRows.of(np.eye(4), np.ones(4), loss="logistic").columns
        array([0, 1, 2, 3], dtype=int32)
        """
        y, dimension = np.ascontiguousarray(labels, dtype=np.float64), int(rows.shape[1])
        if rows.size == 0 or np.count_nonzero(rows) > SPARSE * rows.size:
            dense = np.ascontiguousarray(rows, dtype=np.float64)
            return cls(values=dense, labels=y, dimension=dimension, loss=loss, width=width)
        counts = np.count_nonzero(rows, axis=1)
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        columns, values = np.empty(starts[-1], dtype=np.int32), np.empty(starts[-1])
        for first in range(0, len(rows), 4096):  # few at a time: the places of all entries are twice the rows
            block = rows[first : first + 4096]
            where, which = np.nonzero(block)
            part = slice(starts[first], starts[first + len(block)])
            columns[part], values[part] = which, block[where, which]
        return cls(
            values=values,
            labels=y,
            dimension=dimension,
            loss=loss,
            width=width,
            starts=starts,
            columns=columns,
        )


class Gaps(Protocol):
    """What the sampler asks."""

    @property
    def kept(self) -> KeptRows:
        """The rows."""

    def gradient(self, w: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The sum of slope times row, and the predictions."""

    def total(self, predictions: FloatArray, v: FloatArray) -> float:
        """The sum of all gaps."""

    def thinned(
        self,
        predictions: FloatArray,
        v: FloatArray,
        *,
        bound: float,
        until: float,
        words: WordArray,
        clock: float,
    ) -> tuple[ThinnedTest, float, int]:
        """Whether a row fired, how far the clock came, and how many words it took."""


def gaps(kept: KeptRows) -> Gaps:
    """In C, or in NumPy where there is none: by the rule of `holdfast._kernel.implementation`.

    >>> made = gaps(KeptRows.of(np.eye(2), np.array([1.0, -1.0]), loss="logistic"))
    >>> made.gradient(np.zeros(2))[0].tolist()
    [-0.5, 0.5]
    """
    from holdfast import _kernel as kernel

    name = kernel.implementation
    module: Any = import_module(f"holdfast._kernel.{'native' if name == 'c' else 'reference'}_bregman")
    made: Gaps = (module.NativeGaps if name == "c" else module.ReferenceGaps)(kept)
    return made

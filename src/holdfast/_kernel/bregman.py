"""Sums of Bregman gaps over rows, which the certified sampler of the Gibbs mechanism needs; in C or in NumPy.

The gap of a row is the Bregman divergence of its loss, loss(p + u) - loss(p) - slope(p) u, where its prediction changes
from p to p + u. Everything here is computed from rows without noise, and is private.
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
GAP_LOSSES = {"logistic": 0, "huber": 1, "huber_regression": 2}
"""The losses, in the order of `enum hf_gap_loss` in bregman.h."""
MOST_NONZERO_SHARE = 1.0 / 3.0
"""Rows are stored without their zeros where at most this share of the entries is not zero."""


class ThinnedTest(IntEnum):
    """How the test of a proposal by Poisson thinning ended; numbered as `enum hf_verdict` in bregman.h."""

    PASSED = 0
    """No row fired: the proposal is accepted."""
    FIRED = 1
    """A row fired: the proposal is rejected."""
    MORE_WORDS = 2
    """The random words ran out; the test goes on with more of them."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SamplerRows:
    """Clipped rows, dense or in compressed form without their zeros, and labels as the loss takes them."""

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
        """The number of rows; private under add_remove."""
        return int(self.labels.size)

    @classmethod
    def of_arrays(cls, rows: FloatArray, labels: FloatArray, *, loss: str, width: float = 1.0) -> SamplerRows:
        """Dense rows as they are, or in compressed form where that is shorter; the results are the same.

        >>> SamplerRows.of_arrays(np.eye(4), np.ones(4), loss="logistic").columns
        array([0, 1, 2, 3], dtype=int32)
        """
        y, dimension = np.ascontiguousarray(labels, dtype=np.float64), int(rows.shape[1])
        if rows.size == 0 or np.count_nonzero(rows) > MOST_NONZERO_SHARE * rows.size:
            dense = np.ascontiguousarray(rows, dtype=np.float64)
            return cls(values=dense, labels=y, dimension=dimension, loss=loss, width=width)
        counts = np.count_nonzero(rows, axis=1)
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        columns, values = np.empty(starts[-1], dtype=np.int32), np.empty(starts[-1])
        # A block at a time: the positions of all entries together would take twice the memory of the rows.
        for first in range(0, len(rows), 4096):
            block = rows[first : first + 4096]
            block_rows, block_columns = np.nonzero(block)
            part = slice(starts[first], starts[first + len(block)])
            columns[part], values[part] = block_columns, block[block_rows, block_columns]
        return cls(
            values=values,
            labels=y,
            dimension=dimension,
            loss=loss,
            width=width,
            starts=starts,
            columns=columns,
        )


class BregmanGaps(Protocol):
    """The sums over rows that the sampler needs."""

    @property
    def rows(self) -> SamplerRows:
        """The rows that are summed over."""

    def gradient(self, w: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The sum of slope times row at the weights w, and the predictions there."""

    def total(self, predictions: FloatArray, v: FloatArray) -> float:
        """The sum of all gaps where the weights change by v from the point of these predictions."""

    def thinned_test(
        self,
        predictions: FloatArray,
        v: FloatArray,
        *,
        bound: float,
        until: float,
        random_words: WordArray,
        clock: float,
    ) -> tuple[ThinnedTest, float, int]:
        """Test a proposal by Poisson thinning; returns the result, the clock's time, and how many words were used.

        Rows are met at random times of a Poisson process from `clock` to `until`, and a row that is met fires with
        probability gap / bound. From time 0 on, no row fires with probability exp(-until x mean gap / bound).
        """


def bregman_gaps(rows: SamplerRows) -> BregmanGaps:
    """The sums over these rows, in C where it was compiled (see `holdfast._kernel.implementation`), else in NumPy.

    >>> gaps = bregman_gaps(SamplerRows.of_arrays(np.eye(2), np.array([1.0, -1.0]), loss="logistic"))
    >>> gaps.gradient(np.zeros(2))[0].tolist()
    [-0.5, 0.5]
    """
    from holdfast import _kernel as kernel

    name = kernel.implementation
    module: Any = import_module(f"holdfast._kernel.{'native' if name == 'c' else 'reference'}_bregman")
    gaps: BregmanGaps = (module.NativeGaps if name == "c" else module.ReferenceGaps)(rows)
    return gaps

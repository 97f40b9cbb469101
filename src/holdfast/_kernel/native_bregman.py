"""NativeGaps: sums of Bregman gaps in C (bregman.c), called from Python.

Importing this file fails where the C code was not compiled.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from holdfast._kernel._kernel import ffi, lib
from holdfast._kernel.bregman import GAP_LOSSES, FloatArray, SamplerRows, ThinnedTest, WordArray
from holdfast.errors import DataError


def _address(array: np.ndarray[Any, Any] | None, ctype: str = "double *") -> Any:
    """A pointer to the first entry; the caller keeps the array alive."""
    return ffi.NULL if array is None else ffi.cast(ctype, array.ctypes.data)


class NativeGaps:
    """A `BregmanGaps` in C. The interpreter lock is released while rows are read."""

    def __init__(self, rows: SamplerRows) -> None:
        self.rows = rows
        self._scratch = np.empty((2, rows.dimension))
        self._clock, self._used = ffi.new("double *"), ffi.new("size_t *")
        self._data = ffi.new("hf_rows *")
        self._data.rows, self._data.dimension = rows.count, rows.dimension
        self._data.values, self._data.labels = _address(rows.values), _address(rows.labels)
        self._data.starts = _address(rows.starts, "int64_t *")
        self._data.columns = _address(rows.columns, "int32_t *")
        self._data.loss, self._data.width = GAP_LOSSES[rows.loss], rows.width

    def gradient(self, w: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The sum of slope times row, and the predictions."""
        predictions, total = np.empty(self.rows.count), np.empty(self.rows.dimension)
        w = self._checked_vector(w)
        lib.hf_gap_gradient(
            self._data,
            _address(w),
            _address(predictions),
            _address(total),
            _address(self._scratch[0]),
            _address(self._scratch[1]),
        )
        return total, predictions

    def total(self, predictions: FloatArray, v: FloatArray) -> float:
        """The sum of all gaps."""
        v = self._checked_vector(v)
        return float(lib.hf_gap_sum(self._data, _address(predictions), _address(v)))

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
        """The result of the test, the clock's time, and how many words were used."""
        v = self._checked_vector(v)
        self._clock[0] = clock
        verdict = lib.hf_gap_thinned(
            self._data,
            _address(predictions),
            _address(v),
            bound,
            until,
            _address(random_words, "uint64_t *"),
            random_words.size,
            self._clock,
            self._used,
        )
        return ThinnedTest(verdict), float(self._clock[0]), int(self._used[0])

    def _checked_vector(self, vector: FloatArray) -> FloatArray:
        """The vector, checked to have one number per column, in adjacent memory: C checks neither."""
        if vector.shape != (self.rows.dimension,):
            raise DataError(f"a point must have {self.rows.dimension} numbers, got shape {vector.shape}")
        return np.ascontiguousarray(vector, dtype=np.float64)

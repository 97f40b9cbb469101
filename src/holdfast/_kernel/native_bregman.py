"""The hot loops of the sampler in C (bregman.c) seen from Python. Importing it fails where it was not compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from holdfast._kernel._kernel import ffi, lib
from holdfast._kernel.bregman import GAP_LOSSES, FloatArray, KeptRows, ThinnedTest, WordArray
from holdfast.errors import DataError


def _address(array: np.ndarray[Any, Any] | None, ctype: str = "double *") -> Any:
    """A pointer to the first entry; the caller keeps the array alive."""
    return ffi.NULL if array is None else ffi.cast(ctype, array.ctypes.data)


class NativeGaps:
    """A `Gaps` in C. The interpreter lock is released while rows are read."""

    def __init__(self, kept: KeptRows) -> None:
        self.kept = kept
        self._scratch = np.empty((2, kept.dimension))
        self._clock, self._used = ffi.new("double *"), ffi.new("size_t *")
        self._data = ffi.new("hf_rows *")
        self._data.rows, self._data.dimension = kept.count, kept.dimension
        self._data.values, self._data.labels = _address(kept.values), _address(kept.labels)
        self._data.starts = _address(kept.starts, "int64_t *")
        self._data.columns = _address(kept.columns, "int32_t *")
        self._data.loss, self._data.width = GAP_LOSSES[kept.loss], kept.width

    def gradient(self, w: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The sum of slope times row, and the predictions."""
        predictions, total = np.empty(self.kept.count), np.empty(self.kept.dimension)
        w = self._whole(w)
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
        v = self._whole(v)
        return float(lib.hf_gap_sum(self._data, _address(predictions), _address(v)))

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
        v = self._whole(v)
        self._clock[0] = clock
        verdict = lib.hf_gap_thinned(
            self._data,
            _address(predictions),
            _address(v),
            bound,
            until,
            _address(words, "uint64_t *"),
            words.size,
            self._clock,
            self._used,
        )
        return ThinnedTest(verdict), float(self._clock[0]), int(self._used[0])

    def _whole(self, vector: FloatArray) -> FloatArray:
        """As many numbers as there are columns, next to each other: C does not look."""
        if vector.shape != (self.kept.dimension,):
            raise DataError(f"a point must have {self.kept.dimension} numbers, got shape {vector.shape}")
        return np.ascontiguousarray(vector, dtype=np.float64)

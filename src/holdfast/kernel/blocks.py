"""What comes in from the caller, brought into the one form that both implementations read."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from holdfast.errors import DataError, ParameterError
from holdfast.kernel.options import FloatArray, IndexArray, SgdOptions, Status


def block(rows: ArrayLike, labels: ArrayLike, dimension: int) -> tuple[FloatArray, FloatArray]:
    """Rows as float64 whose entries are adjacent in memory (rows may be strided), labels contiguous."""
    x = np.asarray(rows, dtype=np.float64)
    y = np.ascontiguousarray(labels, dtype=np.float64)
    if x.ndim != 2 or x.shape[1] != dimension or y.shape != x.shape[:1]:
        raise DataError(
            f"rows must have shape (n, {dimension}) and labels (n,), got {x.shape} and {y.shape}; "
            "dimension counts the intercept column too"
        )
    row_stride, entry_stride = x.strides
    adjacent = entry_stride == x.itemsize and row_stride >= 0 and row_stride % x.itemsize == 0
    return (x if adjacent and x.flags.aligned else np.ascontiguousarray(x)), y


def positions(order: ArrayLike, count: int) -> IndexArray:
    """The order as 64-bit positions, each checked to be a row of the block."""
    index = np.ascontiguousarray(order, dtype=np.int64)
    if index.ndim != 1 or (index.size and not (index.min() >= 0 and index.max() < count)):
        raise ParameterError(f"order must be positions in [0, {count}), got an array of shape {index.shape}")
    return index


def first_weights(weights: ArrayLike | None, dimension: int) -> FloatArray:
    """Where the run starts: the given public point, or zero."""
    start = np.zeros(dimension) if weights is None else np.array(weights, dtype=np.float64)
    if start.shape != (dimension,) or not np.all(np.isfinite(start)):
        raise ParameterError(f"weights must be {dimension} finite numbers, got shape {start.shape}")
    return start


def check(status: int, options: SgdOptions) -> Status:
    """The status, unless the run is over: then the error that says why."""
    if status == Status.NO_STEP:
        count = 0 if options.steps is None else options.steps.size
        raise ParameterError(
            f"steps has {count} entries and one more batch came; give passes * ceil(n / batch)"
        )
    if status == Status.DIVERGED:
        raise ParameterError(
            "the iterates are no longer finite: the steps are too large; "
            "keep every step <= 1 / (smoothness + penalty), or set radius"
        )
    return Status(status)

"""NativeSgd: permutation SGD in C (sgd.c), called from Python.

Importing this file fails where the C code was not compiled.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from holdfast._kernel._kernel import ffi, lib
from holdfast._kernel.options import (
    LOSSES,
    FloatArray,
    SgdOptions,
    Status,
    check_status,
    checked_block,
    first_weights,
    positions,
)
from holdfast.errors import ParameterError

_SAME_NAME_OPTIONS = (
    "dimension",
    "batch",
    "width",
    "label_bound",
    "row_norm",
    "penalty",
    "radius",
    "average_from",
)
"""Options that the C struct has under the same name."""


def _address(array: np.ndarray[Any, Any], ctype: str = "double *") -> Any:
    """A pointer to the first entry; the caller keeps the array alive."""
    return ffi.cast(ctype, array.ctypes.data)


class NativeSgd:
    """An `SgdRun` in C. The interpreter lock is released while rows are read."""

    def __init__(self, options: SgdOptions, weights: ArrayLike | None = None) -> None:
        self.options = options
        start = first_weights(weights, options.dimension)
        self._workspace = np.zeros(lib.hf_sgd_workspace(options.dimension))
        self._state = ffi.new("hf_sgd *")
        options_struct = ffi.new("hf_sgd_options *")
        for name in _SAME_NAME_OPTIONS:
            setattr(options_struct, name, getattr(options, name))
        options_struct.loss = LOSSES[options.loss]
        if options.step_size is not None:
            options_struct.step_cap, options_struct.step_scale = (
                options.step_size.cap,
                options.step_size.scale,
            )
            options_struct.step_offset = options.step_size.offset
        if options.steps is not None:
            options_struct.steps, options_struct.n_steps = _address(options.steps), options.steps.size
        status = lib.hf_sgd_initialise(
            self._state, options_struct, _address(start), _address(self._workspace)
        )
        if status == Status.BAD_OPTION:
            raise ParameterError(f"the kernel refused {options!r}")
        check_status(status, options)

    @property
    def steps_taken(self) -> int:
        """The number of batches that are complete."""
        return int(self._state.step)

    @property
    def rejected_rows(self) -> int:
        """The number of rows that were not finite and counted as null records."""
        return int(self._state.rejected)

    def feed(self, rows: ArrayLike, labels: ArrayLike, *, order: ArrayLike | None = None) -> Status:
        """Take rows one after the other, or in the order of these positions."""
        x, y = checked_block(rows, labels, self.options.dimension)
        index = None if order is None else positions(order, len(x))
        index_address = ffi.NULL if index is None else _address(index, "int64_t *")
        count = len(x) if index is None else len(index)
        stride = x.strides[0] // x.itemsize
        status = lib.hf_sgd_rows(self._state, _address(x), stride, _address(y), index_address, count)
        return check_status(status, self.options)

    def end_pass(self) -> None:
        """Take the step of the batch that is incomplete, if it has a row."""
        check_status(lib.hf_sgd_end_pass(self._state), self.options)

    def final(self) -> FloatArray:
        """End the pass; return the average of the iterates or the last one, without noise."""
        out = np.empty(self.options.dimension)
        check_status(lib.hf_sgd_final(self._state, _address(out)), self.options)
        return out


def clip(rows: FloatArray, row_norm: float) -> FloatArray:
    """Each row scaled down to the norm; rows that are not finite become zero."""
    out = np.empty(rows.shape)
    source = np.ascontiguousarray(rows)
    for x, clipped in zip(source, out, strict=True):
        lib.hf_clip(_address(x), x.size, row_norm, _address(clipped))
    return out

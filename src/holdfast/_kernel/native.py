"""The C kernel (sgd.c) seen from Python. Importing this file fails where it was not compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from holdfast._kernel._kernel import ffi, lib
from holdfast._kernel.lookup import LOOKUP_LOSSES
from holdfast._kernel.options import (
    LOSSES,
    FloatArray,
    SgdOptions,
    Status,
    block,
    check,
    first_weights,
    positions,
)
from holdfast.errors import ParameterError

if TYPE_CHECKING:
    from holdfast._kernel.lookup import CellPlan, GatheredRows

_SHARED = ("dimension", "batch", "width", "label_bound", "row_norm", "penalty", "radius", "average_from")


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
        plan = ffi.new("hf_sgd_options *")
        for name in _SHARED:
            setattr(plan, name, getattr(options, name))
        plan.loss = LOSSES[options.loss]
        if options.step_size is not None:
            plan.step_cap, plan.step_scale = options.step_size.cap, options.step_size.scale
            plan.step_offset = options.step_size.offset
        if options.steps is not None:
            plan.steps, plan.n_steps = _address(options.steps), options.steps.size
        status = lib.hf_sgd_initialise(self._state, plan, _address(start), _address(self._workspace))
        if status == Status.BAD_OPTION:
            raise ParameterError(f"the kernel refused {options!r}")
        check(status, options)

    @property
    def steps_taken(self) -> int:
        """Batches closed so far."""
        return int(self._state.step)

    @property
    def rejected(self) -> int:
        """Rows that were not finite and took their place as null records."""
        return int(self._state.rejected)

    def feed(self, rows: ArrayLike, labels: ArrayLike, *, order: ArrayLike | None = None) -> Status:
        """Take rows one after the other, or in the given order of positions."""
        x, y = block(rows, labels, self.options.dimension)
        index = None if order is None else positions(order, len(x))
        where = ffi.NULL if index is None else _address(index, "int64_t *")
        count = len(x) if index is None else len(index)
        stride = x.strides[0] // x.itemsize
        status = lib.hf_sgd_rows(self._state, _address(x), stride, _address(y), where, count)
        return check(status, self.options)

    def end_pass(self) -> None:
        """Close the batch that is open, if it has a row."""
        check(lib.hf_sgd_end_pass(self._state), self.options)

    def final(self) -> FloatArray:
        """End the pass; the average or the last iterate, before any noise."""
        out = np.empty(self.options.dimension)
        check(lib.hf_sgd_final(self._state, _address(out)), self.options)
        return out


def clip(rows: FloatArray, row_norm: float) -> FloatArray:
    """Each row as the pass sees it; rows that are not finite become zero."""
    out = np.empty(rows.shape)
    source = np.ascontiguousarray(rows)
    for x, clipped in zip(source, out, strict=True):
        lib.hf_clip(_address(x), x.size, row_norm, _address(clipped))
    return out


# Look-ups (lookup.c); what they mean is said in `holdfast._kernel.lookup`.


def _plan(plan: CellPlan) -> tuple[Any, list[Any]]:
    """The plan as C reads it, and the arrays that must live as long."""
    left, right = (
        (np.ascontiguousarray(side, dtype=np.int32) for side in zip(*plan.pairs, strict=True))
        if (plan.pairs)
        else (np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.int32))
    )
    cells = np.array(plan.cells, dtype=np.int64)
    made = ffi.new("hf_lookup *")
    made.columns, made.pairs, made.levels = len(plan.cells), len(plan.pairs), plan.levels
    made.outputs = plan.outputs
    made.first_cell = _address(plan.first_cell, "int64_t *")
    made.column_cells = _address(cells, "int64_t *")
    made.level = _address(plan.level, "uint8_t *")
    made.left, made.right = _address(left, "int32_t *"), _address(right, "int32_t *")
    made.pair_cell = _address(plan.pair_cell, "int64_t *")
    return made, [left, right, cells, np.empty(len(plan.cells) + len(plan.pairs), dtype=np.int64)]


def lookup_scores(plan: CellPlan, codes: Any, table: FloatArray, constant: FloatArray) -> FloatArray:
    """(rows, K)."""
    told, kept = _plan(plan)
    table, constant = np.ascontiguousarray(table), np.ascontiguousarray(constant, dtype=np.float64)
    out = np.empty((len(codes), plan.outputs))
    lib.hf_lookup_scores(
        told,
        _address(codes, "uint16_t *"),
        len(codes),
        _address(table),
        _address(constant),
        _address(kept[-1], "int64_t *"),
        _address(out),
    )
    return out


def lookup_gradient(
    plan: CellPlan,
    codes: Any,
    labels: FloatArray,
    loss: str,
    table: FloatArray,
    constant: FloatArray,
    clip: float,
    steps_per_unit: float,
) -> Any:
    """Whole multiples of the grid, (cells + 1, K)."""
    told, kept = _plan(plan)
    table, constant = np.ascontiguousarray(table), np.ascontiguousarray(constant, dtype=np.float64)
    labels, work = np.ascontiguousarray(labels, dtype=np.float64), np.empty(plan.outputs)
    out = np.zeros((plan.total + 1, plan.outputs), dtype=np.int64)
    lib.hf_lookup_gradient(
        told,
        LOOKUP_LOSSES[loss],
        _address(codes, "uint16_t *"),
        len(codes),
        _address(labels),
        _address(table),
        _address(constant),
        clip,
        steps_per_unit,
        _address(kept[-1], "int64_t *"),
        _address(work),
        _address(out, "int64_t *"),
    )
    return out


# Rows of mostly zeros (lookup.c); `GatheredRows` says what for.


def gather(blocks: list[Any], columns: int, room: int) -> tuple[Any, Any, Any] | None:
    """first, column and value of all blocks behind each other; None where there are more than `room`."""
    first = np.zeros(sum(map(len, blocks)) + 1, dtype=np.int64)
    column, value = np.empty(room, dtype=np.uint16), np.empty(room)
    rows = found = 0
    for part in blocks:
        x = part if part.strides[1] == part.itemsize else np.ascontiguousarray(part)
        place = first[rows:]
        count = lib.hf_gather(
            _address(x),
            len(x),
            columns,
            x.strides[0] // x.itemsize,
            room - found,
            _address(place, "int64_t *"),
            _address(column[found:], "uint16_t *"),
            _address(value[found:]),
        )
        if count < 0:
            return None
        place[: len(x) + 1] += found
        rows, found = rows + len(x), found + int(count)
    return first, column[:found].copy(), value[:found].copy()


def _gathered(rows: GatheredRows) -> Any:
    made = ffi.new("hf_gathered *")
    made.rows, made.columns = len(rows.first) - 1, rows.columns
    made.first, made.column = _address(rows.first, "int64_t *"), _address(rows.column, "uint16_t *")
    made.value = _address(rows.value)
    return made


def gathered_each(rows: GatheredRows, numbers: FloatArray) -> FloatArray:
    """<x, w> for a vector, x^T F x for a matrix: one number per row."""
    out, told = np.empty(len(rows.first) - 1), np.ascontiguousarray(numbers)
    compute = lib.hf_gathered_products if told.ndim == 1 else lib.hf_gathered_forms
    compute(_gathered(rows), _address(told), _address(out))
    return out


def gathered_total(rows: GatheredRows, weights: FloatArray, block: int, *, gram: bool) -> FloatArray:
    """The sum of a x, or the upper triangle of that of t^2 x x^T."""
    shape = (rows.columns,) * (2 if gram else 1)
    out, part, told = np.zeros(shape), np.empty(shape), np.ascontiguousarray(weights)
    compute = lib.hf_gathered_gram if gram else lib.hf_gathered_sum
    compute(_gathered(rows), _address(told), block, _address(part), _address(out))
    return out

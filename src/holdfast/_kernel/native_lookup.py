"""Look-up sums and sums over sparse rows in C (lookup.c), called from Python.

What each function computes is said in `holdfast._kernel.lookup` and `holdfast._kernel.sparse_rows`. Importing this file
fails where the C code was not compiled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from holdfast._kernel._kernel import ffi, lib
from holdfast._kernel.lookup import LOOKUP_LOSSES
from holdfast._kernel.options import FloatArray

if TYPE_CHECKING:
    from holdfast._kernel.lookup import CellPlan
    from holdfast._kernel.sparse_rows import SparseRows


def _address(array: np.ndarray[Any, Any], ctype: str = "double *") -> Any:
    """A pointer to the first entry; the caller keeps the array alive."""
    return ffi.cast(ctype, array.ctypes.data)


def _plan_struct(plan: CellPlan) -> tuple[Any, list[Any]]:
    """The plan as C reads it, and arrays to keep alive as long: C holds addresses only, the last one is scratch."""
    left, right = (
        (np.ascontiguousarray(side, dtype=np.int32) for side in zip(*plan.pairs, strict=True))
        if plan.pairs
        else (np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.int32))
    )
    cells = np.array(plan.cells, dtype=np.int64)
    struct = ffi.new("hf_lookup *")
    struct.columns, struct.pairs, struct.levels = len(plan.cells), len(plan.pairs), plan.levels
    struct.outputs = plan.outputs
    struct.first_cell = _address(plan.first_cell, "int64_t *")
    struct.column_cells = _address(cells, "int64_t *")
    struct.level = _address(plan.level, "uint8_t *")
    struct.left, struct.right = _address(left, "int32_t *"), _address(right, "int32_t *")
    struct.pair_cell = _address(plan.pair_cell, "int64_t *")
    return struct, [left, right, cells, np.empty(len(plan.cells) + len(plan.pairs), dtype=np.int64)]


def lookup_scores(plan: CellPlan, codes: Any, table: FloatArray, constant: FloatArray) -> FloatArray:
    """The K scores of each row, in shape (rows, K)."""
    struct, arrays = _plan_struct(plan)
    table, constant = np.ascontiguousarray(table), np.ascontiguousarray(constant, dtype=np.float64)
    out = np.empty((len(codes), plan.outputs))
    lib.hf_lookup_scores(
        struct,
        _address(codes, "uint16_t *"),
        len(codes),
        _address(table),
        _address(constant),
        _address(arrays[-1], "int64_t *"),
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
    """The clipped gradient in whole multiples of the grid, in shape (cells + 1, K)."""
    struct, arrays = _plan_struct(plan)
    table, constant = np.ascontiguousarray(table), np.ascontiguousarray(constant, dtype=np.float64)
    labels, work = np.ascontiguousarray(labels, dtype=np.float64), np.empty(plan.outputs)
    out = np.zeros((plan.total + 1, plan.outputs), dtype=np.int64)
    lib.hf_lookup_gradient(
        struct,
        LOOKUP_LOSSES[loss],
        _address(codes, "uint16_t *"),
        len(codes),
        _address(labels),
        _address(table),
        _address(constant),
        clip,
        steps_per_unit,
        _address(arrays[-1], "int64_t *"),
        _address(work),
        _address(out, "int64_t *"),
    )
    return out


def nonzero_entries(blocks: list[Any], columns: int, capacity: int) -> tuple[Any, Any, Any] | None:
    """`first`, `column` and `value` of `SparseRows` for all blocks; None with more than `capacity` entries."""
    first = np.zeros(sum(map(len, blocks)) + 1, dtype=np.int64)
    column, value = np.empty(capacity, dtype=np.uint16), np.empty(capacity)
    row_count = entry_count = 0
    for block in blocks:
        x = block if block.strides[1] == block.itemsize else np.ascontiguousarray(block)
        row_starts = first[row_count:]
        count = lib.hf_gather(
            _address(x),
            len(x),
            columns,
            x.strides[0] // x.itemsize,
            capacity - entry_count,
            _address(row_starts, "int64_t *"),
            _address(column[entry_count:], "uint16_t *"),
            _address(value[entry_count:]),
        )
        if count < 0:
            return None
        row_starts[: len(x) + 1] += entry_count
        row_count, entry_count = row_count + len(x), entry_count + int(count)
    return first, column[:entry_count].copy(), value[:entry_count].copy()


def _sparse_struct(rows: SparseRows) -> Any:
    struct = ffi.new("hf_gathered *")
    struct.rows, struct.columns = len(rows.first) - 1, rows.columns
    struct.first, struct.column = _address(rows.first, "int64_t *"), _address(rows.column, "uint16_t *")
    struct.value = _address(rows.value)
    return struct


def sparse_row_values(rows: SparseRows, numbers: FloatArray) -> FloatArray:
    """One number per row: <x, w> for a vector of weights w, x^T F x for a matrix F."""
    out, argument = np.empty(len(rows.first) - 1), np.ascontiguousarray(numbers)
    compute = lib.hf_gathered_products if argument.ndim == 1 else lib.hf_gathered_forms
    compute(_sparse_struct(rows), _address(argument), _address(out))
    return out


def sparse_sum(rows: SparseRows, weights: FloatArray, block: int, *, gram: bool) -> FloatArray:
    """The sum of a x over rows with weights a; with `gram`, the upper triangle of the sum of a^2 x x^T."""
    shape = (rows.columns,) * (2 if gram else 1)
    out, block_sum, argument = np.zeros(shape), np.empty(shape), np.ascontiguousarray(weights)
    compute = lib.hf_gathered_gram if gram else lib.hf_gathered_sum
    compute(_sparse_struct(rows), _address(argument), block, _address(block_sum), _address(out))
    return out

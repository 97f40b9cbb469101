"""ReferenceSgd: permutation SGD in NumPy, which sgd.c is tested against and which runs where C was not compiled.

It adds numbers in the order of sgd.c (inner products in four lanes, gradients row by row), so that the two results
differ by no more than their functions exp() do.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from holdfast._kernel.options import (
    FloatArray,
    SgdOptions,
    Status,
    check_status,
    checked_block,
    first_weights,
    positions,
)

_SAFE_LOW, _SAFE_HIGH = 1e-200, 1e200
"""Squared norms between these are computed directly; other rows are scaled first."""
_LANES = 4
"""Partial sums of an inner product, which the C compiler adds up in parallel."""


def _padded_columns(columns: FloatArray) -> FloatArray:
    """The matrix with columns of zeros up to a multiple of four, so that sums have the same order as in C."""
    rows, dimension = columns.shape
    out = np.zeros((rows, -(-dimension // _LANES) * _LANES))
    out[:, :dimension] = columns
    return out


def _lane_sums(terms: FloatArray) -> FloatArray:
    """Row sums, lane by lane (index modulo 4), folded as (0+1)+(2+3)."""
    rows, dimension = terms.shape
    lanes = np.add.reduce(terms.reshape(rows, dimension // _LANES, _LANES), axis=1)
    return np.asarray((lanes[:, 0] + lanes[:, 1]) + (lanes[:, 2] + lanes[:, 3]))


def _unit_rows(rows: FloatArray, row_norm: float) -> tuple[FloatArray, FloatArray]:
    """Padded rows u and factors f such that f * u is the clipped row; f is NaN for a row that is not finite."""
    u = _padded_columns(rows)
    size = np.ones(len(u))
    with np.errstate(all="ignore"):
        square = _lane_sums(u * u)
        unsafe = ~((square >= _SAFE_LOW) & (square <= _SAFE_HIGH))
        if unsafe.any():
            largest = np.max(np.abs(u[unsafe]), axis=1)
            largest[~np.isfinite(u[unsafe]).all(axis=1)] = np.nan
            size[unsafe] = largest
            u[unsafe] /= np.where(largest > 0, largest, 1.0)[:, None]
            u[np.isnan(size)] = 0.0
            square[unsafe] = _lane_sums(u[unsafe] * u[unsafe])
        limit = row_norm / np.sqrt(square)  # infinite for the zero row, whose size is 0
    return u, np.where(np.isnan(size), np.nan, np.minimum(size, limit))


def clip(rows: FloatArray, row_norm: float) -> FloatArray:
    """Each row scaled down to the norm; rows that are not finite become zero."""
    u, factor = _unit_rows(rows, row_norm)
    return np.asarray(np.nan_to_num(factor, nan=0.0)[:, None] * u)[:, : rows.shape[1]]


class ReferenceSgd:
    """An `SgdRun` in NumPy."""

    def __init__(self, options: SgdOptions, weights: ArrayLike | None = None) -> None:
        self.options = options
        self.steps_taken = 0
        self.rejected_rows = 0
        self._open_rows = 0
        self._averaged = 0
        self._status = Status.OK
        self._weights = _padded_columns(first_weights(weights, options.dimension)[None, :])[0]
        self._gradient = np.zeros_like(self._weights)
        self._average = np.zeros_like(self._weights)
        self._project()
        check_status(self._status, options)

    def feed(self, rows: ArrayLike, labels: ArrayLike, *, order: ArrayLike | None = None) -> Status:
        """Take rows one after the other, or in the order of these positions."""
        x, y = checked_block(rows, labels, self.options.dimension)
        if order is not None:
            index = positions(order, len(x))
            x, y = x[index], y[index]
        u, factor = _unit_rows(x, self.options.row_norm)
        null = np.isnan(factor) | ~np.isfinite(y)
        factor, y = np.where(null, 0.0, factor), np.where(null, 0.0, y)
        rejected_before, start = self.rejected_rows, 0
        while start < len(x) and self._status == Status.OK:
            end = min(len(x), start + self.options.batch - self._open_rows)
            self._add_gradients(u[start:end], factor[start:end], y[start:end])
            self.rejected_rows += int(np.count_nonzero(null[start:end]))
            self._open_rows += end - start
            start = end
            if self._open_rows == self.options.batch:
                self._close_batch()
        check_status(self._status, self.options)
        return Status.REJECTED if self.rejected_rows > rejected_before else Status.OK

    def end_pass(self) -> None:
        """Take the step of the batch that is incomplete, if it has a row."""
        if self._status == Status.OK and self._open_rows:
            self._close_batch()
        check_status(self._status, self.options)

    def final(self) -> FloatArray:
        """End the pass; return the average of the iterates or the last one, without noise."""
        self.end_pass()
        out: FloatArray = self._average / self._averaged if self._averaged else self._weights.copy()
        return out[: self.options.dimension]

    def _add_gradients(self, u: FloatArray, factor: FloatArray, y: FloatArray) -> None:
        with np.errstate(all="ignore"):
            margins = factor * _lane_sums(u * self._weights)
            slopes = self._derivatives(margins, y) * factor
            terms = np.vstack([self._gradient, slopes[:, None] * u])
            self._gradient = np.add.reduce(terms, axis=0)  # row by row: axis 0 of a wide array is sequential

    def _derivatives(self, margins: FloatArray, y: FloatArray) -> FloatArray:
        sign = np.where(y > 0, 1.0, -1.0)
        if self.options.loss == "logistic":
            # libm's exp, as in C; beyond 700 the quotient is below 1e-304 on both sides.
            return -sign / (1.0 + np.array([math.exp(min(z, 700.0)) for z in sign * margins]))
        if self.options.loss == "huber":
            width = self.options.width
            return -sign * np.clip((1.0 + width - sign * margins) / (2.0 * width), 0.0, 1.0)
        return margins - np.clip(y, -self.options.label_bound, self.options.label_bound)

    def _close_batch(self) -> None:
        options, t = self.options, self.steps_taken
        if options.steps is not None and t >= options.steps.size:
            self._status = Status.NO_STEP
            return
        self.steps_taken = t + 1
        eta = self._step_size(t + 1)
        shrink = 1.0 - eta * options.penalty
        rate = eta / options.batch  # the same divisor where the batch has fewer rows
        with np.errstate(all="ignore"):
            self._weights = shrink * self._weights - rate * self._gradient
        self._gradient = np.zeros_like(self._gradient)
        self._open_rows = 0
        self._project()
        if options.average_from and self.steps_taken >= options.average_from:
            self._average = self._average + self._weights
            self._averaged += 1

    def _step_size(self, t: int) -> float:
        if self.options.steps is not None:
            return float(self.options.steps[t - 1])
        assert self.options.step_size is not None
        schedule = self.options.step_size
        return min(schedule.cap, schedule.scale / (schedule.offset + t))

    def _project(self) -> None:
        with np.errstate(all="ignore"):
            norm = math.sqrt(float(_lane_sums((self._weights * self._weights)[None, :])[0]))
        if not math.isfinite(norm):
            self._status = Status.DIVERGED
        elif norm > self.options.radius:
            self._weights = self._weights * (self.options.radius / norm)

"""Risk: a penalised sum of losses, with a bound on what floating point does to its gradient.

A certificate such as |gradient| <= tolerance is a statement about real numbers. So the gradient comes with
`doubt`, a first-order bound on its rounding error, and a certificate counts only with the doubt added.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast.errors import require
from holdfast.learn._problem import Problem
from holdfast.learn._risk.curvature import MOST_DENSE_ROWS, Curvature, Dense, Dual, Products
from holdfast.learn._rows.clipped_blocks import (
    SPARSE_COLUMNS_FROM,
    SPARSE_ROWS_FROM,
    clip_chunk,
    out_of_bounds,
    sign_labels,
)
from holdfast.learn._rows.examples import Chunk, Examples

if TYPE_CHECKING:
    from holdfast._kernel.sparse_rows import SparseRows

BLOCK = 256
"""Rows that are summed at once in double precision; sums of blocks are added in the machine's widest numbers."""
CACHED_ROWS = 2_048
"""Rows for which both products of a gradient are computed while they are in the processor's cache; a multiple of
BLOCK."""
PRECISE_ROWS = 8_192


class SmoothRisk(Protocol):
    """What the solver needs of a risk: gradients with bounds on rounding, approximate second derivatives, constants."""

    @property
    def examples(self) -> Examples:
        """The rows."""

    @property
    def problem(self) -> Problem:
        """The loss, the norm of rows and the radius."""

    @property
    def penalty(self) -> float:
        """The penalty on every weight."""

    @property
    def divisor(self) -> float:
        """The divisor of the sum of losses."""

    @property
    def weights(self) -> int:
        """The number of weights."""

    @property
    def rows(self) -> int:
        """The number of rows; private under add_remove."""

    @property
    def smoothness(self) -> float:
        """The largest eigenvalue that the Hessian can have."""

    @property
    def reach(self) -> float:
        """A bound on the norm of a minimiser."""

    @property
    def patience(self) -> float:
        """The number of steps with an old Hessian that cost about as much as a new Hessian."""

    def of_sample(self, sample: Examples, *, times: int) -> Self:
        """The risk of a sample of rows, each counted `times` times."""

    def value(self, w: Floats) -> float:
        """The risk at w."""

    def gradient(self, w: Floats, *, precise: bool = False) -> tuple[Floats, float]:
        """The gradient, and a bound on the norm of its rounding error."""

    @property
    def dense(self) -> bool:
        """Whether the matrix of second derivatives is small enough to store and to factor."""

    def curvature(self, w: Floats, *, every: int = 1, shift: float = 0.0) -> Curvature:
        """The approximate second derivative plus `shift` on its diagonal, from every `every`-th row."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PenalisedRisk:
    """(1 / divisor) sum of losses + (penalty / 2) |w|^2 + <linear, w>: the base class of all risks."""

    examples: Examples
    problem: Problem
    penalty: float
    divisor: float = 1.0
    linear: Floats | None = None

    def __post_init__(self) -> None:
        require(0 < self.penalty < math.inf, "penalty", self.penalty, "> 0 and finite")
        require(0 < self.divisor < math.inf, "divisor", self.divisor, "> 0 and finite")

    def of_sample(self, sample: Examples, *, times: int) -> Self:
        """The risk of a sample of rows, each counted `times` times."""
        return dataclasses.replace(self, examples=sample, divisor=self.divisor / times)

    @cached_property
    def rows(self) -> int:
        """The number of rows; private under add_remove."""
        return sum(int(labels.size) for _, labels in self.examples.chunks())

    @property
    def smoothness(self) -> float:
        """The largest eigenvalue that the Hessian can have, with as many rows as there are."""
        return self.rows / self.divisor * self.problem.smoothness + self.penalty

    @property
    def reach(self) -> float:
        """No minimiser is farther from the origin (soundness, section 3: |w*| <= L / penalty)."""
        shift = 0.0 if self.linear is None else float(np.linalg.norm(self.linear))
        return (self.rows / self.divisor * self.problem.lipschitz + shift) / self.penalty


@dataclass(frozen=True, kw_only=True, eq=False)
class Risk(PenalisedRisk):
    """The risk of one prediction, over |w| <= problem.radius.

    `penalty` and `divisor` are the risk's own: the problem gives the loss, the norm of rows and the radius.
    Rows beyond the declared norm are clipped and rows that are not finite count as null records.
    """

    @property
    def weights(self) -> int:
        """One for each column."""
        return self.examples.dimension

    @property
    def patience(self) -> float:
        """A Hessian of a hundred columns costs about three gradients; it grows with the smaller of its two sides."""
        return max(6.0, min(self.rows, self.weights) / 16.0)

    @property
    def reach(self) -> float:
        """Within the ball, too."""
        return min(self.problem.radius, super().reach)

    def admissible(self) -> Iterator[Chunk]:
        """Rows within the declared norm, and labels as the loss takes them."""
        prepare = sign_labels if self.is_clean else clip_chunk
        return (prepare(chunk, self.problem) for chunk in self.examples.chunks())

    @cached_property
    def is_clean(self) -> bool:
        """Whether every row already is as declared: one reading, so that the others need not look again."""
        return not any(out_of_bounds(chunk, self.problem).any() for chunk in self.examples.chunks())

    @cached_property
    def _sparse_rows(self) -> tuple[SparseRows, Floats] | None:
        """Rows of mostly zeros and their labels, for the look-up kernel; None for other rows."""
        large = self.rows >= SPARSE_ROWS_FROM and self.weights >= SPARSE_COLUMNS_FROM
        if not (large and self.examples.resident):
            return None
        from holdfast._kernel.sparse_rows import SparseRows  # the way of some tables only

        parts = list(self.admissible())
        gathered = SparseRows.of_blocks([x for x, _ in parts], self.weights)
        return None if gathered is None else (gathered, np.concatenate([y for _, y in parts]))

    def value(self, w: Floats) -> float:
        """The risk, for line searches."""
        total = math.fsum(float(np.sum(self.problem.loss.values(x @ w, y))) for x, y in self.admissible())
        own = 0.0 if self.linear is None else float(self.linear @ w)
        return total / self.divisor + 0.5 * self.penalty * float(w @ w) + own

    def gradient(self, w: Floats, *, precise: bool = False) -> tuple[Floats, float]:
        """The gradient, and a bound on the norm of its rounding error.

        Precise arithmetic is the machine's long double, where it has one: slower, with a smaller doubt.
        """
        total, blocks = self._precise_sum(w) if precise else self._sum(w)
        unit = float(np.finfo(np.longdouble if precise else np.float64).eps) / 2
        loss, norm, length = self.problem.loss, self.problem.norm_bound, float(np.linalg.norm(w))
        # An inner product of d terms errs by d units of |x| |w|, and the slope by its curvature times that; a
        # sum of m terms, in any order, by m units of their absolute sum (Higham 2002, chapter 3).
        slope_error = loss.curvature * ((w.size + 6) * norm * length + 4.0) + 16.0 * loss.slope
        data = self.rows * norm * (slope_error + (BLOCK + blocks + 2) * loss.slope) * 1.01 * unit
        linear = np.zeros_like(w) if self.linear is None else self.linear
        gradient = total / self.divisor + self.penalty * w + linear
        own = (
            float(np.linalg.norm(total)) / self.divisor
            + self.penalty * length
            + float(np.linalg.norm(linear))
        )
        return gradient, data / self.divisor + 4.0 * 2.0**-53 * own

    @property
    def dense(self) -> bool:
        """By the smaller of rows and weights."""
        return min(self.rows, self.weights) <= MOST_DENSE_ROWS

    def curvature(self, w: Floats, *, every: int = 1, shift: float = 0.0) -> Curvature:
        """The second derivative, in single precision: it steers the solver and proves nothing.

        A matrix of the weights, or of the rows where those are fewer; an operator where both are many.
        """
        if not self.dense:
            return Products(
                multiply=lambda along: self._curvature_times(w, along) + (self.penalty + shift) * along
            )
        if self.rows >= self.weights:
            return Dense(matrix=self.hessian(w, every=every) + shift * np.eye(w.size))
        none = np.zeros((0, w.size), dtype=np.float32)
        scaled = (self._scaled_rows(w, x[::every], y[::every]) for x, y in self._admissible_blocks())
        rows = np.concatenate([none, *scaled]) * np.float32(math.sqrt(every / self.divisor))
        return Dual(rows, self.penalty + shift)

    def _scaled_rows(self, w: Floats, x: Floats, y: Floats, kind: Any = np.float32) -> NDArray[Any]:
        """Rows times the roots of their curvatures: A of A^T A."""
        curvatures = self.problem.loss.curvatures(x @ w, y)
        return np.asarray(x.astype(kind) * np.sqrt(curvatures).astype(kind)[:, None])

    def _curvature_times(self, w: Floats, along: Floats) -> Floats:
        """The second derivative of the losses times a vector."""
        total = np.zeros(w.size)
        for x, y in self._admissible_blocks():
            total += (self.problem.loss.curvatures(x @ w, y) * (x @ along)) @ x
        return total / self.divisor

    def hessian(self, w: Floats, *, every: int = 1, precise: bool = False) -> Floats:
        """The second derivative as a matrix, or an estimate from every so many-th row; `precise` in doubles."""
        total = np.zeros((w.size, w.size))
        if self._sparse_rows is not None:
            rows, y = self._sparse_rows
            scales = np.zeros(len(y))
            scales[::every] = np.sqrt(self.problem.loss.curvatures(rows.products(w), y)[::every])
            total = rows.gram(scales, block=BLOCK)
            return np.asarray(total * (every / self.divisor) + self.penalty * np.eye(w.size))
        for block, labels in self._admissible_blocks():
            scaled = self._scaled_rows(
                w, block[::every], labels[::every], np.float64 if precise else np.float32
            )
            total += scaled.T @ scaled  # one matrix with itself: half the work of two
        return np.asarray(total * (every / self.divisor) + self.penalty * np.eye(w.size))

    def _admissible_blocks(self) -> Iterator[Chunk]:
        """Admissible rows, few at a time."""
        for x, y in self.admissible():
            for start in range(0, len(x), CACHED_ROWS):
                yield x[start : start + CACHED_ROWS], y[start : start + CACHED_ROWS]

    def _sum(self, w: Floats) -> tuple[Floats, float]:
        """Blocks by the machine's matrix product, then in long doubles; and what those cost, in float64's units."""
        if self._sparse_rows is not None:  # blocks and their sum in doubles
            rows, y = self._sparse_rows
            size = max(BLOCK, math.isqrt(len(y)))
            total = rows.weighted_sum(self.problem.loss.slopes(rows.products(w), y), block=size)
            return total, size - BLOCK + math.ceil(len(y) / size)
        blocks = [np.zeros((1, w.size))]
        for x, y in self._admissible_blocks():
            blocks.append(_block_sums(self.problem.loss.slopes(x @ w, y), x))
        stacked = np.concatenate(blocks)
        wide = float(np.finfo(np.longdouble).eps / np.finfo(np.float64).eps)
        summed: Any = stacked.astype(np.longdouble).sum(axis=0)
        return summed.astype(np.float64), wide * len(stacked)

    def _precise_sum(self, w: Floats) -> tuple[Floats, float]:
        """All of it in long doubles."""
        wide: Any = w.astype(np.longdouble)
        total, blocks = np.zeros(w.size, dtype=np.longdouble), 0
        for x, y in self.admissible():
            for start in range(0, len(x), PRECISE_ROWS):
                rows: Any = x[start : start + PRECISE_ROWS].astype(np.longdouble)
                labels: Any = y[start : start + PRECISE_ROWS].astype(np.longdouble)
                sums = _block_sums(self.problem.loss.slopes(rows @ wide, labels), rows)
                total, blocks = total + sums.sum(axis=0), blocks + len(sums)
        return total.astype(np.float64), blocks


def _block_sums(slopes: Any, x: Any) -> Any:
    """The sum of slope times row over each block of rows."""
    whole = len(x) // BLOCK * BLOCK
    sums = np.matmul(slopes[:whole].reshape(-1, 1, BLOCK), x[:whole].reshape(-1, BLOCK, x.shape[1]))[:, 0, :]
    return np.concatenate([sums, (slopes[whole:] @ x[whole:])[None, :]])

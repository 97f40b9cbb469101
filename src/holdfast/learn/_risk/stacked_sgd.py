"""StackedSgd: permutation SGD of several predictions at once, in NumPy.

The update is the kernel's, on a (K, d) matrix of weights: W <- (1 - eta penalty) W - (eta / b) sum of slopes x^T, then
the ball of the Frobenius norm. The recursion of soundness, section 1, is about any convex loss of one vector of
weights, so it holds for the matrix with the loss's own slope and curvature. K columns of slopes make each step a matrix
product, for which compiled loops would save nothing.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from holdfast._arrays import Floats
from holdfast._kernel import clip
from holdfast._kernel.options import Status, checked_block, positions
from holdfast.errors import ParameterError
from holdfast.learn._problem import Problem


class StackedSgd:
    """A run of SGD with the interface of the kernel's `SgdRun`; chunks of rows may be of any size."""

    def __init__(
        self, problem: Problem, *, batch: int, steps: Floats, penalty: float, average_from: int = 0
    ) -> None:
        self.steps_taken = 0
        self.rejected_rows = 0
        self._problem, self._batch, self._steps, self._penalty = problem, batch, steps, penalty
        self._average_from = average_from
        self._weights = np.zeros((problem.predictions, problem.dimension))
        self._gradient, self._average = np.zeros_like(self._weights), np.zeros_like(self._weights)
        self._open_rows = 0

    def feed(self, rows: Any, labels: Any, *, order: Any = None) -> Status:
        """Process rows one after the other, or in the given order of positions."""
        x, y = checked_block(rows, labels, self._problem.dimension)
        if order is not None:
            index = positions(order, len(x))
            x, y = x[index], y[index]
        x = clip(x, row_norm=self._problem.row_norm)
        null = ~np.isfinite(y)
        if null.any():
            x[null], y = 0.0, np.where(null, 0.0, y)
        self.rejected_rows += int(np.count_nonzero(null))
        at = 0
        while at < len(x):
            end = min(len(x), at + self._batch - self._open_rows)
            slopes = self._problem.slopes(x[at:end] @ self._weights.T, y[at:end])
            self._gradient += slopes.T @ x[at:end]
            self._open_rows += end - at
            at = end
            if self._open_rows == self._batch:
                self._close_batch()
        return Status.REJECTED if null.any() else Status.OK

    def end_pass(self) -> None:
        """Close the batch that is open, if it has a row."""
        if self._open_rows:
            self._close_batch()

    def final(self) -> Floats:
        """End the pass; the average or the last iterate as one vector, before any noise."""
        self.end_pass()
        count = self.steps_taken - self._average_from + 1
        weights = self._average / count if self._average_from and count > 0 else self._weights
        return np.asarray(weights).ravel().copy()

    def _close_batch(self) -> None:
        if self.steps_taken >= self._steps.size:
            raise ParameterError(
                f"steps has {self._steps.size} entries and one more batch came; give passes * ceil(n / batch)"
            )
        eta = float(self._steps[self.steps_taken])
        self.steps_taken += 1
        # The divisor is the nominal size, however many rows came.
        self._weights = (1.0 - eta * self._penalty) * self._weights - (eta / self._batch) * self._gradient
        self._gradient = np.zeros_like(self._gradient)
        self._open_rows = 0
        length = float(np.linalg.norm(self._weights))
        if not math.isfinite(length):
            raise ParameterError("the iterates are no longer finite: the steps are too large; set radius")
        self._weights = self._weights * min(1.0, self._problem.radius / max(length, 1e-300))
        if self._average_from and self.steps_taken >= self._average_from:
            self._average = self._average + self._weights

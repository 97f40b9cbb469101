"""MulticlassRisk: a penalised sum of losses of K classes, over identifiable weights.

For a softmax, adding one vector to the weights of every class changes no prediction. So weights are W = Q V, with Q a
(K, K - 1) basis of what sums to zero over classes and V of (K - 1) d numbers: W has the norm of V, gradients are as
long as before, and noise inside the objective is drawn in (K - 1) d coordinates instead of K d. The minimiser of a
penalised risk sums to zero by itself. For one-vs-all Q is the identity.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from holdfast._arrays import Floats
from holdfast.learn._problem.losses import Multiclass, Softmax
from holdfast.learn._risk.curvature import Curvature, Dense, Products
from holdfast.learn._risk.risk import PenalisedRisk
from holdfast.learn._rows.clipped_blocks import ClippedBlocks
from holdfast.learn._rows.summation import BLOCK, UNIT_ROUNDOFF

DENSE_WEIGHTS = 1_500
"""The most weights for which the Hessian is computed as a matrix, which takes K^2 / 2 passes over the rows."""


def contrasts(classes: int) -> Floats:
    """Q: orthonormal columns that each sum to zero (Helmert's, scaled).

    >>> basis = contrasts(3)
    >>> (basis.T @ basis).round(12).tolist(), basis.sum(axis=0).round(12).tolist()
    ([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0])
    """
    columns = np.zeros((classes, classes - 1))
    for k in range(1, classes):
        columns[:k, k - 1], columns[k, k - 1] = 1.0, -float(k)
    return np.asarray(columns / np.linalg.norm(columns, axis=0))


@dataclass(frozen=True, kw_only=True, eq=False)
class MulticlassRisk(PenalisedRisk):
    """(1 / divisor) sum of losses + (penalty / 2) |V|^2 + <linear, V>, V as a vector of (K - 1) d or K d numbers."""

    loss: Multiclass
    whole: bool = False
    """Whether all K d weights are used for the softmax, too."""

    @property
    def weights(self) -> int:
        """The number of weights: d for each column of Q."""
        return int(self._basis.shape[1]) * self.problem.dimension

    @property
    def patience(self) -> float:
        """A Hessian costs as much as K d / 8 gradients or so."""
        return 3.0 + self.weights / 8.0

    def value(self, w: Floats) -> float:
        """The risk, for line searches."""
        class_weights = self.of_classes(w)
        total = math.fsum(
            float(np.sum(self.loss.values(x @ class_weights.T, y))) for x, y in self._passes.blocks()
        )
        own = 0.0 if self.linear is None else float(self.linear @ w)
        return total / self.divisor + 0.5 * self.penalty * float(w @ w) + own

    def gradient(self, w: Floats, *, precise: bool = False) -> tuple[Floats, float]:
        """The gradient, and a first-order bound on the norm of its rounding error; `precise` is no better here."""
        class_weights, total, blocks = self.of_classes(w), self._zeros(np.longdouble), 0
        for x, y in self._passes.blocks():
            total, blocks = total + self.loss.slopes(x @ class_weights.T, y).T @ x, blocks + 1
        data = (self._basis.T @ total.astype(np.float64)).ravel()
        linear = np.zeros_like(w) if self.linear is None else self.linear
        sizes = (float(np.linalg.norm(part)) for part in (data / self.divisor, self.penalty * w, linear))
        return data / self.divisor + self.penalty * w + linear, self._doubt(w, blocks, sum(sizes))

    @property
    def dense(self) -> bool:
        """Up to a number of weights: one row has a block for each pair of classes."""
        return self.weights <= DENSE_WEIGHTS

    def curvature(self, w: Floats, *, every: int = 1, shift: float = 0.0) -> Curvature:
        """The second derivative, as a matrix of the weights or as an operator."""
        if self.dense:
            return Dense(matrix=self.hessian(w, every=every) + shift * np.eye(self.weights))
        return Products(
            multiply=lambda along: self._curvature_times(w, along) + (self.penalty + shift) * along
        )

    def _curvature_times(self, w: Floats, along: Floats) -> Floats:
        """The second derivative of the losses times a vector."""
        class_weights, direction, total = self.of_classes(w), self.of_classes(along), self._zeros(np.float64)
        for x, y in self._passes.blocks():
            own, shared = self.loss.second(x @ class_weights.T, y)
            change = x @ direction.T
            total += (own * change - shared * np.sum(shared * change, axis=1, keepdims=True)).T @ x
        return np.asarray((self._basis.T @ total).ravel() / self.divisor)

    def hessian(self, w: Floats, *, every: int = 1, precise: bool = False) -> Floats:
        """The second derivative from every so many-th row, in single precision: it proves nothing."""
        kind: Any = np.float64 if precise else np.float32
        class_weights, basis = self.of_classes(w), self._basis.astype(kind)
        width, several = self.problem.dimension, self._basis.shape[1]
        total = np.zeros((several, width, several, width))
        for block, labels in self._passes.blocks():
            x = block[::every].astype(kind)
            second = self.loss.second(block[::every] @ class_weights.T, labels[::every])
            own, shared = (part.astype(kind) for part in second)
            means = shared @ basis
            for a in range(several):
                for b in range(a, several):
                    # Q^T (diag own - shared shared^T) Q at (a, b), times x x^T.
                    scale = own @ (basis[:, a] * basis[:, b]) - means[:, a] * means[:, b]
                    total[a, :, b, :] += (x * scale[:, None]).T @ x
        for a in range(several):
            for b in range(a):
                total[a, :, b, :] = total[b, :, a, :].T
        data_part = total.reshape(self.weights, self.weights) * (every / self.divisor)
        return np.asarray(data_part + self.penalty * np.eye(self.weights))

    def of_classes(self, w: Floats) -> Floats:
        """W = Q V: a row of weights for each class."""
        return np.asarray(self._basis @ w.reshape(-1, self.problem.dimension))

    def of_weights(self, weights: Floats) -> Floats:
        """V of flat weights W: Q^T W, for weights whose classes sum to zero where the loss cannot tell their sum."""
        return np.asarray((self._basis.T @ weights.reshape(-1, self.problem.dimension)).ravel())

    @cached_property
    def _passes(self) -> ClippedBlocks:
        return ClippedBlocks(self.examples, self.problem)

    @cached_property
    def _basis(self) -> Floats:
        classes = self.loss.classes
        return np.eye(classes) if self.whole or not isinstance(self.loss, Softmax) else contrasts(classes)

    def _zeros(self, dtype: Any) -> Any:
        return np.zeros((self.loss.classes, self.problem.dimension), dtype=dtype)

    def _doubt(self, w: Floats, blocks: int, own: float) -> float:
        """As in Risk: inner products of d terms, and of K with the basis; slopes; sums of rows (Higham 2002, ch. 3)."""
        classes, norm, length = self.loss.classes, self.problem.norm_bound, float(np.linalg.norm(w))
        # Slopes move by at most curvature |z - z'|; z errs by d + K^1.5 units of |x| |W|, exponentials by two more.
        # K slopes of 8 units each, as of one-vs-all, err together by 8 sqrt(K) <= K + 16.
        slopes = (
            self.loss.curvature * (self.problem.dimension + classes**1.5 + 8.0) * norm * length
            + classes
            + 16.0
        )
        wide = float(np.finfo(np.longdouble).eps / np.finfo(np.float64).eps)
        summed = BLOCK + wide * (blocks + 1) + classes**1.5 + 4.0
        data = self.rows / self.divisor * norm * (slopes + summed * self.loss.slope) * 1.01 * UNIT_ROUNDOFF
        return float(data + 4.0 * UNIT_ROUNDOFF * own)

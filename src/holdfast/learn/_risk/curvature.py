"""Curvature: second derivatives with which the solver solves linear systems. They guide it and prove nothing.

A Hessian A^T A + c I of n rows and d weights is as easy to invert as the smaller of its two Gram matrices: d by d, or
for n < d the n by n matrix A A^T + c I (Woodbury). Where both are too large to keep, conjugate gradients need products.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from holdfast._arrays import Floats

MOST_DENSE_ROWS = 6_000
"""The largest matrices that are stored: 300 MB; beyond, conjugate gradients take less work."""
FORCING_TOLERANCE = 1e-3
"""The relative residual to which conjugate gradients solve a Newton system: each step then gains three digits."""
MOST_PRODUCTS = 500
"""The most products for one system; a less exact step still goes downhill."""


class Curvature(Protocol):
    """An approximate second derivative at one point."""

    def solve(self, vector: Floats) -> Floats:
        """hessian^-1 vector, approximately."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Dense:
    """A d by d matrix, factored once for all the steps that it serves."""

    matrix: Floats
    _factor: list[Any] = field(default_factory=list)

    def solve(self, vector: Floats) -> Floats:
        """By Cholesky's factors."""
        if not self._factor:
            self._factor.append(cho_factor(self.matrix, lower=True, check_finite=False))
        return np.asarray(cho_solve(self._factor[0], vector, check_finite=False))


class Dual:
    """(A^T A + c I)^-1 v = (v - A^T (A A^T + c I)^-1 A v) / c, for fewer rows than weights; A in single precision."""

    def __init__(self, rows: NDArray[np.float32], shift: float) -> None:
        self._rows, self._shift = rows, shift
        gram = (rows @ rows.T).astype(np.float64)
        gram[np.diag_indices_from(gram)] += shift
        self._inner = Dense(matrix=gram)

    def solve(self, vector: Floats) -> Floats:
        """By the smaller matrix."""
        seen = self._inner.solve((self._rows @ vector.astype(np.float32)).astype(np.float64))
        return np.asarray((vector - self._rows.T @ seen.astype(np.float32)) / self._shift)


@dataclass(frozen=True, kw_only=True, eq=False)
class Products:
    """A second derivative that can only be multiplied with."""

    multiply: Callable[[Floats], Floats]

    def solve(self, vector: Floats) -> Floats:
        """Conjugate gradients from 0 (Nocedal and Wright 2006, algorithm 5.2)."""
        solution, left = np.zeros_like(vector), vector.copy()
        along, square = left.copy(), float(left @ left)
        enough = FORCING_TOLERANCE**2 * square
        for _ in range(MOST_PRODUCTS):
            if square <= enough:
                break
            product = self.multiply(along)
            share = square / float(along @ product)
            solution, left = solution + share * along, left - share * product
            square, before = float(left @ left), square
            along = left + square / before * along
        return solution

"""A private second moment of clipped rows, and the whitening that it gives (soundness, section 20).

Released: the sum of x x^T, or its diagonal, with Gaussian noise. Everything after the release, the floor of the
eigenvalues and the inverse root included, is post-processing. Rows are whitened first and then clipped: a row's
norm after whitening is bounded by that clip alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from holdfast.learn.problem import Problem
from holdfast.learn.risk.descent import DescentSchedule, Preconditioner, Whitener, gaussian_for
from holdfast.learn.rows.examples import ClippedBlocks, rounding_of_sum
from holdfast.privacy.account import Account
from holdfast.privacy.adjacency import Adjacency
from holdfast.privacy.mechanisms.mechanism import Arithmetic

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FullWhitener:
    """P = Q diag(root) Q^T."""

    basis: Floats
    root: Floats
    effective_dimension: float

    @property
    def size(self) -> float:
        """The largest eigenvalue."""
        return float(np.max(self.root))

    def forward(self, vector: Floats) -> Floats:
        """P is symmetric."""
        return np.asarray(self.basis @ (self.root * (self.basis.T @ vector)))

    backward = forward

    def norms(self, rows: Floats) -> Floats:
        """|diag(root) Q^T x|: the basis has no effect on lengths."""
        turned = rows @ (self.basis * self.root)
        return np.asarray(np.sqrt(np.einsum("ij,ij->i", turned, turned)))

    def form(self) -> Floats:
        """Q diag(root^2) Q^T."""
        return np.asarray((self.basis * self.root**2) @ self.basis.T)

    def shrunk(self, vector: Floats, strength: float) -> Floats:
        """In the eigenbasis."""
        return np.asarray(self.basis @ ((self.basis.T @ vector) / (1.0 + strength * self.root**2)))


@dataclass(frozen=True, eq=False)
class DiagonalWhitener:
    """P = diag(root); all ones for no whitening."""

    root: Floats
    effective_dimension: float

    @property
    def size(self) -> float:
        """The largest entry."""
        return float(np.max(self.root))

    def forward(self, vector: Floats) -> Floats:
        """Entry by entry."""
        return self.root * vector

    backward = forward

    def norms(self, rows: Floats) -> Floats:
        """A weighted length."""
        return np.asarray(np.sqrt((rows * rows) @ self.root**2))

    def form(self) -> Floats:
        """The diagonal root^2."""
        return self.root**2

    def shrunk(self, vector: Floats, strength: float) -> Floats:
        """Entry by entry."""
        return np.asarray(vector / (1.0 + strength * self.root**2))


def upper_triangle(symmetric: Floats) -> Floats:
    """The diagonal, then sqrt(2) times the upper triangle: a vector with the matrix's Frobenius norm.

    Noise of one deviation on it has, back in the matrix, deviation sigma on the diagonal and sigma / sqrt(2)
    off it (soundness, section 20).

    >>> round(float(np.linalg.norm(upper_triangle(np.array([[1.0, 2.0], [2.0, 4.0]])))), 12)
    5.0
    """
    above = np.triu_indices(symmetric.shape[0], k=1)
    return np.concatenate([np.diag(symmetric), np.sqrt(2.0) * symmetric[above]])


def from_upper_triangle(packed: Floats, dimension: int) -> Floats:
    """The symmetric matrix that `upper_triangle` packed."""
    matrix = np.diag(packed[:dimension])
    above = np.triu_indices(dimension, k=1)
    matrix[above] = packed[dimension:] / np.sqrt(2.0)
    matrix.T[above] = matrix[above]
    return matrix


def second_moment_sensitivity(adjacency: Adjacency, *, row_norm: float, rows_per_unit: int = 1) -> float:
    """How far one unit moves the sum of x x^T in Frobenius norm, or its diagonal in L2.

    |x x^T|_F = |x|^2 <= X^2; under replace |x x^T - z z^T|_F^2 = |x|^4 + |z|^4 - 2 <x, z>^2 <= 2 X^4. The
    diagonal is part of the matrix, so its norm is no larger. Sums over c rows: c times as much, since sums of
    squares, too, have an inner product >= 0.

    >>> round(second_moment_sensitivity(Adjacency.replace, row_norm=1.0), 5)
    1.41421
    """
    return math.sqrt(adjacency.gradient_factor) * rows_per_unit * row_norm**2


def second_moment(passes: ClippedBlocks, *, dimension: int, kind: Preconditioner) -> Floats:
    """The sum, packed so that its Euclidean norm is the matrix's Frobenius norm; private."""
    if passes.engine is not None:
        return passes.engine.gram("diagonal") if kind == "diagonal" else upper_triangle(passes.engine.gram())
    if kind == "diagonal":
        squares = np.zeros(dimension)
        for rows, _ in passes.blocks():
            squares += np.einsum("ij,ij->j", rows, rows)
        return squares
    total = np.zeros((dimension, dimension))
    for rows, _ in passes.blocks():
        total += rows.T @ rows
    return upper_triangle(total)


def whitener(
    released: Floats, *, kind: Preconditioner, dimension: int, noise_std: float, ridge: float
) -> Whitener:
    """(M + ridge)^-1/2, its eigenvalues floored at 0, from a noisy M = mean of x x^T; post-processing.

    `noise_std` is that of the diagonal of M; `ridge` counts in units of the noise's spectral norm, which for a
    symmetric Gaussian matrix of that scaling is about sqrt(2 d) noise_std, and about 3 noise_std for a diagonal.
    """
    if kind == "diagonal":
        floor = 3.0 * ridge * noise_std
        values = np.maximum(released, 0.0)
        return DiagonalWhitener(1.0 / np.sqrt(values + floor), float(np.sum(values / (values + floor))))
    floor = ridge * math.sqrt(2.0 * dimension) * noise_std
    eigenvalues, basis = np.linalg.eigh(from_upper_triangle(released, dimension))
    values = np.maximum(eigenvalues, 0.0)
    return FullWhitener(basis, 1.0 / np.sqrt(values + floor), float(np.sum(values / (values + floor))))


def no_whitening(dimension: int) -> Whitener:
    """Rows as they are."""
    return DiagonalWhitener(np.ones(dimension), float(dimension))


def release_whitener(
    passes: ClippedBlocks,
    problem: Problem,
    setting: DescentSchedule,
    account: Account,
    *,
    square: Fraction,
    count: int,
    most: int,
    arithmetic: Arithmetic,
    label: str,
) -> Whitener:
    """Release the second moment at the schedule's share of mu^2 = `square`; the rest is post-processing.

    `count` is public and divides; `most` bounds the rows, for the rounding of the sum (soundness, section 20).
    """
    bound = problem.norm_bound
    sensitivity = second_moment_sensitivity(
        account.adjacency, row_norm=bound, rows_per_unit=account.unit.max_rows
    )
    mechanism = gaussian_for(
        square * Fraction(setting.share),
        l2_sensitivity=sensitivity + 2.0 * most * bound**2 * rounding_of_sum(most),
        adjacency=account.adjacency,
        arithmetic=arithmetic,
    )
    moment = second_moment(passes, dimension=problem.dimension, kind=setting.preconditioner)
    released = account.release(mechanism, moment, label=label)
    return whitener(
        np.asarray(released, dtype=np.float64) / count,
        kind=setting.preconditioner,
        dimension=problem.dimension,
        noise_std=float(mechanism.sigma) / count,
        ridge=setting.ridge,
    )

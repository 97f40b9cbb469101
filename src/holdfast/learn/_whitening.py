"""A private second moment of clipped rows, and the whitening of rows that it gives (soundness, section 20).

Released: the sum of x x^T, or a part of it, with Gaussian noise. Everything after the release, the floor of the
eigenvalues and the inverse root included, is post-processing. Whatever a whitened row's length, its gradient is
clipped afterwards (`risk/descent.py`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal

import numpy as np

from holdfast._arrays import Floats
from holdfast.data._clipped_rows import NORM_SLACK
from holdfast.learn._problem import Problem
from holdfast.learn._risk.descent import DescentSchedule, Preconditioner, Whitener, gaussian_for
from holdfast.learn._rows.clipped_blocks import ClippedBlocks
from holdfast.learn._rows.summation import rounding_of_sum
from holdfast.privacy._account import Account
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._mechanisms.mechanism import Arithmetic

Moment = Literal["full", "diagonal", "arrow"]


@dataclass(frozen=True, eq=False)
class Standardisation:
    """S x: `shift` times the last, constant column is subtracted from every column, then it is multiplied by `scale`.

    Without a constant column, shift is 0. The map is linear in the row, so weights of S x are weights of x.
    """

    scale: Floats
    shift: Floats

    @property
    def matrix(self) -> Floats:
        """S."""
        product = np.diag(self.scale)
        product[:, -1] -= self.scale * self.shift
        return product

    def form(self) -> Floats:
        """S^T S."""
        return np.asarray(self.matrix.T @ self.matrix)

    @property
    def inverse_size(self) -> float:
        """A bound on the spectral norm of the inverse, (I + shift e^T) diag(1 / scale)."""
        shifted = self.shift / self.scale[-1]
        return float(np.max(1.0 / self.scale) + np.sqrt(shifted @ shifted))

    def norms(self, rows: Floats) -> Floats:
        """|S x| for each row."""
        standardised = (rows - rows[:, -1:] * self.shift) * self.scale
        return np.asarray(np.sqrt(np.einsum("ij,ij->i", standardised, standardised)))


@dataclass(frozen=True, eq=False)
class FullWhitener:
    """P = Q diag(root) Q^T S, a dense matrix; `inverse_size` bounds the spectral norm of its inverse."""

    matrix: Floats
    inverse_size: float
    effective_dimension: float

    @cached_property
    def size(self) -> float:
        """sqrt(|P|_1 |P|_inf), which is no less than the spectral norm."""
        entries = np.abs(self.matrix)
        return float(np.sqrt(np.max(entries.sum(axis=0)) * np.max(entries.sum(axis=1))))

    def forward(self, vector: Floats) -> Floats:
        """P v."""
        return np.asarray(self.matrix @ vector)

    def backward(self, vector: Floats) -> Floats:
        """P^T v."""
        return np.asarray(self.matrix.T @ vector)

    def norms(self, rows: Floats) -> Floats:
        """|P x|."""
        whitened = rows @ self.matrix.T
        return np.asarray(np.sqrt(np.einsum("ij,ij->i", whitened, whitened)))

    def form(self) -> Floats:
        """P^T P."""
        return np.asarray(self.matrix.T @ self.matrix)

    def shrunk(self, vector: Floats, strengths: Floats) -> Floats:
        """The solution of the linear system; the vector itself where there is no penalty."""
        if not strengths.any():
            return vector
        shape = np.eye(len(vector)) + (self.matrix * strengths) @ self.matrix.T
        return np.asarray(np.linalg.solve(shape, vector))


@dataclass(frozen=True, eq=False)
class DiagonalWhitener:
    """P = diag(root); all ones for no whitening."""

    root: Floats
    effective_dimension: float

    @property
    def size(self) -> float:
        """The largest entry of `root`."""
        return float(np.max(self.root))

    @property
    def inverse_size(self) -> float:
        """One over the smallest entry of `root`."""
        return float(1.0 / np.min(self.root))

    def forward(self, vector: Floats) -> Floats:
        """P v, entry by entry."""
        return self.root * vector

    backward = forward

    def norms(self, rows: Floats) -> Floats:
        """|P x|."""
        return np.asarray(np.sqrt((rows * rows) @ self.root**2))

    def form(self) -> Floats:
        """The diagonal root^2."""
        return self.root**2

    def shrunk(self, vector: Floats, strengths: Floats) -> Floats:
        """The solution of the diagonal system."""
        return np.asarray(vector / (1.0 + strengths * self.root**2))


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
    """The sensitivity of the sum of x x^T in Frobenius norm, and of its diagonal in L2.

    |x x^T|_F = |x|^2 <= X^2; under replace |x x^T - z z^T|_F^2 = |x|^4 + |z|^4 - 2 <x, z>^2 <= 2 X^4. The
    diagonal is part of the matrix, so its norm is no larger. Sums over c rows: c times as much, since sums of
    squares, too, have an inner product >= 0.

    >>> round(second_moment_sensitivity(Adjacency.replace, row_norm=1.0), 5)
    1.41421
    """
    return math.sqrt(adjacency.gradient_factor) * rows_per_unit * row_norm**2


def second_moment(passes: ClippedBlocks, *, dimension: int, kind: Moment, clip: Clip | None = None) -> Floats:
    """The sum of x x^T as a vector whose Euclidean norm is the matrix's Frobenius norm, or a part of it; private.

    "arrow" is the diagonal and the products with the last column. With `clip`, of rows t x where |S t x| <= R.
    """
    if passes.engine is not None:
        if clip is None:
            return packed_moment(passes.engine.gram(kind), kind)
        return packed_moment(passes.engine.gram(kind, form=clip.standard.form(), norm=clip.norm), kind)
    if kind == "full":
        total = np.zeros((dimension, dimension))
        for rows, _ in passes.blocks():
            some = rows if clip is None else rows * clip.scales(rows)[:, None]
            total += some.T @ some
        return upper_triangle(total)
    squares, products = np.zeros(dimension), np.zeros(dimension)
    for rows, _ in passes.blocks():
        squares += np.einsum("ij,ij->j", rows, rows)
        if kind == "arrow":
            products += rows.T @ rows[:, -1]
    return squares if kind == "diagonal" else np.concatenate([squares, np.sqrt(2.0) * products[:-1]])


def packed_moment(gram: Floats, kind: Moment) -> Floats:
    """The vector that `second_moment` returns, from a matrix or its diagonal."""
    if kind == "arrow":
        return np.concatenate([np.diag(gram), np.sqrt(2.0) * gram[:-1, -1]])
    return gram if kind == "diagonal" else upper_triangle(gram)


@dataclass(frozen=True, eq=False)
class Clip:
    """Shortens rows that a public map makes longer than `norm`."""

    standard: Standardisation
    norm: float

    def scales(self, rows: Floats) -> Floats:
        """min(1, R / |S x|) for each row."""
        return np.asarray(self.norm / np.maximum(self.standard.norms(rows), self.norm))


def standard_of(
    arrow: Floats, *, dimension: int, noise_std: float, floor: float, centred: bool
) -> Standardisation:
    """The map to columns of mean 0 and variance 1, by a noisy "arrow" of the mean of x x^T; post-processing.

    Variances are floored at 0 and increased by `floor` times three deviations of their noise, so that a column whose
    spread is hidden by noise stays small. The constant column becomes 1.
    """
    squares, shift = arrow[:dimension], np.zeros(dimension)
    raised = 3.0 * floor * noise_std
    if not centred:
        return Standardisation(1.0 / np.sqrt(np.maximum(squares, 0.0) + raised), shift)
    constant = max(float(squares[-1]), noise_std)
    shift[:-1] = arrow[dimension:] / np.sqrt(2.0) / constant
    variances = np.maximum(squares - shift**2 * constant, 0.0) + raised
    variances[-1] = constant
    return Standardisation(1.0 / np.sqrt(variances), shift)


def whitener(
    released: Floats,
    *,
    kind: Preconditioner,
    dimension: int,
    noise_std: float,
    ridge: float,
    standard: Standardisation | None = None,
) -> Whitener:
    """(M + ridge)^-1/2, its eigenvalues floored at 0, from a noisy M = mean of x x^T; post-processing.

    `noise_std` is that of the diagonal of M; `ridge` counts in units of the noise's spectral norm, which for a
    symmetric Gaussian matrix of that scaling is about sqrt(2 d) noise_std, and about 3 noise_std for a diagonal.
    Where M is of rows S x, rows are mapped by S first.
    """
    if kind == "diagonal":
        floor = 3.0 * ridge * noise_std
        values = np.maximum(released, 0.0)
        return DiagonalWhitener(1.0 / np.sqrt(values + floor), float(np.sum(values / (values + floor))))
    floor = ridge * math.sqrt(2.0 * dimension) * noise_std
    eigenvalues, basis = np.linalg.eigh(from_upper_triangle(released, dimension))
    values = np.maximum(eigenvalues, 0.0)
    # Scaled so that no direction has a mean square above 1: then the same step suits all tables.
    root = np.sqrt((float(values[-1]) + floor) / (max(float(values[-1]), floor) * (values + floor)))
    rotated = (basis * root) @ basis.T
    return FullWhitener(
        matrix=rotated if standard is None else rotated @ standard.matrix,
        inverse_size=float(1.0 / np.min(root)) * (1.0 if standard is None else standard.inverse_size),
        effective_dimension=float(np.sum(values * root**2)),
    )


def no_whitening(dimension: int) -> Whitener:
    """The identity map."""
    return DiagonalWhitener(np.ones(dimension), float(dimension))


@dataclass(frozen=True, kw_only=True, eq=False)
class MomentReleases:
    """The arguments of every release of a second moment; `count` is the public divisor, `most` bounds the rows."""

    passes: ClippedBlocks
    problem: Problem
    account: Account
    square: Fraction
    count: int
    most: int
    arithmetic: Arithmetic
    label: str

    def of(self, kind: Moment, share: float, clip: Clip | None = None) -> tuple[Floats, float]:
        """The noisy mean of x x^T, packed, and the deviation of its diagonal's noise, at a share of mu^2.

        With a clip, of S x, which is no longer than the clip (soundness, section 20).
        """
        bound, standard = self.problem.norm_bound, None if clip is None else clip.standard
        reach = bound if clip is None else clip.norm * (1.0 + NORM_SLACK)
        sensitivity = second_moment_sensitivity(
            self.account.adjacency, row_norm=reach, rows_per_unit=self.account.unit.max_rows
        )
        # Sums are rounded in the rows' own units, and S enlarges that twice.
        enlarged = 1.0 if standard is None else float(np.linalg.norm(standard.matrix)) ** 2
        error = 2.0 * self.most * bound**2 * enlarged * rounding_of_sum(self.most)
        mechanism = gaussian_for(
            self.square * Fraction(share),
            l2_sensitivity=sensitivity + error,
            adjacency=self.account.adjacency,
            arithmetic=self.arithmetic,
        )
        moment = second_moment(self.passes, dimension=self.problem.dimension, kind=kind, clip=clip)
        if standard is not None:
            inner = from_upper_triangle(moment, self.problem.dimension)
            moment = upper_triangle(standard.matrix @ inner @ standard.matrix.T)
        released = self.account.release(mechanism, moment, label=self.label)
        return np.asarray(released, dtype=np.float64) / self.count, float(mechanism.sigma) / self.count


def release_whitener(releases: MomentReleases, setting: DescentSchedule) -> Whitener:
    """Release the moments that the schedule needs, at its shares of mu^2; the rest is post-processing.

    A full whitening takes two releases: of means and squares, from which every column gets its unit and its origin
    whatever its declared range, and of the second moment in those units, in which all columns have a similar size.
    """
    dimension = releases.problem.dimension
    if setting.preconditioner == "diagonal":
        released, noise = releases.of("diagonal", setting.unit_share)
        return whitener(released, kind="diagonal", dimension=dimension, noise_std=noise, ridge=setting.ridge)
    centred = releases.problem.constant > 0
    first, noise = releases.of("arrow" if centred else "diagonal", setting.unit_share)
    standard = standard_of(first, dimension=dimension, noise_std=noise, floor=setting.floor, centred=centred)
    # Typical rows have this length in their new units: a function of released numbers.
    seen = np.maximum(1.0 - 3.0 * setting.floor * noise * standard.scale**2, 0.0)
    clip = Clip(standard, math.sqrt(max(1.0, float(seen.sum()))))
    released, noise = releases.of("full", setting.share, clip)
    return whitener(
        released, kind="full", dimension=dimension, noise_std=noise, ridge=setting.ridge, standard=standard
    )

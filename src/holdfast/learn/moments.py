"""Second moments of clipped rows: what linear regression needs of the data, in one pass."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import ParameterError
from holdfast.learn.examples import Examples
from holdfast.learn.losses import Squared
from holdfast.learn.problem import Problem

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Moments:
    """Sums over all rows; private."""

    gram: Floats
    """Sum of x x^T."""
    cross: Floats
    """Sum of y x, with the labels clipped."""


def second_moments(examples: Examples, *, target_bound: float) -> Moments:
    """Sum x x^T and y x over all rows, labels clipped to the bound; zeros for an empty table."""
    gram = np.zeros((examples.dimension, examples.dimension))
    cross = np.zeros(examples.dimension)
    for features, labels in examples.chunks():
        gram += features.T @ features
        cross += features.T @ np.clip(labels, -target_bound, target_bound)
    return Moments(gram=gram, cross=cross)


def squared_loss(problem: Problem, *, method: str) -> Squared:
    """The problem's squared loss; another one is refused."""
    loss = problem.loss
    if not isinstance(loss, Squared):
        raise ParameterError(
            f"{method} solves least squares, got the {loss.name} loss; use loss=Squared(target_bound=...) or "
            "another method"
        )
    return loss


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

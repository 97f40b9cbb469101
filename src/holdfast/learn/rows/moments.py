"""Second moments of clipped rows: what linear regression needs of the data, in one pass."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast.data.table import CHUNK_ROWS
from holdfast.errors import require
from holdfast.learn.problem import Problem
from holdfast.learn.problem.losses import Squared
from holdfast.learn.rows.clipped_blocks import UNIT_ROUNDOFF, clipped
from holdfast.learn.rows.engine_sums import engine_sums
from holdfast.learn.rows.examples import Examples

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Moments:
    """Sums over all rows; private."""

    gram: Floats
    """Sum of x x^T."""
    cross: Floats
    """Sum of y x, with the labels clipped."""


def second_moments(examples: Examples, problem: Problem, *, target_bound: float) -> Moments:
    """Sum x x^T and y x over all rows, rows and labels within their bounds; zeros for an empty table."""
    engine = engine_sums(examples, problem)
    if engine is not None:
        return Moments(gram=engine.gram(), cross=engine.cross(target_bound))
    gram = np.zeros((examples.dimension, examples.dimension))
    cross = np.zeros(examples.dimension)
    for features, labels in (clipped(chunk, problem) for chunk in examples.chunks()):
        gram += features.T @ features
        cross += features.T @ np.clip(labels, -target_bound, target_bound)
    return Moments(gram=gram, cross=cross)


def summation_error(count: int) -> float:
    """How far a sum of that many products may be from the exact one, relative to the sum of their sizes.

    One chunk of at most `CHUNK_ROWS` rows is summed at once, then chunks of at least 1024 rows are added up;
    the last one may be shorter. The 16 covers the products' own rounding.

    >>> summation_error(1) < 1e-14 < summation_error(10**6) < 1e-10
    True
    """
    return 2.0 * UNIT_ROUNDOFF * min(count + 16, CHUNK_ROWS + count / 1024 + 16)


def largest_count(examples: Examples, count_bound: int | None) -> tuple[int, tuple[str, ...]]:
    """A public bound on the number of rows, for rounding errors, and what it assumes.

    The public count itself where rows are the units and their number is public; else the declared bound, else
    16 times the public count, which is generous.
    """
    if examples.adjacency.count_is_public and examples.unit.max_rows == 1:
        return examples.public_count, ()
    most = 16 * examples.public_count if count_bound is None else count_bound
    require(most >= 1, "count_bound", most, ">= 1")
    return most, (f"the table has at most {most} rows",)


def squared_loss(problem: Problem) -> Squared:
    """The problem's loss, of which its method has declared that it is squared."""
    loss = problem.loss
    require(isinstance(loss, Squared), "loss", loss.name, "squared")
    assert isinstance(loss, Squared), "required above"
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

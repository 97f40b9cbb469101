"""The design matrix of a linear model: rows clipped to the declared norm, and a constant column for the intercept."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast.data._clipped_rows import clip_rows

INTERCEPT_SHARE = 0.5
"""The constant column's value as a share of the row norm. It adds 12 % to the norm that sensitivities are computed
from."""
BLOCK_ROWS = 4_096


def resolve_row_norm(row_norm: float | None, longest: float | None, *, intervals: bool) -> float:
    """The norm that rows are clipped to: the given one; by default 1, or, for intervals, that of the longest row.

    >>> resolve_row_norm(None, 2.0, intervals=True), resolve_row_norm(None, 2.0, intervals=False)
    (2.0, 1.0)
    """
    if row_norm is not None:
        return row_norm
    return longest if intervals and longest is not None else 1.0


def intercept_value(row_norm: float, *, fit_intercept: bool) -> float:
    """The value of the constant column, in proportion to the row norm so that units do not matter; 0 for no column."""
    return INTERCEPT_SHARE * row_norm if fit_intercept else 0.0


def design_norm(row_norm: float, *, fit_intercept: bool) -> float:
    """The largest norm of a row together with its constant, which sensitivities use (soundness, section 0); rounded up.

    >>> design_norm(1.0, fit_intercept=True) >= math.sqrt(1.25)
    True
    """
    constant = intercept_value(row_norm, fit_intercept=fit_intercept)
    return math.nextafter(math.hypot(row_norm, constant), math.inf) if constant else row_norm


def design(X: Any, *, row_norm: float, constant: float) -> Floats:
    """The clipped rows of a dense or sparse matrix with the constant column, in one array and little other memory.

    >>> design(np.array([[0.0, 4.0], [0.3, 0.4]]), row_norm=1.0, constant=0.5).tolist()
    [[0.0, 1.0, 0.5], [0.3, 0.4, 0.5]]
    """
    rows, columns = X.shape
    matrix = np.empty((rows, columns + (constant != 0)))
    matrix[:, columns:] = constant
    for start in range(0, rows, BLOCK_ROWS):
        part = X[start : start + BLOCK_ROWS]
        part = np.asarray(part.toarray() if hasattr(part, "toarray") else part, dtype=np.float64)
        matrix[start : start + BLOCK_ROWS, :columns] = part
        too_long = ~_certainly_within(part, row_norm)
        if too_long.any():
            matrix[start : start + BLOCK_ROWS, :columns][too_long] = clip_rows(part[too_long], row_norm)
    return matrix


def _certainly_within(rows: Floats, row_norm: float) -> NDArray[np.bool_]:
    """Which rows are certainly no longer than row_norm (1 + 1e-9), by a quick test."""
    if not 1e-100 < row_norm < 1e100:
        return np.zeros(len(rows), dtype=np.bool_)
    # A tenth of the slack in the norm: the sum of squares has a relative error below 1e-10 for up to a million columns.
    with np.errstate(over="ignore"):
        return np.asarray(np.einsum("ij,ij->i", rows, rows) <= row_norm**2 * (1.0 + 2e-10))

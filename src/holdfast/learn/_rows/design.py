"""The matrix of features that a linear model meets: rows clipped to the declared norm, and a constant column."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast.data._clipped_rows import clip_rows

INTERCEPT_SHARE = 0.5
"""The constant column, as a share of the row norm: it adds 12 % to the norm that sensitivities use."""
CLIPPED_AT_A_TIME = 4_096


def row_norm_of(row_norm: float | None, longest: float | None, *, intervals: bool) -> float:
    """What rows are clipped to: what is given; else 1, or, where intervals are wanted, what no declared row exceeds.

    >>> row_norm_of(None, 2.0, intervals=True), row_norm_of(None, 2.0, intervals=False)
    (2.0, 1.0)
    """
    if row_norm is not None:
        return row_norm
    return longest if intervals and longest is not None else 1.0


def intercept_value(row_norm: float, *, fit_intercept: bool) -> float:
    """The value of the constant column, in proportion to the row norm so that units do not matter; 0 for none."""
    return INTERCEPT_SHARE * row_norm if fit_intercept else 0.0


def design_norm(row_norm: float, *, fit_intercept: bool) -> float:
    """The norm of a row with its constant, which counts (soundness, section 0); rounded up.

    >>> design_norm(1.0, fit_intercept=True) >= math.sqrt(1.25)
    True
    """
    constant = intercept_value(row_norm, fit_intercept=fit_intercept)
    return math.nextafter(math.hypot(row_norm, constant), math.inf) if constant else row_norm


def design(X: Any, *, row_norm: float, constant: float) -> Floats:
    """Rows of a dense or sparse matrix, clipped and with the constant, in one array and little else in memory.

    >>> design(np.array([[0.0, 4.0], [0.3, 0.4]]), row_norm=1.0, constant=0.5).tolist()
    [[0.0, 1.0, 0.5], [0.3, 0.4, 0.5]]
    """
    rows, columns = X.shape
    matrix = np.empty((rows, columns + (constant != 0)))
    matrix[:, columns:] = constant
    for start in range(0, rows, CLIPPED_AT_A_TIME):
        part = X[start : start + CLIPPED_AT_A_TIME]
        part = np.asarray(part.toarray() if hasattr(part, "toarray") else part, dtype=np.float64)
        matrix[start : start + CLIPPED_AT_A_TIME, :columns] = part
        long = ~_within(part, row_norm)
        if long.any():
            matrix[start : start + CLIPPED_AT_A_TIME, :columns][long] = clip_rows(part[long], row_norm)
    return matrix


def _within(rows: Floats, row_norm: float) -> NDArray[np.bool_]:
    """Rows that are certainly no longer than row_norm (1 + 1e-9); only the others need care."""
    if not 1e-100 < row_norm < 1e100:
        return np.zeros(len(rows), dtype=np.bool_)
    # A tenth of the slack in the norm; the sum of squares is off by less than 1e-10 up to a million columns.
    with np.errstate(over="ignore"):
        return np.asarray(np.einsum("ij,ij->i", rows, rows) <= row_norm**2 * (1.0 + 2e-10))

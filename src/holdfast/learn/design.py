"""The rows that a linear model sees: clipped to the declared norm, with a constant column for the intercept."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
INTERCEPT_SHARE = 0.5
"""The constant column, as a share of the row norm: it adds 12 % to the norm that sensitivities use."""


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


def with_intercept(rows: Floats, constant: float) -> Floats:
    """The rows with a last column of this value; as they are if it is 0.

    >>> with_intercept(np.array([[1.0]]), 0.5).tolist()
    [[1.0, 0.5]]
    """
    if not constant:
        return rows
    return np.hstack([rows, np.full((rows.shape[0], 1), constant)])

"""Rows given to a fitted model or step for prediction or transformation, checked and converted to a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._ranges import require_numbers
from holdfast.data._given_rows import given_columns, is_named
from holdfast.errors import DataError
from holdfast.learn._rows.numbers_only import numbers_only


def input_matrix(estimator: Any, X: Any, *, accept_sparse: str | bool = False) -> Any:
    """The rows X as a matrix, checked as scikit-learn does; dicts and Series are read by the fitted column names."""
    from sklearn.utils.validation import check_array, validate_data

    with numbers_only(X):
        if not is_named(X):
            if isinstance(X, list | tuple) and len(X) > 0 and not any(map(np.ndim, X)):
                X = [X]  # one row
            return validate_data(estimator, X, accept_sparse=accept_sparse, dtype=np.float64, reset=False)
        names = getattr(estimator, "feature_names_in_", None)
        if names is None:
            raise DataError(
                f"X must be rows of {estimator.n_features_in_} numbers, in order, as [[...], ...]: the "
                f"{type(estimator).__name__} was fitted to an array, whose columns have no names; fit a data frame or "
                "a table to ask by names"
            )
        columns = given_columns(X, list(names))
        matrix = np.column_stack([np.asarray(columns[name], dtype=object) for name in names])
        return check_array(matrix, dtype=np.float64)


def names_of_matrix(columns: Sequence[str]) -> NDArray[Any] | None:
    """The column names as scikit-learn's `feature_names_in_`; None for the names x0, x1, ... of an array without names.

    >>> names_of_matrix(["age", "bmi"]), names_of_matrix(["x0", "x1"])
    (array(['age', 'bmi'], dtype=object), None)
    """
    named = list(columns) != [f"x{place}" for place in range(len(columns))]
    return np.array(list(columns), dtype=object) if named else None


def step_output(X: Any, columns: int) -> NDArray[np.float64]:
    """Rows that a step produced, checked, for its `inverse_transform`."""
    rows = require_numbers("X", X)
    if rows.ndim != 2 or rows.shape[1] != columns:
        raise DataError(f"X must be an array with {columns} columns, got shape {rows.shape}")
    return rows

"""Features of rows for models: scaled and one-hot for linear models, numbers and codes for trees."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast.data._schema import Numeric
from holdfast.synth._evaluation.compared_rows import ComparedRows

MOST_FEATURES = 2_000
"""The most features of a linear model; large categories then share features."""
MOST_TREE_CATEGORIES = 200
"""Trees treat a column of more categories as a number, by the order of its codes."""


def linear_features(rows: ComparedRows, columns: Sequence[str]) -> NDArray[np.float32]:
    """Numbers scaled to [0, 1] by their declared bounds, with an indicator of missing values; one-hot categories.

    Where that makes more than `MOST_FEATURES`, categories share features, by the remainder of their code.
    """
    parts = []
    room = MOST_FEATURES // max(len(columns), 1)
    for name in columns:
        column, place = rows.schema[name], rows.names.index(name)
        if isinstance(column, Numeric):
            scaled = (rows.values[:, place] - column.low) / (column.high - column.low)
            missing = np.isnan(scaled)
            parts.append(np.where(missing, 0.5, scaled)[:, None])
            if column.has_null_cell:
                parts.append(missing[:, None].astype(float))
        else:
            width = min(column.cells, max(room, 2))
            parts.append(np.eye(width, dtype=np.float32)[rows.codes[:, place] % width])
    return (
        np.concatenate(parts, axis=1).astype(np.float32)
        if parts
        else np.zeros((len(rows.codes), 0), np.float32)
    )


def tree_features(rows: ComparedRows, columns: Sequence[str]) -> tuple[Floats, list[bool]]:
    """Numbers and codes of categories as one matrix, and for each column whether trees treat it as categories."""
    places = [rows.names.index(name) for name in columns]
    marks = [
        not isinstance(rows.schema[name], Numeric) and rows.schema[name].cells <= MOST_TREE_CATEGORIES
        for name in columns
    ]
    return rows.values[:, places], marks


@contextmanager
def quiet_fit() -> Iterator[None]:
    """A context in which scikit-learn fits on one thread and without warnings about convergence.

    More threads than free cores make small fits several times slower.
    """
    from scipy.linalg import LinAlgWarning
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    with warnings.catch_warnings(), threadpool_limits(limits=1):
        for category in (ConvergenceWarning, LinAlgWarning, RuntimeWarning, FutureWarning):
            warnings.simplefilter("ignore", category)
        yield

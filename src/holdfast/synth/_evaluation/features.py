"""Rows as numbers that models take: for linear models, for trees, and as declared cells."""

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
MOST_TREE_CATEGORIES = 200
"""Columns of more categories are split by the order of their codes."""


def linear_features(rows: ComparedRows, columns: Sequence[str]) -> NDArray[np.float32]:
    """Numbers in [0, 1] by their declared bounds, with a mark where they are missing; one feature per category.

    Categories beyond `MOST_FEATURES` in all share features: by the remainder of their code.
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
    """Numbers as they are and categories as codes, and which of the columns are categories."""
    places = [rows.names.index(name) for name in columns]
    marks = [
        not isinstance(rows.schema[name], Numeric) and rows.schema[name].cells <= MOST_TREE_CATEGORIES
        for name in columns
    ]
    return rows.values[:, places], marks


@contextmanager
def quiet_fit() -> Iterator[None]:
    """Small models on one thread, which need not converge to the last digit and say nothing about it.

    More threads than free cores make such fits several times slower.
    """
    from scipy.linalg import LinAlgWarning
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    with warnings.catch_warnings(), threadpool_limits(limits=1):
        for category in (ConvergenceWarning, LinAlgWarning, RuntimeWarning, FutureWarning):
            warnings.simplefilter("ignore", category)
        yield

"""Rows shortened to the norm that sensitivities assume, and the check that they are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from holdfast._arguments import checked
from holdfast._arrays import Floats
from holdfast._ranges import require_numbers
from holdfast.errors import DataError, require

NORM_SLACK = 1e-9
"""Rows are clipped in float64 and verified to this relative slack; sensitivities use the larger norm (section 16)."""


CLIPPED_BLOCK_ROWS = 2_048
"""How many rows are clipped at a time: few enough for the cache of a processor."""


@checked
def clip_rows(rows: Any, row_norm: float) -> Floats:
    """Shorten each row to Euclidean norm `row_norm`; shorter rows stay as they are.

    Parameters
    ----------
    rows : array_like
        A matrix with one row for each record.
    row_norm : float
        The largest norm that a row may keep.

    Returns
    -------
    numpy.ndarray
        The shortened rows.

    Raises
    ------
    DataError
        If a value is not finite. That error depends on the data and is therefore not private; behind a schema
        it cannot happen.

    Examples
    --------
    >>> clip_rows([[0.0, 4.0], [0.3, 0.4]], 1.0).tolist()
    [[0.0, 1.0], [0.3, 0.4]]
    """
    matrix = require_numbers("rows", rows).copy()
    if matrix.ndim != 2:
        raise DataError("rows must be a matrix: one row per record")
    clip_in_place(matrix, row_norm)
    return matrix


def clip_in_place(matrix: Floats, row_norm: float) -> None:
    """Shorten the rows of a matrix as `clip_rows` does, in the matrix itself."""
    require(row_norm > 0 and math.isfinite(row_norm), "row_norm", row_norm, "a finite number > 0")
    if matrix.shape[1]:
        for start in range(0, len(matrix), CLIPPED_BLOCK_ROWS):
            _clip_block(matrix[start : start + CLIPPED_BLOCK_ROWS], row_norm)


def _clip_block(rows: Floats, row_norm: float) -> None:
    # Each row is divided by its largest entry (or the norm, if that is larger), so that no square overflows.
    relative = np.abs(rows)
    size = np.maximum(relative.max(axis=1), row_norm)
    with np.errstate(invalid="ignore"):
        np.divide(rows, size[:, None], out=relative)
    lengths = np.sqrt(np.add.reduce(relative * relative, axis=1))
    if not np.isfinite(lengths).all():  # entries are at most 1 now, unless one of them was not finite
        raise DataError("rows must be finite: declare a schema, which says what a missing value means")
    long = lengths > row_norm / size
    if long.any():
        relative *= (row_norm / np.where(long, lengths, 1.0))[:, None]
        np.copyto(rows, relative, where=long[:, None])
    require_norm(rows, row_norm)


def require_norm(matrix: Floats, row_norm: float) -> None:
    """Soundness: the norm that sensitivities assume is checked after the last operation on the rows."""
    scaled = matrix if row_norm == 1.0 else matrix / row_norm
    longest = float(np.sqrt(np.einsum("ij,ij->i", scaled, scaled)).max(initial=0.0))
    if not longest <= 1 + NORM_SLACK:
        raise AssertionError("row clipping must reach the norm it promises")  # our mistake, not the user's

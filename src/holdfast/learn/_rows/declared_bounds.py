"""Bounds that a user declares for the columns of an array, checked and turned into columns of a schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from holdfast._arrays import Floats
from holdfast._assumption import BOUNDS_BY_DEFAULT, Assumption
from holdfast.data._schema import Numeric
from holdfast.errors import ParameterError, require

Bounds = tuple[float, float] | Sequence[tuple[float, float]] | Mapping[str, tuple[float, float]]
FEATURES_ASSUMED = Assumption(
    kind=BOUNDS_BY_DEFAULT,
    subject="bounds",
    text="bounds was not declared: features are taken to be within [-1, 1], and what is larger is cut short; declare "
    "bounds, or fit a Table with a schema",
)


def pairs_of_bounds(bounds: Any, columns: int) -> Floats:
    """The bounds as an array with a row (low, high) for each column; a single pair holds for all columns.

    >>> pairs_of_bounds((0.0, 1.0), 2).tolist()
    [[0.0, 1.0], [0.0, 1.0]]
    """
    required = "a pair (low, high), or one for each column, of finite numbers with low < high"
    try:
        pairs = np.asarray(bounds, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"bounds must be {required}, got bounds={bounds!r}") from None
    if pairs.shape == (2,):
        pairs = np.tile(pairs, (columns, 1))
    require(pairs.shape == (columns, 2), "bounds", bounds, f"{required}: {columns} of them here")
    require(bool(np.isfinite(pairs).all() and (pairs[:, 0] < pairs[:, 1]).all()), "bounds", bounds, required)
    with np.errstate(over="ignore"):
        width = pairs[:, 1] - pairs[:, 0]
    require(bool(np.isfinite(width).all()), "bounds", bounds, f"{required}, not too far apart for a float")
    return pairs


def declared_columns(names: tuple[str, ...], bounds: Bounds) -> list[Numeric]:
    """Numeric columns with the declared bounds: one pair for all columns, one for each, or pairs by name."""
    if isinstance(bounds, Mapping):
        require(
            set(bounds) == set(names), "bounds", sorted(map(str, bounds)), f"one pair for each of {names}"
        )
        bounds = [bounds[name] for name in names]
    pairs = pairs_of_bounds(bounds, len(names)).tolist()
    return [Numeric(name, low, high) for name, (low, high) in zip(names, pairs, strict=True)]

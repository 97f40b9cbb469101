"""Rows in the forms that a web service has: a dict of values, a list of dicts, a Series, a single row, a list of rows.

Each becomes a mapping from names to columns, which is then read like a data frame. Unknown and missing names end in an
error that shows the name; no value is ever part of a message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from typing import Any

import numpy as np

from holdfast._argument_kinds import type_text
from holdfast.errors import DataError

FORMS = "a data frame, an Arrow table, a dict, a list of dicts, a Series that is one row, or rows in a list or an array"


def is_named(X: Any) -> bool:
    """Whether rows carry the names of their values one by one: a dict, a list of dicts, or a Series that is one row."""
    if hasattr(X, "tocsr"):  # a sparse matrix may be a mapping, from places
        return False
    if isinstance(X, Mapping) or is_series(X):
        return True
    return (
        isinstance(X, list | tuple)
        and len(X) > 0
        and any(isinstance(row, Mapping) or is_series(row) for row in X)
    )


def is_series(X: Any) -> bool:
    """Whether this is a pandas Series, by its attributes: pandas need not be installed."""
    return getattr(X, "ndim", 0) == 1 and hasattr(X, "index") and hasattr(X, "to_dict")


def given_columns(X: Any, names: Sequence[str], *, known: Sequence[str] = ()) -> Any:
    """Rows as a mapping from names to columns; frames and tables as they are.

    `names` are those of the columns that are read, in order; `known` are further ones that may be there.

    >>> given_columns({"age": 40, "sex": "f"}, ["age", "sex"])
    {'age': [40], 'sex': ['f']}
    >>> given_columns([40, "f"], ["age", "sex"])
    {'age': [40], 'sex': ['f']}
    >>> given_columns([{"age": 40, "sex": "f"}, {"age": 50}], ["age", "sex"])
    Traceback (most recent call last):
    ...
    holdfast.errors.DataError: X must have a value for each of the columns ['age', 'sex'] in every row;
    row 1 lacks ['sex']
    """
    if is_named(X):
        return _of_names(X, names, known)
    if isinstance(X, np.ndarray | list | tuple):
        return _of_places(X, names)
    if not hasattr(X, "columns") and not hasattr(X, "column_names"):
        raise DataError(f"X must be {FORMS}, got {type_text(X)}")
    return X


def _of_names(X: Any, names: Sequence[str], known: Sequence[str]) -> Mapping[str, Any]:
    if isinstance(X, Mapping) and any(_is_column(value) for value in X.values()):
        single = [name for name in names if name in X and not _is_column(X[name])]
        if single:
            raise DataError(
                f"X must hold one value for each name, or one list for each; {single} hold single values"
            )
        return X  # a table by its columns, which may have others
    rows = [X] if isinstance(X, Mapping) or is_series(X) else list(X)
    places = [f"row {place} " for place in range(len(rows))] if len(rows) > 1 else [""]
    for place, row in zip(places, rows, strict=True):
        if not isinstance(row, Mapping) and not is_series(row):
            raise DataError(f"X must hold dicts only, or none: {place}is {type_text(row)}")
        _check_names(row.keys(), names, known, place)
    return {name: [row[name] for row in rows] for name in names}


def _is_column(value: Any) -> bool:
    return (
        isinstance(value, Sized)
        and not isinstance(value, str | bytes | Mapping)
        and getattr(value, "ndim", 1) > 0
    )


def _check_names(present: Any, names: Sequence[str], known: Sequence[str], place: str) -> None:
    present = list(present)
    missing = [name for name in names if name not in present]
    if missing:
        raise DataError(
            f"X must have a value for each of the columns {list(names)}{' in every row' if place else ''}; "
            f"{place or 'it '}lacks {missing}"
        )
    unknown = [name for name in present if name not in names and name not in known]
    if unknown:
        raise DataError(
            f"X must have no other names than the columns {list(names)}; {place or 'it '}also has "
            f"{[name if isinstance(name, str) else type_text(name) for name in unknown]}"
        )


def _of_places(X: Any, names: Sequence[str]) -> dict[str, Any]:
    requirement = f"an array or list of rows must have the {len(names)} columns {list(names)}, in order"
    if isinstance(X, np.ndarray):
        if X.ndim == 1 and len(X) == len(names):
            X = X.reshape(1, -1)
        if X.ndim != 2 or X.shape[1] != len(names):
            raise DataError(f"{requirement}, got shape {X.shape}")
        return {name: X[:, place] for place, name in enumerate(names)}
    rows = list(X)
    if rows and not any(_is_column(row) for row in rows):
        rows = [rows]
    for place, row in enumerate(rows):
        if not _is_column(row) or len(row) != len(names):
            width = f"{len(row)} values" if _is_column(row) else type_text(row)
            raise DataError(f"{requirement}; row {place} has {width}")
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}

"""Guess: the draft of one column's declaration, with the reasons for every part of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast.data._draft.evidence import Evidence
from holdfast.data._schema import Categorical, DateTime, Identifier, Numeric
from holdfast.data._schema.kinds import Column

#: A column with more distinct texts than this has only the most frequent of them as categories.
MOST_CATEGORIES = 200
#: The same where the categories are whole numbers.
MOST_NUMBER_CATEGORIES = 1_000
#: A column with more distinct values than this is no column of codes.
MOST_CODES = 10_000
#: A target with at most this many whole numbers is a classification.
MOST_CLASSES = 20
#: Codes repeat: at most this share of their values occurs only once.
MOST_SINGLE_SHARE = 0.5


@dataclass(frozen=True, kw_only=True)
class Guess:
    """A column, and what each part of its declaration rests on."""

    column: Column
    reasons: tuple[str, ...] = ()
    repeats: int = 0
    """For an identifier: nine of ten of its values have at most this many rows."""


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """A column that is not declared, and why."""

    name: str
    why: str


def finish_guess(evidence: Evidence, column: Column, repeats: int = 0) -> Guess:
    """The guess of a column, with the storage type of its values where synthetic values need to be told it."""
    dtype = _declared_dtype(column, evidence.dtype)
    if dtype is not None and not isinstance(column, Identifier):
        column = replace(column, dtype=dtype)
        evidence.add_reason(f"dtype: the column is stored as {evidence.dtype}")
    return Guess(column=column, reasons=tuple(evidence.reasons), repeats=repeats)


def _declared_dtype(column: Column, stored: Any) -> str | None:
    """The storage type, where synthetic values would otherwise have another one."""
    import pyarrow.types as types

    if stored is None:
        return None
    if types.is_dictionary(stored):
        return "dictionary" if isinstance(column, Categorical) and not column.ordered else None
    if types.is_integer(stored) and not types.is_int64(stored):
        whole = isinstance(column, Numeric) and column.integer
        return str(stored) if whole or type(column) is Categorical else None
    if types.is_float32(stored):
        return "float32" if type(column) is Numeric and not column.integer else None
    if types.is_decimal(stored) and type(column) is Numeric and stored.precision <= 38:
        return f"decimal({stored.precision}, {stored.scale})"
    if types.is_timestamp(stored) and isinstance(column, DateTime):
        return f"timestamp[{stored.unit}{'' if stored.tz is None else f', {stored.tz}'}]"
    return None


def unused_name(name: str, labels: list[str]) -> str:
    """The name, in brackets where a label has it already."""
    while name in labels:
        name = f"({name})"
    return name


def weighted_quantile(values: Floats, times: NDArray[np.int64], share: float) -> float:
    """The smallest value that this share of the values does not exceed."""
    order = np.argsort(values, kind="stable")
    above = np.cumsum(times[order])
    return float(values[order][min(int(np.searchsorted(above, share * above[-1])), len(values) - 1)])

"""Checks of arrays before scikit-learn reads them: dates are refused, and error messages quote no data.

scikit-learn silently converts a date to nanoseconds since 1970. Its error for a text quotes the text, which is private
data. Its error for a missing value recommends an imputer, which reads the rows without paying for it from the budget.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from numbers import Real
from typing import Any

import numpy as np

from holdfast._argument_kinds import type_text
from holdfast.data._table import Table
from holdfast.errors import DataError

DATE_TYPES = ("date", "time", "period", "duration", "interval")
"""How the names of types of dates, times and durations begin, in every library; names of text types begin otherwise."""
DATE_ADVICE = (
    "a date has no unit here, and would be read as nanoseconds since 1970; declare a schema with a DateTime column and "
    "fit a Table, or give the number that you mean, such as days since a public day"
)
MISSING_VALUES = (
    "{what} contains NaN; missing values need a public rule: declare a schema, whose columns say what stands for a "
    "missing value, and fit a Table, or write a number that was chosen without looking at the rows (a value that is "
    "computed from them, such as a mean, would be released without being paid for)"
)


@contextmanager
def numbers_only(*data: Any) -> Iterator[None]:
    """Refuse dates in `data`; inside the context, errors about texts and missing values are replaced by safe ones."""
    for part in data:
        _require_rows(part)
        _refuse_dates(part)
    try:
        yield
    except TypeError:
        for part in data:
            # A sparse matrix in dok format is a dict, too.
            if isinstance(part, Mapping) and not hasattr(part, "tocsr"):
                raise _not_rows_error(part) from None
        raise
    except (ValueError, OverflowError) as error:
        message = str(error)
        if isinstance(error, OverflowError) or "could not convert" in message:
            raise DataError(
                "rows and targets must be numbers; declare a schema, which encodes texts"
            ) from None
        if "contains NaN" in message:
            name = "y" if message.startswith("Input y") else "X"
            raise DataError(MISSING_VALUES.format(what=f"Input {name}")) from None
        raise


def is_dated(data: Any) -> bool:
    """Whether a frame, a series, an array or nested lists hold dates, times or durations.

    >>> is_dated(np.array(["2020-01-01"], dtype="datetime64[D]")), is_dated([[1.0, 2.0]])
    (True, False)
    >>> is_dated([[datetime.date(2020, 1, 1), 2.0]])
    True
    """
    types = _types(data)
    if any(_is_dated_type(kind) for kind in types):
        return True
    if types and not any(str(kind).lower() == "object" for kind in types):
        return False
    try:
        cells = np.asarray(data, dtype=object)
    except (TypeError, ValueError):  # not an array: whoever reads it raises the error
        return False
    kinds = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
    return any(isinstance(cell, kinds) for cell in cells.ravel())


def _types(data: Any) -> list[Any]:
    """The types of the columns, or the one type of an array; empty for nested lists."""
    if isinstance(data, list | tuple):
        return []
    types = getattr(data, "dtypes", None)
    if types is None:
        types = getattr(data, "dtype", None)
        return [] if types is None else [types]
    return list(types) if hasattr(types, "__iter__") else [types]


def _is_dated_type(kind: Any) -> bool:
    if isinstance(kind, np.dtype):
        return kind.kind in "Mm"
    return str(kind).lower().startswith(DATE_TYPES)


def _require_rows(data: Any) -> None:
    """Refuse what is no array, data frame or nested list; scikit-learn itself refuses single numbers and texts."""
    left_to_sklearn = data is None or isinstance(data, list | tuple | str | bytes | Real)
    forms = (
        "__array__",
        "__array_interface__",
        "__dataframe__",
        "__arrow_c_stream__",
        "tocsr",
        "dtypes",
        "columns",
    )
    frame = not isinstance(data, Table) and any(getattr(data, form, None) is not None for form in forms)
    sized = not isinstance(data, Table) and hasattr(data, "__len__") and hasattr(data, "__getitem__")
    if not left_to_sklearn and not frame and not sized:
        raise _not_rows_error(data)


def _not_rows_error(data: Any) -> DataError:
    return DataError(
        f"rows and targets must be arrays, data frames or nested lists, got {type_text(data)}; of a Table, give the "
        "rows that it was opened from"
    )


def _refuse_dates(data: Any) -> None:
    if is_dated(data):
        raise DataError(f"rows and targets must be numbers, and a column holds dates; {DATE_ADVICE}")

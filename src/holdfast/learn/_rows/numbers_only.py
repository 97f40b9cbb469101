"""What scikit-learn makes numbers of, and what it says of cells, met before it does either.

A date becomes nanoseconds since 1970 without a word; the error for a text quotes the text, which is data; the error for
a missing value recommends an imputer, which reads the rows and pays for nothing.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from numbers import Real
from typing import Any

import numpy as np

from holdfast._arguments import type_of
from holdfast.data._table import Table
from holdfast.errors import DataError

DATE_TYPES = ("date", "time", "period", "duration", "interval")
"""How the types of dates, times and lengths of time begin, whichever library names them; text types hold none."""
WAY_OUT = (
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
    """Refuse dates in `data`; within, errors about texts and missing values show no cell and recommend no leak."""
    for part in data:
        _refuse_no_rows(part)
        _refuse_dates(part)
    try:
        yield
    except TypeError:
        for part in data:
            if isinstance(part, Mapping) and not hasattr(
                part, "tocsr"
            ):  # one kind of sparse matrix is a dict
                raise _no_rows(part) from None
        raise
    except (ValueError, OverflowError) as error:
        said = str(error)
        if isinstance(error, OverflowError) or "could not convert" in said:
            raise DataError(
                "rows and targets must be numbers; declare a schema, which encodes texts"
            ) from None
        if "contains NaN" in said:
            what = "y" if said.startswith("Input y") else "X"
            raise DataError(MISSING_VALUES.format(what=f"Input {what}")) from None
        raise


def is_dated(data: Any) -> bool:
    """Whether a frame, a series, an array or nested lists hold dates, times or lengths of time.

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
    except (TypeError, ValueError):  # what it is, is said by whoever reads it
        return False
    kinds = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
    return any(isinstance(cell, kinds) for cell in cells.ravel())


def _types(data: Any) -> list[Any]:
    """The types of columns, or the one of an array; none where only cells have types."""
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


def _refuse_no_rows(data: Any) -> None:
    """What neither is an array, nor a frame, nor nested lists; a single number or text is met by scikit-learn."""
    known = data is None or isinstance(data, list | tuple | str | bytes | Real)
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
    if not known and not frame and not sized:
        raise _no_rows(data)


def _no_rows(data: Any) -> DataError:
    return DataError(
        f"rows and targets must be arrays, data frames or nested lists, got {type_of(data)}; of a Table, give the rows "
        "that it was opened from"
    )


def _refuse_dates(data: Any) -> None:
    if is_dated(data):
        raise DataError(f"rows and targets must be numbers, and a column holds dates; {WAY_OUT}")

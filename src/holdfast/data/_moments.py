"""Stored dates, times and texts as the numbers of units that a `DateTime` counts, and back to dates.

Amounts with signs of currency and thousands (`Numeric.written_as`) are read here too. Years from 1 to 9999 are read;
whole numbers are read by their digits (`%Y%m%d`), other numbers are missing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast.data._mixed import MixedColumn
from holdfast.data._readings import numbers, plain_array, texts
from holdfast.data._schema import DateTime, Numeric
from holdfast.data._schema.amounts import form_of
from holdfast.data._schema.calendar import DAILY, ISO, packed_texts, starts, unit_numbers, unit_of_seconds
from holdfast.data._schema.spelling import BLANKS
from holdfast.data._storage_kinds import Kind, kind_of

_READ = (Kind.text, Kind.integer, Kind.date, Kind.timestamp, Kind.zoned)
_FIRST, _LAST = np.datetime64("0001-01-01", "s"), np.datetime64("9999-12-31T23:59:59", "s")


def column_numbers(column: Numeric, values: Any) -> Floats:
    """A number for each value, as the column declares them: moments, amounts as they are written, or plain numbers."""
    if isinstance(column, DateTime):
        return moment_numbers(column, values)
    if column.written_as is None:
        return numbers(values)
    form = form_of(column.written_as)
    if isinstance(values, MixedColumn):
        read = numbers(form.numerals(values.texts))
        truth = np.isin(values.texts.to_numpy(zero_copy_only=False).astype(object), ["true", "false"])
        return np.where(values.by_value | values.whole | truth, values.numbers, read)
    values = plain_array(values)
    text = kind_of(values.type) is Kind.text
    return numbers(form.numerals(texts(values)) if text else values)


def moment_numbers(column: DateTime, values: Any) -> Floats:
    """The unit of each value, NaN where there is none.

    >>> import pyarrow as pa
    >>> german = DateTime("d", "1970-01-01", "1970-12-31", format="%d.%m.%Y")
    >>> moment_numbers(german, pa.array(["02.01.1970", "31.2.1970"])).tolist()
    [1.0, nan]
    """
    if isinstance(values, MixedColumn):
        return np.where(values.by_value, np.nan, _of_texts(column, values.texts))
    values = plain_array(values)
    kind = kind_of(values.type)
    if kind in (Kind.date, Kind.timestamp, Kind.zoned):
        return _of_dates(column, values, kind)
    if kind not in _READ:
        return np.full(len(values), np.nan)
    return _of_texts(column, texts(values))


def _of_texts(column: DateTime, texts: Any) -> Floats:
    """Moments of texts; each distinct text is read once."""
    import pyarrow.compute as pc

    coded = texts.dictionary_encode()
    trimmed = pc.ascii_trim(coded.dictionary, characters=BLANKS)
    packed = packed_texts(trimmed, column.format)
    if column.format != ISO:
        packed = np.where(np.isnan(packed), packed_texts(trimmed, ISO), packed)
    read = np.append(unit_numbers(packed, column.unit), np.nan)
    places = coded.indices.fill_null(len(trimmed)).to_numpy(zero_copy_only=False)
    seconds: Floats = read[places.astype(np.int64)]
    return seconds


def _of_dates(column: DateTime, values: Any, kind: Kind) -> Floats:
    import pyarrow as pa

    if kind is Kind.date:
        values = values.cast(pa.date32()).cast(pa.int32()).cast(pa.int64())
        seconds, scale = values, 86_400
    else:
        scale = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[values.type.unit]
        seconds = values.cast(pa.int64())
    missing = np.asarray(values.is_null().to_numpy(zero_copy_only=False), dtype=np.bool_)
    whole = seconds.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    whole = whole * scale if kind is Kind.date else np.floor_divide(whole, scale)
    known = ~missing & (whole >= _FIRST.astype(np.int64)) & (whole <= _LAST.astype(np.int64))
    return np.where(known, unit_of_seconds(np.where(known, whole, 0), column.unit), np.nan)


def as_dates(column: DateTime, numbers: NDArray[np.int64], missing: NDArray[np.bool_] | None) -> Any:
    """Numbers of units as an Arrow array of dates, or of timestamps where the unit is finer than a day."""
    import pyarrow as pa

    moments = starts(numbers, column.unit)
    if column.unit in DAILY:
        return pa.array(moments.astype("datetime64[D]"), pa.date32(), mask=missing)
    return pa.array(moments, pa.timestamp("s"), mask=missing).cast(pa.timestamp("us"))

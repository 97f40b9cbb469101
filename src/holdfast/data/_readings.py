"""The number and the text that a stored value stands for, whatever type it is stored in.

* A number comes from numbers and truth values as they are, and from plain decimals (`"12"`, `" -1.5e3 "`); NaN,
  other texts, dates and nested values are missing.
* A text comes from whole numbers, truth values (`true`), dates and timestamps (ISO, UTC); nested and binary values
  are missing.

No value can cause an error here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.data._mixed import MixedColumn, identifier_of_number
from holdfast.data._schema.spelling import BLANKS
from holdfast.data._storage_kinds import Kind, kind_of

#: The texts that are read as numbers. Lengths are bounded so that no engine overflows on them.
NUMERAL = r"[+-]?([0-9]{1,100}(\.[0-9]{0,100})?|\.[0-9]{1,100})([eE][+-]?[0-9]{1,2})?"


def numbers(values: Any) -> NDArray[np.float64]:
    """Arrow values as float64; NaN where they are missing.

    >>> import pyarrow as pa
    >>> numbers(pa.array(["12", " -1.5e3 ", "a dozen", None])).tolist()
    [12.0, -1500.0, nan, nan]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(values, MixedColumn):
        return values.numbers.copy()
    values = plain_array(values)
    kind = kind_of(values.type)
    if kind is Kind.decimal:  # through text, because engines round decimals to doubles differently
        values, kind = values.cast(pa.large_string()), Kind.text
    if kind is Kind.text:
        trimmed = pc.ascii_trim(values.cast(pa.large_string()), characters=BLANKS)
        good = pc.match_substring_regex(trimmed, pattern=f"^(?:{NUMERAL})$")
        unsigned = pc.replace_substring_regex(trimmed, pattern=r"^\+", replacement="")
        values = pc.if_else(pc.fill_null(good, False), unsigned, None)
        values, kind = _parse(values), Kind.floating
    if kind not in (Kind.integer, Kind.floating, Kind.boolean):
        return np.full(len(values), np.nan)
    if kind is Kind.boolean:
        values = values.cast(pa.int8())
    doubles = values.cast(pa.float64(), safe=False)
    filled = pc.fill_null(doubles, float("nan"))
    return np.array(filled.to_numpy(zero_copy_only=False), dtype=np.float64)


def texts(values: Any) -> Any:
    """Arrow values as an Arrow array of texts; null where they are missing. Numbers are written as identifiers are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(values, MixedColumn):
        return values.texts
    values = plain_array(values)
    kind = kind_of(values.type)
    if kind in (Kind.timestamp, Kind.zoned):
        micro = values.cast(pa.timestamp("us", tz=values.type.tz), safe=False)
        written = micro.cast(pa.timestamp("us"), safe=False).cast(pa.large_string())  # drops the zone: UTC
        short = pc.replace_substring_regex(written, pattern=r"\.?0{1,6}$", replacement="")
        return short if len(written) else written
    if kind in (Kind.floating, Kind.decimal):
        listed = numbers(values).tolist() if kind is Kind.floating else values.to_pylist()
        return pa.array([identifier_of_number(number) for number in listed], pa.large_string())
    if kind is Kind.unknown:
        return pa.nulls(len(values), pa.large_string())
    return values.cast(pa.large_string())


def plain_array(values: Any) -> Any:
    """One contiguous array without dictionary encoding."""
    import pyarrow as pa

    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks() if values.num_chunks != 1 else values.chunk(0)
        values = pa.concat_arrays(values.chunks) if isinstance(values, pa.ChunkedArray) else values
    return values.cast(values.type.value_type) if pa.types.is_dictionary(values.type) else values


def _parse(numerals: Any) -> Any:
    """Numerals as doubles, correctly rounded. `5.` and `.5` are numerals here but not to every Arrow."""
    import pyarrow as pa
    import pyarrow.compute as pc

    padded = pc.replace_substring_regex(
        numerals, pattern=r"^(-?)\.", replacement=r"\10."
    )  # group 1, then "0."
    padded = pc.replace_substring_regex(padded, pattern=r"\.([eE]|$)", replacement=r".0\1")
    return padded.cast(pa.float64())

"""Rows as a schema reads them: raw Arrow values -> clipped numbers and category codes, in batches.

No value can make it raise. This is the meaning of a schema; SQL engines compute the same codes
(`holdfast.data._sql`) and the engine contract compares the two. The rules, in the order they apply:

* a value is read as a number (`Numeric`) or as a text (`Categorical`, `Identifier`);
* a number comes from numbers and truth values as they are, and from plain decimals (`"12"`, `" -1.5e3 "`) or
  texts `written_as` is declared; NaN, other texts, dates and nested values are missing; infinities are clipped;
* a `DateTime` comes from dates, timestamps (UTC) and texts (`moments`); markers of missing values are missing;
* a text comes from whole numbers, truth values (`true`), dates and timestamps (ISO, UTC); a number of any type
  matches a category that is a numeral of the same value; nested and binary values are missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import checked, type_of
from holdfast._arrays import Codes, Floats
from holdfast.data._mixed import MixedColumn, identifier_of_number, one_by_one, read_by_kind, single_type
from holdfast.data._schema import Categorical, DateTime, Identifier, Numeric, Schema
from holdfast.data._schema.spelling import BLANKS
from holdfast.errors import DataError

#: The texts that are read as numbers. Lengths are bounded so that no engine overflows on them.
NUMERAL = r"[+-]?([0-9]{1,100}(\.[0-9]{0,100})?|\.[0-9]{1,100})([eE][+-]?[0-9]{1,2})?"


@checked
@dataclass(frozen=True, kw_only=True)
class Batch:
    """Some rows as arrays: clipped numbers (float64) and category codes (int64), one array for each column.

    Parameters
    ----------
    schema : Schema
        The schema that the rows were read by.
    values : mapping of str to numpy.ndarray
        For each column its numbers or its codes.
    missing : mapping of str to numpy.ndarray of bool
        For each numeric column whose missing values are a category of their own, where they are; their place in
        the values is filled with the column's midpoint.
    undeclared : mapping of str to numpy.ndarray of bool
        For each other column, where a value is missing, or outside the categories, and the column declares
        nothing for it: as a feature it is read as the schema says, as a target it is none.
    present : numpy.ndarray of bool, optional
        False for the null rows that pad a user to the bound: they contribute 0 to whatever is computed.
    rows : int
        How many rows there are.

    Examples
    --------
    >>> from holdfast.data import Numeric, Schema, open_table
    >>> [batch] = open_table({"age": [20, 300]}, Schema([Numeric("age", 17, 90)])).batches()
    >>> batch.rows, sorted(batch.column("age").tolist())
    (2, [20.0, 90.0])
    """

    schema: Schema
    values: Mapping[str, Floats | Codes]
    missing: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    undeclared: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    present: NDArray[np.bool_] | None = None
    rows: int

    def __len__(self) -> int:
        return self.rows

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in order."""
        return self.schema.names

    def column(self, name: str) -> Floats | Codes:
        """Clipped numbers of the column `name` if it is numeric, codes if it is categorical."""
        self.schema[name]
        return self.values[name]

    def codes(self, name: str) -> Codes:
        """The cell of each row in a count of the column `name` (numbers are binned)."""
        column = self.schema[name]
        if isinstance(column, Numeric):
            nowhere = np.zeros(self.rows, dtype=np.bool_)
            return numeric_cells(column, self.values[name], self.missing.get(name, nowhere))  # type: ignore[arg-type]
        return self.values[name].astype(np.int64)

    def without_value(self, name: str) -> NDArray[np.bool_] | None:
        """Which rows have no value of the column `name` as a target; None where all have one.

        A number that is missing is a target only where the column declares a number for it, and a category only
        where the column declares one: a midpoint, or the last category, is nobody's word.
        """
        column = self.schema[name]
        masks = self.missing if isinstance(column, Numeric) and column.has_null_cell else self.undeclared
        return masks.get(name)

    def matrix(self) -> Floats:
        """All columns side by side as float64: numbers as they are, categories as their codes."""
        arrays = [np.asarray(self.values[name], dtype=np.float64) for name in self.names]
        return np.column_stack(arrays) if arrays else np.empty((self.rows, 0))

    def take(self, index: NDArray[np.intp] | slice) -> Batch:
        """The rows of the batch at the places `index`."""
        return Batch(
            schema=self.schema,
            values={name: array[index] for name, array in self.values.items()},
            missing={name: mask[index] for name, mask in self.missing.items()},
            undeclared={name: mask[index] for name, mask in self.undeclared.items()},
            present=None if self.present is None else self.present[index],
            rows=len(np.arange(self.rows)[index]),
        )


def encode_batch(schema: Schema, columns: Mapping[str, object], rows: int) -> Batch:
    """Read Arrow columns as the schema says, whose unit is confirmed. Nothing in the values can make this raise."""
    schema.confirmed()
    values: dict[str, Floats | Codes] = {}
    missing: dict[str, NDArray[np.bool_]] = {}
    undeclared: dict[str, NDArray[np.bool_]] = {}
    for column in schema.columns:
        if isinstance(column, Identifier):
            continue
        stored = columns[column.name]
        if column.read is not None:
            stored = arrow_column(read_by_kind(column.read, numbers(stored), texts(stored).to_pylist()))
        if isinstance(column, Numeric):
            values[column.name], mask = numeric_values(column, stored)
            if column.has_null_cell:
                missing[column.name] = mask
            elif not column.declares_null and mask.any():
                undeclared[column.name] = mask
        else:
            values[column.name], absent = declared_cells(column, stored)
            if absent is not None:
                undeclared[column.name] = absent
        if len(values[column.name]) != rows:
            raise DataError(f"column {column.name!r} must have as many rows as the others")
    return Batch(schema=schema, values=values, missing=missing, undeclared=undeclared, rows=rows)


# Values.


class Kind(Enum):
    """How a storage type is read; every engine maps its own types to these."""

    integer = "integer"
    floating = "floating"
    decimal = "decimal"
    boolean = "boolean"
    text = "text"
    date = "date"
    timestamp = "timestamp"
    zoned = "zoned"  # a timestamp with a time zone
    unknown = "unknown"


def kind_of(dtype: Any) -> Kind:
    """The kind of an Arrow type (of the values, where the type is a dictionary)."""
    import pyarrow.types as types

    if types.is_dictionary(dtype):
        return kind_of(dtype.value_type)
    if types.is_timestamp(dtype):
        return Kind.timestamp if dtype.tz is None else Kind.zoned
    tests: tuple[tuple[Callable[[Any], bool], Kind], ...] = (
        (types.is_integer, Kind.integer),
        (types.is_floating, Kind.floating),
        (types.is_decimal, Kind.decimal),
        (types.is_boolean, Kind.boolean),
        (types.is_string, Kind.text),
        (types.is_large_string, Kind.text),
        (types.is_string_view, Kind.text),
        (types.is_date, Kind.date),
    )
    return next((kind for test, kind in tests if test(dtype)), Kind.unknown)


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


def numeric_values(column: Numeric, values: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The column's values, clipped and filled, and where they were missing."""
    special = isinstance(column, DateTime) or column.written_as is not None
    if special:
        from holdfast.data._moments import column_numbers
    raw = column_numbers(column, values) if special else numbers(values)
    for marker in column.nulls:  # those that are texts are no numbers, and missing already
        raw[raw == marker] = np.nan
    missing = np.isnan(raw)
    raw[missing] = column.fill
    clipped = np.clip(raw, column.low, column.high) + 0.0  # + 0.0 turns -0.0 into 0.0
    return (np.floor(clipped + 0.5) if column.integer else clipped), missing


def numeric_cells(
    column: Numeric, clipped: NDArray[np.float64], missing: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """The cell of each value: how many inner edges are not above it."""
    cells = np.searchsorted(np.asarray(column.edges[1:-1]), clipped, side="right").astype(np.int64)
    if column.has_null_cell:
        cells[missing] = column.cells - 1
    return cells


def categorical_cells(column: Categorical, values: Any) -> NDArray[np.int64]:
    """The cell of each value: its category, or where `other` and `null` say."""
    if isinstance(values, MixedColumn):
        cells = _text_cells(column, values.texts, whole=False)
        for chosen, found in (
            (values.whole, _text_cells(column, values.texts, whole=True)),
            (values.by_value, _numeral_cells(column, values.numbers)),
        ):
            cells[chosen] = found[chosen]
        return cells
    values = plain_array(values)
    kind = kind_of(values.type)
    if kind in (Kind.floating, Kind.decimal):
        return _numeral_cells(column, numbers(values))
    return _text_cells(column, texts(values), whole=kind is Kind.integer)


def declared_cells(column: Categorical, values: Any) -> tuple[NDArray[np.int64], NDArray[np.bool_] | None]:
    """The cell of each value, and which values the column declares no cell for; None where there is none.

    >>> import pyarrow as pa
    >>> cells, mask = declared_cells(Categorical("ill", ["no", "yes"]), pa.array(["no", None, "maybe", "yes"]))
    >>> cells.tolist(), mask.tolist()
    ([0, 1, 1, 1], [False, True, True, False])
    """
    if column.null is not None and column.other is not None:
        return categorical_cells(column, values), None
    wide, narrow, cells_of_none = column.widened
    cells = categorical_cells(wide, values)
    absent = np.isin(cells, cells_of_none)
    return np.asarray(narrow)[cells], absent if absent.any() else None


def _text_cells(column: Categorical, words: Any, *, whole: bool) -> NDArray[np.int64]:
    import pyarrow as pa
    import pyarrow.compute as pc

    known = category_texts(column, whole=whole)
    if column.trim or column.fold:
        coded = words.dictionary_encode()
        compared = [column.spelled(word) for word in coded.dictionary.to_pylist()]
        words = pa.array(compared, pa.large_string()).take(coded.indices)
    position = pc.index_in(words, value_set=pa.array(list(known), pa.large_string()))
    codes = np.array([*known.values(), column.other_code], dtype=np.int64)
    cells = codes[np.array(pc.fill_null(position, len(known)).to_numpy(zero_copy_only=False), dtype=np.int64)]
    cells[words.is_null().to_numpy(zero_copy_only=False)] = column.null_code
    return cells


def category_texts(column: Categorical, *, whole: bool) -> dict[str, int]:
    """The texts that stand for a cell, as they are compared; a whole number also for a category that is its numeral.

    >>> category_texts(Categorical("grade", ["1.0", "2", "x"]), whole=True)
    {'1.0': 0, '2': 1, 'x': 2, '1': 0}
    """
    found = dict(column.spellings)
    if whole:
        for category, code in list(found.items()):
            if re.fullmatch(NUMERAL, category, flags=re.ASCII):
                number = Fraction(category)
                if number.denominator == 1:
                    found.setdefault(str(number), code)
    return found


def category_numbers(column: Categorical) -> list[tuple[int, float]]:
    """Code and number of each category that is a numeral; of equal numbers the one written shortest as such, or first.

    >>> category_numbers(Categorical("grade", ["01", "1", "2.50"]))
    [(1, 1.0), (2, 2.5)]
    """
    found: dict[float, int] = {}
    for category, code in column.spellings.items():
        if re.fullmatch(NUMERAL, category, flags=re.ASCII):
            number = float(category)
            if number not in found or category == f"{number:.15g}":
                found[number] = code
    return [(code, number) for number, code in found.items()]


def _numeral_cells(column: Categorical, raw: NDArray[np.float64]) -> NDArray[np.int64]:
    cells = np.full(len(raw), column.other_code, dtype=np.int64)
    for code, number in category_numbers(column):
        cells[raw == number] = code
    cells[np.isnan(raw)] = column.null_code
    return cells


def plain_array(values: Any) -> Any:
    """One contiguous array without dictionary encoding."""
    import pyarrow as pa

    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks() if values.num_chunks != 1 else values.chunk(0)
        values = pa.concat_arrays(values.chunks) if isinstance(values, pa.ChunkedArray) else values
    return values.cast(values.type.value_type) if pa.types.is_dictionary(values.type) else values


def _parse(words: Any) -> Any:
    """Numerals as doubles, correctly rounded. `5.` and `.5` are numerals here but not to every Arrow."""
    import pyarrow as pa
    import pyarrow.compute as pc

    padded = pc.replace_substring_regex(words, pattern=r"^(-?)\.", replacement=r"\10.")  # group 1, then "0."
    padded = pc.replace_substring_regex(padded, pattern=r"\.([eE]|$)", replacement=r".0\1")
    return padded.cast(pa.float64())


# Columns of a data frame, Arrow table or mapping.


def arrow_column(values: Any) -> Any:
    """An Arrow array of any one-dimensional values; objects of several types are read one by one.

    >>> arrow_column([1, None, 3]).to_pylist()
    [1, None, 3]
    >>> numbers(arrow_column([True, "2", None])).tolist(), texts(arrow_column([True, "2", None])).to_pylist()
    ([1.0, 2.0, nan], ['true', '2', None])
    """
    import pyarrow as pa

    if isinstance(values, pa.Array | pa.ChunkedArray):
        return _unicode_only(plain_array(values))
    untyped = isinstance(values, list | tuple) or str(getattr(values, "dtype", "")) == "object"
    if untyped and not single_type(values):
        return one_by_one(values, _read_one)
    try:
        made = pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return one_by_one(values, _read_one)
    return _unicode_only(plain_array(made))


def _unicode_only(values: Any) -> Any:
    """Texts whose bytes are no UTF-8 are missing; nothing else is touched."""
    import pyarrow as pa

    if kind_of(values.type) is not Kind.text:
        return values
    try:
        values.validate(full=True)
    except pa.ArrowInvalid:
        stored = values.cast(pa.large_string()).view(pa.large_binary()).to_pylist()
        return pa.array([_unicode(text) for text in stored], pa.large_string())
    return values


def _unicode(text: bytes | None) -> str | None:
    try:
        return None if text is None else text.decode()
    except UnicodeDecodeError:
        return None


def _read_one(value: Any) -> tuple[float, str | None]:
    import pyarrow as pa

    alone = pa.array([value])
    return float(numbers(alone)[0]), texts(alone)[0].as_py()


def arrow_columns(source: Any, names: list[str]) -> dict[str, Any]:
    """The named columns as Arrow arrays of equal length."""
    check_columns(names, column_names(source))
    columns = {name: _column(source, name) for name in names}
    if len({len(column) for column in columns.values()}) > 1:
        raise DataError("all columns must have the same number of rows")
    return columns


def check_columns(names: list[str], present: list[Any]) -> None:
    """Refuse a table that lacks a declared column, before anything is read."""
    missing = [name for name in names if present.count(name) != 1]
    if missing:
        must = "the table must have each declared column exactly once"
        raise DataError(f"{must}; missing or repeated: {missing}")


def column_names(source: Any) -> list[Any]:
    """The names of the columns of a frame, an Arrow table or a mapping."""
    if isinstance(source, Mapping):
        return list(source)
    names = getattr(source, "column_names", None)
    names = getattr(source, "columns", None) if names is None else names
    if not isinstance(names, Iterable) or isinstance(names, str):
        raise DataError(
            f"rows must be a data frame, an Arrow table or a dict of columns, got {type_of(source)}; name the columns "
            "of an array as dict(zip(names, array.T))"
        )
    return list(names)


def _column(source: Any, name: str) -> Any:
    values = source[name]
    if getattr(values, "ndim", 1) != 1:
        raise DataError(f"column {name!r} must have one dimension")
    to_arrow = getattr(values, "to_arrow", None)
    # Objects of polars cannot be carried by Arrow.
    if to_arrow is None or str(getattr(values, "dtype", "")) == "Object":
        return arrow_column(values if to_arrow is None else values.to_list())
    return arrow_column(to_arrow())

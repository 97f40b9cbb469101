"""Parquet files, opened once it is known what their metadata will take in memory.

The footer of a Parquet file is one structure in Thrift's compact form. A list of it says how many elements it has
before any of them is there, and Arrow makes room for all of them at once: 25 bytes asked for 200 MB. So no list may
have more elements than the footer has bytes, and where the footer is large beside the file its elements are counted
first.

Rows are read page by page. A page says in its header how large it is in memory, and Arrow makes room for that before it
has read any of it. So the headers of the columns that are wanted are read first.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from holdfast._regular_file import open_regular
from holdfast.errors import DataError, withholding

_MAGIC, _TAIL_BYTES = b"PAR1", 8
_GROWTH, _FREE_BYTES = 20, 64 * 2**20
_COLUMN_BYTES, _ELEMENT_BYTES = 5_000, 1_000
"""What Arrow takes for a column of the schema, and for any other element of a list, as measured."""
_SCHEMA_FIELD = 2
# Kinds of Thrift's compact form.
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
_NUMBERS = (4, 5, 6)
_MOST_DEPTH = 32
_DICTIONARY_PAGE = 2
_DICTIONARY_COPIES, _PAGE_COPIES = 4, 3
"""How often the values of a page are in memory at once: unpacked, decoded, taken, and in the type that engines take."""
_HEADER_BYTES = (256, 2**14, 2**24)


def open_parquet(path: str | os.PathLike[str], **options: Any) -> Any:
    """The file as pyarrow's `ParquetFile`; `DataError` for one whose metadata would take more than its size allows."""
    with withholding("Arrow", "open a Parquet file"):
        with open_regular(path) as (file, size):
            file.seek(max(0, size - _TAIL_BYTES))
            tail = file.read(_TAIL_BYTES)
            length = int.from_bytes(tail[:4], "little")
            if len(tail) < _TAIL_BYTES or tail[4:] != _MAGIC or length + _TAIL_BYTES > size:
                raise DataError(
                    f"Arrow could not open {os.fspath(path)!r}: a Parquet file ends in its metadata"
                )
            allowed = _GROWTH * size + _FREE_BYTES
            if length * _ELEMENT_BYTES > allowed:
                file.seek(size - _TAIL_BYTES - length)
                if _Footer(file.read(length)).memory() > allowed:
                    raise DataError(
                        "the metadata of a Parquet file may take twenty times its size and 64 MB in memory, those of "
                        f"{os.fspath(path)!r} would take more; write the file again with fewer columns or row groups"
                    )
        from pyarrow import parquet

        opened = parquet.ParquetFile(
            path, thrift_string_size_limit=length, thrift_container_size_limit=length, **options
        )
        groups = [opened.metadata.row_group(place).num_rows for place in range(opened.num_row_groups)]
        if min(groups, default=0) < 0 or sum(groups) != opened.metadata.num_rows:
            raise DataError("the row groups of a Parquet file must hold as many rows as it says")
    return opened


class _Structure:
    """A structure in Thrift's compact form, walked through without making any of it."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0
        self.columns = self.elements = 0

    def _fields(self, depth: int) -> None:
        name = 0
        while head := self.data[self.at]:
            self.at += 1
            name = name + (head >> 4) if head >> 4 else self._number()
            self._field(name, head & 15, depth)
        self.at += 1

    def _field(self, name: int, kind: int, depth: int) -> None:
        self._value(kind, depth + 1)

    def _value(self, kind: int, depth: int, *, listed: bool = False) -> None:
        if depth > _MOST_DEPTH:
            raise RecursionError
        if kind in _NUMBERS:
            self._number()
        elif kind == _BINARY:
            length = self._number()
            self.at += length
        elif kind == _STRUCT:
            self._fields(depth)
        elif kind in (_LIST, _SET):
            self._list(depth)
        elif kind in (_TRUE, _FALSE):
            self.at += listed  # the value of a field is its kind
        elif kind in (_BYTE, _DOUBLE):
            self.at += 1 if kind == _BYTE else 8
        else:  # a map, which no footer has
            raise IndexError

    def _list(self, depth: int) -> None:
        head = self.data[self.at]
        self.at += 1
        count = head >> 4 if head >> 4 < 15 else self._number()
        if head & 15 == _STRUCT:
            self.elements += min(count, len(self.data) - self.at)
        for _ in range(count):
            self._value(head & 15, depth + 1, listed=True)
            if self.at >= len(self.data):
                raise IndexError

    def _number(self) -> int:
        value = shift = 0
        while True:
            part = self.data[self.at]
            self.at += 1
            value |= (part & 127) << shift
            if part < 128:
                return value
            shift += 7
            if shift > 70:
                raise IndexError


class _Footer(_Structure):
    """Elements of the lists of a footer, counted."""

    def memory(self) -> float:
        """So many bytes they will take, at most; without end where that cannot be told."""
        try:
            self._fields(0)
        except (IndexError, RecursionError):  # cut off, or nested as no footer is
            return math.inf
        return _COLUMN_BYTES * self.columns + _ELEMENT_BYTES * self.elements

    def _field(self, name: int, kind: int, depth: int) -> None:
        if depth == 0 and name == _SCHEMA_FIELD and kind == _LIST:
            before = self.elements
            self._value(_LIST, 1)
            self.columns, self.elements = self.columns + self.elements - before, before
        else:
            self._value(kind, depth + 1)


class PageHeader(_Structure):
    """What a page says of itself before its data: its kind, its bytes and its values."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.numbers: dict[tuple[int, ...], int] = {}
        self._path: tuple[int, ...] = ()
        self._fields(0)

    def _field(self, name: int, kind: int, depth: int) -> None:
        outer, self._path = self._path, (*self._path, name)
        if kind in _NUMBERS:
            number = self._number()
            self.numbers[self._path] = (number >> 1) ^ -(number & 1)
        elif kind == _STRUCT and depth < 2:
            self._fields(depth + 1)
        else:
            self._value(kind, depth + 1)
        self._path = outer

    @property
    def is_dictionary(self) -> bool:
        """Whether it holds the values that other pages point to."""
        return self.numbers[(1,)] == _DICTIONARY_PAGE

    @property
    def bytes_in_memory(self) -> int:
        return self.numbers[(2,)]

    @property
    def bytes_in_file(self) -> int:
        return self.numbers[(3,)]

    @property
    def values(self) -> int:
        """How many values a page of data has; 0 for other kinds of pages."""
        return self.numbers.get((5, 1), self.numbers.get((8, 1), 0))


@dataclass(frozen=True, kw_only=True)
class PageSizes:
    """The largest pages of a column, as they say themselves, which is what Arrow makes room for."""

    dictionary: int
    data: int
    value: float
    """Bytes of a value of data at most, on the average of a page."""


def page_sizes(path: str, metadata: Any, column: int) -> PageSizes:
    """Read the headers of all pages of a column; `DataError` for what is none."""
    dictionary = data = 0
    value = 0.0
    with open_regular(path) as (file, size):
        for group in range(metadata.num_row_groups):
            chunk = metadata.row_group(group).column(column)
            at = min(filter(None, (chunk.dictionary_page_offset, chunk.data_page_offset)), default=0)
            end, left = min(size, at + chunk.total_compressed_size), chunk.num_values
            while at < end and left > 0:
                header = _header_at(file, at, end)
                if header is None or min(header.bytes_in_memory, header.bytes_in_file, header.values) < 0:
                    raise DataError(f"Arrow could not read {path!r}: a page is damaged")
                if header.is_dictionary:
                    dictionary = max(dictionary, header.bytes_in_memory)
                else:
                    data = max(data, header.bytes_in_memory)
                    value = max(value, header.bytes_in_memory / max(1, header.values))
                at, left = at + header.at + header.bytes_in_file, left - header.values
    return PageSizes(dictionary=dictionary, data=data, value=value)


def _header_at(file: BinaryIO, at: int, end: int) -> PageHeader | None:
    """The header that begins there; it may hold the least and the largest value, so it has no fixed length."""
    for length in _HEADER_BYTES:
        file.seek(at)
        try:
            header = PageHeader(file.read(min(length, end - at)))
            return header if {(1,), (2,), (3,)} <= set(header.numbers) else None
        except (IndexError, RecursionError):
            continue
    return None


def require_room(path: str, columns: Sequence[PageSizes]) -> None:
    """Refuse to read columns whose pages need more memory than the size of their file allows."""
    size = os.stat(path).st_size
    needed = sum(_DICTIONARY_COPIES * column.dictionary + _PAGE_COPIES * column.data for column in columns)
    if needed > _GROWTH * size + _FREE_BYTES:
        raise DataError(
            f"reading {path!r} may take twenty times its size and 64 MB in memory, and its pages need "
            f"{needed:,} bytes; write the file again with smaller pages (in pyarrow: data_page_size), or with less "
            "compression"
        )

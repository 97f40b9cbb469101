"""Parquet files, opened once it is known what their metadata will take in memory.

The footer of a Parquet file is one structure in Thrift's compact form. A list of it says how many elements it has
before any of them is there, and Arrow makes room for all of them at once: 25 bytes asked for 200 MB. So no list may
have more elements than the footer has bytes, and where the footer is large beside the file its elements are counted
first.
"""

from __future__ import annotations

import math
import os
from typing import Any

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


class _Footer:
    """Elements of the lists of a footer, counted without making any."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0
        self.columns = self.elements = 0

    def memory(self) -> float:
        """So many bytes they will take, at most; without end where that cannot be told."""
        try:
            self._fields(0)
        except (IndexError, RecursionError):  # cut off, or nested as no footer is
            return math.inf
        return _COLUMN_BYTES * self.columns + _ELEMENT_BYTES * self.elements

    def _fields(self, depth: int) -> None:
        name = 0
        while head := self.data[self.at]:
            self.at += 1
            name = name + (head >> 4) if head >> 4 else self._number()
            if depth == 0 and name == _SCHEMA_FIELD and head & 15 == _LIST:
                before = self.elements
                self._value(_LIST, 1)
                self.columns, self.elements = self.columns + self.elements - before, before
            else:
                self._value(head & 15, depth + 1)
        self.at += 1

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

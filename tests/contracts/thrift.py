"""Thrift's compact form, as much as the metadata of a Parquet file need: by hand, to write what is wrong."""

from __future__ import annotations

import struct

I32, I64, BINARY, LIST, STRUCT = 5, 6, 8, 9, 12


def varint(number: int) -> bytes:
    """A whole number of at least 0, seven bits a byte."""
    parts = bytearray()
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes([*parts, number])


def zigzag(number: int) -> bytes:
    """A whole number with its sign."""
    return varint((number << 1) ^ (number >> 63))


def field(step: int, kind: int) -> bytes:
    """The head of a field, so many names after the last."""
    return bytes([step << 4 | kind])


def sequence(count: int, kind: int) -> bytes:
    """The head of a list that says it has so many elements."""
    return bytes([count << 4 | kind]) if count < 15 else bytes([0xF0 | kind]) + varint(count)


def text(data: bytes) -> bytes:
    return varint(len(data)) + data


COLUMN = field(1, I32) + zigzag(1) + field(2, I32) + zigzag(1) + field(1, BINARY) + text(b"a") + b"\0"
"""A column of the schema: whole numbers that may be missing."""


def parent(children: int, name: bytes = b"r") -> bytes:
    """An element of the schema that says it has so many children."""
    return field(4, BINARY) + text(name) + field(1, I32) + zigzag(children) + b"\0"


def schema_of(columns: int) -> bytes:
    """The list of the elements of a flat schema."""
    return sequence(columns + 1, STRUCT) + parent(columns) + COLUMN * columns


def row_group(chunks: bytes, count: int, rows: int = 10) -> bytes:
    """A row group that says it has so many column chunks."""
    numbers = field(1, I64) + zigzag(10) + field(1, I64) + zigzag(rows)
    return field(1, LIST) + sequence(count, STRUCT) + chunks + numbers + b"\0"


def metadata(
    schema: bytes, groups: bytes = b"", count: int = 0, *, rows: int = 0, more: bytes = b""
) -> bytes:
    """What stands in the footer: version, schema, rows, row groups, and what is to follow."""
    head = field(1, I32) + zigzag(1) + field(1, LIST) + schema + field(1, I64) + zigzag(rows)
    return head + field(1, LIST) + sequence(count, STRUCT) + groups + more + b"\0"


def footer(body: bytes) -> bytes:
    """A file of nothing but its metadata."""
    return b"PAR1" + body + struct.pack("<I", len(body)) + b"PAR1"

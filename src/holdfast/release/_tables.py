"""Tables in a release file: Arrow IPC, read without trusting the sizes that it claims.

Buffers are never compressed and columns are flat, so that nothing can expand to more than the bytes at hand: a list of
nulls, a union or a run may have two thousand million elements and no bytes.
"""

from __future__ import annotations

import struct
import sys
from typing import Any

from holdfast.errors import FormatError, HoldfastError, ParameterError

_MAGIC = b"ARROW1\x00\x00"
_RECORD_BATCH, _DICTIONARY_BATCH = 3, 2
_NULLS_PER_BYTE, _FREE_NULLS = 2, 2**23
"""A null takes eight bytes once it is handed on, and none in the file."""


def is_table(value: Any) -> bool:
    """Whether this is an Arrow table."""
    pyarrow = sys.modules.get("pyarrow")  # whoever holds a table has imported it
    return pyarrow is not None and isinstance(value, pyarrow.Table)


def table_bytes(table: Any) -> bytes:
    """A table as an Arrow IPC file, uncompressed."""
    import pyarrow

    _require_flat(table.schema, ParameterError)
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    data: bytes = sink.getvalue().to_pybytes()
    _require_bytes(table, len(data), ParameterError)
    return data


def table_of(data: bytes) -> Any:
    """The table that `table_bytes` wrote. Each message is checked before any of them is read."""
    import pyarrow

    if not data.startswith(_MAGIC):
        raise FormatError("a stored table cannot be read")
    stream = pyarrow.BufferReader(pyarrow.py_buffer(data).slice(len(_MAGIC)))
    try:
        for message in pyarrow.ipc.MessageReader.open_stream(stream):
            if _may_expand(message.metadata.to_pybytes()):
                raise FormatError(
                    "a stored table is compressed or adds to its dictionaries, which holdfast never writes: it may "
                    "expand to any size"
                )
        stream.seek(0)
        reader = pyarrow.ipc.open_stream(stream)
        _require_flat(reader.schema, FormatError)
        table = reader.read_all()
        _require_bytes(table, len(data), FormatError)
        table.validate(full=True)
    except (pyarrow.ArrowException, OSError, ValueError, IndexError, struct.error) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError("a stored table cannot be read") from error
    return table


def _require_flat(schema: Any, error: type[HoldfastError]) -> None:
    """Every value of every column has bytes of its own, or a code that does."""
    nested = [str(field.type) for field in schema if not _is_flat(field.type)]
    if nested:
        raise error(
            f"a stored table has columns of numbers, texts, bytes, truth values, dates and times, got "
            f"{nested[0][:60]}; lists and structures are stored as lists, mappings and arrays"
        )


def _is_flat(dtype: Any) -> bool:
    from pyarrow import types

    if types.is_dictionary(dtype):
        return not types.is_dictionary(dtype.value_type) and _is_flat(dtype.value_type)
    if types.is_fixed_size_binary(dtype):
        return bool(dtype.byte_width)
    return any(
        getattr(types, f"is_{kind}")(dtype)
        for kind in (
            "null boolean integer floating decimal date time timestamp duration "
            "string large_string binary large_binary"
        ).split()
    )


def _require_bytes(table: Any, size: int, error: type[HoldfastError]) -> None:
    """No more nulls without a type than so many bytes may stand for."""
    import pyarrow

    nulls = sum(table.num_rows for field in table.schema if pyarrow.types.is_null(field.type))
    if nulls > _NULLS_PER_BYTE * size + _FREE_NULLS or table.num_rows > 8 * size + _FREE_NULLS:
        raise error(
            "a stored table claims more rows than its bytes can hold; give columns that hold nothing a type"
        )


def _may_expand(message: bytes) -> bool:
    """Whether the flatbuffer of an IPC message says that its buffers are compressed, or part of a growing dictionary.

    Fields by number (Arrow's Message.fbs): a Message has version, header type, header and body length; a
    DictionaryBatch id, data and isDelta; a RecordBatch length, nodes, buffers and compression. A table of a flatbuffer
    begins with the distance to the list of its fields.
    """
    (root,) = struct.unpack_from("<I", message)
    kind_at, header_at = _field(message, root, 1), _field(message, root, 2)
    if kind_at is None or header_at is None:
        return False
    kind, header = message[kind_at], _follow(message, header_at)
    if kind == _DICTIONARY_BATCH:
        inner, adds = _field(message, header, 1), _field(message, header, 2)
        if inner is None or (adds is not None and message[adds]):
            return inner is not None
        kind, header = _RECORD_BATCH, _follow(message, inner)
    return kind == _RECORD_BATCH and _field(message, header, 3) is not None


def _field(message: bytes, table: int, place: int) -> int | None:
    """Where a field of a flatbuffer's table lies; None where it is absent."""
    fields = table - struct.unpack_from("<i", message, table)[0]
    (size,) = struct.unpack_from("<H", message, fields)
    at = 4 + 2 * place
    offset = struct.unpack_from("<H", message, fields + at)[0] if at < size else 0
    return table + offset if offset else None


def _follow(message: bytes, at: int) -> int:
    return at + int(struct.unpack_from("<I", message, at)[0])

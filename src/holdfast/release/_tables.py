"""Tables in a release file: Arrow IPC, read without trusting the sizes that it claims.

Buffers are never compressed, so that nothing can expand to more than the bytes at hand.
"""

from __future__ import annotations

import struct
import sys
from typing import Any

from holdfast.errors import FormatError

_MAGIC = b"ARROW1\x00\x00"
_RECORD_BATCH, _DICTIONARY_BATCH = 3, 2


def is_table(value: Any) -> bool:
    """Whether this is an Arrow table."""
    pyarrow = sys.modules.get("pyarrow")  # whoever holds a table has imported it
    return pyarrow is not None and isinstance(value, pyarrow.Table)


def table_bytes(table: Any) -> bytes:
    """A table as an Arrow IPC file, uncompressed."""
    import pyarrow

    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    data: bytes = sink.getvalue().to_pybytes()
    return data


def table_of(data: bytes) -> Any:
    """The table that `table_bytes` wrote. Each message is checked before any of them is read."""
    import pyarrow

    if not data.startswith(_MAGIC):
        raise FormatError("a stored table cannot be read")
    stream = pyarrow.BufferReader(pyarrow.py_buffer(data).slice(len(_MAGIC)))
    try:
        for message in pyarrow.ipc.MessageReader.open_stream(stream):
            if _is_compressed(message.metadata.to_pybytes()):
                raise FormatError(
                    "a stored table is compressed, which holdfast never writes: it may expand to any size"
                )
        stream.seek(0)
        table = pyarrow.ipc.open_stream(stream).read_all()
        # A column of nulls alone takes no bytes, however many rows it claims to have.
        if table.num_rows > 8 * len(data):
            raise FormatError("a stored table claims more rows than its bytes can hold")
        table.validate(full=True)
    except (pyarrow.ArrowException, OSError, ValueError, struct.error) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError("a stored table cannot be read") from error
    return table


def _is_compressed(message: bytes) -> bool:
    """Whether the flatbuffer of an IPC message says that its buffers are compressed.

    Fields by number (Arrow's Message.fbs): a Message has version, header type, header and body length; a
    DictionaryBatch id and data; a RecordBatch length, nodes, buffers and compression. A table of a flatbuffer begins
    with the distance to the list of its fields.
    """
    (root,) = struct.unpack_from("<I", message)
    kind_at, header_at = _field(message, root, 1), _field(message, root, 2)
    if kind_at is None or header_at is None:
        return False
    kind, header = message[kind_at], _follow(message, header_at)
    if kind == _DICTIONARY_BATCH:
        inner = _field(message, header, 1)
        if inner is None:
            return False
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

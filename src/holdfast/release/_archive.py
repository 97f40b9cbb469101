"""The file of a release: JSON and arrays in a zip archive, and nothing that runs code.

Numbers, texts, lists, tuples and mappings of a value become JSON. Arrays (`.npy`) and Arrow tables (Arrow IPC) become
members of the archive of their own. A JSON object with a single key that starts with `$` marks a tuple, a float that
JSON lacks, or the name of a member; a mapping that would look like such an object is stored as pairs.

Members are never compressed, so that nothing in the file can claim to be larger than the file itself.
`SHA256SUMS` lists every other member in the form of the tool of that name, and `sha256sum -c` can check it.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import re
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._plain_data import MOST_INTEGER_DIGITS, parse_json, require_readable_json
from holdfast._regular_file import read_regular
from holdfast._stored_fields import require_format
from holdfast.errors import FormatError, ParameterError
from holdfast.release._tables import is_table, table_bytes, table_of

FORMAT = "holdfast-release/1"
MOST_RELEASE_BYTES = 4 * 2**30
MOST_MEMBERS = 10_000
_MOST_DIRECTORY_BYTES = 200 * MOST_MEMBERS
"""Of the names, sizes and places of the members."""
_MEMBER_NAME = re.compile(r"arrays/[0-9]{1,5}\.(npy|arrow)")
_JSON, _SUMS = "release.json", "SHA256SUMS"
_MOST_VALUE_DEPTH = 100
_MOST_EMPTY_SIDE = 2**20
"""Where another side is 0: whoever goes along this one finds nothing, and takes as long as it is."""
_STORABLE_KINDS = "biufcUSMm"
_ARRAY_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00(?P<length>[\x00-\xff]{2})"
    rb"\{'descr': '(?P<dtype>[<|][a-zA-Z][0-9]{0,9}(\[[0-9]{0,9}[a-zA-Z]{1,2}\])?)', 'fortran_order': False, "
    rb"'shape': \((?P<shape>([0-9]{1,18}(, [0-9]{1,18}){0,63},?)?)\), \} *\n"
)


# The archive.


def to_bytes(record: dict[str, Any], members: dict[str, bytes]) -> bytes:
    """The archive of a record and its members; the same release always gives the same bytes.

    `ParameterError` for an archive that `from_bytes` would refuse as too large.
    """
    text = json.dumps({"format": FORMAT} | record, indent=1, allow_nan=False).encode()
    entries = {_JSON: text} | members
    entries[_SUMS] = checksums(entries)
    _require_readable(text, entries)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, data in entries.items():
            info = zipfile.ZipInfo(name)  # dated 1980: the archive says nothing about when it was written
            info.create_system, info.external_attr = 3, 0o644 << 16
            archive.writestr(info, data)
    return file.getvalue()


def _require_readable(text: bytes, entries: dict[str, bytes]) -> None:
    way_out = "make many numbers or arrays into few arrays"
    try:
        require_readable_json(text, f"{_JSON} of the release file")
    except FormatError as error:
        raise ParameterError(f"{error}; {way_out}") from None
    arrays, most_arrays = len(entries) - 2, MOST_MEMBERS - 2
    if arrays > most_arrays:
        raise ParameterError(
            f"a value has at most {most_arrays:,} arrays and tables, this one has {arrays:,}; {way_out}"
        )
    size = sum(map(len, entries.values()))
    if size > MOST_RELEASE_BYTES - _MOST_DIRECTORY_BYTES:
        raise ParameterError(
            f"a release file has at most {MOST_RELEASE_BYTES:,} bytes, this one would have {size:,}; "
            "make a release of each part"
        )


def read(path: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The record and the members of a release file; `FormatError` for anything else."""
    return from_bytes(read_regular(path, what="a release", most_bytes=MOST_RELEASE_BYTES))


def from_bytes(data: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The record and the members of an archive, after a check of names, sizes, format version and checksums."""
    members = _members(data)
    text = members.pop(_JSON, None)
    if text is None:
        raise FormatError(f"not a release file: it holds no {_JSON}")
    record = parse_json(text, f"{_JSON} of the release file")
    if not isinstance(record, dict):
        raise FormatError(f"{_JSON} of the release file must hold one object")
    require_format("release file", record, FORMAT)
    if not all(_MEMBER_NAME.fullmatch(name) for name in members if name != _SUMS):
        raise FormatError("the release file holds a member of an unknown name")
    if members.pop(_SUMS, None) != checksums({_JSON: text} | members):
        raise FormatError(
            f"the release file was changed or damaged: its members do not have the sums of {_SUMS}"
        )
    return record, members


def checksums(members: dict[str, bytes]) -> bytes:
    """One line for each member, as `sha256sum` prints it."""
    lines = [f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in sorted(members.items())]
    return "".join(lines).encode()


def _members(data: bytes) -> dict[str, bytes]:
    """Every member of the archive; refused if one is compressed, encrypted or named twice, or claims too much."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = archive.infolist()
            uncompressed = all(
                info.compress_type == zipfile.ZIP_STORED
                and info.compress_size == info.file_size
                and not info.flag_bits & 0x1
                for info in infos
            )
            total = sum(info.file_size for info in infos)
            if not uncompressed or total > len(data) or not 0 < len(infos) <= MOST_MEMBERS:
                raise FormatError(
                    "a release file holds stored members only, together no larger than the file"
                )
            members = {info.filename: archive.read(info) for info in infos}
    except FormatError:
        raise
    except Exception as error:  # zipfile raises a dozen different errors for a damaged archive
        raise FormatError("not a release file: it is no readable zip archive") from error
    if len(members) != len(infos):
        raise FormatError("the release file names a member twice")
    return members


# Values.


@dataclass(frozen=True)
class Contents:
    """A value as it is stored: a JSON tree, and the members of the archive that the tree refers to."""

    tree: Any
    members: dict[str, bytes] = field(default_factory=dict)


def pack(value: Any) -> Contents:
    """The stored form of a value; `ParameterError` for what cannot be stored.

    >>> pack({"mean": 1.5, "counts": (1, 2)}).tree
    {'mean': 1.5, 'counts': {'$tuple': [1, 2]}}
    """
    members: dict[str, bytes] = {}
    return Contents(_pack_part(value, members, 0), members)


def unpack(contents: Contents) -> Any:
    """The value of a stored form; `FormatError` for one that `pack` cannot have written."""
    unused = set(contents.members)
    value = _unpack_part(contents.tree, contents.members, unused, 0)
    if unused:
        raise FormatError(f"{len(unused)} members of the file belong to no part of the value")
    return value


def _pack_part(value: Any, members: dict[str, bytes], depth: int) -> Any:
    if depth > _MOST_VALUE_DEPTH:
        raise ParameterError(f"value must be nested at most {_MOST_VALUE_DEPTH} levels deep")
    match value:
        case int() if abs(value) >= 10 ** (MOST_INTEGER_DIGITS - 2):
            raise ParameterError(f"a whole number of a value has fewer than {MOST_INTEGER_DIGITS - 2} digits")
        case None | bool() | str() | int():
            return value
        case float():
            return float(value) if math.isfinite(value) else {"$float": repr(float(value))}
        case np.generic():
            return _pack_part(value.item(), members, depth)
        case np.ndarray():
            return {"$array": _add(members, "npy", _npy(value))}
        case list():
            return [_pack_part(item, members, depth + 1) for item in value]
        case tuple():
            return {"$tuple": [_pack_part(item, members, depth + 1) for item in value]}
        case Mapping() if all(isinstance(key, str) and not key.startswith("$") for key in value):
            return {key: _pack_part(item, members, depth + 1) for key, item in value.items()}
        case Mapping():
            pairs = [
                [_pack_part(k, members, depth + 1), _pack_part(v, members, depth + 1)]
                for k, v in value.items()
            ]
            return {"$pairs": pairs}
    if is_table(value):
        return {"$table": _add(members, "arrow", table_bytes(value))}
    raise ParameterError(
        f"a value of type {type(value).__name__} cannot be stored; a release holds numbers, texts, lists, "
        "tuples, mappings, NumPy arrays and pyarrow tables (pyarrow.Table.from_pandas turns a frame into one)"
    )


def _unpack_part(tree: Any, members: dict[str, bytes], unused: set[str], depth: int) -> Any:
    if depth > _MOST_VALUE_DEPTH + 1:
        raise FormatError(f"a stored value is nested at most {_MOST_VALUE_DEPTH} levels deep")

    def inner(part: Any) -> Any:
        return _unpack_part(part, members, unused, depth + 1)

    match tree:
        case None | bool() | str() | int() | float():
            return tree
        case list():
            return [inner(item) for item in tree]
        case {"$float": "nan" | "inf" | "-inf" as text} if len(tree) == 1:
            return float(text)
        case {"$array": str() as name} if len(tree) == 1:
            return _array(_take(members, unused, name))
        case {"$table": str() as name} if len(tree) == 1:
            return table_of(_take(members, unused, name))
        case {"$tuple": list() as items} if len(tree) == 1:
            return tuple(inner(item) for item in items)
        case {"$pairs": list() as pairs} if len(tree) == 1 and all(
            isinstance(pair, list) and len(pair) == 2 for pair in pairs
        ):
            return {inner(key): inner(item) for key, item in pairs}
        case dict() if not any(key.startswith("$") for key in tree):
            return {key: inner(item) for key, item in tree.items()}
    raise FormatError("a stored value has a tag that this version does not know")


def _add(members: dict[str, bytes], ending: str, data: bytes) -> str:
    name = f"arrays/{len(members)}.{ending}"
    members[name] = data
    return name


def _take(members: dict[str, bytes], unused: set[str], name: str) -> bytes:
    if name not in unused:
        raise FormatError("a stored value refers to a member that is missing, or to one twice")
    unused.discard(name)
    return members[name]


def _npy(array: NDArray[Any]) -> bytes:
    dtype = array.dtype.newbyteorder("<")
    if not _storable(dtype):
        raise ParameterError(
            f"an array of dtype {array.dtype} cannot be stored; use numbers of at most 8 bytes, or texts"
        )
    if not array.size and max(array.shape) > _MOST_EMPTY_SIDE:
        raise ParameterError(
            f"an array without elements has sides of at most {_MOST_EMPTY_SIDE:,}, this one has a longer side"
        )
    file = io.BytesIO()
    np.lib.format.write_array(
        file, np.asarray(array, dtype=dtype, order="C"), version=(1, 0), allow_pickle=False
    )
    return file.getvalue()


def _array(data: bytes) -> NDArray[Any]:
    """The array of `.npy` bytes that `_npy` wrote; the claimed size is checked before anything is allocated."""
    header = _ARRAY_HEADER.match(data)
    if header is None or len(header[0]) != 10 + int.from_bytes(header["length"], "little"):
        raise FormatError("a stored array does not have the header that holdfast writes")
    shape = tuple(int(side) for side in header["shape"].decode().split(",") if side.strip())
    try:
        dtype = np.dtype(header["dtype"].decode())
    except (TypeError, ValueError) as error:
        raise FormatError("a stored array has an unknown dtype") from error
    body = data[header.end() :]
    if max(shape, default=0) > len(data) + _MOST_EMPTY_SIDE:
        raise FormatError("a stored array without elements has a side that is too long to be meant")
    if not _storable(dtype) or math.prod(shape) * dtype.itemsize != len(body):
        raise FormatError("a stored array does not have the size that its header claims")
    if dtype.kind == "U" and body and int(np.frombuffer(body, "<u4").max()) > sys.maxunicode:
        raise FormatError("a stored array of texts holds what is no text")
    try:
        # A copy, so that a loaded array can be changed like any other.
        flat = np.frombuffer(body, dtype) if body else np.empty(math.prod(shape), dtype)
        return flat.reshape(shape).copy()
    except (ValueError, OverflowError, MemoryError) as error:
        raise FormatError("a stored array has a shape that no array can have") from error


def _storable(dtype: np.dtype[Any]) -> bool:
    widest = {"f": 8, "c": 16}.get(dtype.kind, sys.maxsize)
    return (
        dtype.kind in _STORABLE_KINDS
        and 0 < dtype.itemsize <= widest
        and not dtype.hasobject
        and dtype.byteorder != ">"
    )

"""Schema files: TOML for people, JSON for programs, one format version for both.

The standard library reads TOML and does not write it; a schema needs so little of TOML that the
writer is one screen. What it writes, `tomllib` reads back as an equal schema (a property test says so).
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from holdfast.data.schema import Schema
from holdfast.errors import FormatError

#: A schema larger than this is not read: nobody declares that much by hand.
MOST_BYTES = 16 * 2**20
_MARK = "  # taken from the data: replace it"
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def write_schema(schema: Schema, path: Path) -> None:
    """Write the schema as TOML, or as JSON where the name ends in `.json`."""
    text = json.dumps(schema.to_dict(), indent=2) + "\n" if path.suffix == ".json" else to_toml(schema)
    path.write_bytes(text.encode())


def read_schema(path: Path) -> Schema:
    """Read a TOML or JSON schema file."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise FormatError(f"cannot read the schema file {str(path)!r}: {error.strerror}") from None
    if len(content) > MOST_BYTES:
        raise FormatError(f"a schema file has at most {MOST_BYTES} bytes, {str(path)!r} has more")
    parse = json.loads if path.suffix == ".json" else tomllib.loads
    try:
        record = parse(content.decode("utf-8-sig"))
    except (
        ValueError,
        RecursionError,
    ) as error:  # both decoders' errors and UnicodeDecodeError are ValueErrors
        raise FormatError(
            f"{str(path)!r} is not valid {path.suffix.lstrip('.') or 'TOML'}: {error}"
        ) from None
    if not isinstance(record, dict):
        raise FormatError(f"{str(path)!r} must hold one table")
    return Schema.from_dict(record)


def to_toml(schema: Schema) -> str:
    """The schema as TOML text; a guess of a draft is marked by a comment that asks to replace it."""
    record = schema.to_dict()
    columns = record.pop("columns")
    unit = record.pop("unit", None)
    lines = _pairs(record)
    if unit is not None:
        lines += ["", "[unit]", *_pairs(unit)]
    for column in columns:
        marked = ("low", "high", "categories") if column.get("taken_from_data") else ()
        lines += ["", "[[columns]]", *_pairs(column, marked=marked)]
    return "\n".join(lines) + "\n"


def _pairs(record: Mapping[str, Any], *, marked: Sequence[str] = ()) -> list[str]:
    """Lines `key = value`; our keys are plain words, so only values need quoting."""
    return [f"{key} = {_value(value)}{_MARK if key in marked else ''}" for key, value in record.items()]


def _value(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list):
        return "[" + ", ".join(_value(entry) for entry in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)  # whole numbers and finite floats: Python's shortest form is TOML's


def _text(text: str) -> str:
    r"""A TOML basic string.

    >>> print(_text('say "hi"\n'))
    "say \"hi\"\n"
    """
    letters = (
        _ESCAPES.get(letter)
        or (f"\\u{ord(letter):04X}" if ord(letter) < 0x20 or ord(letter) == 0x7F else letter)
        for letter in text
    )
    return '"' + "".join(letters) + '"'

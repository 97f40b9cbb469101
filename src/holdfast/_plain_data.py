"""JSON and TOML from a stranger: what they take in memory is estimated from their text before any of it is parsed.

Twenty times the bytes and 64 MB is the most that a file may take. Texts and numbers stay below that by themselves;
lists, mappings and tables are counted, since two bytes can ask for a hundred.
"""

from __future__ import annotations

import codecs
import json
import math
import re
import tomllib
from typing import Any

from holdfast.errors import FormatError

MOST_INTEGER_DIGITS = 300
"""Of a whole number."""
_MOST_BYTES = 64 * 2**20
_MOST_VALUES = 5_000_000
"""The curve of a loss distribution may have four million numbers."""
_MOST_DEPTH = 400
# No pattern goes back over what it read, and a text that never ends is taken whole: the time is that of one reading,
# and nothing is kept for each letter.
_JSON_TEXTS = re.compile(rb'"(?:[^"\\]++|\\.)*+"?')
_JSON_PIECE = re.compile(rb'(?:[^"]*+(?:"(?:[^"\\]++|\\.)*+"?)?+){1,4096}+')
"""Some texts with what stands between them: a list of all pieces would take more than the data."""
_MARK = codecs.BOM_UTF8
_MOST_WEIGHT = 10
_GROWTH, _FREE_BYTES = 20, 64 * 2**20

# TOML: a text or a comment, as a reader of the format would take them apart from left to right.
_TOML_TEXTS = re.compile(
    r'"""(?:[^"\\]++|\\.|"(?!""))*+"{0,5}|'
    + r"'''(?:[^']++|'(?!''))*+'{0,5}|"
    + r'"(?:[^"\\\n]++|\\.)*+"?|'
    + r"'[^'\n]*'?|#[^\n]*",
    re.DOTALL,
)
_TABLES, _KEY_DOTS = re.compile(r"^[ \t]*\[", re.MULTILINE), re.compile(r"\.(?=[^\n=,\[\]{}]*[=\]])")
_LONG_KEY = re.compile(r"(?:\.[^\n.=,\[\]{}]*){16}")
# Bytes that each of these takes at most, as measured.
_TABLE_BYTES, _DOT_BYTES, _BRACE_BYTES, _BRACKET_BYTES = 1000, 600, 300, 100


def parse_json(
    data: bytes,
    what: str,
    *,
    most_bytes: int = _MOST_BYTES,
    most_parts: int = _MOST_VALUES,
    most_depth: int = _MOST_DEPTH,
) -> Any:
    """Parse JSON that is not trusted: bounded in bytes, values and depth, and without NaN or infinities.

    `what` names the text in errors.
    """
    require_readable_json(data, what, most_bytes=most_bytes, most_parts=most_parts)
    try:
        text = data.removeprefix(
            _MARK
        ).decode()  # as bytes it could be in an encoding in which nothing was counted
        value = _JSON_DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise FormatError(f"{what} is not valid JSON: {error.msg} in line {error.lineno}") from None
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{what} is not valid JSON, or holds a number that is not finite") from error
    if text.count("[") + text.count("{") > most_depth:  # else it is not nested so deep
        require_depth(value, what, most_depth)
    return value


def require_readable_json(
    data: bytes, what: str, *, most_bytes: int = _MOST_BYTES, most_parts: int = _MOST_VALUES
) -> None:
    """Refuse JSON of more bytes or values than `parse_json` reads, which a writer asks as well."""
    _require_size(data, what, most_bytes)
    may_be_many = _MOST_WEIGHT * len(data) > most_parts  # else no text of this length holds too many
    if may_be_many and _weighted_values(data) > most_parts and _weight_without_texts(data) > most_parts:
        raise FormatError(f"{what} holds at most {most_parts:,} values, this one holds more")


def parse_toml(data: bytes, what: str, *, most_bytes: int) -> dict[str, Any]:
    """Parse TOML that is not trusted: bounded in bytes, tables and the length of dotted keys before it is parsed."""
    _require_size(data, what, most_bytes)
    try:
        text = data.removeprefix(_MARK).decode()
    except UnicodeDecodeError:
        raise FormatError(f"{what} is not valid TOML: it is not in UTF-8") from None
    bare = _TOML_TEXTS.sub("", text)
    if _LONG_KEY.search(bare):
        raise FormatError(f"{what} has a key of more than 16 parts, which no file of holdfast has")
    bytes_needed = (
        _TABLE_BYTES * len(_TABLES.findall(bare))
        + _DOT_BYTES * len(_KEY_DOTS.findall(bare))
        + _BRACE_BYTES * bare.count("{")
        + _BRACKET_BYTES * bare.count("[")
    )
    if bytes_needed > _GROWTH * len(data) + _FREE_BYTES:
        raise FormatError(f"{what} has more tables and lists than a file of its size may have")
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{what} is not valid TOML: {_toml_reason(error)}") from None


def require_depth(value: Any, what: str, most: int) -> None:
    """Refuse plain data that are nested deeper than `most` levels. It does not recurse, so any depth is safe."""
    level, depth = [value] if isinstance(value, dict | list) else [], 0
    while level:
        depth += 1
        if depth > most:
            raise FormatError(f"{what} is nested at most {most} levels deep")
        values = [
            value
            for container in level
            for value in (container.values() if isinstance(container, dict) else container)
        ]
        level = [value for value in values if isinstance(value, dict | list)]


def _require_size(data: bytes, what: str, most_bytes: int) -> None:
    if len(data) > most_bytes:
        raise FormatError(f"{what} has at most {most_bytes:,} bytes, this one has {len(data):,}")


def _weight_without_texts(data: bytes) -> int:
    """The same, without what stands in texts."""
    weight, place = 0, 0
    while place < len(data):
        piece = _JSON_PIECE.match(data, place)
        assert piece is not None  # it matches anything
        place = piece.end()
        weight += _weighted_values(_JSON_TEXTS.sub(b'""', piece[0]))
    return weight


def _weighted_values(data: bytes) -> int:
    """How many values JSON holds, weighted by memory: a text counts as three numbers, a list or mapping as ten."""
    return data.count(b",") + data.count(b'"') + _MOST_WEIGHT * (data.count(b"[") + data.count(b"{"))


def _whole_number(text: str) -> int:
    if len(text) >= MOST_INTEGER_DIGITS:
        raise ValueError("too many digits")
    return int(text)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("not finite")
    return value


def _toml_reason(error: Exception) -> str:
    """What is wrong and where; never a part of the text."""
    return "it is nested too deep" if isinstance(error, RecursionError) else str(error)


_JSON_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_finite, parse_int=_whole_number)

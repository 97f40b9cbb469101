"""Section: a part of what a dossier says, as a frozen dataclass that reads and writes itself.

Numbers are shortened to six digits; an infinite epsilon is None.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import NoneType, UnionType
from typing import Any, Literal, Self, get_args, get_origin, get_type_hints

from holdfast.errors import FormatError

Audience = Literal["public", "internal"]


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of the record. Its fields, in their order, are the keys of its JSON object."""

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {_key(one): _plain(getattr(self, one.name)) for one in fields(self)}

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """The section that `to_json` wrote; `FormatError` for anything else."""
        try:
            kinds, known = get_type_hints(cls), {_key(one): one.name for one in fields(cls)}
            return cls(**{known[key]: _read(kinds[known[key]], value) for key, value in data.items()})
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            name = cls.__name__.lower()
            raise FormatError(f"a stored {name} lacks a field or has one of the wrong kind") from error


def visible(value: Any) -> Any:
    r"""Plain data in which nothing is invisible: what no printer prints is spelled out.

    >>> visible({"a\u202e": ["b\n", 1.5]})
    {'a\\u202e': ['b\n', 1.5]}
    """
    match value:
        case str():
            return "".join(c if c.isprintable() or c == "\n" else f"\\u{ord(c):04x}" for c in value)
        case dict():
            return {visible(str(key)): visible(item) for key, item in value.items()}
        case list() | tuple():
            return [visible(item) for item in value]
        case float() if not math.isfinite(value):
            return None
    return value


def six_digits(value: float) -> float | None:
    """The number to six digits; None for infinity."""
    return float(f"{value:.6g}") if math.isfinite(value) else None


def _key(one: Any) -> str:
    """The key of a field, where it is no name of Python."""
    return str(one.metadata.get("key", one.name))


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return value.to_json() if hasattr(value, "to_json") else value


def _read(kind: Any, data: Any) -> Any:
    """The value of a field of this type; `TypeError` or `FormatError` where the data are of another one."""
    origin, inside = get_origin(kind), get_args(kind)
    if origin is tuple and isinstance(data, list):
        return tuple(_read(inside[0], one) for one in data)
    if origin is UnionType:
        return _read_one_of(inside, data)
    if origin is Literal and data in inside:
        return data
    if origin is Mapping and isinstance(data, dict):
        return data
    if hasattr(kind, "from_json"):
        return kind.from_json(data)
    if type(data) is kind or (kind is float and type(data) is int):
        return data
    raise TypeError(f"{kind} was expected")


def _read_one_of(kinds: tuple[Any, ...], data: Any) -> Any:
    if data is None and NoneType in kinds:
        return None
    for kind in kinds:
        try:
            return _read(kind, data)
        except (TypeError, FormatError):
            continue
    raise TypeError("no kind of a union fits")

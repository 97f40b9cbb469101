"""Section: a part of what a dossier says, as a frozen dataclass that reads and writes itself.

Numbers are shortened to six digits; an infinite epsilon is None. A template sees sections as `Placed`: what it writes
of them links to where it stands.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Self, get_args, get_origin, get_type_hints
from urllib.parse import quote

from holdfast._arguments import checked
from holdfast.errors import FormatError
from holdfast.privacy._wording import STORED_DIGITS, rounded_down, rounded_up

if TYPE_CHECKING:
    from markupsafe import Markup

Audience = Literal["public", "internal"]


@checked
@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of the record. Its fields, in their order, are the keys of its JSON object."""

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {json_key(field): _to_plain_data(getattr(self, field.name)) for field in fields(self)}

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """The section that `to_json` wrote as `data`; `FormatError` for anything else."""
        try:
            kinds, field_names = get_type_hints(cls), {json_key(field): field.name for field in fields(cls)}
            return cls(
                **{
                    field_names[key]: _read_field(kinds[field_names[key]], value)
                    for key, value in data.items()
                }
            )
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            name = cls.__name__.lower()
            raise FormatError(f"a stored {name} lacks a field or has one of the wrong kind") from error


class Places:
    """The places that a page links to, in the order in which it speaks of them."""

    def __init__(self) -> None:
        self.linked: dict[str, Any] = {}

    def link(self, place: str, value: Any, text: str) -> Markup | str:
        """The text, as a link to the place of its value where it has a digit."""
        from markupsafe import Markup, escape

        if not any(letter.isdigit() for letter in text):
            return text
        self.linked.setdefault(place, value)
        return Markup('<a class="src" tabindex="-1" href="#{}">{}</a>').format(escape(place), text)


class Placed:
    """A value of the record and its place in it; parts know their places too."""

    __slots__ = ("_place", "_places", "_value")

    def __init__(self, value: Any, place: str, places: Places) -> None:
        self._value, self._place, self._places = value, place, places

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._value, name)
        if not is_dataclass(self._value):
            return value
        return self._inner(
            next(json_key(field) for field in fields(self._value) if field.name == name), value
        )

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return list(self)[key]
        return self._inner(key, self._value[key])

    def __iter__(self) -> Iterator[Any]:
        return iter([self._inner(place, value) for place, value in enumerate(self._value)])

    def items(self) -> list[tuple[Any, Any]]:
        """Of a mapping; a name leads where its value stands."""
        return [
            (self._places.link(self._at(key), value, str(key)), self._inner(key, value))
            for key, value in self._value.items()
        ]

    def __len__(self) -> int:
        return len(self._value)

    def __bool__(self) -> bool:
        return bool(self._value)

    def __eq__(self, other: object) -> bool:
        return bool(self._value == (other._value if isinstance(other, Placed) else other))

    def __hash__(self) -> int:
        return hash(self._place)

    def __contains__(self, part: object) -> bool:
        return part in self._value

    def __lt__(self, other: Any) -> bool:
        return bool(self._value < other)

    def __ge__(self, other: Any) -> bool:
        return bool(self._value >= other)

    def __str__(self) -> str:
        return str(self._value)

    def __html__(self) -> Markup | str:
        """What a template writes of it."""
        return self.render(str)

    def render(self, form: Callable[[Any], str]) -> Markup:
        """The value in this form, linked to its place."""
        from markupsafe import escape

        return escape(self._places.link(self._place, self._value, form(self._value)))

    def plain(self) -> Any:
        """The value alone, for attributes and charts."""
        return self._value

    def link_target(self) -> str:
        """Its place, which is now one that the page links to."""
        self._places.linked.setdefault(self._place, self._value)
        return self._place

    def part_count(self) -> Markup:
        """How many parts it has."""
        return self.render(lambda value: f"{len(value)}")

    def _inner(self, key: object, value: Any) -> Any:
        if value is None or isinstance(value, bool):
            return value
        return Placed(value, self._at(key), self._places)

    def _at(self, key: object) -> str:
        place = quote(str(key), safe="")
        return f"{self._place}/{place}" if self._place else place


def make_visible(value: Any) -> Any:
    r"""Plain data in which nothing is invisible: what no printer prints is spelled out.

    >>> make_visible({"a\u202e": ["b\n", 1.5]})
    {'a\\u202e': ['b\n', 1.5]}
    """
    match value:
        case str():
            return "".join(c if c.isprintable() or c == "\n" else f"\\u{ord(c):04x}" for c in value)
        case dict():
            return {make_visible(str(key)): make_visible(item) for key, item in value.items()}
        case list() | tuple():
            return [make_visible(item) for item in value]
        case float() if not math.isfinite(value):
            return None
    return value


def round_to_six_digits(value: float) -> float | None:
    """The number to six digits; None for infinity."""
    return float(f"{value:.6g}") if math.isfinite(value) else None


def stored_upper_bound(value: float) -> float | None:
    """An upper bound to six digits, rounded up; None for infinity."""
    return rounded_up(value, STORED_DIGITS) if math.isfinite(value) else None


def stored_lower_bound(value: float) -> float | None:
    """A lower bound to six digits, rounded down; None for infinity."""
    return rounded_down(value, STORED_DIGITS) if math.isfinite(value) else None


def json_key(field: Any) -> str:
    """The key of a field, where it is no name of Python."""
    return str(field.metadata.get("key", field.name))


def _to_plain_data(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_to_plain_data(part) for part in value]
    return value.to_json() if hasattr(value, "to_json") else value


def _read_field(field_type: Any, data: Any) -> Any:
    """The value of a field of this type; `TypeError` or `FormatError` where the data are of another one."""
    generic_type, type_arguments = get_origin(field_type), get_args(field_type)
    if generic_type is tuple and isinstance(data, list):
        return tuple(_read_field(type_arguments[0], part) for part in data)
    if generic_type is UnionType:
        return _read_union(type_arguments, data)
    if generic_type is Literal and data in type_arguments:
        return data
    if generic_type is Mapping and isinstance(data, dict):
        return data
    if hasattr(field_type, "from_json"):
        return field_type.from_json(data)
    if type(data) is field_type or (field_type is float and type(data) is int):
        return data
    raise TypeError(f"{field_type} was expected")


def _read_union(kinds: tuple[Any, ...], data: Any) -> Any:
    if data is None and NoneType in kinds:
        return None
    for field_type in kinds:
        try:
            return _read_field(field_type, data)
        except (TypeError, FormatError):
            continue
    raise TypeError("no kind of a union fits")

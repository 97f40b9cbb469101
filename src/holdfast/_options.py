"""Options: the keywords of a method that users may set.

A method declares them by the signature of its function, each with its type and its default. The options that a user
passes are checked against these before anything is spent.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from holdfast.errors import ParameterError


class OptionGroup:
    """Options of a method that belong together: a frozen dataclass, which its function takes as one keyword.

    Users give each by its own name, as they give any option; the object checks itself when it is made of them.
    """


@dataclass(frozen=True)
class Option:
    """One keyword of a method: its name, its type and its default."""

    name: str
    kind: Any
    default: Any
    group: tuple[str, type[OptionGroup]] | None = None
    """The keyword of the function that takes the group with this option, and the group's class; None outside groups."""

    def admits(self, value: Any) -> bool:
        """Whether a value is of the declared type; ranges are the method's own business."""
        return _has_type(value, self.kind)

    def summary(self) -> str:
        """The option as a signature writes it.

        >>> Option("steps", int | None, None).summary()
        'steps: int | None = None'
        """
        return f"{self.name}: {self.type_text} = {self.default!r}"

    @property
    def type_text(self) -> str:
        """Its type, as a signature writes it."""
        return _type_text(self.kind)


def options_of(
    function: Callable[..., Any], *, reserved: tuple[str, ...] = ("account",)
) -> tuple[Option, ...]:
    """The options that a function declares: its keywords, but those that every method has.

    >>> def method(rows, *, account, steps: int = 10, step: float | None = None): ...
    >>> [option.name for option in options_of(method)]
    ['steps', 'step']
    """
    hints = get_type_hints(function)
    options: list[Option] = []
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is not inspect.Parameter.KEYWORD_ONLY or name in reserved:
            continue
        kind = hints.get(name, Any)
        if isinstance(kind, type) and issubclass(kind, OptionGroup):
            options += _options_of_group(name, kind)
        else:
            options.append(Option(name, kind, parameter.default))
    return tuple(options)


def _options_of_group(keyword: str, kind: Any) -> Iterator[Option]:
    """An option for each field of the group."""
    hints = get_type_hints(kind)
    for field in fields(kind):
        yield Option(field.name, hints[field.name], field.default, (keyword, kind))


def keywords_of(given: Mapping[str, Any], declared: tuple[Option, ...]) -> dict[str, Any]:
    """The keywords of a method's function, from options that were checked: those of a group become its object.

    >>> @dataclass(frozen=True)
    ... class Steps(OptionGroup):
    ...     steps: int = 10
    ...     step: float = 1.0
    >>> declared = (Option("steps", int, 10, ("pace", Steps)), Option("clip", float, 1.0))
    >>> keywords_of({"steps": 3, "clip": 2.0}, declared)
    {'pace': Steps(steps=3, step=1.0), 'clip': 2.0}
    """
    groups = {option.name: option.group for option in declared if option.group is not None}
    keywords: dict[str, Any] = {}
    for keyword, kind in dict.fromkeys(groups[name] for name in given if name in groups):
        own = {name: value for name, value in given.items() if groups.get(name) == (keyword, kind)}
        keywords[keyword] = kind(**own)
    return keywords | {name: value for name, value in given.items() if name not in groups}


def check_options(given: Mapping[str, Any], declared: tuple[Option, ...], *, method: str) -> None:
    """Refuse options that are not declared, naming the nearest that is, and values of a wrong type.

    >>> check_options({"stpes": 3}, (Option("steps", int, 10),), method="output")
    Traceback (most recent call last):
    ...
    holdfast.errors.ParameterError: options must be among steps for method='output', got 'stpes'; did you mean 'steps'?
    """
    known = {option.name: option for option in declared}
    for name, value in given.items():
        if name not in known:
            near = get_close_matches(str(name), known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            among = f"among {', '.join(known)}" if known else "empty"
            raise ParameterError(f"options must be {among} for method={method!r}, got {name!r}{hint}")
        if not known[name].admits(value):
            raise ParameterError(
                f"{name} must be {_type_text(known[name].kind)} for method={method!r}, "
                f"got {name}={value!r} in options"
            )


def _has_type(value: Any, kind: Any) -> bool:
    origin = get_origin(kind)
    if kind is Any:
        return True
    if origin in (Union, types.UnionType):
        return any(_has_type(value, member) for member in get_args(kind))
    if origin is Literal:
        return value in get_args(kind)
    if kind is None or kind is type(None):
        return value is None
    if kind in (int, float):
        wanted = Integral if kind is int else Real
        return isinstance(value, wanted) and not isinstance(value, bool)
    while hasattr(origin, "__value__"):  # a `type` statement, as NumPy 2.5 writes NDArray
        origin = get_origin(origin.__value__)
    if origin is not None:
        return isinstance(value, origin)
    return isinstance(value, kind) if isinstance(kind, type) and not _is_protocol(kind) else True


def _is_protocol(kind: Any) -> bool:
    return bool(getattr(kind, "_is_protocol", False))


def _type_text(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return " or ".join(repr(member) for member in get_args(kind))
    if get_origin(kind) in (Union, types.UnionType):
        return " | ".join(_type_text(member) for member in get_args(kind))
    if kind is None or kind is type(None):
        return "None"
    return (
        kind.__name__
        if isinstance(kind, type) and get_origin(kind) is None
        else str(kind).replace("typing.", "")
    )

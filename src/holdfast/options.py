"""Options: what a method may be told beyond its data, declared by the signature of its function.

A method's function is its own declaration: every keyword that it takes by name, with its type and default. What a
caller gives is compared with it in one place, before anything is charged.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from holdfast.errors import ParameterError


@dataclass(frozen=True)
class Option:
    """One keyword of a method: its name, its type, and what holds where it is not given."""

    name: str
    kind: Any
    default: Any

    def admits(self, value: Any) -> bool:
        """Whether a value is of the declared type; ranges are the method's own business."""
        return _is(value, self.kind)

    def summary(self) -> str:
        """As a signature writes it.

        >>> Option("steps", int | None, None).summary()
        'steps: int | None = None'
        """
        return f"{self.name}: {_word(self.kind)} = {self.default!r}"


def options_of(
    function: Callable[..., Any], *, reserved: tuple[str, ...] = ("account",)
) -> tuple[Option, ...]:
    """The options that a function declares: its keywords, but those that every method has.

    >>> def method(rows, *, account, steps: int = 10, step: float | None = None): ...
    >>> [option.name for option in options_of(method)]
    ['steps', 'step']
    """
    hints = get_type_hints(function)
    return tuple(
        Option(name, hints.get(name, Any), parameter.default)
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and name not in reserved
    )


def check_options(given: Mapping[str, Any], declared: tuple[Option, ...], *, method: str) -> None:
    """Refuse what is not declared, with the nearest name that is, and values of a wrong type.

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
                f"{name} must be {_word(known[name].kind)} for method={method!r}, "
                f"got {name}={value!r} in options"
            )


def _is(value: Any, kind: Any) -> bool:
    origin = get_origin(kind)
    if kind is Any:
        return True
    if origin in (Union, types.UnionType):
        return any(_is(value, one) for one in get_args(kind))
    if origin is Literal:
        return value in get_args(kind)
    if kind is None or kind is type(None):
        return value is None
    if kind in (int, float):
        wanted = Integral if kind is int else Real
        return isinstance(value, wanted) and not isinstance(value, bool)
    if origin is not None:
        return isinstance(value, origin)
    return isinstance(value, kind) if isinstance(kind, type) and not _is_protocol(kind) else True


def _is_protocol(kind: Any) -> bool:
    return bool(getattr(kind, "_is_protocol", False))


def _word(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return " or ".join(repr(one) for one in get_args(kind))
    if get_origin(kind) in (Union, types.UnionType):
        return " | ".join(_word(one) for one in get_args(kind))
    if kind is None or kind is type(None):
        return "None"
    return (
        kind.__name__
        if isinstance(kind, type) and get_origin(kind) is None
        else str(kind).replace("typing.", "")
    )

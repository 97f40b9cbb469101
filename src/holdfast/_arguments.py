"""Arguments: every public call checks its arguments against their annotations before it does anything.

`checked` reads the annotations of a function or a class at the first call. A wrong argument then ends in a
`ParameterError` that names the parameter, what was given and what would be right; errors inside the call are left as
they are. What an annotation cannot say (a range, a file that must exist) is checked where the value is used, by
`errors.require` and `_ranges`.
"""

from __future__ import annotations

import builtins
import inspect
import math
import operator
import sys
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial, update_wrapper
from numbers import Rational, Real
from typing import Annotated, Any, TypeVar

import numpy as np

from holdfast._argument_kinds import (
    ANYTHING,
    ArgumentKind,
    Unimported,
    argument_kind,
    is_integral,
    refusal,
    union_kind,
)

T = TypeVar("T")


def _are_numbers(value: object) -> bool:
    """Whether a value is a finite real number, a list of these, or an array of these."""
    if isinstance(value, bool | np.bool_):
        return False
    if isinstance(value, Real):
        return isinstance(value, Rational) or math.isfinite(value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "iuf":
        return bool(np.isfinite(value).all())
    if isinstance(value, np.ndarray):
        return value.dtype == object and all(map(_are_numbers, value.flat))
    return isinstance(value, list | tuple) and all(map(_are_numbers, value))


def _is_vector(value: object) -> bool:
    numeric = isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "iuf"
    return numeric and not bool(np.isnan(value).any())  # type: ignore[call-overload]  # an array of numbers


SEED = ArgumentKind(
    lambda value: is_integral(value) and int(value) >= 0,  # type: ignore[call-overload]  # it is one
    "a whole number of at least 0",
)
Seed = Annotated[int, SEED]
"""A seed makes a run repeatable, and not private."""
VECTOR = ArgumentKind(_is_vector, "a NumPy array of numbers in one dimension", "pass numpy.array([...])")
NUMBERS = ArgumentKind(_are_numbers, "finite numbers in an array or a list", secret=True)


class _AnnotationNames(dict[str, Any]):
    """The names of a module; a name that only the type checker imports stands for an `Unimported` class."""

    def __missing__(self, name: str) -> Any:
        builtin = getattr(builtins, name, None)
        return builtin if builtin is not None else types.new_class(name, (Unimported,), {}, _subscriptable)


def _subscriptable(body: dict[str, Any]) -> None:
    body["__class_getitem__"] = classmethod(lambda cls, parameters: cls)


@dataclass(frozen=True)
class ParameterKinds:
    """The kinds of the parameters of one function: by position, by name, and of `*args`."""

    positional: tuple[tuple[str, ArgumentKind], ...]
    named: Mapping[str, ArgumentKind]
    rest: tuple[str, ArgumentKind] | None


def annotation_names(function: Callable[..., Any], owner: type | None = None) -> Mapping[str, Any]:
    """The names that the annotations of a function may use; the fields of a dataclass come from several modules."""
    names = _AnnotationNames()
    for parent in reversed(owner.__mro__[:-1] if owner is not None else ()):
        names.update(vars(sys.modules[parent.__module__]))
    names.update(getattr(inspect.unwrap(function), "__globals__", {}))
    return names


@cache
def parameter_kinds(function: Callable[..., Any], owner: type | None = None) -> ParameterKinds:
    """The kinds that a function declares for its parameters; `self` and `cls` may be anything."""
    names = annotation_names(function, owner)
    positional: list[tuple[str, ArgumentKind]] = []
    named: dict[str, ArgumentKind] = {}
    rest = None
    for place, parameter in enumerate(inspect.signature(function).parameters.values()):
        is_object = place == 0 and parameter.name in ("self", "cls")
        annotation = parameter.annotation
        if isinstance(annotation, str):
            annotation = eval(annotation, {}, names)
        kind = ANYTHING if is_object else argument_kind(annotation)
        if parameter.kind is parameter.VAR_POSITIONAL:
            rest = (parameter.name, kind)
        elif parameter.kind is not parameter.VAR_KEYWORD:
            if kind.accepts(parameter.default) is False and parameter.default is not parameter.empty:
                default = parameter.default
                kind = union_kind([kind, ArgumentKind(partial(operator.is_, default), "")])
            if parameter.kind is not parameter.KEYWORD_ONLY:
                positional.append((parameter.name, kind))
            if parameter.kind is not parameter.POSITIONAL_ONLY:
                named[parameter.name] = kind
    return ParameterKinds(tuple(positional), named, rest)


def check_call(
    function: Callable[..., Any],
    positional: Sequence[Any],
    named: Mapping[str, Any],
    owner: type | None = None,
) -> tuple[Sequence[Any], Mapping[str, Any]]:
    """The arguments of a call, lists of numbers as arrays; one that is not of the declared kind is refused."""
    kinds = parameter_kinds(function, owner)
    declared: Sequence[tuple[str, ArgumentKind]] = kinds.positional
    if kinds.rest is not None:
        declared = [*declared, *[kinds.rest] * (len(positional) - len(declared))]
    arguments, keywords = positional, named
    # Every public call comes through here, so an argument that is right costs one test, and `self` none.
    for place, (argument, (name, kind)) in enumerate(zip(positional, declared, strict=False)):
        if kind is not ANYTHING and not kind.accepts(argument):
            arguments = [*arguments[:place], _converted(name, argument, kind), *arguments[place + 1 :]]
    for name, argument in named.items():
        declared_kind = kinds.named.get(name, ANYTHING)
        if declared_kind is not ANYTHING and not declared_kind.accepts(argument):
            keywords = {**keywords, name: _converted(name, argument, declared_kind)}
    return arguments, keywords


def _converted(name: str, value: object, kind: ArgumentKind) -> object:
    """A list as the array that is wanted; all else that is not of the kind is refused."""
    value = kind.convert(value)
    if not kind.accepts(value):
        raise refusal(name, value, kind)
    return value


def check_settings(estimator: object) -> None:
    """Check the parameters of an estimator by its constructor's annotations; scikit-learn sets them without a call."""
    kind: Any = type(estimator)
    kinds = parameter_kinds(kind.__init__, kind)
    for name, kind in kinds.named.items():
        if hasattr(estimator, name) and not kind.accepts(getattr(estimator, name)):
            raise refusal(name, getattr(estimator, name), kind)


def checked(target: T) -> T:
    """Make a function, or the constructor and every public method of a class, check its arguments.

    >>> @checked
    ... def half(number: float) -> float:
    ...     return number / 2
    >>> half("a")
    Traceback (most recent call last):
    ...
    holdfast.errors.ParameterError: number must be a number, got number='a'
    """
    if isinstance(target, type):
        # By scikit-learn's rule a constructor only stores its arguments; `fit` checks them (`check_settings`).
        constructor = () if hasattr(target, "get_params") else ("__init__",)
        for name, member in list(vars(target).items()):
            if name in getattr(target, "__dataclass_fields__", ()) or (
                name.startswith("_") and name not in constructor
            ):
                continue
            if isinstance(member, classmethod | staticmethod):
                setattr(target, name, type(member)(_with_checked_arguments(member.__func__, target)))
            elif inspect.isfunction(member):
                setattr(target, name, _with_checked_arguments(member, target))
        return target
    return typing.cast("T", _with_checked_arguments(typing.cast("Callable[..., Any]", target)))


def _with_checked_arguments(function: Callable[..., Any], owner: type | None = None) -> Callable[..., Any]:
    if getattr(function, "__checks_arguments__", False):
        return function

    def call(*positional: Any, **named: Any) -> Any:
        arguments, keywords = check_call(function, positional, named, owner)
        return function(*arguments, **keywords)

    update_wrapper(call, function)
    call.__checks_arguments__ = True  # type: ignore[attr-defined]  # read by the contract over all public names
    return call

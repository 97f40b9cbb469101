"""Arguments: every public call checks what it is given against what it declares, before it does anything.

The types are said once, in the annotations. `checked` reads them, at the first call, and holds each argument against
its own: a wrong one ends in a `ParameterError` that names the parameter, what was given and what would be right. No
call is caught: an error inside is an error inside. What a type cannot say (a range, a file that must be there) is
checked where the value is born, by `require` and the helpers below.

No text of an array, a table or a row is ever part of a message: of these only the type is named.
"""

from __future__ import annotations

import builtins
import inspect
import math
import operator
import os
import sys
import types
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import Enum
from functools import cache, partial, update_wrapper
from itertools import islice
from numbers import Integral, Rational, Real
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import FormatError, ParameterError, require

T = TypeVar("T")

LARGEST = sys.float_info.max
LONGEST = 10_000
"""So many elements of a list are looked at, at most."""
MOST = 2**1023
"""Whole numbers of this size or a larger one have no double; a seed may be made of a hash."""
MOST_DRAWS = 2**40
"""So many random numbers are drawn at once, at most."""
LONGEST_NAME = 255
"""Bytes of a file's name."""
SHOWN = 60
"""So many characters of a value stand in a message, at most."""


@dataclass(frozen=True)
class ArgumentKind:
    """What an annotation admits: a test, and words for it."""

    accepts: Callable[[object], bool]
    text: str
    way_out: str = ""
    secret: bool = False
    """Whether a value of the kind is made of data, so that no message may show what was given."""
    array: bool = False
    """Whether a list of numbers will do, as the array that it is."""

    def taken(self, value: object) -> object:
        """The value as the function gets it: a list as an array, where one is wanted; all else as it is."""
        if not self.array or not isinstance(value, list | tuple) or self.accepts(value):
            return value
        try:
            return np.asarray(value)
        except (ValueError, OverflowError):  # rows of several lengths: refused as what it is
            return value


ANYTHING = ArgumentKind(lambda value: True, "anything")


# What is said of a value.


def shown(value: object) -> str:
    """A value as a message may show it: numbers and short texts as they are, of all else the type.

    >>> shown(1.5), shown("a"), shown([1, 2])
    ('1.5', "'a'", 'a list')
    """
    if value is None or isinstance(value, bool | np.bool_ | Enum):
        return str(value)
    if isinstance(value, Integral) and abs(int(value)) >= MOST:
        return "a whole number of more than 1023 bits"
    if isinstance(value, str | Real | os.PathLike):
        text = repr(value if not isinstance(value, np.generic) else value.item())
        return text if len(text) <= SHOWN else text[: SHOWN - 4] + "..." + text[-1]
    return type_of(value)


def type_of(value: object) -> str:
    """The type of a value, with its article, and nothing of what it holds."""
    name = value.__name__ if isinstance(value, type) else type(value).__name__
    if isinstance(value, type):
        return f"the class {name}"
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def refusal(name: str, value: object, kind: ArgumentKind, where: str = "") -> ParameterError:
    """The error for an argument of the wrong kind."""
    given = type_of(value) if kind.secret else shown(value)
    way_out = _curve_of(value) if "PrivacyCurve" in kind.text else ""
    way_out = f"; {way_out or kind.way_out}" if way_out or kind.way_out else ""
    return ParameterError(f"{name} must be {kind.text}, got {name}={given}{where}{way_out}")


def _curve_of(value: object) -> str:
    """How a number or an (epsilon, delta) pair is written as a curve; empty for anything else."""
    if _is_number(value):
        return f"write privacy.PureDP({value}), or privacy.ApproxDP({value}, delta)"
    if isinstance(value, tuple | list) and len(value) == 2 and all(map(_is_number, value)):
        return f"write privacy.ApproxDP({value[0]}, {value[1]})"
    return ""


# Ranges that many parameters share.


def require_number(
    name: str, value: object, *, least: float = -math.inf, most: float = math.inf, way_out: str = ""
) -> None:
    """A number, not nan, between the two ends.

    >>> require_number("confidence", 1.5, least=0, most=1)
    Traceback (most recent call last):
    ...
    holdfast.errors.ParameterError: confidence must be between 0 and 1, got confidence=1.5
    """
    if not _is_number(value):
        raise refusal(name, value, _SCALARS[float])
    number = typing.cast("float", value)
    if least > -math.inf and most < math.inf:
        require(least <= number <= most, name, value, f"between {least:g} and {most:g}", way_out)
    elif most < math.inf:
        require(number <= most, name, value, f"at most {most:g}", way_out)
    else:
        require(number >= least, name, value, f"at least {least:g}", way_out)


def require_whole(
    name: str, value: object, *, least: int = 0, most: int | None = None, way_out: str = ""
) -> None:
    """A whole number between the two ends.

    >>> require_whole("rows", 0, least=1)
    Traceback (most recent call last):
    ...
    holdfast.errors.ParameterError: rows must be a whole number of at least 1, got rows=0
    """
    if not _is_whole(value):
        raise refusal(name, value, _SCALARS[int], "")
    number = typing.cast("int", value)
    if most is None:
        require(number >= least, name, value, f"a whole number of at least {least:,}", way_out)
    else:
        require(least <= number <= most, name, value, f"a whole number from {least:,} to {most:,}", way_out)


def require_numbers(name: str, value: object, *, dimensions: int | None = None) -> NDArray[np.float64]:
    """Numbers as an array of doubles; none of them is ever part of the message.

    >>> require_numbers("rows", [[1, 2], [3]])
    Traceback (most recent call last):
    ...
    holdfast.errors.ParameterError: rows must be numbers in an array or a list, got a list
    """
    numbers = None
    if _is_number(value) or isinstance(value, np.ndarray) or _is_list(value) or hasattr(value, "__array__"):
        try:
            array = np.asarray(value)
            textual = array.dtype.kind in "USmMcV" or (
                array.dtype == object and any(map(_no_real, array.flat))
            )
            numbers = None if textual else array.astype(np.float64)
        except (ValueError, TypeError, OverflowError):
            numbers = None
    if numbers is None:
        raise ParameterError(f"{name} must be numbers in an array or a list, got {type_of(value)}")
    if dimensions is not None and numbers.ndim != dimensions:
        raise ParameterError(f"{name} must have {dimensions} dimensions, got {numbers.ndim}")
    return numbers


def _no_real(value: object) -> bool:
    return not isinstance(value, Real)


def as_labels(name: str, value: object) -> NDArray[Any]:
    """Labels as an array in one dimension, whatever they are."""
    try:
        labels = np.asarray(value)
    except ValueError:  # lists of several lengths
        labels = np.zeros((0, 0))
    if labels.ndim != 1:
        raise ParameterError(
            f"{name} must be a list or an array of labels, one for each row, got {type_of(value)}"
        )
    return labels


def stored_fields(what: str, data: object) -> Mapping[str, Any]:
    """What a file says of a thing by name; a name that it lacks is a `FormatError`."""
    if not isinstance(data, Mapping):
        raise FormatError(f"a stored {what} must be a mapping of its fields, got {type_of(data)}")
    return _Fields(what, data)


def require_known(
    what: str, data: Mapping[str, Any], names: Sequence[str], *, also: Sequence[str] = ()
) -> None:
    """Refuse a stored thing with fields that it does not have."""
    unknown = [name for name in data if name not in names and name not in also]
    if unknown:
        raise FormatError(
            f"a stored {what} has the fields {list(names)} and no others, got {len(unknown)} more"
        )


def require_format(what: str, data: object, known: str) -> None:
    """Refuse a stored thing of any other format than the known one, by the name of its own."""
    found = data.get("format") if isinstance(data, Mapping) else None
    if found == known:
        return
    if isinstance(found, str):
        raise FormatError(
            f"the {what} has the format {found[:60]!r}, this holdfast reads {known}; use a version that reads it"
        )
    raise FormatError(f"not a {what}: it does not have the format {known}")


def require_fields(what: str, data: object, names: Collection[str]) -> Mapping[str, Any]:
    """The fields of a stored thing, which has all of these and no others; `FormatError` for anything else."""
    stored = stored_fields(what, data)
    for name in names:
        stored[name]
    require_known(what, stored, list(names))
    return stored


class _Fields(dict[str, Any]):
    def __init__(self, what: str, data: Mapping[Any, Any]) -> None:
        super().__init__(data)
        self.what = what

    def __missing__(self, name: str) -> Any:
        raise FormatError(f"a stored {self.what} lacks the field {name!r}")


def require_place(name: str, path: str | os.PathLike[str]) -> None:
    """A path at which a file can be written: no folder, and in a folder that exists."""
    place = Path(path)
    if len(os.fsencode(place.name)) > LONGEST_NAME:
        raise ParameterError(
            f"{name} must have a file name of at most {LONGEST_NAME} bytes; choose a shorter one"
        )
    if place.is_dir():
        raise ParameterError(
            f"{name} must be a file, got {name}={str(place)!r}, which is a folder; add a file name"
        )
    if not place.parent.is_dir():
        raise ParameterError(
            f"{name} must lie in a folder that exists, got {name}={str(place)!r}; make the folder first"
        )


def require_one_of(name: str, value: object, options: Iterable[object], way_out: str = "") -> None:
    """One of a few values.

    >>> require_one_of("task", "regresion", ("classification", "regression"))
    Traceback (most recent call last):
    ...
    holdfast.errors.ParameterError: task must be 'classification' or 'regression', got task='regresion'
    """
    options = tuple(options)
    if not any(type(value) is type(option) and value == option for option in options):
        raise ParameterError(
            f"{name} must be {_one_of(options)}, got {name}={shown(value)}"
            + (f"; {way_out}" if way_out else "")
        )


# Annotations as kinds.


def _is_number(value: Any) -> bool:
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        return False
    if isinstance(value, Rational):
        size: Any = abs(math.floor(value))
        return bool(size <= LARGEST)
    return not math.isnan(value)


def _is_whole(value: Any) -> bool:
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        return False
    return abs(int(value)) < MOST


_SCALARS: dict[Any, ArgumentKind] = {
    float: ArgumentKind(_is_number, "a number"),
    int: ArgumentKind(_is_whole, "a whole number"),
    bool: ArgumentKind(lambda value: isinstance(value, bool | np.bool_), "true or false"),
    str: ArgumentKind(lambda value: isinstance(value, str), "a text"),
    bytes: ArgumentKind(lambda value: isinstance(value, bytes), "bytes"),
    os.PathLike: ArgumentKind(
        lambda value: isinstance(value, os.PathLike) and "\0" not in os.fsdecode(value), "a path"
    ),
    types.NoneType: ArgumentKind(lambda value: value is None, "None"),
}
_SCALARS[Path] = _SCALARS[os.PathLike]
_PATH = ArgumentKind(lambda value: isinstance(value, str) and "\0" not in value, "a path")
_DATA = frozenset(
    {"ndarray", "Batch", "Records", "Table", "Examples", "ReleasedRows", "CodedRow", "ReleasedRow"}
)
_WAYS = {
    "PrivacyCurve": "pass a curve such as privacy.ApproxDP(1, 1e-5) or privacy.PureDP(1)",
    "Guarantee": "a release carries one, as release.guarantee",
    "Mechanism": "pass one such as privacy.Gaussian(sigma=1.0, l2_sensitivity=1.0)",
    "Account": "make one by Account(ApproxDP(1, 1e-5)) or ledger.account(...)",
    "Ledger": "open one by Ledger.open(path)",
    "Store": "open a ledger in a file by Ledger.open(path), make one by Ledger.create(path)",
    "Release": "an estimator has one as release_; Release.load(path) reads a file",
    "Schema": "declare one by Schema([...]) or read one by Schema.load(path)",
    "Table": "open one by open_table(data, schema)",
    "Batch": "an Encoder reads a frame into one by its method read",
    "Source": "pass Source(), or Source(seed=1) where nothing is private",
    "PrivacyUnit": "pass PrivacyUnit.row() or PrivacyUnit.user(column, max_rows=...)",
    "Workload": "make one by Workload.marginals(schema, 2) or Workload.of([[...], ...])",
    "Generator": "pass numpy.random.default_rng(seed)",
    "Path": "pass pathlib.Path(...)",
    "Fraction": "pass fractions.Fraction(...)",
}


def _are_numbers(value: object) -> bool:
    """Finite real numbers: one, a list of them, or an array."""
    if isinstance(value, bool | np.bool_):
        return False
    if isinstance(value, Real):
        return isinstance(value, Rational) or math.isfinite(value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "iuf":
        return bool(np.isfinite(value).all())
    if isinstance(value, np.ndarray):
        return value.dtype == object and all(map(_are_numbers, value.flat))
    return isinstance(value, list | tuple) and all(map(_are_numbers, value))


def _is_line(value: object) -> bool:
    numeric = isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "iuf"
    return numeric and not bool(np.isnan(value).any())  # type: ignore[call-overload]  # an array of numbers


SEED = ArgumentKind(
    lambda value: _is_whole(value) and int(value) >= 0,  # type: ignore[call-overload]  # it is one
    "a whole number of at least 0",
)
Seed = Annotated[int, SEED]
"""What makes a run repeatable, and not private."""
LINE = ArgumentKind(_is_line, "a NumPy array of numbers in one dimension", "pass numpy.array([...])")
NUMBERS = ArgumentKind(_are_numbers, "finite numbers in an array or a list", secret=True)


class _Unimported:
    """Stands for a class whose module is imported for the type checker alone; it is known by its name."""


class _Names(dict[str, Any]):
    """The names of a module, and classes of their own for those that only the type checker imports."""

    def __missing__(self, name: str) -> Any:
        builtin = getattr(builtins, name, None)
        return builtin if builtin is not None else types.new_class(name, (_Unimported,), {}, _subscriptable)


def _subscriptable(body: dict[str, Any]) -> None:
    body["__class_getitem__"] = classmethod(lambda cls, parameters: cls)


def argument_kind(annotation: Any) -> ArgumentKind:
    """What values an annotation admits.

    >>> argument_kind(float | None).text
    'a number or None'
    """
    if annotation in (Any, object, inspect.Parameter.empty) or isinstance(
        annotation, TypeVar | typing.ParamSpec
    ):
        return ANYTHING
    if annotation is None:
        annotation = types.NoneType
    if annotation in _SCALARS:
        return _SCALARS[annotation]
    if str(annotation).startswith("typing.Union[numpy._typing"):  # numpy.typing.ArrayLike
        return ArgumentKind(_is_array_like, "numbers in an array or a list", secret=True)
    origin, parameters = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in _SCALARS:
        return _SCALARS[origin]
    if origin in (typing.Union, types.UnionType):
        return _union([argument_kind(parameter) for parameter in parameters])
    if origin is Literal:
        return ArgumentKind(
            lambda value: isinstance(value, str | int) and value in parameters, _one_of(parameters)
        )
    if origin is typing.Annotated:
        own = [item for item in annotation.__metadata__ if isinstance(item, ArgumentKind)]
        return own[0] if own else argument_kind(parameters[0])
    if origin is np.ndarray:
        return _array(parameters[1])
    if origin is type:
        return _class_of(parameters[0])
    if origin is not None:
        return _generic(origin, parameters)
    return _instance(annotation) if isinstance(annotation, type) else ANYTHING


def _one_of(options: Sequence[object]) -> str:
    *others, last = [repr(option) for option in options]
    return f"{', '.join(others)} or {last}" if others else last


def _is_array_like(value: object) -> bool:
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "iufb"
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _union(kinds: list[ArgumentKind]) -> ArgumentKind:
    if any(kind is ANYTHING for kind in kinds):
        return ANYTHING
    if any(kind.text == "a Fraction" for kind in kinds) and _SCALARS[float] in kinds:
        exact = ArgumentKind(_is_number, "a whole number, a float or a Fraction")
        kinds = [exact, *(kind for kind in kinds if kind.text not in ("a number", "a Fraction"))]
    words = list(dict.fromkeys(kind.text for kind in kinds))
    if "a text" in words and "a path" in words:
        words = ["a path" if word == "a text" else word for word in words if word != "a path"]
        kinds = [_PATH if kind is _SCALARS[str] else kind for kind in kinds]
    ways = [kind.way_out for kind in kinds if kind.way_out]
    return ArgumentKind(
        lambda value: any(kind.accepts(value) for kind in kinds),
        f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0],
        ways[0] if ways else "",
        secret=any(kind.secret for kind in kinds),
        array=any(kind.array for kind in kinds),
    )


_NUMBERS, _WHOLE = ("iuf", "numbers"), ("iu", "whole numbers")
_ARRAYS = {np.floating: _NUMBERS, np.number: _NUMBERS, np.integer: _WHOLE, np.bool_: ("b", "True and False")}


def _array(dtype: Any) -> ArgumentKind:
    held = typing.get_args(dtype)[0] if typing.get_args(dtype) else Any
    parents = held.__mro__ if isinstance(held, type) else ()
    kinds, words = next((_ARRAYS[parent] for parent in parents if parent in _ARRAYS), ("", ""))
    return ArgumentKind(
        lambda value: isinstance(value, np.ndarray) and (not kinds or value.dtype.kind in kinds),
        f"a NumPy array{' of ' + words if words else ''}",
        "pass numpy.asarray(...)",
        secret=True,
        array=True,
    )


def _class_of(parent: Any) -> ArgumentKind:
    if not isinstance(parent, type):
        return ArgumentKind(lambda value: isinstance(value, type), "a class")
    return ArgumentKind(
        lambda value: (
            isinstance(value, type) and parent.__name__ in {kind.__name__ for kind in value.__mro__}
        ),
        f"a class of {parent.__name__}",
    )


def _instance(expected: type) -> ArgumentKind:
    """An object of this class, or of one that has its name where the class itself is not imported."""
    name, secret = expected.__name__, expected.__name__ in _DATA
    text = f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
    if issubclass(expected, Enum):
        text = _one_of([member.value for member in expected])
    return ArgumentKind(partial(_is_of, expected), text, _WAYS.get(name, ""), secret=secret)


def _is_of(expected: type, value: object) -> bool:
    if issubclass(expected, _Unimported):
        return expected.__name__ in {kind.__name__ for kind in type(value).__mro__}
    if issubclass(expected, Enum) and isinstance(value, str):
        return value in [member.value for member in expected]
    if getattr(expected, "_is_protocol", False):
        return all(hasattr(value, member) for member in _members(expected))  # type: ignore[arg-type]  # classes have hashes
    return isinstance(value, expected)


@cache
def _members(protocol: type) -> frozenset[str]:
    """What an object must have to be one of a protocol."""
    names: set[str] = set()
    for parent in protocol.__mro__:
        if getattr(parent, "_is_protocol", False) and parent.__name__ not in ("Protocol", "Generic"):
            names |= {name for name in vars(parent) if not name.startswith("_")}
            names |= {name for name in vars(parent).get("__annotations__", {}) if not name.startswith("_")}
    return frozenset(names)


def _generic(origin: Any, parameters: tuple[Any, ...]) -> ArgumentKind:
    if origin is Callable:
        return ArgumentKind(callable, "a function")
    if origin is tuple:
        return _tuple(parameters)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping(*(argument_kind(parameter) for parameter in parameters))
    if isinstance(origin, type) and origin in (Sequence, Collection, list, AbstractSet, frozenset, set):
        return _sequence(origin, argument_kind(parameters[0]))
    if origin is Iterable and parameters and isinstance(parameters[0], type):
        return _union([_sequence(Sequence, argument_kind(parameters[0])), _ITERATOR])
    if origin in (Iterable, Iterator):
        return ArgumentKind(
            lambda value: isinstance(value, Iterable) and not isinstance(value, str | bytes),
            "something to loop over",
        )
    return _instance(origin) if isinstance(origin, type) else ANYTHING


_ITERATOR = ArgumentKind(lambda value: isinstance(value, Iterator), "something to loop over")


def _elements(kind: ArgumentKind) -> str:
    if kind is ANYTHING:
        return ""
    plurals = {"a text": "texts", "a number": "numbers", "a whole number": "whole numbers", "a path": "paths"}
    words = [plurals.get(word, "") for word in kind.text.replace(", ", " or ").split(" or ")]
    return f" of {' or '.join(words)}" if all(words) else f" in which each is {kind.text}"


def _sequence(origin: type, element: ArgumentKind) -> ArgumentKind:
    sets = origin in (AbstractSet, frozenset, set)

    def accepts(value: Any) -> bool:
        if isinstance(value, str | bytes | Mapping):
            return False
        if not (isinstance(value, AbstractSet) if sets else _is_list(value)):
            return False
        return element is ANYTHING or all(map(element.accepts, islice(value, LONGEST)))

    text = f"{'a set' if sets else 'a list'}{_elements(element)}"
    way_out = "pass a list of names, as ['...']" if element.text == "a text" else element.way_out
    return ArgumentKind(accepts, text, way_out, secret=element.secret)


def _is_list(value: object) -> bool:
    """A list, a tuple, a column of numbers, an index: whatever has a length and an order."""
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return isinstance(value, Sequence) or (
        hasattr(value, "__len__") and hasattr(value, "__getitem__") and hasattr(value, "tolist")
    )


def _tuple(parameters: tuple[Any, ...]) -> ArgumentKind:
    if not parameters or (len(parameters) == 2 and parameters[1] is Ellipsis):
        return _sequence(tuple, argument_kind(parameters[0]) if parameters else ANYTHING)
    kinds = [argument_kind(parameter) for parameter in parameters]
    count = {2: "a pair", 3: "a triple"}.get(len(kinds), f"{len(kinds)} values")
    alike = len({kind.text for kind in kinds}) == 1
    held = _elements(kinds[0]) if alike else f" ({', '.join(kind.text for kind in kinds)})"

    def accepts(value: Any) -> bool:
        if isinstance(value, str | bytes) or not _is_list(value) or len(value) != len(kinds):
            return False
        return all(kind.accepts(element) for kind, element in zip(kinds, value, strict=True))

    return ArgumentKind(accepts, count + held, secret=any(kind.secret for kind in kinds))


def _mapping(key: ArgumentKind, held: ArgumentKind) -> ArgumentKind:
    def accepts(value: object) -> bool:
        return isinstance(value, Mapping) and all(
            key.accepts(name) and held.accepts(one)
            for (name, one), _ in zip(value.items(), range(LONGEST), strict=False)
        )

    values = "" if held is ANYTHING else f", each with {held.text}"
    names = "names" if key.text == "a text" else f"what each is {key.text}"
    return ArgumentKind(accepts, f"a dict of {names}{values}", secret=held.secret)


# Calls.


@dataclass(frozen=True)
class Plan:
    """How the arguments of one function are checked: by place, by name, and those that are one of many."""

    positional: tuple[tuple[str, ArgumentKind], ...]
    named: Mapping[str, ArgumentKind]
    rest: tuple[str, ArgumentKind] | None


def names_of(function: Callable[..., Any], owner: type | None = None) -> Mapping[str, Any]:
    """The names that the annotations of a function speak of; a dataclass's fields come from several modules."""
    names = _Names()
    for parent in reversed(owner.__mro__[:-1] if owner is not None else ()):
        names.update(vars(sys.modules[parent.__module__]))
    names.update(getattr(inspect.unwrap(function), "__globals__", {}))
    return names


@cache
def plan_of(function: Callable[..., Any], owner: type | None = None) -> Plan:
    """What a function declares of its parameters; `self` and `cls` are not looked at."""
    names = names_of(function, owner)
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
                kind = _union([kind, ArgumentKind(partial(operator.is_, default), "")])
            if parameter.kind is not parameter.KEYWORD_ONLY:
                positional.append((parameter.name, kind))
            if parameter.kind is not parameter.POSITIONAL_ONLY:
                named[parameter.name] = kind
    return Plan(tuple(positional), named, rest)


def check_call(
    function: Callable[..., Any], given: Sequence[Any], named: Mapping[str, Any], owner: type | None = None
) -> tuple[list[Any], dict[str, Any]]:
    """Refuse an argument that is not of the kind its parameter declares; returns them, lists of numbers as arrays."""
    plan = plan_of(function, owner)
    places = [
        *plan.positional,
        *([plan.rest] * (len(given) - len(plan.positional)) if plan.rest is not None else []),
    ]
    taken = list(given)
    for place, (name, kind) in enumerate(places[: len(taken)]):
        taken[place] = _taken(name, taken[place], kind)
    return taken, {
        name: _taken(name, value, plan.named[name]) if name in plan.named else value
        for name, value in named.items()
    }


def _taken(name: str, value: object, kind: ArgumentKind) -> object:
    value = kind.taken(value)
    if not kind.accepts(value):
        raise refusal(name, value, kind)
    return value


def check_settings(estimator: object) -> None:
    """Hold the parameters of an estimator against what its constructor declares; scikit-learn sets them unseen."""
    kind: Any = type(estimator)
    plan = plan_of(kind.__init__, kind)
    for name, kind in plan.named.items():
        if hasattr(estimator, name) and not kind.accepts(getattr(estimator, name)):
            raise refusal(name, getattr(estimator, name), kind)


def checked(target: T) -> T:
    """Let a function, or every public method of a class and its constructor, check its arguments.

    >>> @checked
    ... def half(number: float) -> float:
    ...     return number / 2
    >>> half("a")
    Traceback (most recent call last):
    ...
    holdfast.errors.ParameterError: number must be a number, got number='a'
    """
    if isinstance(target, type):
        # scikit-learn's rule: a constructor takes what it is given, and `fit` looks at it (`check_settings`).
        constructor = () if hasattr(target, "get_params") else ("__init__",)
        for name, member in list(vars(target).items()):
            if name in getattr(target, "__dataclass_fields__", ()) or (
                name.startswith("_") and name not in constructor
            ):
                continue
            if isinstance(member, classmethod | staticmethod):
                setattr(target, name, type(member)(_checked(member.__func__, target)))
            elif inspect.isfunction(member):
                setattr(target, name, _checked(member, target))
        return target
    return typing.cast("T", _checked(typing.cast("Callable[..., Any]", target)))


def _checked(function: Callable[..., Any], owner: type | None = None) -> Callable[..., Any]:
    if getattr(function, "__checks_arguments__", False):
        return function

    def call(*given: Any, **named: Any) -> Any:
        taken, by_name = check_call(function, given, named, owner)
        return function(*taken, **by_name)

    update_wrapper(call, function)
    call.__checks_arguments__ = True  # type: ignore[attr-defined]  # a mark for the contract over all public names
    return call

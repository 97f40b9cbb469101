"""ArgumentKind: which values the annotation of a parameter admits, and how an error describes them.

`argument_kind` turns an annotation into a kind, which tests a value and has a text such as "a list of numbers".
Messages show numbers and short texts. Of an array, a table or a row they name only the type, since these hold data.
"""

from __future__ import annotations

import inspect
import math
import os
import sys
import types
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from numbers import Integral, Rational, Real
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np

from holdfast.errors import ParameterError

LARGEST_FLOAT = sys.float_info.max
MOST_CHECKED_ELEMENTS = 10_000
"""How many elements of a list are checked, at most."""
WHOLE_NUMBERS_END = 2**1023
"""Whole numbers must be smaller in size: larger ones have no double. (A seed may be made of a hash.)"""
MOST_SHOWN_CHARACTERS = 60
"""How many characters of a value a message shows, at most."""


@dataclass(frozen=True)
class ArgumentKind:
    """Which values an annotation admits: a test, and the text that describes them in a message."""

    accepts: Callable[[object], bool]
    text: str
    way_out: str = ""
    secret: bool = False
    """Whether a value of this kind holds data, so that no message may show it."""
    array: bool = False
    """Whether a list of numbers is accepted, too, and converted to an array."""

    def convert(self, value: object) -> object:
        """The value that the function gets: a list becomes an array where one is wanted; all else stays as it is."""
        if not self.array or not isinstance(value, list | tuple) or self.accepts(value):
            return value
        try:
            return np.asarray(value)
        except (ValueError, OverflowError):  # rows of several lengths: the check then refuses the list
            return value


ANYTHING = ArgumentKind(lambda value: True, "anything")


def value_text(value: object) -> str:
    """What a message shows of a value: numbers and short texts as they are, of all else the type.

    >>> value_text(1.5), value_text("a"), value_text([1, 2])
    ('1.5', "'a'", 'a list')
    """
    if value is None or isinstance(value, bool | np.bool_ | Enum):
        return str(value)
    if isinstance(value, Integral) and abs(int(value)) >= WHOLE_NUMBERS_END:
        return "a whole number of more than 1023 bits"
    if isinstance(value, str | Real | os.PathLike):
        text = repr(value if not isinstance(value, np.generic) else value.item())
        return (
            text
            if len(text) <= MOST_SHOWN_CHARACTERS
            else text[: MOST_SHOWN_CHARACTERS - 4] + "..." + text[-1]
        )
    return type_text(value)


def type_text(value: object) -> str:
    """The type of a value, with its article."""
    name = value.__name__ if isinstance(value, type) else type(value).__name__
    if isinstance(value, type):
        return f"the class {name}"
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def refusal(name: str, value: object, kind: ArgumentKind, where: str = "") -> ParameterError:
    """The error for an argument of the wrong kind."""
    given = type_text(value) if kind.secret else value_text(value)
    way_out = _curve_hint(value) if "PrivacyCurve" in kind.text else ""
    way_out = f"; {way_out or kind.way_out}" if way_out or kind.way_out else ""
    return ParameterError(f"{name} must be {kind.text}, got {name}={given}{where}{way_out}")


def _curve_hint(value: object) -> str:
    """The curve to write in place of a number or of an (epsilon, delta) pair; empty for anything else."""
    if is_real_number(value):
        return f"write privacy.PureDP({value}), or privacy.ApproxDP({value}, delta)"
    if isinstance(value, tuple | list) and len(value) == 2 and all(map(is_real_number, value)):
        return f"write privacy.ApproxDP({value[0]}, {value[1]})"
    return ""


def is_real_number(value: Any) -> bool:
    if type(value) is float:  # by far the most frequent, and the other tests ask abstract classes
        return not math.isnan(value)
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        return False
    if isinstance(value, Rational):
        size: Any = abs(math.floor(value))
        return bool(size <= LARGEST_FLOAT)
    return not math.isnan(value)


def is_integral(value: Any) -> bool:
    if type(value) is int:  # by far the most frequent, and the other tests ask abstract classes
        return -WHOLE_NUMBERS_END < value < WHOLE_NUMBERS_END
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        return False
    return abs(int(value)) < WHOLE_NUMBERS_END


SCALAR_KINDS: dict[Any, ArgumentKind] = {
    float: ArgumentKind(is_real_number, "a number"),
    int: ArgumentKind(is_integral, "a whole number"),
    bool: ArgumentKind(lambda value: isinstance(value, bool | np.bool_), "true or false"),
    str: ArgumentKind(lambda value: isinstance(value, str), "a text"),
    bytes: ArgumentKind(lambda value: isinstance(value, bytes), "bytes"),
    os.PathLike: ArgumentKind(
        lambda value: isinstance(value, os.PathLike) and "\0" not in os.fsdecode(value), "a path"
    ),
    types.NoneType: ArgumentKind(lambda value: value is None, "None"),
}
SCALAR_KINDS[Path] = SCALAR_KINDS[os.PathLike]
_PATH_KIND = ArgumentKind(lambda value: isinstance(value, str) and "\0" not in value, "a path")
_DATA_CLASSES = frozenset(
    {"ndarray", "Batch", "Records", "Table", "Examples", "ReleasedRows", "CodedRow", "ReleasedRow"}
)
_WAYS_OUT = {
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


class Unimported:
    """Stands for a class that is imported for the type checker only; objects are compared with it by the class name."""


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
    if annotation in SCALAR_KINDS:
        return SCALAR_KINDS[annotation]
    if str(annotation).startswith("typing.Union[numpy._typing"):  # numpy.typing.ArrayLike
        return ArgumentKind(_is_array_like, "numbers in an array or a list", secret=True)
    origin, parameters = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in SCALAR_KINDS:
        return SCALAR_KINDS[origin]
    if origin in (typing.Union, types.UnionType):
        return union_kind([argument_kind(parameter) for parameter in parameters])
    if origin is Literal:
        return ArgumentKind(
            lambda value: isinstance(value, str | int) and value in parameters, alternatives_text(parameters)
        )
    if origin is typing.Annotated:
        kinds = [metadata for metadata in annotation.__metadata__ if isinstance(metadata, ArgumentKind)]
        return kinds[0] if kinds else argument_kind(parameters[0])
    if origin is np.ndarray:
        return _array_kind(parameters[1])
    if origin is type:
        return _class_kind(parameters[0])
    if origin is not None:
        return _generic_kind(origin, parameters)
    return _instance_kind(annotation) if isinstance(annotation, type) else ANYTHING


def alternatives_text(options: Sequence[object]) -> str:
    """The values as a message lists them: 'a', 'b' or 'c'."""
    *others, last = [repr(option) for option in options]
    return f"{', '.join(others)} or {last}" if others else last


def _is_array_like(value: object) -> bool:
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "iufb"
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def union_kind(kinds: list[ArgumentKind]) -> ArgumentKind:
    if any(kind is ANYTHING for kind in kinds):
        return ANYTHING
    if any(kind.text == "a Fraction" for kind in kinds) and SCALAR_KINDS[float] in kinds:
        exact = ArgumentKind(is_real_number, "a whole number, a float or a Fraction")
        kinds = [exact, *(kind for kind in kinds if kind.text not in ("a number", "a Fraction"))]
    texts = list(dict.fromkeys(kind.text for kind in kinds))
    if "a text" in texts and "a path" in texts:
        texts = ["a path" if text == "a text" else text for text in texts if text != "a path"]
        kinds = [_PATH_KIND if kind is SCALAR_KINDS[str] else kind for kind in kinds]
    ways = [kind.way_out for kind in kinds if kind.way_out]
    tests = [kind.accepts for kind in kinds]

    def accepts(value: object) -> bool:
        for test in tests:  # a loop: `any` over a generator takes three times as long
            if test(value):
                return True
        return False

    return ArgumentKind(
        accepts,
        f"{', '.join(texts[:-1])} or {texts[-1]}" if len(texts) > 1 else texts[0],
        ways[0] if ways else "",
        secret=any(kind.secret for kind in kinds),
        array=any(kind.array for kind in kinds),
    )


_NUMBERS, _WHOLE = ("iuf", "numbers"), ("iu", "whole numbers")
_NUMBERS_BY_DTYPE = {
    np.floating: _NUMBERS,
    np.number: _NUMBERS,
    np.integer: _WHOLE,
    np.bool_: ("b", "True and False"),
}


def _array_kind(dtype: Any) -> ArgumentKind:
    element = typing.get_args(dtype)[0] if typing.get_args(dtype) else Any
    parents = element.__mro__ if isinstance(element, type) else ()
    dtype_kinds, noun = next(
        (_NUMBERS_BY_DTYPE[parent] for parent in parents if parent in _NUMBERS_BY_DTYPE), ("", "")
    )
    return ArgumentKind(
        lambda value: isinstance(value, np.ndarray) and (not dtype_kinds or value.dtype.kind in dtype_kinds),
        f"a NumPy array{' of ' + noun if noun else ''}",
        "pass numpy.asarray(...)",
        secret=True,
        array=True,
    )


def _class_kind(parent: Any) -> ArgumentKind:
    if not isinstance(parent, type):
        return ArgumentKind(lambda value: isinstance(value, type), "a class")
    return ArgumentKind(
        lambda value: (
            isinstance(value, type) and parent.__name__ in {kind.__name__ for kind in value.__mro__}
        ),
        f"a class of {parent.__name__}",
    )


def _instance_kind(expected: type) -> ArgumentKind:
    """An object of this class, or of one that has its name where the class itself is not imported."""
    name, secret = expected.__name__, expected.__name__ in _DATA_CLASSES
    text = f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
    if issubclass(expected, Enum):
        text = alternatives_text([member.value for member in expected])
    return ArgumentKind(_instance_test(expected), text, _WAYS_OUT.get(name, ""), secret=secret)


def _instance_test(expected: type) -> Callable[[object], bool]:
    if issubclass(expected, Unimported):
        return lambda value: expected.__name__ in {kind.__name__ for kind in type(value).__mro__}
    if issubclass(expected, Enum):
        values = [member.value for member in expected]
        return lambda value: isinstance(value, expected) or (isinstance(value, str) and value in values)
    if getattr(expected, "_is_protocol", False):
        members = _protocol_members(expected)
        return lambda value: all(hasattr(value, member) for member in members)
    return lambda value: isinstance(value, expected)


def _protocol_members(protocol: type) -> frozenset[str]:
    """The names of all that an object of a protocol must have."""
    names: set[str] = set()
    for parent in protocol.__mro__:
        if getattr(parent, "_is_protocol", False) and parent.__name__ not in ("Protocol", "Generic"):
            names |= {name for name in vars(parent) if not name.startswith("_")}
            names |= {name for name in vars(parent).get("__annotations__", {}) if not name.startswith("_")}
    return frozenset(names)


def _generic_kind(origin: Any, parameters: tuple[Any, ...]) -> ArgumentKind:
    if origin is Callable:
        return ArgumentKind(callable, "a function")
    if origin is tuple:
        return _tuple_kind(parameters)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping_kind(*(argument_kind(parameter) for parameter in parameters))
    if isinstance(origin, type) and origin in (Sequence, Collection, list, AbstractSet, frozenset, set):
        return _sequence_kind(origin, argument_kind(parameters[0]))
    if origin is Iterable and parameters and isinstance(parameters[0], type):
        return union_kind([_sequence_kind(Sequence, argument_kind(parameters[0])), _ITERATOR_KIND])
    if origin in (Iterable, Iterator):
        return ArgumentKind(
            lambda value: isinstance(value, Iterable) and not isinstance(value, str | bytes),
            "something to loop over",
        )
    return _instance_kind(origin) if isinstance(origin, type) else ANYTHING


_ITERATOR_KIND = ArgumentKind(lambda value: isinstance(value, Iterator), "something to loop over")


def _elements_text(kind: ArgumentKind) -> str:
    if kind is ANYTHING:
        return ""
    plurals = {"a text": "texts", "a number": "numbers", "a whole number": "whole numbers", "a path": "paths"}
    nouns = [plurals.get(noun, "") for noun in kind.text.replace(", ", " or ").split(" or ")]
    return f" of {' or '.join(nouns)}" if all(nouns) else f" in which each is {kind.text}"


def _sequence_kind(origin: type, element: ArgumentKind) -> ArgumentKind:
    sets = origin in (AbstractSet, frozenset, set)

    def accepts(value: Any) -> bool:
        if isinstance(value, str | bytes | Mapping):
            return False
        if not (isinstance(value, AbstractSet) if sets else is_list(value)):
            return False
        return element is ANYTHING or all(map(element.accepts, islice(value, MOST_CHECKED_ELEMENTS)))

    text = f"{'a set' if sets else 'a list'}{_elements_text(element)}"
    way_out = "pass a list of names, as ['...']" if element.text == "a text" else element.way_out
    return ArgumentKind(accepts, text, way_out, secret=element.secret)


def is_list(value: object) -> bool:
    """A list, a tuple, a column of numbers, an index: whatever has a length and an order."""
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return isinstance(value, Sequence) or (
        hasattr(value, "__len__") and hasattr(value, "__getitem__") and hasattr(value, "tolist")
    )


def _tuple_kind(parameters: tuple[Any, ...]) -> ArgumentKind:
    if not parameters or (len(parameters) == 2 and parameters[1] is Ellipsis):
        return _sequence_kind(tuple, argument_kind(parameters[0]) if parameters else ANYTHING)
    kinds = [argument_kind(parameter) for parameter in parameters]
    count = {2: "a pair", 3: "a triple"}.get(len(kinds), f"{len(kinds)} values")
    all_alike = len({kind.text for kind in kinds}) == 1
    element_text = _elements_text(kinds[0]) if all_alike else f" ({', '.join(kind.text for kind in kinds)})"

    def accepts(value: Any) -> bool:
        if isinstance(value, str | bytes) or not is_list(value) or len(value) != len(kinds):
            return False
        return all(kind.accepts(element) for kind, element in zip(kinds, value, strict=True))

    return ArgumentKind(accepts, count + element_text, secret=any(kind.secret for kind in kinds))


def _mapping_kind(key: ArgumentKind, value_kind: ArgumentKind) -> ArgumentKind:
    def accepts(value: object) -> bool:
        return isinstance(value, Mapping) and all(
            key.accepts(name) and value_kind.accepts(element)
            for name, element in islice(value.items(), MOST_CHECKED_ELEMENTS)
        )

    values = "" if value_kind is ANYTHING else f", each with {value_kind.text}"
    names = "names" if key.text == "a text" else f"what each is {key.text}"
    return ArgumentKind(accepts, f"a dict of {names}{values}", secret=value_kind.secret)

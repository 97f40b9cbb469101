"""What `help` and `inspect.signature` show: the parameters of every class, whoever makes its objects."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from typing import Any

import pytest

from holdfast.privacy._fixed_numbers import FixedNumbers
from tests.test_import import ROOMS


def classes() -> Iterator[type]:
    """Every class whose objects are made by a metaclass of holdfast."""
    for room in ("privacy._curves", "privacy._mechanisms", "learn.methods"):
        package = importlib.import_module(f"holdfast.{room}")
        for module in pkgutil.walk_packages(package.__path__, f"holdfast.{room}."):
            importlib.import_module(module.name)
    waiting: list[type] = [kind for kind in object.__subclasses__() if isinstance(kind, FixedNumbers)]
    while waiting:
        kind = waiting.pop()
        yield kind
        waiting += kind.__subclasses__()


def test_classes_of_fixed_numbers_show_the_parameters_of_their_constructors() -> None:
    found = list(classes())
    assert len(found) >= 40
    for kind in found:
        shown = list(inspect.signature(kind).parameters.values())
        assert not {one.kind for one in shown} & {
            inspect.Parameter.VAR_KEYWORD,
            inspect.Parameter.VAR_POSITIONAL,
        }, kind
        made: Any = kind
        code = getattr(inspect.unwrap(made.__init__), "__code__", None)
        taken = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount] if code else ()
        assert {one.name for one in shown} == set(taken), kind


@pytest.mark.parametrize("room", ["", *(f".{room}" for room in ROOMS)])
def test_no_public_name_hides_its_parameters(room: str) -> None:
    module = importlib.import_module(f"holdfast{room}")
    for name in getattr(module, "__all__", dir(module)):
        value = getattr(module, name)
        plain = inspect.isroutine(value) or inspect.isclass(value)
        if not plain or getattr(value, "_is_protocol", False) or is_exception(value):
            continue
        hidden = {"given", "named", "args", "kwargs"} & set(inspect.signature(value).parameters)
        assert not hidden, f"{module.__name__}.{name} shows {inspect.signature(value)}"


def is_exception(value: object) -> bool:
    """An exception or a warning, whose constructor is Python's."""
    return inspect.isclass(value) and issubclass(value, BaseException)


MOST_PARAMETERS = 10
"""More than these nobody keeps apart: what belongs together is an object."""


@pytest.mark.parametrize("room", ["", *(f".{room}" for room in ROOMS)])
def test_public_functions_take_few_parameters(room: str) -> None:
    """Constructors are left out: scikit-learn's way is one flat parameter for each setting."""
    module = importlib.import_module(f"holdfast{room}")
    for name in getattr(module, "__all__", dir(module)):
        value = getattr(module, name)
        if inspect.isfunction(value):
            parameters = inspect.signature(value).parameters
            assert len(parameters) <= MOST_PARAMETERS, f"{name} takes {len(parameters)} parameters"

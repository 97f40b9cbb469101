"""Planting: the shipped code with one mistake in it, for as long as a refutation takes.

A broken version is no copy written for the occasion, which could be broken in other ways than the code is: in the one
function that a fault names, one piece of text becomes another, and every caller meets the changed function. Texts are
compared as words and marks: layout does not count, nor does a comma before a closing bracket.
"""

from __future__ import annotations

import ast
import functools
import re
import sys
import textwrap
import types
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from itertools import zip_longest
from pathlib import Path
from typing import Any

TOKEN = re.compile(r"\w+|[^\w\s]")


class CannotPlant(Exception):
    """The fault names no object, or more than one, or its text does not occur in it once."""


@dataclass(frozen=True, kw_only=True)
class PlantedFault:
    """In the function that `target` names ("learn.methods.output:minimiser_sensitivity"), `old` becomes `new`."""

    name: str
    target: str
    old: str
    new: str
    why: str
    subjects: tuple[str, ...] = ()
    """The subjects that it concerns, by the beginning of their names."""
    test: str = "replay"
    """The kind of trial that should see it, and is tried first."""


@contextmanager
def with_fault(fault: PlantedFault) -> Iterator[None]:
    """Within it, the function is the broken one, for whoever calls it; what was remembered of it is forgotten."""
    function, code = _found(fault)
    sound = function.__code__
    function.__code__ = code
    _forget()
    try:
        yield
    finally:
        function.__code__ = sound
        _forget()


def _found(fault: PlantedFault) -> tuple[types.FunctionType, types.CodeType]:
    """The function as it is in use, and its code with the mistake."""
    place, _, name = fault.target.partition(":")
    module = import_module(f"holdfast.{place}")
    file = Path(str(module.__file__))
    source = file.read_text(encoding="utf-8")
    start, end = _span(source, name, fault.target)
    after = source[:start] + changed(source[start:end], fault.old, fault.new) + source[end:]
    whole = compile(after, str(file), "exec", dont_inherit=True)
    codes = [code for code in _codes(whole) if code.co_qualname == name]
    if len(codes) != 1:
        raise CannotPlant(f"{fault.target}: {name} is defined {len(codes)} times")
    held: Any = module
    for part in name.split("."):
        held = held.__dict__[part] if isinstance(held, type) else getattr(held, part)
    return _function(held, fault.target), codes[0]


def _function(held: Any, target: str) -> types.FunctionType:
    """Without what decorates it."""
    for attribute in ("fget", "func", "__func__", "__wrapped__"):
        inner = getattr(held, attribute, None)
        if isinstance(inner, types.FunctionType):
            return _function(inner, target)
    if isinstance(held, types.FunctionType):
        return held
    raise CannotPlant(f"{target}: a {type(held).__name__} is no function")


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _codes(constant)


def _span(source: str, name: str, target: str) -> tuple[int, int]:
    """The characters of a definition, decorators included."""
    starts = [0, *(mark.end() for mark in re.finditer("\n", source)), len(source)]
    node: Any = ast.parse(source)
    for part in name.split("."):
        kinds = (ast.FunctionDef, ast.ClassDef)
        inner = [child for child in node.body if isinstance(child, kinds) and child.name == part]
        if len(inner) != 1:
            raise CannotPlant(f"{target}: {part} is defined {len(inner)} times")
        node = inner[0]
    first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
    return starts[first - 1], starts[node.end_lineno]


def _forget() -> None:
    """Empty every memory of the package: a remembered number may be the broken function's."""
    for name, module in list(sys.modules.items()):
        if name.startswith("holdfast"):
            for held in list(vars(module).values()):
                if isinstance(held, functools._lru_cache_wrapper):
                    held.cache_clear()


def changed(source: str, old: str, new: str) -> str:
    """`source` with the one place that reads `old` made `new`, whose further lines keep its indentation.

    >>> changed("return a + b", "a + b", "a")
    'return a'
    """
    there, wanted = _tokens(source), [each[0] for each in _tokens(old)]
    if not wanted or wanted == [each[0] for each in _tokens(new)]:
        raise CannotPlant(f"{old!r} to {new!r} changes nothing")
    words = [each[0] for each in there]
    size = len(wanted)
    places = [at for at in range(len(words) - size + 1) if words[at : at + size] == wanted]
    if len(places) != 1:
        raise CannotPlant(f"{old!r} occurs {len(places)} times, not once")
    start, end = there[places[0]].start(), there[places[0] + size - 1].end()
    line = source[source.rfind("\n", 0, start) + 1 :]
    indentation = line[: len(line) - len(line.lstrip())]
    first, *further = textwrap.dedent(new).split("\n")
    lines = [first, *(indentation + each if each else each for each in further)]
    return source[:start] + "\n".join(lines) + source[end:]


def _tokens(text: str) -> list[re.Match[str]]:
    found = list(TOKEN.finditer(text))
    return [
        each
        for each, after in zip_longest(found, found[1:])
        if not (each[0] == "," and after is not None and after[0] in ")]}")
    ]

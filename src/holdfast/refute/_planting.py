"""Planting: a mistake is put into the shipped code for as long as a refutation takes.

No broken copy is written by hand, since it could differ from the shipped code in other ways, too. In the one function
that a fault names, one piece of text is replaced by another, and every caller then runs the changed function. Texts are
compared token by token: layout does not count, nor does a comma before a closing bracket.
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
    """Within the context every caller runs the broken function; caches are emptied before and after."""
    function, broken_code = _function_and_broken_code(fault)
    sound_code = function.__code__
    function.__code__ = broken_code
    _clear_caches()
    try:
        yield
    finally:
        function.__code__ = sound_code
        _clear_caches()


def _function_and_broken_code(fault: PlantedFault) -> tuple[types.FunctionType, types.CodeType]:
    """The function that is in use, and its code with the mistake."""
    place, _, name = fault.target.partition(":")
    module = import_module(f"holdfast.{place}")
    file = Path(str(module.__file__))
    source = file.read_text(encoding="utf-8")
    start, end = _span(source, name, fault.target)
    broken_source = source[:start] + replace_text(source[start:end], fault.old, fault.new) + source[end:]
    module_code = compile(broken_source, str(file), "exec", dont_inherit=True)
    codes = [code for code in _codes(module_code) if code.co_qualname == name]
    if len(codes) != 1:
        raise CannotPlant(f"{fault.target}: {name} is defined {len(codes)} times")
    owner: Any = module
    for part in name.split("."):
        owner = owner.__dict__[part] if isinstance(owner, type) else getattr(owner, part)
    return _function(owner, fault.target), codes[0]


def _function(callable_: Any, target: str) -> types.FunctionType:
    """The function inside a property, a class method or a decorator."""
    for attribute in ("fget", "func", "__func__", "__wrapped__"):
        inner = getattr(callable_, attribute, None)
        if isinstance(inner, types.FunctionType):
            return _function(inner, target)
    if isinstance(callable_, types.FunctionType):
        return callable_
    raise CannotPlant(f"{target}: a {type(callable_).__name__} is no function")


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
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return starts[first - 1], starts[node.end_lineno]


def _clear_caches() -> None:
    """Empty every cache of the package, since a cached number may come from the broken function."""
    for name, module in list(sys.modules.items()):
        if name.startswith("holdfast"):
            for value in list(vars(module).values()):
                if isinstance(value, functools._lru_cache_wrapper):
                    value.cache_clear()


def replace_text(source: str, old: str, new: str) -> str:
    """`source` with the one place that reads `old` replaced by `new`, whose further lines keep the indentation.

    >>> replace_text("return a + b", "a + b", "a")
    'return a'
    """
    source_tokens, wanted = _tokens(source), [token[0] for token in _tokens(old)]
    if not wanted or wanted == [token[0] for token in _tokens(new)]:
        raise CannotPlant(f"{old!r} to {new!r} changes nothing")
    source_words = [token[0] for token in source_tokens]
    size = len(wanted)
    places = [at for at in range(len(source_words) - size + 1) if source_words[at : at + size] == wanted]
    if len(places) != 1:
        raise CannotPlant(f"{old!r} occurs {len(places)} times, not once")
    start, end = source_tokens[places[0]].start(), source_tokens[places[0] + size - 1].end()
    line = source[source.rfind("\n", 0, start) + 1 :]
    indentation = line[: len(line) - len(line.lstrip())]
    first, *further = textwrap.dedent(new).split("\n")
    lines = [first, *(indentation + text if text else text for text in further)]
    return source[:start] + "\n".join(lines) + source[end:]


def _tokens(text: str) -> list[re.Match[str]]:
    tokens = list(TOKEN.finditer(text))
    return [
        token
        for token, after in zip_longest(tokens, tokens[1:])
        if not (token[0] == "," and after is not None and after[0] in ")]}")
    ]

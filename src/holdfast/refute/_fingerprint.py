"""Fingerprint: whether two returned objects are the same to the last bit, whatever they are made of.

What a run returns must be a function of its noisy outputs and of public inputs (soundness, section 22). So a
fingerprint covers every number, array, text and attribute that can be reached from the object, except times of day and
sources of random bits.
"""

from __future__ import annotations

import hashlib
import types
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from datetime import date, time
from enum import Enum
from fractions import Fraction
from functools import partial
from pathlib import PurePath
from typing import Any

import numpy as np

from holdfast.noise._source import Source
from holdfast.privacy._account import Account

SKIPPED_FIELDS = {"Provenance": ("created", "software"), "Synthesizer": ("_constraints",)}
"""By class: fields that say when and where a run happened, and nothing of the rows."""
_FLOATS = (float, np.floating)
_SHOWN = (bool, int, str, bytes, Fraction, complex, date, time, PurePath, Enum)
"""Their text says all of them."""
_PLAIN = frozenset({str, int, float, bool, type(None)})
_NAMED = (type, types.ModuleType, types.BuiltinFunctionType, np.dtype)


def fingerprint(thing: Any) -> str:
    """A digest of everything that can be reached from an object.

    >>> fingerprint({"w": np.zeros(2)}) == fingerprint({"w": np.zeros(2)})
    True
    >>> fingerprint(0.0) == fingerprint(-0.0)
    False
    """
    parts: list[bytes] = []
    _add_parts(parts, thing, {})
    lengths = np.array([len(part) for part in parts], dtype=np.int64)
    return hashlib.sha256(lengths.tobytes() + b"".join(parts)).hexdigest()


def first_difference(first: Any, second: Any, name: str = "the result") -> str:
    """Where two objects first differ, for a message without their values; empty where they do not."""
    if fingerprint(first) == fingerprint(second):
        return ""
    inner = (_children(first), _children(second))
    if type(first) is type(second) and inner[0].keys() == inner[1].keys():
        for key, child in inner[0].items():
            inner_difference = first_difference(child, inner[1][key], f"{name}.{key}")
            if inner_difference:
                return inner_difference
    return name


def _children(thing: Any) -> dict[str, Any]:
    if isinstance(thing, dict):
        return {str(key): value for key, value in thing.items()}
    if isinstance(thing, list | tuple):
        return {str(place): value for place, value in enumerate(thing)}
    return {} if isinstance(thing, np.ndarray) else dict(_attributes(thing))


def _add_parts(parts: list[bytes], thing: Any, seen: dict[int, Any]) -> None:
    leaf = _leaf_bytes(thing)
    if leaf is not None:
        parts.append(leaf)
    elif id(thing) in seen:
        parts.append(b"again")
    else:
        seen[id(thing)] = thing
        parts.append(type(thing).__qualname__.encode())
        for child in _members(thing):
            _add_parts(parts, child, seen)


def _leaf_bytes(thing: Any) -> bytes | None:
    """Numbers, texts, arrays and lists of plain values, by their bits; None for what has other parts."""
    if isinstance(thing, _FLOATS):
        return f"float {float(thing).hex()}".encode()
    if thing is None or isinstance(thing, _SHOWN):
        return f"{type(thing).__name__} {thing!r}".encode()
    if type(thing) in (list, tuple) and _PLAIN.issuperset(map(type, thing)):  # a column of released rows
        return f"values {thing!r}".encode()
    if isinstance(thing, np.generic):
        return _leaf_bytes(thing.item())
    if isinstance(thing, np.ndarray) and not thing.dtype.hasobject:
        return f"array {thing.dtype.str} {thing.shape} ".encode() + np.ascontiguousarray(thing).tobytes()
    if isinstance(thing, _NAMED):
        return f"name {thing!r}".encode()
    return b"source" if isinstance(thing, Source) else None


def _members(thing: Any) -> Iterator[Any]:
    if isinstance(thing, dict):
        for key, value in thing.items():
            yield key
            yield value
    elif isinstance(thing, list | tuple):
        yield from thing
    elif isinstance(thing, set | frozenset):
        yield from sorted(fingerprint(member) for member in thing)
    elif isinstance(thing, np.ndarray):
        yield from (thing.shape, *thing.ravel().tolist())
    elif isinstance(thing, Account):
        yield from (entry.charge for entry in thing.journal.entries)
    elif isinstance(thing, types.FunctionType):
        yield thing.__qualname__
        yield from (cell.cell_contents for cell in thing.__closure__ or ())
    elif isinstance(thing, types.MethodType):
        yield thing.__func__
        yield thing.__self__
    elif isinstance(thing, partial):
        yield from (thing.func, thing.args, thing.keywords)
    else:
        yield from (part for attribute in _attributes(thing) for part in attribute)


def _attributes(thing: Any) -> Iterator[tuple[str, Any]]:
    kind = type(thing)
    to_pydict: Callable[[], Any] | None = getattr(thing, "to_pydict", None)  # an Arrow table
    if to_pydict is not None:
        yield "rows", to_pydict()
        return
    names = [f.name for f in fields(thing)] if is_dataclass(thing) else []
    held = {**{name: getattr(thing, name) for name in names}, **getattr(thing, "__dict__", {})}
    for name, value in held.items():
        if name not in SKIPPED_FIELDS.get(kind.__name__, ()):
            yield name, value

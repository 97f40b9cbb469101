"""Docstrings of classes that share parameters: each parameter is described once and shown by every class."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import TypeVar

T = TypeVar("T")

HEADING = "Parameters\n----------\n"
_TITLE = re.compile(r"^[A-Z][A-Za-z ]+\n-{3,}$", re.MULTILINE)
_ENTRY = re.compile(r"^(\w+(?:, \w+)*) : ", re.MULTILINE)


def describing(shared: Mapping[str, str]) -> Callable[[type[T]], type[T]]:
    """Let the docstring of a class describe parameters that several classes share.

    Parameters
    ----------
    shared : mapping
        For each name its type and, on further lines, the text. Those that the class takes are added to its section
        Parameters, after the ones that it describes itself, in the order of its signature.

    Returns
    -------
    callable
        A decorator of classes.

    Examples
    --------
    >>> @describing({"epsilon": "float, the promise."})
    ... class Learner:
    ...     '''A learner.'''
    ...     def __init__(self, epsilon: float) -> None: ...
    >>> Learner.__doc__.splitlines()[-1]
    'epsilon : float, the promise.'
    """

    def with_descriptions(kind: type[T]) -> type[T]:
        if kind.__doc__ is not None:  # python -OO takes docstrings away
            kind.__doc__ = _with_shared_entries(
                inspect.cleandoc(kind.__doc__), inspect.signature(kind), shared
            )
        return kind

    return with_descriptions


def _with_shared_entries(docstring: str, signature: inspect.Signature, shared: Mapping[str, str]) -> str:
    above, heading, rest = docstring.partition(HEADING)
    if not heading:
        title = _TITLE.search(docstring)
        position = len(docstring) if title is None else title.start()
        above, rest = docstring[:position].rstrip("\n") + "\n\n", docstring[position:]
        own_entries, below = "", rest
    else:
        title = _TITLE.search(rest)
        position = len(rest) if title is None else title.start()
        own_entries, below = rest[:position].rstrip("\n"), rest[position:]
    described_names = {name for entry in _ENTRY.findall(own_entries) for name in entry.split(", ")}
    entries = [own_entries] if own_entries else []
    entries += [
        f"{name} : {shared[name]}"
        for name in signature.parameters
        if name in shared and name not in described_names
    ]
    return "\n".join([f"{above}{HEADING}{entries[0]}", *entries[1:]]) + (f"\n\n{below}" if below else "")

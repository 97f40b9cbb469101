"""Docstrings of classes that share parameters: each is described once, and shown by every class that takes it."""

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
        For each name its type and, on further lines, the text. The section Parameters goes on with those that the class
        takes, in the order of its signature; what it describes itself comes first, as it is.

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

    def described(kind: type[T]) -> type[T]:
        if kind.__doc__ is not None:  # python -OO takes docstrings away
            kind.__doc__ = _completed(inspect.cleandoc(kind.__doc__), inspect.signature(kind), shared)
        return kind

    return described


def _completed(docstring: str, signature: inspect.Signature, shared: Mapping[str, str]) -> str:
    before, heading, rest = docstring.partition(HEADING)
    if not heading:
        title = _TITLE.search(docstring)
        place = len(docstring) if title is None else title.start()
        before, rest = docstring[:place].rstrip("\n") + "\n\n", docstring[place:]
        own, after = "", rest
    else:
        title = _TITLE.search(rest)
        place = len(rest) if title is None else title.start()
        own, after = rest[:place].rstrip("\n"), rest[place:]
    known = {name for entry in _ENTRY.findall(own) for name in entry.split(", ")}
    entries = [own] if own else []
    entries += [
        f"{name} : {shared[name]}" for name in signature.parameters if name in shared and name not in known
    ]
    return "\n".join([f"{before}{HEADING}{entries[0]}", *entries[1:]]) + (f"\n\n{after}" if after else "")

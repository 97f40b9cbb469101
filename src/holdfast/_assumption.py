"""Assumption: what a promise rests on besides its theorem, as facts and not as a sentence.

Whether an assumption voids the promise, and what it is about, is decided by whoever makes it. Releases, ledgers and
pages store all of its fields; nothing is ever read out of its text.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, Self

from holdfast._arguments import checked
from holdfast.errors import FormatError, require

READ_FROM_DATA = "read from the data"
"""The kind of what nobody declared, so that it was taken from the private rows; it voids the promise."""
BOUNDS_BY_DEFAULT = "default bounds"
"""The kind of bounds that nobody declared, in whose place public ones stand."""
NUMBER_OF_ROWS = "number of rows"
"""The kind of what was declared of how many rows there are."""
READING_OF_ROWS = "reading of rows"
"""The kind of what the way in which rows are found, ordered and read takes for granted."""
REAL_ARITHMETIC = "real arithmetic"
"""The kind of computations in doubles that the proof takes for computations in real numbers."""
CHOICE = "choice of settings"
"""The kind of what is taken for granted of how this release was chosen among several."""
ACCURACY = "accuracy"
"""The kind of what matters to the use of the value and not to its privacy."""


@checked
@dataclass(frozen=True, kw_only=True)
class Assumption:
    """One thing that a promise rests on besides its theorem.

    Parameters
    ----------
    kind : what sort of thing is assumed, in a few words. Programs may compare it.
    text : the sentence that readers see. Nothing is decided by it.
    voids : whether nothing is left of the promise where the assumption fails. A page then shows it in red.
    subject : the name of what it is about, such as a mechanism or a column; empty where that is all the rows.

    Examples
    --------
    >>> public = Assumption(kind="labels", text="the set of labels is public")
    >>> public.voids, str(public)
    (False, 'the set of labels is public')
    >>> Assumption.from_json(public.to_json()) == public
    True
    """

    kind: str
    text: str
    voids: bool = False
    subject: str = ""

    def __post_init__(self) -> None:
        for name in ("kind", "text"):
            require(bool(getattr(self, name)), name, getattr(self, name), "a text that is not empty")

    def __str__(self) -> str:
        return self.text

    def to_json(self) -> dict[str, Any]:
        """Every field by its name."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """The assumption that `to_json` wrote as `data`; `FormatError` for anything else."""
        kinds = {"kind": str, "text": str, "voids": bool, "subject": str}
        whole = isinstance(data, dict) and data.keys() == kinds.keys()
        if not whole or any(type(data[name]) is not kind for name, kind in kinds.items()):
            raise FormatError("a stored assumption lacks a field or has one of the wrong kind")
        if not (data["kind"] and data["text"]):
            raise FormatError("a stored assumption has an empty kind or an empty text")
        return cls(**data)


def distinct(assumptions: Iterable[Assumption]) -> tuple[Assumption, ...]:
    """Each assumption once, in the order in which they first come."""
    return tuple(dict.fromkeys(assumptions))

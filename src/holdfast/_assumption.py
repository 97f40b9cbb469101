"""Assumption: what a privacy promise rests on besides its theorem, as a record of facts.

Whoever makes an assumption decides whether it voids the promise and what it is about. Releases, ledgers and pages store
all of its fields; no code reads anything out of its text.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, Self

from holdfast._arguments import checked
from holdfast.errors import FormatError, require

READ_FROM_DATA = "read from the data"
"""A fact that nobody declared was taken from the private rows; this voids the promise."""
BOUNDS_BY_DEFAULT = "default bounds"
"""Nobody declared the bounds, so public default bounds were used."""
NUMBER_OF_ROWS = "number of rows"
"""The declared number of rows is right."""
READING_OF_ROWS = "reading of rows"
"""Rows are found, ordered and read in a way that does not depend on other rows."""
REAL_ARITHMETIC = "real arithmetic"
"""The proof is about real numbers, and the computation uses doubles."""
CHOICE = "choice of settings"
"""The choice of this release among several used the private rows no further than was paid for."""
ACCURACY = "accuracy"
"""It matters to the accuracy of the value, and not to its privacy."""


@checked
@dataclass(frozen=True, kw_only=True)
class Assumption:
    """One thing that a promise rests on besides its theorem.

    Parameters
    ----------
    kind : what sort of thing is assumed, in a few words. Programs may compare it.
    text : the sentence that readers see. Nothing is decided by it.
    voids : whether nothing is left of the promise where the assumption fails. A page then shows it in red.
    subject : the name of what it is about, such as a mechanism or a column; empty if it is about all rows.

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
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """The assumption that `to_json` wrote as `data`; `FormatError` for anything else."""
        kinds = {"kind": str, "text": str, "voids": bool, "subject": str}
        has_all_fields = isinstance(data, dict) and data.keys() == kinds.keys()
        if not has_all_fields or any(type(data[name]) is not kind for name, kind in kinds.items()):
            raise FormatError("a stored assumption lacks a field or has one of the wrong kind")
        if not (data["kind"] and data["text"]):
            raise FormatError("a stored assumption has an empty kind or an empty text")
        return cls(**data)


def distinct(assumptions: Iterable[Assumption]) -> tuple[Assumption, ...]:
    """Each assumption once, in the order of first occurrence."""
    return tuple(dict.fromkeys(assumptions))

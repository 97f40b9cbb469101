"""Where each number on a page comes from: a field of a release, a computation from it, the ledger, or the page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.audit._power import NOTICED_PROBABILITY
from holdfast.dossier._record import Record
from holdfast.dossier._section import Places

if TYPE_CHECKING:
    pass


MOST_LEDGER_ENTRIES = 40
"""Entries of a ledger on the page; the rest is in its record."""


_MOST_VALUE_LETTERS = 160


PAGE_CONSTANTS = {
    "noticed": (NOTICED_PROBABILITY, "docs/audits.md, What would it have noticed?"),
    "weights": (0.95, "docs/dossier.md, Section by section"),
    "cells": (0.95, "docs/dossier.md, Section by section"),
    "one-per-cent": (0.01, "docs/dossier.md, Section by section"),
    "one-per-mille": (0.001, "docs/dossier.md, Section by section"),
    "shown": (MOST_LEDGER_ENTRIES, "docs/dossier.md, Section by section"),
}
"""Numbers that are the page's own, and where the documentation says so."""


@dataclass(frozen=True)
class SourceLine:
    """A place that the page speaks of: its value, and the field of a release that it is a copy of, if it is one."""

    place: str
    value: str
    copy_of: str


def places_by_source(places: Places, record: Record) -> list[tuple[str, list[SourceLine]]]:
    """Every place that the page links to, by where its value comes from."""
    groups: dict[str, list[SourceLine]] = {}
    for place, value in places.linked.items():
        origin, copy_of = origin_of(place, record)
        groups.setdefault(origin, []).append(SourceLine(place, _value_text(value), copy_of))
    return list(groups.items())


def origin_of(place: str, record: Record) -> tuple[str, str]:
    """What a place of the record was copied or computed from, and the field of a release file where it is a copy."""
    first, *rest = place.split("/")
    if first == "constant":
        return f"the page itself ({PAGE_CONSTANTS[rest[0]][1]})", ""
    if first == "releases" and rest:
        return _origin_in_release(record.releases[int(rest[0])].name, rest[1:])
    names = " and ".join(release.name for release in record.releases)
    if first in ("payments", "budgets"):
        return f"the ledger {record.payments[0].ledger if record.payments else ''}".strip(), ""
    if first == "tried" and rest and record.tried[int(rest[0])].kind == "attack":
        return "attacks, as they were run on the owner's side", ""
    return {
        "promise": (f"the guarantees in {names}", ""),
        "picture": (f"the guarantees in {names}, and what was tried against them", ""),
        "tried": ("the audits that are stored in the record of this page", ""),
        "contradictions": ("what was tried, held against the promise", ""),
        "story": (f"the guarantees in {names}, one after the other", ""),
        "doubts": (f"what {names} assume, and what the ledger does not say", ""),
        "tables": (f"the values in {names}; titles and labels are those of whoever made the page", ""),
        "accuracy": ("whoever holds the data", ""),
    }.get(first, ("whoever made the page", ""))


def _origin_in_release(name: str, rest: Sequence[str]) -> tuple[str, str]:
    field = "/".join(rest)
    if rest[0] in ("provenance", "certificates", "guarantee"):
        return f"{name}, its fields", field
    if rest[0] == "title":
        return f"{name}, estimator, method and package in its provenance", ""
    copies = {"created": "provenance/created", "theorem": "guarantee/theorem"}
    if rest[0] in copies:
        return f"{name}, its fields", copies[rest[0]]
    if rest[0] == "useless":
        return f"{name}, its prospects and its first certificate", ""
    return (f"{name}, its values" if rest[0] == "utility" else f"{name}, the file"), ""


def _value_text(value: Any) -> str:
    """A value as the last section shows it; of many numbers how many, the first and the last."""
    value = json.loads(
        json.dumps(value, default=lambda value: value.to_json() if hasattr(value, "to_json") else str(value))
    )
    if (
        isinstance(value, list)
        and len(value) > 1
        and all(isinstance(number, int | float) for number in value)
    ):
        return f"{len(value)} numbers, from {value[0]} to {value[-1]}"
    if isinstance(value, list | dict) and len(str(value)) > _MOST_VALUE_LETTERS:
        return f"{len(value)} parts"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MOST_VALUE_LETTERS else f"{text[: _MOST_VALUE_LETTERS - 1]}…"

"""The page: drawn from the record alone, sealed, and under a policy that lets it ask for nothing.

The seal is the hash of the whole page with zeros in its place. The same record and version always give the same
page, so that a reader can draw it again and compare. Templates see the record through `Placed`, which knows where
each value stands: whatever they write of it that has a digit becomes a link to that place, and the last section lists
the places with their values and with what they were copied or computed from. What a text cites stands in full in the
section before it, so that a reference leads somewhere without a network.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from holdfast._plain_data import parse_json
from holdfast.audit._power import NOTICED_PROBABILITY
from holdfast.dossier._charts import DARK, STYLE, bar_chart, budget_chart, coefficient_chart
from holdfast.dossier._charts.bars import share_text
from holdfast.dossier._charts.curves import drawn_curves, drawn_trade_offs, percent_text
from holdfast.dossier._charts.shapes import shape_charts
from holdfast.dossier._interval_section import InferredUtility
from holdfast.dossier._record import Record
from holdfast.dossier._section import Placed, Places
from holdfast.dossier._shape_section import AdditiveUtility
from holdfast.dossier._utility import ModelUtility, Utility
from holdfast.errors import FormatError, ParameterError
from holdfast.privacy._wording import bound_text, confidence_percent, epsilon_text, odds_text

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

BLANK_SEAL = "0" * 64
MOST_ENTRIES = 40
"""Entries of a ledger on the page; the rest is in its record."""
_SEAL = re.compile(r'<meta name="holdfast-seal" content="([0-9a-f]{64})">')
_RECORD_BEGINS, _RECORD_ENDS = '<script type="application/json" id="holdfast-record">', "</script>"
_EMPHASIS = re.compile(r"(?<![\w*])\*(\w+)\*(?![\w*])")
"""A word that the notes, which are Markdown, set off."""
MOST_BYTES = 16 * 2**20
_MOST_PARTS = 400_000
_MOST_LETTERS = 160
CONSTANTS = {
    "noticed": (NOTICED_PROBABILITY, "docs/audits.md, What would it have noticed?"),
    "weights": (0.95, "docs/dossier.md, Section by section"),
    "cells": (0.95, "docs/dossier.md, Section by section"),
    "one-per-cent": (0.01, "docs/dossier.md, Section by section"),
    "one-per-mille": (0.001, "docs/dossier.md, Section by section"),
    "shown": (MOST_ENTRIES, "docs/dossier.md, Section by section"),
}
"""Numbers that are the page's own, and where the documentation says so."""


def render(record: Record) -> str:
    """The page of a record, sealed."""
    from markupsafe import Markup

    # Charts and the record escape their own texts, so they enter as markup.
    places, cite = Places(), Citations()
    void = bool(record.contradictions) or not record.promise.private
    page = document(
        "page.html.j2",
        script=_text("page.js.j2"),
        said=Placed(record, "", places),
        constant={name: Placed(value, f"constant/{name}", places) for name, (value, _) in CONSTANTS.items()},
        sources=lambda: places_by_source(places, record),
        cite=cite,
        references=cite.references,
        linear=Markup(drawn_trade_offs(record.picture.linear, void=void)),
        log=Markup(drawn_trade_offs(record.picture.log, log=True, void=void)),
        curve=Markup(drawn_curves(record.promise.curve_points)),
        tables=[Markup(bar_chart(t.title, t.labels, t.counts, error=t.error)) for t in record.tables],
        budgets=[
            Markup(budget_chart([(part.name, part.share) for part in budget.parts]))
            for budget in record.budgets
        ],
        models=[Markup(_coefficients(release.utility)) for release in record.releases],
        embedded=Markup(script_json(record)),
        seal=BLANK_SEAL,
    )
    page = page.replace(BLANK_SEAL, seal_of(page), 1)
    _require_readable(page)
    return page


def _require_readable(page: str) -> None:
    """Refuse a page that `verify` would not read: who writes asks what the reader asks."""
    size = len(page.encode())
    problem = f"it has {size:,} bytes, and {MOST_BYTES:,} are read" if size > MOST_BYTES else ""
    if not problem:
        try:
            record_of(page), written_seal(page)
        except FormatError as error:
            problem = str(error)
    if problem:
        raise ParameterError(
            f"this page could not be read back: {problem}; leave tables out, or make two pages"
        )


def document(template: str, *, script: str = "", **content: Any) -> str:
    """A self-contained document: its own style and script, allowed by their hashes and nothing else."""
    from markupsafe import Markup

    style = STYLE + DARK + _text("style.css.j2")
    return (
        _environment()
        .get_template(template)
        .render(
            style=Markup(style),
            script=Markup(script),
            policy="; ".join(
                [
                    "default-src 'none'",
                    f"style-src 'sha256-{_hash(style)}'",
                    f"script-src 'sha256-{_hash(script)}'" if script else "script-src 'none'",
                    "base-uri 'none'",
                    "form-action 'none'",
                ]
            ),
            **content,
        )
    )


def script_json(record: Record) -> str:
    """The record as JSON that cannot end its script block, whatever names it holds."""
    text = json.dumps(record.to_json(), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def record_of(page: str) -> dict[str, Any]:
    """The record that a page embeds, as it is written there; `FormatError` for anything else."""
    before_and_after = page.split(_RECORD_BEGINS, maxsplit=2)
    text, end, _ = before_and_after[-1].partition(_RECORD_ENDS)
    if len(before_and_after) != 2 or not end:
        raise FormatError("not a dossier: the page embeds no record, or more than one")
    record = parse_json(text.encode(), "the record of the dossier", most_parts=_MOST_PARTS, most_depth=80)
    if not isinstance(record, dict):
        raise FormatError("the record of the dossier must be one object")
    return record


def written_seal(page: str) -> str:
    """The seal that the page carries."""
    seals = _SEAL.findall(page)
    if len(seals) != 1:
        raise FormatError("not a dossier: the page carries no seal, or more than one")
    seal: str = seals[0]
    return seal


def seal_of(page: str) -> str:
    """The seal that the page should carry."""
    blank = _SEAL.sub(lambda match: match[0].replace(match[1], BLANK_SEAL), page)
    return hashlib.sha256(blank.encode()).hexdigest()


@dataclass(frozen=True)
class SourceLine:
    """A place that the page speaks of: its value, and the field of a release that it is a copy of, if it is one."""

    place: str
    value: str
    copy_of: str


def places_by_source(places: Places, record: Record) -> list[tuple[str, list[SourceLine]]]:
    """Every place that the page links to, by where its value comes from."""
    groups: dict[str, list[SourceLine]] = {}
    for place, value in places.used.items():
        origin, copy_of = origin_of(place, record)
        groups.setdefault(origin, []).append(SourceLine(place, _value_text(value), copy_of))
    return list(groups.items())


def origin_of(place: str, record: Record) -> tuple[str, str]:
    """What a place of the record was copied or computed from, and the field of a release file where it is a copy."""
    first, *rest = place.split("/")
    if first == "constant":
        return f"the page itself ({CONSTANTS[rest[0]][1]})", ""
    if first == "releases" and rest:
        return _of_release(record.releases[int(rest[0])].name, rest[1:])
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


def _of_release(name: str, rest: Sequence[str]) -> tuple[str, str]:
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
    if isinstance(value, list | dict) and len(str(value)) > _MOST_LETTERS:
        return f"{len(value)} parts"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS - 1]}…"


@dataclass(frozen=True)
class Reference:
    """A paper, a soundness note or a page of the documentation; `text` is the note itself."""

    what: str
    text: str = ""


class Citations:
    """What the texts of one page cite, numbered in the order in which it does: a list at its end leads on."""

    def __init__(self) -> None:
        self.found: dict[Reference, int] = {}

    def __call__(self, value: Any) -> Markup:
        """A text, and behind it a link to each thing that it cites."""
        from markupsafe import Markup, escape

        html = escape(value)
        for reference in references_in(str(value)):
            number = self.found.setdefault(reference, len(self.found) + 1)
            html += Markup(' <a class="ref" href="#reference-{0}">[{0}]</a>').format(number)
        return Markup(html)

    def references(self) -> list[Reference]:
        """All of them, by number."""
        return list(self.found)


def references_in(text: str) -> list[Reference]:
    """The papers, soundness notes and pages of the documentation that a text names, in its order.

    >>> [one.what[:24] for one in references_in("by a theorem (Wang 2018, AdaSSP; soundness, sections 20 and 26)")]
    ['Yu-Xiang Wang. Revisitin', 'Soundness notes of holdf', 'Soundness notes of holdf']
    """
    known, named = _library()
    places = [(match.start(), known[match[0]]) for match in named.finditer(text)]
    for match in re.finditer(r"soundness, sections? (\d+(?:(?:, | and )\d+)*)", text):
        numbers = re.findall(r"\d+", match[1])
        places += [(match.start(), known[name]) for name in numbers if name in known]
    return list(dict.fromkeys(place for _, place in sorted(places, key=lambda place: place[0])))


@lru_cache(maxsize=1)
def _library() -> tuple[dict[str, Reference], re.Pattern[str]]:
    """Everything that can be cited, by the names under which it is, and a pattern for papers and pages."""
    stored = json.loads(
        (files("holdfast.dossier") / "_templates/references.json").read_text(encoding="utf-8")
    )
    papers = {name: Reference(paper["text"]) for paper in stored["papers"] for name in paper["names"]}
    pages = {
        f"docs/{name}.md": Reference(f"Documentation of holdfast, page “{title}” (docs/{name}.md).")
        for name, title in stored["pages"].items()
    }
    notes = {
        number: Reference(
            f"Soundness notes of holdfast, section {number}: {section['title']}.",
            _EMPHASIS.sub(r"\1", section["text"]),
        )
        for number, section in stored["sections"].items()
    }
    names = sorted(papers | pages, key=len, reverse=True)
    return papers | pages | notes, re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)")


def _coefficients(utility: Utility) -> str:
    if isinstance(utility, AdditiveUtility):
        return shape_charts(utility)
    if not isinstance(utility, ModelUtility | InferredUtility) or not utility.rows:
        return ""
    rows, inferred = utility.rows[:24], isinstance(utility, InferredUtility)
    return coefficient_chart(
        "Released coefficients, the largest first" if inferred else "Released weights, the largest first",
        [row.name for row in rows],
        [row.weight for row in rows],
        [row.reach for row in rows],
        label="coefficient" if inferred else "weight",
    )


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@lru_cache(maxsize=1)
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("holdfast", "dossier/_templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for name, form in _FORMS.items():
        environment.filters[name] = _in_form(form)
    return environment


def small(value: float) -> str:
    """Six digits, and no zeros in exponents."""
    return re.sub(r"e-0?(\d)", r"e-\1", f"{value:.6g}")


_FORMS: Mapping[str, Callable[[Any], str]] = {
    "percent": percent_text,
    "rate": lambda share: f"{small(100 * share)} %",
    "number": lambda value: f"{float(f'{value:.6g}') * (1 + 1e-12):.4g}",  # of the six digits that are stored
    "promise": epsilon_text,
    "confidence": lambda sure: f"{confidence_percent(sure)} %",
    "small": small,
    "bound": bound_text,
    "bound_rate": lambda share: f"{bound_text(share, times=100)} %",
    "probability": lambda value: "under 1e-6" if value < 1e-6 else f"{value:.2g}",
    "factor": lambda value: f"{value:.3g}",
    "chance": lambda value: f"{value:.2f}",
    "share": share_text,
    "odds": odds_text,
    "start": lambda text: f"{text[:16]}…",
    "file": lambda name: name if "." in name else name.replace(" ", "-") + ".holdfast",
    "from_weight": lambda row: f"{row.weight - row.reach:.4g}",
    "to_weight": lambda row: f"{row.weight + row.reach:.4g}",
}
"""How templates write values."""


def _in_form(form: Callable[[Any], str]) -> Callable[[Any], Any]:
    def write(value: Any) -> Any:
        if value is None:
            return "∞"
        return value.written(form) if isinstance(value, Placed) else form(value)

    return write


def _text(name: str) -> str:
    """A style or a script, as it stands."""
    return _environment().get_template(name).render()

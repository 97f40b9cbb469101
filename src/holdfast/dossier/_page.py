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
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from holdfast._plain_data import parse_json
from holdfast.dossier._charts import DARK, STYLE, bar_chart, budget_chart, coefficient_chart, interval_chart
from holdfast.dossier._charts.bars import share_text
from holdfast.dossier._charts.curves import percent_text, privacy_curve_svg, trade_off_svg
from holdfast.dossier._charts.shapes import shape_charts
from holdfast.dossier._citations import Citations
from holdfast.dossier._interval_section import InferredUtility
from holdfast.dossier._origins import PAGE_CONSTANTS, places_by_source
from holdfast.dossier._record import Record
from holdfast.dossier._section import Placed, Places
from holdfast.dossier._shape_section import AdditiveUtility
from holdfast.dossier._statistics_section import MOST_DRAWN_STATISTICS, StatisticsUtility
from holdfast.dossier._utility import ModelUtility, Utility
from holdfast.errors import FormatError, ParameterError
from holdfast.privacy._wording import bound_text, confidence_percent, epsilon_text, odds_text

if TYPE_CHECKING:
    from jinja2 import Environment

BLANK_SEAL = "0" * 64
_SEAL = re.compile(r'<meta name="holdfast-seal" content="([0-9a-f]{64})">')
_RECORD_BEGINS, _RECORD_ENDS = '<script type="application/json" id="holdfast-record">', "</script>"
MOST_PAGE_BYTES = 16 * 2**20
_MOST_RECORD_PARTS = 400_000


def render(record: Record) -> str:
    """The page of a record, sealed."""
    from markupsafe import Markup

    # Charts and the record escape their own texts, so they enter as markup.
    places, cite = Places(), Citations()
    void = bool(record.contradictions) or not record.promise.private
    page = document(
        "page.html.j2",
        script=_read_template("page.js.j2"),
        record=Placed(record, "", places),
        constant={
            name: Placed(value, f"constant/{name}", places) for name, (value, _) in PAGE_CONSTANTS.items()
        },
        sources=lambda: places_by_source(places, record),
        cite=cite,
        references=cite.references,
        linear=Markup(trade_off_svg(record.picture.linear, void=void)),
        log=Markup(trade_off_svg(record.picture.log, log=True, void=void)),
        curve=Markup(privacy_curve_svg(record.promise.curve_points)),
        tables=[Markup(bar_chart(t.title, t.labels, t.counts, error=t.error)) for t in record.tables],
        budgets=[
            Markup(budget_chart([(part.name, part.share) for part in budget.parts]))
            for budget in record.budgets
        ],
        models=[Markup(_model_chart(release.utility)) for release in record.releases],
        embedded=Markup(script_json(record)),
        seal=BLANK_SEAL,
    )
    page = page.replace(BLANK_SEAL, seal_of(page), 1)
    _require_readable(page)
    return page


def _require_readable(page: str) -> None:
    """Refuse a page that `verify` would not read: who writes asks what the reader asks."""
    size = len(page.encode())
    problem = f"it has {size:,} bytes, and {MOST_PAGE_BYTES:,} are read" if size > MOST_PAGE_BYTES else ""
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

    style = STYLE + DARK + _read_template("style.css.j2")
    return (
        _environment()
        .get_template(template)
        .render(
            style=Markup(style),
            script=Markup(script),
            policy="; ".join(
                [
                    "default-src 'none'",
                    f"style-src 'sha256-{_policy_hash(style)}'",
                    f"script-src 'sha256-{_policy_hash(script)}'" if script else "script-src 'none'",
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
    record = parse_json(
        text.encode(), "the record of the dossier", most_parts=_MOST_RECORD_PARTS, most_depth=80
    )
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


def _model_chart(utility: Utility) -> str:
    if isinstance(utility, AdditiveUtility):
        return shape_charts(utility)
    if isinstance(utility, StatisticsUtility):
        drawn = [row for row in utility.rows if row.name.startswith(f"{utility.drawn}: ")][
            :MOST_DRAWN_STATISTICS
        ]
        return interval_chart(
            f"Released statistics: {utility.drawn}",
            [row.name.removeprefix(f"{utility.drawn}: ") for row in drawn],
            [row.value for row in drawn],
            [(row.low, row.high) for row in drawn],
            label=utility.drawn,
        )
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


def _policy_hash(text: str) -> str:
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
    for name, form in _VALUE_FORMATS.items():
        environment.filters[name] = _filter_for(form)
    return environment


def small_number_text(value: float) -> str:
    """Six digits, and no zeros in exponents."""
    return re.sub(r"e-0?(\d)", r"e-\1", f"{value:.6g}")


_VALUE_FORMATS: Mapping[str, Callable[[Any], str]] = {
    "percent": percent_text,
    "rate": lambda share: f"{small_number_text(100 * share)} %",
    "number": lambda value: f"{float(f'{value:.6g}') * (1 + 1e-12):.4g}",  # of the six digits that are stored
    "promise": epsilon_text,
    "confidence": lambda sure: f"{confidence_percent(sure)} %",
    "small": small_number_text,
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


def _filter_for(form: Callable[[Any], str]) -> Callable[[Any], Any]:
    def write(value: Any) -> Any:
        if value is None:
            return "∞"
        return value.render(form) if isinstance(value, Placed) else form(value)

    return write


def _read_template(name: str) -> str:
    """A style or a script, as it stands."""
    return _environment().get_template(name).render()

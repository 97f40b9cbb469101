"""The page: drawn from the record alone, sealed, and under a policy that lets it ask for nothing.

The seal is the hash of the whole page with zeros in its place. The same record and version always give the same
page, so that a reader can draw it again and compare.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from holdfast.dossier.charts import DARK, STYLE, bar_chart, budget_chart, coefficient_chart
from holdfast.dossier.charts.bars import share_text
from holdfast.dossier.charts.curves import drawn_curves, drawn_trade_offs
from holdfast.dossier.charts.shapes import shape_charts
from holdfast.dossier.record import Record
from holdfast.dossier.shape_section import AdditiveUtility
from holdfast.dossier.utility import ModelUtility, Utility
from holdfast.errors import FormatError, ParameterError
from holdfast.release.archive import parse_json

if TYPE_CHECKING:
    from jinja2 import Environment

BLANK = "0" * 64
_SEAL = re.compile(r'<meta name="holdfast-seal" content="([0-9a-f]{64})">')
_RECORD = re.compile(r'<script type="application/json" id="holdfast-record">(.*?)</script>', re.S)
MOST_BYTES = 16 * 2**20
_MOST_PARTS = 400_000


def render(record: Record) -> str:
    """The page of a record, sealed."""
    from markupsafe import Markup

    # Charts and the record escape their own texts, so they enter as markup.
    page = document(
        "page.html.j2",
        script=_text("page.js.j2"),
        said=record,
        linear=Markup(drawn_trade_offs(record.picture.linear)),
        log=Markup(drawn_trade_offs(record.picture.log, log=True)),
        curve=Markup(drawn_curves(record.promise.curve_points)),
        tables=[Markup(bar_chart(t.title, t.labels, t.counts, error=t.error)) for t in record.tables],
        budgets=[
            Markup(budget_chart([(part.name, part.share) for part in budget.parts]))
            for budget in record.budgets
        ],
        models=[Markup(_coefficients(one.utility)) for one in record.releases],
        embedded=Markup(embedded(record)),
        seal=BLANK,
    )
    if len(page) > MOST_BYTES // 2:
        raise ParameterError(
            f"a page has at most {MOST_BYTES // 2:,} letters, this one would have {len(page):,}; leave tables out"
        )
    return page.replace(BLANK, seal_of(page), 1)


@lru_cache(maxsize=1)
def renderer() -> str:
    """A hash of everything that decides how a record is drawn: a page can be drawn again only by the same renderer."""
    room = files("holdfast.dossier")
    parts = [room / "page.py", *(room / "charts").iterdir(), *(room / "templates").iterdir()]
    found = hashlib.sha256()
    for part in sorted((one for one in parts if one.name.endswith((".py", ".j2"))), key=lambda one: one.name):
        found.update(part.name.encode() + hashlib.sha256(part.read_bytes()).digest())
    return found.hexdigest()


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


def embedded(record: Record) -> str:
    """The record as JSON that cannot end its script block, whatever names it holds."""
    text = json.dumps(record.to_json(), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def record_of(page: str) -> dict[str, Any]:
    """The record that a page embeds, as it is written there; `FormatError` for anything else."""
    found = _RECORD.findall(page)
    if len(found) != 1:
        raise FormatError("not a dossier: the page embeds no record, or more than one")
    record = parse_json(found[0].encode(), "the record of the dossier", most_parts=_MOST_PARTS, most_depth=80)
    if not isinstance(record, dict):
        raise FormatError("the record of the dossier must be one object")
    return record


def written_seal(page: str) -> str:
    """The seal that the page carries."""
    found = _SEAL.findall(page)
    if len(found) != 1:
        raise FormatError("not a dossier: the page carries no seal, or more than one")
    seal: str = found[0]
    return seal


def seal_of(page: str) -> str:
    """The seal that the page should carry."""
    blank = _SEAL.sub(lambda match: match[0].replace(match[1], BLANK), page)
    return hashlib.sha256(blank.encode()).hexdigest()


def _coefficients(utility: Utility) -> str:
    if isinstance(utility, AdditiveUtility):
        return shape_charts(utility)
    if not isinstance(utility, ModelUtility) or not utility.rows:
        return ""
    rows = utility.rows[:24]
    return coefficient_chart(
        "Released weights, the largest first",
        [row.name for row in rows],
        [row.weight for row in rows],
        [row.reach for row in rows],
    )


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@lru_cache(maxsize=1)
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("holdfast", "dossier/templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["percent"] = lambda share: f"{100 * share:.1f} %"
    made.filters["number"] = lambda value: "∞" if value is None else f"{value:.4g}"
    made.filters["small"] = lambda value: re.sub(r"e-0?(\d)", r"e-\1", f"{value:.6g}")
    made.filters["share"] = share_text
    made.filters["odds"] = lambda failure: f"one time in {round(1 / failure):,}"
    return made


def _text(name: str) -> str:
    """A style or a script, as it stands."""
    return _environment().get_template(name).render()

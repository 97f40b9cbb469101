"""Dossier: what is said about a release, on one page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.dossier import charts
from holdfast.errors import require
from holdfast.privacy.adjacency import Adjacency
from holdfast.release import Release

DELTAS = (1e-3, 1e-5, 1e-6, 1e-9)

CHANGE = {
    Adjacency.replace: "replaced by someone else's",
    Adjacency.zero_out: "blanked out",
    Adjacency.add_remove: "in the table at all",
}
"""The two worlds of each adjacency, as the end of a sentence about 'the data of one unit were ...'."""


@dataclass(frozen=True, kw_only=True)
class Bars:
    """A released table of counts to draw, with the error that holds for all its cells at once."""

    title: str
    labels: tuple[str, ...]
    counts: tuple[float, ...]
    error: float

    def __post_init__(self) -> None:
        require(
            len(self.labels) == len(self.counts) > 0, "labels", len(self.labels), "as many as counts, > 0"
        )


@dataclass(frozen=True, kw_only=True)
class Dossier:
    """One self-contained page about a release: no network, no scripts, nothing un-noised.

    Text that comes from data or schemas (column names, categories) is escaped.
    """

    title: str
    release: Release[Any]
    tables: Sequence[Bars] = ()

    def html(self) -> str:
        """The page."""
        from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
        from markupsafe import Markup

        import holdfast

        guarantee = self.release.guarantee
        trade_off = guarantee.curve.trade_off()
        named = [("proved", trade_off)]
        environment = Environment(
            loader=PackageLoader("holdfast", "dossier"),
            autoescape=select_autoescape(default=True, default_for_string=True),
            undefined=StrictUndefined,
        )
        # Charts escape their own texts (charts.py), so they enter as markup.
        return environment.get_template("page.html.j2").render(
            title=self.title,
            release=self.release,
            guarantee=guarantee,
            unit=guarantee.unit.summary(),
            change=CHANGE[guarantee.adjacency],
            guess=trade_off.guess(),
            points=[(delta, guarantee.epsilon(delta)) for delta in DELTAS],
            trade_off_chart=Markup(charts.trade_off_chart(named)),
            log_chart=Markup(charts.trade_off_chart(named, log=True)),
            curve_chart=Markup(charts.curve_chart([("proved", guarantee.curve)])),
            tables=[
                Markup(charts.bar_chart(t.title, t.labels, t.counts, error=t.error)) for t in self.tables
            ],
            provenance=self._provenance(),
            chart_style=Markup(charts.STYLE + charts.DARK),
            version=holdfast.__version__,
        )

    def save(self, path: Path) -> Path:
        """Write the page."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.html(), encoding="utf-8")
        return path

    def _provenance(self) -> list[tuple[str, str]]:
        made = self.release.provenance
        facts = [
            ("method", made.method),
            *((name, str(value)) for name, value in made.parameters.items()),
            ("noise", made.noise),
            ("arithmetic", made.arithmetic),
            ("schema", made.schema_hash or "none"),
            ("ledger account", made.account or "none: the charges were kept in memory only"),
            ("ledger entries", ", ".join(map(str, made.entries)) or "none"),
            ("ledger head", made.head or "none"),
            ("software", ", ".join(f"{name} {version}" for name, version in made.software.items())),
        ]
        return facts

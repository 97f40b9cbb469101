"""Charts as inline SVG: small, without scripts of their own, each with a text alternative."""

from __future__ import annotations

from holdfast.dossier.charts.budget import budget_chart
from holdfast.dossier.charts.curve import curve_chart
from holdfast.dossier.charts.frame import DARK, STYLE, standalone
from holdfast.dossier.charts.intervals import bar_chart, coefficient_chart
from holdfast.dossier.charts.trade_off import trade_off_chart

__all__ = [
    "DARK",
    "STYLE",
    "bar_chart",
    "budget_chart",
    "coefficient_chart",
    "curve_chart",
    "standalone",
    "trade_off_chart",
]

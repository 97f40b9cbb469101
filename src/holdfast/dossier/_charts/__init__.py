"""Charts as inline SVG: small, without scripts of their own, each with a text alternative."""

from __future__ import annotations

from holdfast.dossier._charts.bars import bar_chart, budget_chart, coefficient_chart, interval_chart
from holdfast.dossier._charts.comparing import dot_chart, epsilon_chart, matrix_chart
from holdfast.dossier._charts.curves import curve_chart, trade_off_chart
from holdfast.dossier._charts.frame import DARK, STYLE, standalone

__all__ = [
    "DARK",
    "STYLE",
    "bar_chart",
    "budget_chart",
    "coefficient_chart",
    "curve_chart",
    "dot_chart",
    "epsilon_chart",
    "interval_chart",
    "matrix_chart",
    "standalone",
    "trade_off_chart",
]

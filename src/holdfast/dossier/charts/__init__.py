"""Charts as inline SVG: small, without scripts of their own, each with a text alternative."""

from holdfast.dossier.charts.bars import bar_chart
from holdfast.dossier.charts.budget import budget_chart
from holdfast.dossier.charts.coefficients import coefficient_chart
from holdfast.dossier.charts.curve import curve_chart
from holdfast.dossier.charts.frame import DARK, STYLE, standalone
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

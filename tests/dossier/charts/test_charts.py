from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.dossier._charts import (
    bar_chart,
    budget_chart,
    coefficient_chart,
    curve_chart,
    standalone,
    trade_off_chart,
)
from holdfast.dossier._charts.curves import sample_trade_offs
from holdfast.dossier._charts.frame import Axis, text_width, wrap_text
from holdfast.privacy import ApproxDP, GaussianDP, PureDP
from tests.dossier.dossier_samples import HOSTILE


@pytest.mark.parametrize(
    "chart",
    [
        trade_off_chart([("a", PureDP(1.0).trade_off()), ("b", GaussianDP(1.0).trade_off())]),
        trade_off_chart([("a", GaussianDP(0.01).trade_off())], log=True),
        trade_off_chart([(HOSTILE, GaussianDP(30.0).trade_off())]),
        trade_off_chart([(str(k), GaussianDP(0.1 * k).trade_off()) for k in range(1, 10)], log=True),
        curve_chart([("a", GaussianDP(1.0)), ("pure", PureDP(0.1))]),
        curve_chart([(HOSTILE, ApproxDP(1.0, 1e-3))]),
        bar_chart(HOSTILE, [HOSTILE], [0.0], error=0.0),
        bar_chart("negative", ["a", "b"], [-4.0, 3.0], error=2.0),
        coefficient_chart(HOSTILE, [HOSTILE, "b"], [0.0, 0.0], [None, None]),
        coefficient_chart("weights", ["a", "b"], [1.0, -2.0], [0.5, None]),
        budget_chart([("spent", 0.0), ("held", 120.0), (HOSTILE, 1e-9)]),
        standalone(curve_chart([("a", GaussianDP(Fraction(1, 3)))])),
    ],
)
def test_charts_are_well_formed_and_finite(chart: str) -> None:
    root = ElementTree.fromstring(chart)
    assert "nan" not in chart
    assert "inf" not in chart.replace("information", "")
    for svg in [root, *root.iter("{http://www.w3.org/2000/svg}svg")]:
        if svg.get("class") == "chart":  # a text alternative for whoever does not see it
            names = [child.tag.rpartition("}")[2] for child in svg]
            assert names[:2] == ["title", "desc"]
            assert svg.get("role") == "img"
            assert svg.get("aria-label")


@given(st.floats(1e-3, 1e6), st.booleans())
def test_axis_ticks_are_round_and_inside(high: float, log: bool) -> None:
    low = high / 1e5 if log else 0.0
    ticks = Axis(low=low, high=high, start=0, end=1, label="", log=log).ticks()
    assert 3 <= len(ticks) <= 8
    assert all(low * (1 - 1e-9) <= value <= high * (1 + 1e-9) for value, _ in ticks)


@given(st.floats(0.05, 5.0), st.booleans())
def test_the_sampled_picture_is_the_curve(mu: float, log: bool) -> None:
    curve = GaussianDP(mu).trade_off()
    points = sample_trade_offs([("proved", curve)], log=log)
    for x, y in zip(points.false_alarm, points.series[0].found, strict=True):
        assert y == pytest.approx(curve.detection_at(min(1.0, x)), abs=2e-5)
    assert np.all(np.diff(points.series[0].found) >= 0)


LONG = "members of the household who were ill in the month before the interview took place"


def test_labels_are_whole() -> None:
    """Every chart shows every letter of its labels, titles and legends, in lines that fit."""
    curve = GaussianDP(1.0)
    for chart in (
        bar_chart(LONG, [LONG, "b"], [1.0, 2.0], error=1.0),
        coefficient_chart(LONG, [LONG, "x" * 90], [1.0, 2.0], [None, 0.5], label=LONG),
        trade_off_chart([("proved", curve.trade_off()), (LONG, curve.trade_off())]),
    ):
        root = ElementTree.fromstring(chart)
        lines = [one.text or "" for one in root.iter("{http://www.w3.org/2000/svg}text")]
        assert LONG.replace(" ", "") in "".join(lines).replace(" ", "")
        assert "…" not in chart
        width = float(root.attrib["viewBox"].split()[2])
        assert all(text_width(line) < width for line in lines)
    assert wrap_text("a" * 200, 50.0) == ["a" * 6] * 33 + ["a" * 2]

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from holdfast.certificate import Certificate
from holdfast.dossier import Dossier
from holdfast.dossier.axes import Axis
from holdfast.dossier.charts import bar_chart, curve_chart, standalone, trade_off_chart
from holdfast.dossier.dossier import Bars
from holdfast.errors import NotPrivateWarning
from holdfast.privacy import Account, ApproxDP, Gaussian, GaussianDP, PrivacyUnit, PureDP
from holdfast.release import Release

HOSTILE = "<script>alert(1)</script>\"'&amp;\u202e"


def made(seed: int | None = None, assumptions: tuple[str, ...] = ()) -> Release[np.ndarray]:
    account = Account(
        ApproxDP(1.0, 1e-6), currency="gdp", unit=PrivacyUnit.user(HOSTILE, max_rows=2), seed=seed
    )
    value = account.release(Gaussian(sigma=10.0, l2_sensitivity=1.0), [3, 4])
    certificate = Certificate(
        name=HOSTILE, statement=HOSTILE, alpha=3.0, confidence=0.95, query_class=HOSTILE
    )
    return Release.of(
        account,
        value,
        method=HOSTILE,
        parameters={HOSTILE: HOSTILE},
        assumptions=assumptions,
        certificates=[certificate],
    )


def page(release: Release[np.ndarray]) -> str:
    bars = Bars(title=HOSTILE, labels=(HOSTILE, "b"), counts=(5.0, 0.0), error=2.0)
    return Dossier(title=HOSTILE, release=release, tables=[bars]).html()


def test_every_text_is_escaped() -> None:
    html = page(made(assumptions=(HOSTILE,)))
    assert "<script" not in html
    assert html.count("&lt;script&gt;") >= 6


def test_the_page_loads_nothing_and_says_so() -> None:
    html = page(made())
    assert "default-src 'none'" in html
    assert not re.findall(r"(?:src|href)=", html)
    assert not re.findall(r"https?://(?!www\.w3\.org/2000/svg)", html)


def test_a_seeded_release_is_called_not_private() -> None:
    with pytest.warns(NotPrivateWarning):
        seeded = made(seed=1)
    assert "NOT PRIVATE" in page(seeded)
    assert "NOT PRIVATE" not in page(made())


def test_the_promise_is_the_curves() -> None:
    release = made()
    guess = 100 * release.guarantee.curve.trade_off().guess()
    assert f"{guess:.1f} %" in page(release)


@pytest.mark.parametrize(
    "chart",
    [
        trade_off_chart([("a", PureDP(1.0).trade_off()), ("b", GaussianDP(1.0).trade_off())]),
        trade_off_chart([("a", GaussianDP(0.01).trade_off())], log=True),
        trade_off_chart([(HOSTILE, GaussianDP(30.0).trade_off())]),
        curve_chart([("a", GaussianDP(1.0)), ("pure", PureDP(0.1))]),
        bar_chart(HOSTILE, [HOSTILE], [0.0], error=0.0),
        standalone(curve_chart([("a", GaussianDP(Fraction(1, 3)))])),
    ],
    ids=["two", "log", "huge", "curve", "bars", "standalone"],
)  # fmt: skip
def test_charts_are_well_formed_and_finite(chart: str) -> None:
    ElementTree.fromstring(chart)
    assert "nan" not in chart
    assert "inf" not in chart.replace("information", "")


def test_axis_ticks_are_round_and_inside() -> None:
    for low, high in ((0.0, 1.0), (0.0, 13.7), (0.0, 649.4), (0.0, 0.003)):
        ticks = Axis(low=low, high=high, start=0, end=1, label="").ticks()
        assert 3 <= len(ticks) <= 8
        assert all(low <= value <= high * (1 + 1e-9) for value, _ in ticks)


@pytest.mark.browser
@pytest.mark.parametrize(("width", "scheme"), [(1100, "light"), (390, "dark")])
def test_in_a_real_browser(chromium: str, tmp_path: Path, width: int, scheme: str) -> None:
    from playwright.sync_api import sync_playwright

    path = Dossier(title="In a browser", release=made(), tables=()).save(tmp_path / "page.html")
    problems: list[str] = []
    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=chromium,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        tab = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
        tab.on("console", lambda message: problems.append(message.text))
        tab.on("pageerror", lambda error: problems.append(str(error)))
        tab.on(
            "request", lambda request: problems.append(request.url) if request.url != path.as_uri() else None
        )
        tab.goto(path.as_uri())
        assert tab.locator("svg.chart").count() == 3
        assert tab.locator("h1").inner_text() == "In a browser"
        # Nothing spills over the side of a narrow screen.
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        tab.screenshot(path=str(tmp_path / "page.png"), full_page=True)
        browser.close()
    assert problems == []

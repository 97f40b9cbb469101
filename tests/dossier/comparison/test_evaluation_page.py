from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from holdfast.data import Categorical, Schema
from holdfast.dossier._charts import dot_chart, matrix_chart
from holdfast.synth._evaluation.evaluator import evaluate_against_real
from holdfast.synth._evaluation.report import EvaluationReport
from tests.dossier.dossier_samples import HOSTILE
from tests.synth.evaluation.samples import people, released


@pytest.fixture(scope="module")
def reports() -> dict[str, EvaluationReport]:
    inside = released().evaluate(people(), target="ill", by=["sex", "region"], holdout=people(300, seed=8))
    return {"internal": inside, "public": released().evaluate(by=["sex"])}


@pytest.fixture(scope="module")
def pages(reports: dict[str, EvaluationReport]) -> dict[str, str]:
    return {name: one.to_html() for name, one in reports.items()}


def test_an_internal_page_says_so_on_every_sheet(pages: dict[str, str]) -> None:
    page = pages["internal"]
    assert '<body class="internal">' in page
    assert '<aside class="banner"' in page
    assert "INTERNAL EDITION. It must not be published" in page
    assert "internal edition" in page
    for part in (
        "Marginals",
        "Correlations",
        "Prediction of ill",
        "Subgroups",
        "Distances",
        "What the release says",
    ):
        assert f"{part}" in page
    assert "no privacy measure" in page
    assert page.count('class="state warning">small') == 1  # the islands


def test_a_public_page_has_no_number_of_real_rows(
    reports: dict[str, EvaluationReport], pages: dict[str, str]
) -> None:
    page = pages["public"]
    assert "public edition" in page
    assert '<aside class="banner"' not in page
    assert '<body class="public">' in page
    assert "What a release cannot know" in page
    for part in ("Marginals", "Prediction of", "Distances", "by chance"):
        assert part not in page
    real = reports["internal"].against_real
    assert real is not None
    exact = {
        f"{value:.4g}"
        for one in (*real.one_way.errors, *real.two_way.errors)
        for value in (one.total_variation,)
    }
    shown = set(re.findall(r"0\.\d+", re.sub(r"<style>.*?</style>", "", page, flags=re.S)))
    assert len(exact & shown) <= len(exact) // 4  # a table of them would show all; a few look alike by chance


def test_pages_load_nothing_and_run_nothing(pages: dict[str, str]) -> None:
    for page in pages.values():
        assert "<script" not in page
        assert not re.findall(r"<[^>]*(?:src|href|style)=", page)
        assert "default-src &#39;none&#39;" in page


def test_hostile_names_stay_text() -> None:
    schema = Schema([Categorical(HOSTILE, ["a", HOSTILE]), Categorical("c", ["x", "y"])])
    draw = np.random.default_rng(0)
    frame = {HOSTILE: draw.choice(["a", HOSTILE], 90), "c": draw.choice(["x", "y"], 90)}
    page = evaluate_against_real(frame, frame, schema, target=HOSTILE, by=[HOSTILE]).to_html()
    assert "<script" not in page
    assert "<img" not in page


def test_charts_hold_their_numbers() -> None:
    drawn = dot_chart("t", [("a", 0.1, 0.2, 0.0), ("b", 0.3, None, 0.05)], label="x", names=("p", "q"))
    assert drawn.count('class="dot"') == 3  # two and the key
    assert drawn.count('class="hollow"') == 2
    assert drawn.count('class="whisker"') == 1
    assert "a: 0.1, q 0.2; b: 0.3" in drawn
    squares = matrix_chart("t", ["a", "b"], [[1.0, -0.15], [0.6, 1.0]], reach=0.3)
    assert 'class="less"' in squares
    assert 'fill-opacity="0.50"' in squares
    assert 'class="more"' in squares
    assert 'fill-opacity="1.00"' in squares
    assert "<title>a and b: -0.15</title>" in squares
    assert 'class="gridline"' in matrix_chart("t", ["a", "b"], [[1.0, np.nan], [np.nan, 1.0]], reach=0.3)


CUT = """() => [...document.querySelectorAll('svg.chart')].flatMap(svg => {
    const box = svg.getBoundingClientRect();
    return [...svg.querySelectorAll('text')].filter(text => { const own = text.getBoundingClientRect();
        return own.left < box.left - 1 || own.right > box.right + 1 }).map(text => text.textContent) })"""
"""Texts that stick out of their chart."""


@pytest.mark.browser
def test_it_fits_every_screen(chromium: str, pages: dict[str, str], tmp_path: Path) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        problems: list[str] = []
        page.on("console", lambda message: problems.append(message.text))
        for name, text in pages.items():
            (tmp_path / f"{name}.html").write_text(text, encoding="utf-8")
            page.goto((tmp_path / f"{name}.html").as_uri())
            for width in (1100, 390):
                page.set_viewport_size({"width": width, "height": 900})
                assert page.evaluate("document.documentElement.scrollWidth") <= width
                assert page.evaluate(CUT) == []
        assert problems == []
        browser.close()

"""On the page every number links to where it comes from, and is there."""

from __future__ import annotations

import ast
import json
import re
import runpy
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from holdfast._assumption import Assumption
from holdfast.dossier import Accuracy, Bars, Dossier
from holdfast.dossier._citations import references_in
from holdfast.dossier._origins import PAGE_CONSTANTS
from holdfast.dossier._page import record_of
from holdfast.ledger import Ledger
from holdfast.privacy._wording import bound_text
from holdfast.release import Release
from holdfast.release._archive import from_bytes
from tests.dossier.crawl import bounds, crawl, holds, leaves, tree
from tests.dossier.dossier_samples import HOSTILE, FakeAttack, audit, counts, model, paid
from tests.dossier.test_evidence import released, trained
from tests.paths import ROOT

BARS = Bars(title="visits 2025", labels=("10 to 20", HOSTILE), counts=(5.25, 12345.0), error=2.0)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    there = paid(folder)
    attacks = [FakeAttack(attack="lira 2"), FakeAttack(attack=HOSTILE, state="warning")]
    with Ledger.open(there.ledger, read_only=True) as ledger:
        made = {
            "public": Dossier.of_files(
                [there.release], audits=[audit()], ledger=ledger, tables=[BARS], also_run=3
            ),
            "internal": Dossier.of_files(
                [there.release],
                attacks=attacks,
                audits=[audit()],
                ledger=ledger,
                audience="internal",
                title=f"Visits of 2025 {HOSTILE}",
                accuracy=[Accuracy(model="majority", score=0.7, rows=100)],
            ),
            "contradicted": Dossier(model(["age 1", HOSTILE]), audits=[audit(95)]),
            "two": Dossier(
                [
                    released(),
                    counts(name="table 7", assumptions=[Assumption(kind="rows", text="at most 3 rows")]),
                ],
                audits=[trained(200, 200)],
            ),
        }
    return {name: one.save(folder / f"{name}.html") for name, one in made.items()} | {
        "release": there.release,
        "ledger": there.ledger,
    }


NAMES = ["public", "internal", "contradicted", "two"]


@pytest.mark.parametrize("name", NAMES)
def test_every_number_is_where_its_link_leads(pages: dict[str, Path], name: str) -> None:
    found = crawl(pages[name].read_text(encoding="utf-8"))
    assert found.problems == ()
    assert found.numbers > 100
    assert found.links > 50


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("name", ["public", "internal"])
def test_also_what_the_script_writes(chromium: str, pages: dict[str, Path], name: str) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(pages[name].as_uri())
        without = crawl(pages[name].read_text(encoding="utf-8")).numbers
        for place in ("3", "7"):
            page.locator("#rate").fill(f"{place}0")
            page.locator(".whatif").first.fill(place)
            found = crawl(page.content())
            assert found.problems == ()
            assert found.numbers > without
        # Following a number unfolds its line.
        page.locator("a.src[href='#promise/points/2/epsilon']").first.click()
        line = page.locator("[id='promise/points/2/epsilon']")
        assert line.is_visible()
        assert page.evaluate("document.querySelector(':target').id") == "promise/points/2/epsilon"
        browser.close()


def _planted(page: str) -> dict[str, str]:
    """Pages with one fault each, which a crawl must find."""
    link = re.search(r'<a class="src"[^>]*href="#promise/guess">([\d.]+) %</a>', page)
    assert link is not None
    twice = re.search(r'<a class="src"[^>]*href="#promise/sure/after/2/at_most">([\d.]+) %</a>', page)
    assert twice is not None
    tick = re.search(r'(text-anchor="middle">)0\.4(</text>)', page)
    assert tick is not None
    line = re.search(r'(<tr id="promise/guess">.*?<td>)([\d.]+)(</td>)', page)
    assert line is not None
    spare = '<tr id="title"><td><code>title</code></td><td>two noisy counts</td></tr>'
    return {
        "without a link": page.replace("<h3>What is not", "<p>At most 12 people.</p><h3>What is not"),
        "a link taken away": page.replace(link[0], f"{link[1]} %"),
        "another number": page.replace(link[0], link[0].replace(f">{link[1]} ", ">51.7 ")),
        "a wrong link": page.replace(link[0], link[0].replace("promise/guess", "confidence")),
        "a link to nowhere": page.replace(link[0], link[0].replace("promise/guess", "promise/guesses")),
        "another rounding": page.replace(
            twice[0], twice[0].replace(f"{twice[1]} %", f"{float(twice[1]):.0f} %"), 1
        ),
        "another line": page.replace(line[0], f"{line[1]}0.123{line[3]}"),
        "a number in a chart": page.replace(tick[0], f"{tick[1]}4.1{tick[2]}"),
        "a label of a chart": re.sub(
            r'(aria-label="What an[^"]*false alarms )[\d.]+', r"\g<1>33.3", page, count=1
        ),
        "a line that nobody links to": page.replace(line[0], spare + line[0]),
    }


def test_a_crawl_finds_what_is_planted(pages: dict[str, Path]) -> None:
    page = pages["public"].read_text(encoding="utf-8")
    for name, planted in _planted(page).items():
        assert planted != page, name
        assert crawl(planted).problems, name


def test_lines_lead_on_to_the_fields_of_the_release(pages: dict[str, Path]) -> None:
    """What is said to be a copy of a field of the file is that field."""
    page = pages["public"].read_text(encoding="utf-8")
    stored, _ = from_bytes(pages["release"].read_bytes())
    copies = 0
    for line in tree(page).all():
        cells = [one.text for one in line.parts if not isinstance(one, str)]
        if line.tag != "tr" or len(cells) != 3 or not line.attributes.get("id", "").startswith("releases/"):
            continue
        value: Any = stored
        for part in cells[2].split("/"):
            value = value[int(part) if isinstance(value, list) else part]
        assert cells[1] == (value if isinstance(value, str) else json.dumps(value))
        copies += 1
    assert copies >= 4


def test_what_is_said_of_the_ledger_is_in_its_entries(pages: dict[str, Path]) -> None:
    record = record_of(pages["public"].read_text(encoding="utf-8"))
    with closing(sqlite3.connect(pages["ledger"])) as sql, sql:
        entries = dict(sql.execute("SELECT number, hash FROM entries").fetchall())
    paid_by = record["payments"][0]
    for one in (*paid_by["entries"], paid_by["closed"]):
        assert entries[one["number"]] == one["hash"]
    assert entries[record["budgets"][0]["entry"]] == record["budgets"][0]["head"]


def test_what_a_theorem_cites_stands_in_full_on_the_page(pages: dict[str, Path]) -> None:
    page = pages["two"].read_text(encoding="utf-8")
    for whole in ("Fully Adaptive Composition for Gaussian Differential Privacy", "arXiv:2210.17520"):
        assert whole in page
    assert "(soundness, section" not in page or "Soundness notes of holdfast, section" in page
    gone = page.replace('id="reference-1"', 'id="reference-one"')
    assert crawl(gone).problems
    assert crawl(re.sub(r'(<li id="reference-1">)[^<]*', r"\1", page)).problems


def _cited() -> set[str]:
    """Every text that a release can carry as its theorem."""
    found = set()
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "src" / "holdfast").rglob("*.py")]
    for text in (one for one in texts if "theorem" in one.lower()):
        for node in ast.walk(ast.parse(text)):
            named: list[Any] = []
            if isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if any(
                    isinstance(one, ast.Name) and one.id.strip("_").lower() == "theorem" for one in targets
                ):
                    named.append(node.value)
            elif isinstance(node, ast.keyword) and node.arg == "theorem":
                named.append(node.value)
            found |= {
                one.value for one in named if isinstance(one, ast.Constant) and isinstance(one.value, str)
            }
    return found


def test_whatever_theorems_cite_leads_somewhere() -> None:
    """A year or a section in a theorem is the year of a paper, or the number of a section, that is listed."""
    texts = _cited()
    assert len(texts) > 25
    for text in texts:
        listed = " ".join(one.what for one in references_in(text))
        for year in re.findall(r"\b(?:19|20)\d\d\b", text):
            assert year in listed, text
        for part in re.findall(r"soundness, sections? ([\d, and]+)", text):
            for number in re.findall(r"\d+", part):
                assert f"section {number}:" in listed, text


def test_the_references_are_fresh() -> None:
    made = runpy.run_path(str(ROOT / "docs" / "make_papers.py"))
    stored = (ROOT / "src/holdfast/dossier/_templates/references.json").read_text(encoding="utf-8")
    assert stored == made["references"](), "run: make lists"


def test_constants_are_in_the_documentation() -> None:
    for name, (value, where) in PAGE_CONSTANTS.items():
        file, _, heading = where.partition(", ")
        text = (ROOT / file).read_text(encoding="utf-8").split(f"## {heading}")[1].split("\n## ")[0]
        shown = [f"{value:g}", f"{100 * value:g} %"]
        assert any(re.search(rf"(?<![\d.]){re.escape(one)}(?![\d.])", text) for one in shown), name


def test_ticks_and_lines_have_one_scale(pages: dict[str, Path]) -> None:
    """Where a line is drawn is where the axis says that its numbers are."""
    import numpy as np

    page = pages["public"].read_text(encoding="utf-8")
    points = record_of(page)["picture"]["linear"]
    svg = next(
        n for n in tree(page).all() if n.tag == "svg" and "What an attacker" in n.attributes["aria-label"]
    )
    ticks = [n for n in svg.all() if n.attributes.get("class") == "tick"]
    across = [
        (float(n.attributes["x"]), float(n.text)) for n in ticks if n.attributes["text-anchor"] == "middle"
    ]
    upwards = [
        (float(n.attributes["y"]) - 4, float(n.text)) for n in ticks if n.attributes["text-anchor"] == "end"
    ]
    lines = [n for n in svg.all() if n.tag == "path" and "line" in n.attributes["class"].split()]
    assert len(lines) == len(points["series"])
    for line, series in zip(lines, points["series"], strict=True):
        drawn = np.array([pair.split(",") for pair in line.attributes["d"][1:].split("L")], float)
        x, y = (_scale(np.array(ends), at) for ends, at in ((across, drawn[:, 0]), (upwards, drawn[:, 1])))
        assert np.max(np.abs(np.interp(x, points["false_alarm"], series["found"]) - y)) < 0.004


def _scale(ticks: Any, at: Any) -> Any:
    import numpy as np

    return np.polyval(np.polyfit(ticks[:, 0], ticks[:, 1], 1), at)


@pytest.mark.parametrize(
    ("shown", "value", "same"),
    [
        ("77.1", 77.1, True),
        ("77.1", 77.14, True),
        ("77.1", 77.16, False),
        ("1e-6", 1e-6, True),
        ("1e-6", 2e-6, False),
        ("1,000,000", 1e6, True),
        ("1,000,000", 1e6 + 200, False),
        ("12", 12, True),
        ("12", 13, False),
    ],
)
def test_rounding(shown: str, value: float, same: bool) -> None:
    assert holds(shown, value) is same


@pytest.mark.parametrize(
    ("shown", "value", "good"),
    [
        ("3.28", 3.27053, True),
        ("3.27", 3.27053, False),
        ("3.29", 3.27053, False),
        ("4", 3.27053, False),
        ("2.9", 2.8996, True),
        ("1235", 1234.01, True),
        ("7", 7.0, True),
    ],
)
def test_bounds_are_shown_rounded_up(shown: str, value: float, good: bool) -> None:
    assert bounds(shown, value) is good
    assert not good or bound_text(value) == shown


def test_leaves() -> None:
    assert list(leaves({"a": [1, None, "b"]})) == [1, "b", "a"]


def test_the_sources_say_where_each_part_comes_from(pages: dict[str, Path]) -> None:
    page = pages["internal"].read_text(encoding="utf-8")
    name = Release.load(pages["release"]).provenance.account.split("/")[0]
    for origin in (f"From the ledger {name}", "From table.holdfast, its fields", "attacks, as they were run"):
        assert origin in page

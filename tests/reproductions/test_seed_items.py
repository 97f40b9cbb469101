"""Every item of the sources points to something that is there, and pages and totals are those that the script makes."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from studies.reproductions.seed_agreement import one_more
from studies.reproductions.seed_items import BadItem, Item, compare, load, number, resolve, tables
from studies.reproductions.seed_store import Store

from tests.paths import ROOT

ITEMS = load()


@pytest.fixture(scope="module")
def script() -> Any:
    spec = importlib.util.spec_from_file_location(
        "make_reproductions", ROOT / "docs" / "make_reproductions.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_item_says_what_it_must_and_points_to_what_is_there() -> None:
    wrong = []
    for item in ITEMS:
        try:
            item.check()
        except BadItem as error:
            wrong.append(str(error))
    assert not wrong, "\n".join(wrong)


def test_the_documents_are_covered() -> None:
    assert len(ITEMS) >= 213
    assert len({item.document for item in ITEMS}) == 5
    names = [item.name for item in ITEMS]
    assert len(names) == len(set(names)), "two lines for one item"


def test_page_and_totals_are_those_of_the_script(script: Any) -> None:
    assert script.PAGE.read_text(encoding="utf-8") == script.page(ITEMS), (
        "run: python docs/make_reproductions.py"
    )
    text = script.README.read_text(encoding="utf-8")
    assert script.block(ITEMS) in text, "run: python docs/make_reproductions.py"
    assert script.readme(ITEMS, text) == text


def test_every_page_of_results_is_in_the_docs(script: Any) -> None:
    text = script.PAGE.read_text(encoding="utf-8")
    for path in (ROOT / "studies" / "reproductions" / "results").glob("*.md"):
        assert f"results/{path.name}" in text


def test_every_page_has_the_printed_numbers_beside_its_own(script: Any) -> None:
    """The pages of the five documents; whatever points to a page is in the table under it."""
    for path in (ROOT / "studies" / "reproductions" / "results").glob("0*.md"):
        lines = script.beside(path.stem, ITEMS)
        pointing = [item for item in ITEMS if any(each.split(".")[0] == path.stem for each in item.ours)]
        assert pointing, path.name
        assert len(lines) == len(pointing) + 5, path.name


def one(**changed: Any) -> Item:
    told: dict[str, Any] = {
        "document": "D",
        "item": "I",
        "section": "1",
        "what": "w",
        "where": (),
        "printed": (),
        "ours": (),
        "test": (),
        "within": None,
        "one_run": None,
        "holds": None,
        "stated": None,
        "why": "",
    }
    return Item(**(told | changed))


AUDIT = "004_one_run_audit.md # Q 2.1 > 1 (0.78) > runs"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({}, "either a verdict"),
        ({"stated": "true"}, "none of"),
        ({"stated": "confirmed"}, "by what"),
        ({"stated": "not yet"}, "why"),
        ({"stated": "confirmed", "test": ("tests/paths.py::nobody",)}, "nobody is not in"),
        ({"stated": "not yet", "why": "w", "where": ("src/nothing.py",)}, "is not there"),
        ({"within": 1.0, "printed": (1.0,), "ours": (AUDIT,), "stated": "confirmed"}, "either a verdict"),
        ({"holds": "a > 1", "ours": ("004_one_run_audit.md > nothing > at all",)}, "0 cells"),
        ({"stated": "confirmed", "ours": ("004_one_run_audit.md > nothing > at all",)}, "0 cells"),
        ({"holds": "a > 1", "ours": ("no.json > key",)}, "is not in studies/reproductions/results"),
    ],
)
def test_what_is_wrong_is_found(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(BadItem, match=message):
        one(**changed).check()


def test_verdicts_are_computed() -> None:
    assert resolve(AUDIT) == 200
    assert one(within=1.0, printed=(199.5,), ours=(AUDIT,)).verdict == "confirmed"
    assert one(within=0.4, printed=(199.5,), ours=(AUDIT,)).verdict == "refuted"
    assert one(holds="a < p", printed=(199.5,), ours=(AUDIT,)).verdict == "refuted"
    with pytest.raises(BadItem, match="no comparison"):
        compare("().__class__", (), ())


def test_a_single_printed_run_is_judged_by_the_scatter_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("studies.reproductions.seed_store.RESULTS", tmp_path)
    monkeypatch.setattr("studies.reproductions.seed_items.RESULTS", tmp_path)
    store = Store("s", frozen=True)
    for run, value in enumerate((0.50, 0.54, 0.46, 0.52, 0.48)):
        store.put(f"wide, run {run}", [value])
        store.put(f"narrow, run {run}", [0.7 + value / 100])
    store.keep()
    told = {"one_run": 0.95, "ours": ("s.json > wide",)}
    # Mean 0.5, deviation 0.0316, Student's 2.776 with four degrees of freedom: 0.5 -+ 0.0962, and half a unit.
    for printed, verdict in ((0.40, "confirmed"), (0.39, "refuted"), (0.6, "confirmed"), (0.602, "refuted")):
        assert one(printed=(printed,), **told).verdict == verdict, printed
    both = {"one_run": 0.95, "ours": ("s.json > wide", "s.json > narrow")}
    assert one(printed=(0.45, 0.705), **both).verdict == "confirmed"
    assert one(printed=(0.45, 0.72), **both).verdict == "refuted"
    with pytest.raises(ValueError, match="no spread"):
        one_more([0.5], level=0.95)


def test_what_is_waiting_is_not_yet_and_what_nobody_knows_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("studies.reproductions.seed_store.RESULTS", tmp_path)
    monkeypatch.setattr("studies.reproductions.seed_items.RESULTS", tmp_path)
    store = Store("w", frozen=True)
    assert store.several("later", lambda seed: 1.0, seeds=2) == []
    store.put("now", [1.0])
    store.keep()
    pointers = ("w.json > now", "w.json > later")
    item = one(holds="a < b", ours=pointers)
    item.check()
    assert item.verdict == "not yet"
    with pytest.raises(BadItem, match="no such key"):
        one(holds="a < b", ours=(*pointers, "w.json > never")).check()


def test_cells_are_read_as_people_read_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "p.md").write_text(
        "# One\n\n| a | b | c |\n|---|---|---:|\n| x | y | 1 ± 2 |\n| | z | -3 |\n"
    )
    monkeypatch.setattr("studies.reproductions.seed_items.RESULTS", tmp_path)
    tables.cache_clear()
    assert resolve("p.md # One > x / z > c") == -3
    assert resolve("p.md # One | a > x / y > c") == 1
    tables.cache_clear()
    assert number("5.00e-6 of all", "") == 5e-6

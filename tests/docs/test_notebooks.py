"""The notebooks run from top to bottom, and are stored as they ran."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from notebooks.execute import HERE, NOTEBOOKS, executed, read

from tests.paths import ROOT

Cells = list[dict[str, Any]]


def code(notebook: dict[str, Any]) -> Cells:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def kinds(cell: dict[str, Any]) -> list[str]:
    """What a cell gave: streams and kinds of data, in order."""
    return [",".join(sorted(output.get("data", {"stdout": ""}))) for output in cell["outputs"]]


def written(*sources: str) -> dict[str, Any]:
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": [source]} for source in sources]
    return {"cells": cells}


def test_there_are_four() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["coming_from", "researcher", "scientist", "statistician"]


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs_and_shows_what_is_stored(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)
    stored = read(path)
    again = executed(stored, name=path.stem)
    assert [kinds(cell) for cell in code(again)] == [kinds(cell) for cell in code(stored)]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_stored_executed_with_pictures_and_words_for_them(path: Path) -> None:
    cells = code(read(path))
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    drawing = [cell for cell in cells if "image/png" in kinds(cell)]
    assert drawing
    assert all(len(cell["metadata"].get("alt", "")) > 30 for cell in drawing)
    assert path.stat().st_size < 200_000


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_its_page_opens_as_it_does(path: Path) -> None:
    page = (ROOT / "docs" / "notebooks" / f"{path.stem}.md").read_text(encoding="utf-8")
    assert page.startswith("".join(read(path)["cells"][0]["source"]).strip().partition("\n\n| ")[0])
    assert f"```{{notebook}} ../../notebooks/{path.name}" in page


def test_the_runner_keeps_what_jupyter_shows() -> None:
    pictured = "import matplotlib.pyplot as plt\nprint(1)\nplt.figure()\n_ = 2"
    ran = code(executed(written("a = 1\na", "a + 1;", pictured, "plt.figure()")))
    assert [kinds(cell) for cell in ran] == [
        ["text/plain"],
        ["text/plain"],
        ["stdout", "image/png"],
        ["image/png"],
    ]
    assert ran[1]["outputs"][0]["data"]["text/plain"] == ["2"]


def test_a_cell_that_fails_is_not_swallowed() -> None:
    with pytest.raises(ZeroDivisionError):
        executed(written("1 + 1", "1 / 0"))

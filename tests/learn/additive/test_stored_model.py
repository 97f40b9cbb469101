"""Models that an earlier version stored say what they said then, and pictures show what matters."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from holdfast.data import Categorical
from holdfast.learn._additive import shapes
from holdfast.learn._additive.cells import ColumnCells
from holdfast.learn._additive.model import FORMAT
from tests.golden import additive_v1
from tests.golden.frozen import differences

KNOWN: dict[str, Any] = json.loads((additive_v1.FOLDER / "shown.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", additive_v1.MODELS)
def test_a_stored_model_is_used_as_it_was(name: str) -> None:
    assert list(differences(KNOWN[name], additive_v1.shown(name))) == []
    assert KNOWN[name]["format"] == "holdfast-additive-model/1"


def test_the_format_of_today_has_a_stored_file() -> None:
    assert {one["format"] for one in KNOWN.values()} == {FORMAT}
    assert any(one["pairs"] for one in KNOWN.values())


def test_a_picture_of_many_categories_shows_those_that_lower_the_score_too() -> None:
    figures = pytest.importorskip("matplotlib.figure")
    cells = ColumnCells(Categorical("word", [f"the category of number {place}" for place in range(20)]))
    values = np.linspace(0.0, 1.0, cells.count)[:, None]
    values[3] = -2.0
    shape = shapes.Shape(cells=cells, values=values, shares=np.full(cells.count, 1 / cells.count))
    axes = figures.Figure().subplots()
    shapes._draw_shape(axes, shape, 0)
    bars = [bar.get_width() for bar in axes.patches]
    assert len(bars) == shapes.MOST_BARS
    assert bars == sorted(bars)
    assert bars[0] == -2.0
    assert axes.get_title() == f"word: 12 of {cells.count}"
    assert all(len(label.get_text()) <= 20 for label in axes.get_yticklabels())

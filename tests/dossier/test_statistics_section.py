"""The page of released statistics: every number with its interval, and a picture of the first column."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast import Dossier, verify_dossier
from holdfast.data import Categorical, Numeric, Schema, open_table
from holdfast.statistics import Count, Mean, answer, by

ROWS = {"ward": ["a", "b"] * 200, "cost": [20, 60] * 200}
SCHEMA = Schema([Categorical("ward", ["a", "b", "empty"]), Numeric("cost", 0, 100)], adjacency="add_remove")


def test_a_page_shows_every_statistic_with_its_interval(tmp_path: Path) -> None:
    answers = answer(open_table(ROWS, SCHEMA), [Count(), by("ward", Mean("cost"), Count())], epsilon=1.0)
    path = tmp_path / "visits.holdfast"
    answers.save(path)
    written = Dossier(answers.release_).save(tmp_path / "page.html")
    page = written.read_text(encoding="utf-8")
    assert "7 statistics in 2 tables" in page
    for name in ("mean_cost: a", "mean_cost: empty", "count: b", "count: all rows"):
        assert name in page
    assert "Released statistics: mean_cost" in page
    checked = verify_dossier(written, releases=[path])
    assert not checked.problems, checked.summary()


@pytest.mark.parametrize("wrong", [{"tables": []}, {"tables": [{"keys": ["x"]}]}])
def test_a_value_that_is_none_is_refused(wrong: dict[str, object]) -> None:
    from holdfast.dossier._statistics_section import statistics_utility
    from holdfast.errors import FormatError

    value = {"format": "holdfast-statistics/1", "confidence": 0.95, "plan": [], **wrong}
    with pytest.raises(FormatError):
        statistics_utility(value, most_rows=60)

"""Accuracy in, epsilon out: what was asked for is reached, hardly more is spent, and nothing is read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from holdfast.data import Categorical, Numeric, Schema, open_table
from holdfast.errors import ParameterError
from holdfast.privacy import Account, PureDP
from holdfast.statistics import Count, Mean, Quantiles, StatisticsTable, Width, answer, by

pytestmark = [
    pytest.mark.filterwarnings("ignore::holdfast.errors.NotPrivateWarning"),
    pytest.mark.filterwarnings("ignore::holdfast.errors.BudgetWarning"),
]
COLUMNS: list[Any] = [Categorical("ward", ["a", "b"]), Numeric("x", 0, 100, integer=True)]
SCHEMA = Schema(COLUMNS, adjacency="add_remove")
ROWS = pd.DataFrame({"ward": ["a", "b"] * 1000, "x": np.arange(2000) % 101})


def _half(answers: StatisticsTable, name: str) -> float:
    column = next(column for table in answers.tables for column in table.columns if column.name == name)
    return float(np.max(column.high - column.low)) / 2


def test_a_width_in_rows_is_reached_and_hardly_passed() -> None:
    answers = answer(
        open_table(ROWS, SCHEMA), [by("ward", Count())], within=Width(10.0, rows=2000), random_state=1
    )
    assert _half(answers, "count") == 10.0
    assert answers.release_.guarantee.curve.as_pure() == pytest.approx(np.log(20) / 10.5, rel=0.01)


@pytest.mark.parametrize(
    ("question", "name"), [(Mean("x"), "mean_x"), (Quantiles("x", [0.5], steps=20), "quantile_x_0.5")]
)
def test_widths_of_ratios_and_ranks_are_planned_from_a_guess(question: Any, name: str) -> None:
    answers = answer(open_table(ROWS, SCHEMA), [question], within=Width("12%", rows=2000), random_state=2)
    assert _half(answers, name) <= 1.3 * 0.12 * 50
    more = answer(open_table(ROWS, SCHEMA), [question], within=Width("24%", rows=2000), random_state=2)
    assert _epsilon(more) < _epsilon(answers)


def _epsilon(answers: StatisticsTable) -> float:
    return float(answers.release_.guarantee.epsilon(1e-6))


def test_all_intervals_together_are_wider() -> None:
    alone = answer(open_table(ROWS, SCHEMA), [by("ward", Count())], epsilon=1.0, random_state=1)
    jointly = answer(
        open_table(ROWS, SCHEMA), [by("ward", Count())], epsilon=1.0, jointly=True, random_state=1
    )
    assert jointly.confidence == pytest.approx(0.975)
    assert _half(jointly, "count") == _half(alone, "count") + 1


def test_what_cannot_be_reached_is_refused_before_anything_is_spent() -> None:
    account = Account(PureDP(1.0), adjacency="add_remove", seed=1)
    with pytest.raises(ParameterError, match="within must be wider"):
        answer(open_table(ROWS, SCHEMA), [Mean("x")], within=Width(1e-6, rows=100))
    with pytest.raises(ParameterError, match="rows must be given"):
        answer(open_table(ROWS, SCHEMA), [Mean("x")], within=1.0)
    with pytest.raises(ParameterError, match="within"):
        answer(open_table(ROWS, SCHEMA), [Mean("x")], within=Width("much", rows=100))
    with pytest.raises(ParameterError, match="within"):
        answer(open_table(ROWS, SCHEMA), [Mean("x")], within=Width(1.0, rows=100), account=account)
    assert not account.journal.entries


def test_a_picture_has_a_line_for_each_group() -> None:
    answers = answer(open_table(ROWS, SCHEMA), [Count(), by("ward", Mean("x"))], epsilon=1.0, random_state=1)
    axes = answers.plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b"]
    assert axes.get_xlabel().startswith("mean_x")
    with pytest.raises(ParameterError, match="name"):
        answers.plot("ward", name="nothing")

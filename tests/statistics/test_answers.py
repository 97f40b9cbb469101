"""Answers end to end: near the table's, of a shape that no row decides, the same from every engine and file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from holdfast.data import Categorical, Identifier, Numeric, Schema, open_table
from holdfast.errors import AdjacencyError, BudgetExceeded, ParameterError
from holdfast.privacy import Account, ApproxDP, PrivacyUnit, PureDP
from holdfast.statistics import (
    Contingency,
    Count,
    DistinctUnits,
    Histogram,
    Maximum,
    Mean,
    Median,
    Minimum,
    Proportion,
    Quantiles,
    StatisticsTable,
    Sum,
    Variance,
    answer,
    by,
    column,
)

pytestmark = pytest.mark.filterwarnings("ignore::holdfast.errors.NotPrivateWarning")
COLUMNS: list[Any] = [
    Categorical("ward", ["a", "b", "c"]),
    Numeric("age", 0, 100, integer=True),
    Numeric("change", -10, 10),
    Identifier("person"),
]
ROW = Schema(COLUMNS, adjacency="add_remove")
PERSON = Schema(COLUMNS, unit=PrivacyUnit.user("person", max_rows=4), adjacency="add_remove")
EVERYTHING: list[Any] = [
    Count(),
    Mean("age"),
    Variance("age"),
    Sum("age"),
    Sum("change"),
    DistinctUnits(),
    Proportion(column("age") >= 50, name="old"),
    Quantiles("age", [0.25, 0.75]),
    Median("age", interval=False),
    Minimum("age", interval=False),
    Maximum("age", interval=False),
    by(
        "ward",
        Count(),
        Mean("age"),
        Count(where=column("age") >= 50, name="old"),
        DistinctUnits(name="people"),
    ),
    Histogram("age", name="ages"),
    Contingency("ward", "change"),
]


def frame(rows: int = 6000, seed: int = 0) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    age = np.rint(draw.normal(50, 15, rows)).clip(0, 100)
    return pd.DataFrame(
        {
            "ward": draw.choice(["a", "b"], size=rows, p=[0.8, 0.2]),
            "age": np.where(draw.random(rows) < 0.1, np.nan, age),
            "change": draw.normal(1, 3, rows),
            "person": draw.integers(0, rows // 2, rows),
        }
    )


@pytest.mark.filterwarnings("ignore::holdfast.errors.BudgetWarning")
def test_answers_are_near_and_intervals_hold() -> None:
    rows = frame()
    answers = answer(open_table(rows, ROW), EVERYTHING, epsilon=200.0, random_state=1)
    table = answers.table()
    values = {estimate.name: estimate for estimate in table.columns}
    clipped = rows["change"].clip(-10, 10)
    truth = {
        "count": len(rows),
        "mean_age": rows["age"].mean(),
        "variance_age": rows["age"].var(ddof=0),
        "sum_age": rows["age"].sum(),
        "sum_change": clipped.sum(),
        "old": float((rows["age"] >= 50).sum() / rows["age"].notna().sum()),
        "quantile_age_0.25": rows["age"].quantile(0.25),
        "median_age": rows["age"].median(),
    }
    for name, exact in truth.items():
        estimate = values[name]
        assert float(estimate.value[0]) == pytest.approx(exact, rel=0.01, abs=0.5), name
        assert estimate.low[0] - 0.01 <= exact <= estimate.high[0] + 0.01, name
    wards = answers.to_pandas("ward").set_index("ward")
    assert wards["count"].round().tolist() == pytest.approx([(rows.ward == w).sum() for w in "abc"], abs=3)
    assert list(wards.index) == ["a", "b", "c"]
    consistent = answers.to_pandas("age")["ages_consistent"]
    assert consistent.min() >= 0
    assert consistent.sum() == pytest.approx(len(rows), abs=30)


@pytest.mark.parametrize("schema", [ROW, PERSON], ids=["row", "person"])
@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
def test_the_shape_follows_from_what_is_public(schema: Schema, adjacency: str) -> None:
    schema = Schema(schema.columns, unit=schema.confirmed_unit, adjacency=adjacency)
    empty = frame().iloc[:0].astype(frame().dtypes.to_dict())
    odd = frame(3, 4).assign(age=[np.nan, np.inf, -1e300], ward=["z", None, ""], person=[None, "x", "x "])
    shapes = set()
    for rows in (empty, odd, frame(400)):
        answers = answer(open_table(rows, schema), EVERYTHING, epsilon=1.0, random_state=2)
        arrow = answers.to_arrow()
        shapes.add((arrow.num_rows, str(arrow.schema)))
        for table in answers.tables:
            for estimate in table.columns:
                assert np.isfinite(estimate.low).all()
                assert np.isfinite(estimate.high).all()
                assert (estimate.low <= estimate.high).all()
    assert len(shapes) == 1


@pytest.mark.parametrize("schema", [ROW, PERSON], ids=["row", "person"])
def test_engines_give_the_same_answers(schema: Schema) -> None:
    rows = frame(1500)
    answers = answer(open_table(rows, schema), EVERYTHING, epsilon=1.0, random_state=3)
    with duckdb.connect() as connection:
        connection.register("rows", rows)
        table = open_table(connection.table("rows"), schema)
        assert answer(table, EVERYTHING, epsilon=1.0, random_state=3).to_pandas().equals(answers.to_pandas())


def test_a_release_is_the_same_when_it_is_loaded(tmp_path: Path) -> None:
    answers = answer(
        open_table(frame(), ROW), [Count(), by("ward", Mean("age"))], epsilon=1.0, random_state=5
    )
    answers.save(tmp_path / "visits.holdfast")
    loaded = StatisticsTable.load(tmp_path / "visits.holdfast")
    assert loaded.to_pandas().equals(answers.to_pandas())
    assert loaded.summary() == answers.summary()


@pytest.mark.parametrize("limit", [PureDP(1.0), ApproxDP(1.0, 1e-6)])
@pytest.mark.parametrize("currency", ["pure", "zcdp", "gdp"])
def test_an_account_pays_for_all(limit: Any, currency: str) -> None:
    if (currency == "pure") != (limit.as_pure() is not None):
        return
    account = Account(limit, adjacency="add_remove", currency=currency, seed=1)
    questions: list[Any] = [Count(), by("ward", Mean("age"), Sum("age")), Quantiles("age", [0.5])]
    answers = answer(open_table(frame(), ROW), questions, account=account)
    assert len(account.journal.entries) == 3
    assert answers.release_.guarantee.curve == account.promised
    with pytest.raises(BudgetExceeded):
        answer(open_table(frame(), ROW), [Count()], account=account)


def test_pure_noise_keeps_a_pure_promise_where_it_is_smaller() -> None:
    answers = answer(open_table(frame(), ROW), [by("ward", Count())], epsilon=1.0, random_state=1)
    assert answers.release_.guarantee.curve.as_pure() == 1


def test_count_and_variance_come_with_the_mean() -> None:
    together = answer(
        open_table(frame(), ROW), [Count(), Mean("age"), Variance("age")], epsilon=1.0, random_state=1
    )
    assert len(together.release_.value["plan"]) == 1


def test_bad_questions_are_refused_before_anything_is_spent() -> None:
    account = Account(PureDP(1.0), adjacency="add_remove", seed=1)
    table = open_table(frame(100), ROW)
    refused: list[list[Any]] = [
        [],
        [Mean("ward")],
        [Mean("nobody")],
        [by("nobody", Count())],
        [Count(), Count()],
        [Count(where=column("ward") >= 3)],
        [Count(where=column("ward") == "x")],
        [Quantiles("ward", [0.5])],
    ]
    for questions in refused:
        with pytest.raises(ParameterError):
            answer(table, questions, account=account)
    with pytest.raises(ParameterError):
        by(Count())
    with pytest.raises(ParameterError):
        Quantiles("age", [1.5])
    assert not account.journal.entries
    with pytest.raises(AdjacencyError):
        answer(open_table(frame(100), PERSON), [Count()], account=account)


def test_a_chosen_bound_is_near_what_most_units_own() -> None:
    draw = np.random.default_rng(0)
    person = np.repeat(np.arange(4000), draw.integers(1, 9, 4000))
    person = np.concatenate([person, np.full(20_000, 5000)])
    rows = pd.DataFrame({"ward": "a", "age": 50.0, "change": 0.0, "person": person})
    table = open_table(rows, PERSON)
    answers = answer(table, [Count()], epsilon=1.0, random_state=1)
    count = float(answers.to_pandas()["count"][0])
    assert 16_000 < count < 19_000  # 18,000 rows of all but one, whose 20,000 weigh little
    assert "chosen privately" in answers.tables[0].columns[0].about

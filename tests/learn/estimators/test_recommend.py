"""`recommend` reads no row, rests on what was measured, and says so where nothing like the table was tried."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from holdfast import Categorical, Numeric, PrivateLogisticRegression, Schema, open_table
from holdfast._cli.app import app
from holdfast.errors import ParameterError
from holdfast.learn import (
    PrivateAdditiveClassifier,
    PrivateAdditiveRegressor,
    PrivateLinearRegression,
    recommend,
)
from holdfast.learn._estimators.recommend import NEAR_FACTOR, panel, rare_class_advice

recommending = sys.modules[
    "holdfast.learn._estimators.recommend"
]  # the name is the function's in the package
KNOWN = (
    PrivateAdditiveClassifier,
    PrivateAdditiveRegressor,
    PrivateLinearRegression,
    PrivateLogisticRegression,
)
SCHEMA = Schema([Numeric("a", 0, 1), Categorical("b", ["x", "y"]), Categorical("ill", ["no", "yes"])])


def test_the_panel_has_both_tasks_and_no_impossible_number() -> None:
    assert {one.task for one in panel()} == {"classes", "number"}
    for one in panel():
        assert one.rows > 0
        assert one.features > 0
        assert one.exact <= 1
        assert max(one.linear, one.additive) <= 1
        assert "without privacy" in one.line()


@pytest.mark.parametrize("rows", [50, 5_000, 500_000])
@pytest.mark.parametrize("target", ["ill", "a"])
def test_what_is_recommended_exists_and_the_reason_is_counted(rows: int, target: str) -> None:
    found = recommend(SCHEMA, target=target, epsilon=1.0, rows=rows)
    assert found.estimator in {kind.__name__ for kind in KNOWN}
    assert ("Classifier" in found.estimator or "Logistic" in found.estimator) == (target == "ill")
    paid = rows / found.features
    close = [
        max(one.signal_per_feature / paid, paid / one.signal_per_feature) <= NEAR_FACTOR * (1 + 1e-9)
        for one in found.alike
    ]
    assert all(close) == found.near or not found.near
    real = [one for one in found.alike if one.decides]
    better = sum(one.additive > one.linear for one in real)
    assert found.estimator.startswith("PrivateAdditive") == (2 * better > len(real))
    assert found.summary().splitlines()[0].startswith(found.estimator)
    assert (found.range_left is None) == (not found.near)


def test_pure_budgets_and_very_many_cells_stay_linear() -> None:
    assert "delta" in recommend(SCHEMA, target="ill", epsilon=1.0, delta=0.0, rows=10_000).why
    wide = Schema([Categorical("code", [str(i) for i in range(30_000)]), Categorical("ill", ["no", "yes"])])
    assert "30,000 cells" in recommend(wide, target="ill", epsilon=1.0, rows=10_000).why


def test_a_table_brings_its_number_of_rows_where_it_is_public() -> None:
    table = open_table({"a": np.zeros(70), "b": ["x"] * 70, "ill": ["no"] * 70}, SCHEMA)
    assert recommend(table, target="ill", epsilon=1.0).rows == 70


@pytest.mark.parametrize(
    ("told", "match"),
    [
        ({"rows": None}, "rows"),
        ({"rows": 0}, "rows"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"delta": 1.0}, "delta"),
        ({"target": "c"}, "target"),
    ],
)
def test_bad_input_is_named(told: dict[str, object], match: str) -> None:
    with pytest.raises(ParameterError, match=match):
        recommend(SCHEMA, **({"target": "ill", "epsilon": 1.0, "rows": 100} | told))  # type: ignore[arg-type]


def test_tables_of_a_linear_law_and_tables_without_a_signal_decide_nothing() -> None:
    assert {one.table for one in panel() if not one.decides} == {
        "units",
        "1 % class",
        "n 200",
        "heavy tails",
        "GSS",
    }


@pytest.mark.filterwarnings("ignore::holdfast.errors.BudgetWarning")
def test_a_linear_summary_says_what_an_additive_model_would_do() -> None:
    x = np.random.default_rng(0).uniform(size=1_000)
    table = open_table(
        {"a": x, "b": np.where(x > 0.3, "x", "y"), "ill": np.where(x > 0.5, "no", "yes")}, SCHEMA
    )
    said = PrivateLogisticRegression(epsilon=1.0, delta=1e-5).fit(table, target="ill").summary()
    found = recommend(table, target="ill", epsilon=1.0)
    assert found.near
    assert ("an additive model" in said) == found.estimator.startswith("PrivateAdditive")
    assert (
        "an additive model"
        not in PrivateLogisticRegression(epsilon=4.0, delta=0.0).fit(table, target="ill").summary()
    )


def test_few_records_at_a_small_budget_stay_linear() -> None:
    """Large tables with as few records per number say nothing about 2,000 records: shapes need more of them."""
    wide = Schema([*(Numeric(f"x{place}", -5, 5) for place in range(30)), Categorical("y", ["no", "yes"])])
    found = recommend(wide, target="y", epsilon=0.1, rows=2_000)
    assert found.near
    assert found.estimator == "PrivateLogisticRegression"
    assert max(one.rows * one.epsilon for one in found.alike) <= NEAR_FACTOR * 200 * (1 + 1e-9)
    assert recommend(wide, target="y", epsilon=4.0, rows=2_000).estimator == "PrivateAdditiveClassifier"


def test_tables_with_a_class_as_rare_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    found = recommend(SCHEMA, target="ill", epsilon=1.0, rows=100_000, rarest=0.04)
    assert "tables with a class that rare" in found.why
    assert "real tables" in recommend(SCHEMA, target="ill", epsilon=1.0, rows=1_000, rarest=0.3).why
    for wrong in (0.0, 0.6, float("nan")):
        with pytest.raises(ParameterError, match="rarest must be"):
            recommend(SCHEMA, target="ill", epsilon=1.0, rows=1_000, rarest=wrong)
    for ahead in (True, False):  # whichever model won on them
        won = [
            dataclasses.replace(one, linear=0.9, additive=0.8 if ahead else 0.95)
            for one in panel()
            if one.measure == "area"
        ]
        monkeypatch.setattr(recommending, "rare_class_tries", lambda won=won: won)
        found = recommend(SCHEMA, target="ill", epsilon=1.0, rows=100_000, rarest=0.04)
        assert (found.estimator == "PrivateLogisticRegression") == ahead
        told = rare_class_advice(np.array([-4.0]))
        assert ("PrivateLogisticRegression" in told) == ahead
        assert rare_class_advice(np.array([4.0])) == told
    assert rare_class_advice(np.array([-1.0])) == rare_class_advice(np.array([-4.0, 1.0, 3.0])) == ""


def test_the_command_says_what_the_function_says(tmp_path: Path) -> None:
    SCHEMA.save(tmp_path / "s.toml")
    asked = ["recommend", str(tmp_path / "s.toml"), "--target", "ill", "--rows", "1000"]
    expected = recommend(SCHEMA, target="ill", epsilon=1.0, rows=1_000)
    assert CliRunner().invoke(app, asked).stdout.rstrip() == expected.summary()
    told = json.loads(CliRunner().invoke(app, [*asked, "--json"]).output)
    assert told["estimator"] == expected.estimator
    assert len(told["alike"]) == len(expected.alike)
    assert CliRunner().invoke(app, [*asked[:2], "--target", "no", "--rows", "10"]).exit_code == 2


@pytest.mark.parametrize("epsilon", [1e-7, 1e-5, 1.0])
def test_a_budget_that_buys_noise_alone_is_said_first(epsilon: float) -> None:
    found = recommend(SCHEMA, target="ill", epsilon=epsilon, rows=2_000)
    assert found.summary().startswith("OF NO USE: its noise hides") == (epsilon < 1)
    assert bool(found.prospects) == (epsilon < 1)

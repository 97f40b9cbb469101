"""What is public about a design is said or repaired before it is paid for; drawn designs are covered."""

from __future__ import annotations

import dataclasses
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from studies.benchmarks.interval_designs import DESIGNS, drawn_designs, floor_of, simulate_design

from holdfast.data import Categorical, Identifier, Numeric, Schema
from holdfast.data._engines import open_table
from holdfast.data._reference_encoder import ReferenceEncoder
from holdfast.data._schema.kinds import Column
from holdfast.errors import AssumptionWarning, NoIntervals
from holdfast.learn import PrivateLinearRegression, PrivateLogisticRegression, load_model
from holdfast.learn._inference.public_design import PublicDesign
from holdfast.learn._inference.refusal import missing_factor, refusal_reason
from holdfast.privacy import PrivacyUnit
from tests.studies.size import Study, trials

QUICK = pytest.mark.filterwarnings("ignore::holdfast.errors.NotPrivateWarning")
pytestmark = [QUICK, pytest.mark.filterwarnings("ignore::holdfast.errors.BudgetWarning")]

columns = st.lists(
    st.one_of(
        st.integers(1, 4).map(lambda many: ("category", many)),
        st.floats(1e-3, 1e6).map(lambda wide: ("number", wide)),
    ),
    min_size=1,
    max_size=5,
)


def schema_of(kinds: list[tuple[str, Any]]) -> Schema:
    """Columns of these kinds."""
    made = list[Numeric | Categorical | Identifier]()
    for place, (kind, size) in enumerate(kinds):
        labels = [f"v{label}" for label in range(size)] if kind == "category" else []
        made.append(
            Categorical(f"c{place}", labels) if kind == "category" else Numeric(f"c{place}", -size, size)
        )
    return Schema(made)


@settings(max_examples=60)
@given(kinds=columns, intercept=st.booleans(), seed=st.integers(0, 99))
def test_no_drawn_design_is_collinear_and_no_row_is_cut(
    kinds: list[tuple[str, Any]], intercept: bool, seed: int
) -> None:
    """Features, and the constant where there is one, are independent over rows that take every value."""
    schema = schema_of(kinds)
    design = PublicDesign.of(schema, schema.names, intercept=intercept)
    random = np.random.Generator(np.random.PCG64(seed))
    values = {
        column.name: random.choice(column.labels, size=400)
        if isinstance(column, Categorical)
        else random.uniform(column.low, column.high, size=400)
        for column in schema.columns
        if isinstance(column, Categorical | Numeric)
    }
    rows = design.encoder(design.longest_row).transform(values)
    whole = design.encoder(1e6).transform(values)
    assert np.array_equal(rows, whole)
    assert np.linalg.norm(rows, axis=1).max() <= design.longest_row
    assert list(design.encoder(1.0).get_feature_names_out()) == list(
        design.encoder(1e6).get_feature_names_out()
    )
    matrix = np.column_stack([rows, np.ones(len(rows))]) if intercept else rows
    assert np.linalg.matrix_rank(matrix) == matrix.shape[1]
    assert design.encoder(1.0).width == rows.shape[1]


def people(count: int = 20_000, *, seed: int = 0) -> tuple[dict[str, Any], Schema]:
    """A full set of categories, a constant column, a number in odd units."""
    random = np.random.Generator(np.random.PCG64(seed))
    ward, age = random.integers(0, 3, count), random.uniform(18, 90, count)
    score = np.array([0.0, 0.8, -0.6])[ward] + (2 * (age - 18) / 72 - 1) - 0.2
    ill = random.random(count) < 0.5 * (1 + np.tanh(0.5 * score))
    frame = {
        "ward": np.array(["A", "B", "C"])[ward],
        "country": np.full(count, "X"),
        "age": age,
        "cost": 5_000 + 900 * score + random.uniform(-500, 500, count),
        "ill": np.where(ill, "yes", "no"),
    }
    columns: list[Column] = [
        Categorical("ward", ["A", "B", "C"]),
        Categorical("country", ["X"]),
        Numeric("age", 18, 90),
    ]
    return frame, Schema([*columns, Numeric("cost", 0, 10_000), Categorical("ill", ["no", "yes"])])


def fitted(kind: Any, *, target: str, other: str, **told: Any) -> Any:
    """By the method for intervals."""
    frame, schema = people()
    kept = [name for name in schema.names if name != other]
    table = open_table({name: frame[name] for name in kept}, schema.select(*kept))
    method = "newton" if kind is PrivateLogisticRegression else "ssp"
    return kind(method=method, epsilon=4.0, delta=1e-6, random_state=0, **told).fit(table, target=target)


CASES: Any = [
    (PrivateLogisticRegression, "ill", "cost", [0.8, -0.6, 1.0, -0.2]),
    (PrivateLinearRegression, "cost", "ill", [720.0, -540.0, 900.0, 4_820.0]),
]


@pytest.mark.parametrize(("kind", "target", "other", "truth"), CASES)
def test_the_default_speaks_of_whole_rows_and_of_differences(
    kind: Any, target: str, other: str, truth: list[float], tmp_path: Path
) -> None:
    """Reference categories, no constant column, no cut: truths within four deviations; a saved model is the same."""
    model = fitted(kind, target=target, other=other)
    found = model.conf_int()
    assert found.names == ("ward=B", "ward=C", "age", "(intercept)")
    assert np.all(np.abs(found.estimate - truth) < 4 * found.std_error)
    assert found.cut == ""
    assert not any("rows cut" in one.text for one in model.release_.guarantee.assumptions)
    frame, _ = people(50)
    model.release_.save(tmp_path / "m.holdfast")
    again = load_model(tmp_path / "m.holdfast")
    assert isinstance(again.encoder_, ReferenceEncoder)
    assert np.array_equal(again.predict(frame), model.predict(frame))
    assert again.conf_int().names == found.names
    plain = kind(epsilon=4.0, delta=1e-6, random_state=0).fit(
        open_table({name: frame[name] for name in ("ward", target)}, people()[1].select("ward", target)),
        target=target,
    )
    assert plain.model_.reference is None  # nobody asked for intervals
    assert plain.model_.row_norm == 1.0


@pytest.mark.parametrize(("kind", "target", "other", "truth"), CASES)
def test_a_norm_that_cuts_rows_is_said_before_and_after(
    kind: Any, target: str, other: str, truth: list[float]
) -> None:
    with pytest.warns(AssumptionWarning, match=r"rows cut at row_norm=1, .* as long as 1\.414"):
        model = fitted(kind, target=target, other=other, row_norm=1.0)
    assert any("rows cut at row_norm=1" in one.text for one in model.release_.guarantee.assumptions)
    assert "rows cut at row_norm=1" in model.conf_int().summary().split("\n")[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error", AssumptionWarning)
        fitted(kind, target=target, other=other, row_norm=1.5)


def test_arrays_whose_rows_nobody_declared_are_told_apart() -> None:
    random = np.random.Generator(np.random.PCG64(0))
    X = random.uniform(-1, 1, size=(4_000, 2))
    y = X[:, 0] + random.uniform(-0.2, 0.2, 4_000)
    told: Any = {"method": "ssp", "epsilon": 4.0, "target_bounds": (-1.2, 1.2), "random_state": 0}
    with pytest.warns(AssumptionWarning, match="nothing declares how long rows are"):
        PrivateLinearRegression(**told).fit(X, y)
    declared = PrivateLinearRegression(bounds=(-1, 1), **told).fit(X, y)
    assert declared.model_.row_norm == pytest.approx(np.sqrt(2))
    low, high = declared.conf_int()["x0"]
    assert low < 1.0 < high


def test_users_with_several_rows_are_told_before_they_pay() -> None:
    frame, schema = people(2_000)
    kept = ["age", "cost"]
    unit = PrivacyUnit("who", max_rows=2)
    owned = Schema([*schema.select(*kept).columns, Identifier("who")], unit=unit)
    table = open_table(
        {**{name: frame[name] for name in kept}, "who": np.repeat(np.arange(1_000), 2).astype(str)}, owned
    )
    with pytest.warns(AssumptionWarning, match="several rows"):
        model = PrivateLinearRegression(method="ssp", epsilon=4.0, random_state=0).fit(table, target="cost")
    with pytest.raises(NoIntervals, match="several rows"):
        model.conf_int()


def test_only_constant_columns_leave_an_intercept() -> None:
    """Six columns of one category: nothing is refused, and nothing is paid for what is public."""
    count = 4_000
    random = np.random.Generator(np.random.PCG64(1))
    frame: dict[str, Any] = {f"c{place}": np.full(count, "X") for place in range(6)}
    frame["cost"] = random.uniform(0, 1, count)
    schema = Schema([*(Categorical(f"c{place}", ["X"]) for place in range(6)), Numeric("cost", 0, 1)])
    model = PrivateLinearRegression(method="ssp", epsilon=1.0, random_state=0).fit(
        open_table(frame, schema), target="cost"
    )
    assert model.conf_int().names == ("(intercept)",)
    assert model.predict({name: ["X"] for name in frame if name != "cost"})[0] == pytest.approx(0.5, abs=0.05)


# Refusals.


def test_a_norm_that_is_too_large_is_the_first_reason() -> None:
    model = fitted(PrivateLogisticRegression, target="ill", other="cost", row_norm=12.0)
    with pytest.raises(NoIntervals, match=r"row_norm=12 is longer than any declared row, 1\.414"):
        model.conf_int()


@pytest.mark.parametrize("rows", [600, 1_200])
def test_as_many_rows_as_a_refusal_names_are_about_enough(rows: int) -> None:
    """A refusal's number is tried: with so many rows, and twice, most tables get intervals."""
    random = np.random.Generator(np.random.PCG64(rows))

    def fit(count: int, seed: int) -> Any:
        X = random.uniform(-1, 1, size=(count, 3))
        y = np.clip(X[:, 0] + random.uniform(-0.3, 0.3, count), -1.3, 1.3)
        return PrivateLinearRegression(
            method="ssp",
            epsilon=2.0,
            delta=1e-6,
            bounds=(-1, 1),
            target_bounds=(-1.3, 1.3),
            random_state=seed,
        ).fit(X, y)

    named = []
    for seed in range(8):
        model = fit(rows, seed)
        from holdfast.learn._inference.score import NoisyScore

        score = NoisyScore.of_value(model.model_.inference["score"])
        factor = missing_factor(score)
        if score.strength.too_low_for_intervals and factor is not None:
            named.append(factor * rows)
            assert f"{factor * rows:,.0f} rows" in refusal_reason(score, names=model.model_.names)
    assert named
    enough = int(2 * np.median(named))
    issued = sum(
        not NoisyScore.of_value(fit(enough, seed).model_.inference["score"]).strength.too_low_for_intervals
        for seed in range(6)
    )
    assert issued >= 4


def test_copies_are_named_where_no_number_of_rows_can_be() -> None:
    random = np.random.Generator(np.random.PCG64(5))
    first = random.uniform(-1, 1, 4_000)
    X = np.column_stack([first, first, random.uniform(-1, 1, 4_000)])
    model = PrivateLinearRegression(
        method="ssp", epsilon=2.0, delta=1e-6, bounds=(-1, 1), target_bounds=(-1, 1), random_state=0
    ).fit(X, 0.5 * first)
    with pytest.raises(NoIntervals) as refused:
        model.conf_int()
    words = str(refused.value)
    assert "no number of rows can be told" in words
    assert {"x0", "x1"} <= set(words.replace(":", ",").replace(",", " ").split())


# Drawn designs.


def test_designs_are_drawn_and_stay_what_they_are() -> None:
    designs = list(drawn_designs())
    assert len(designs) == DESIGNS == 12
    assert [dataclasses.asdict(one) for one in drawn_designs()] == [
        dataclasses.asdict(one) for one in designs
    ]
    every = [column for design in designs for column in design.columns]
    assert sum(bool(column.shares) for column in every) >= 8
    assert sum(column.skew > 1 for column in every) >= 3
    assert sum(design.rows_of_user > 1 for design in designs) == 3
    for design in designs:
        public = PublicDesign.of(design.schema, [c.name for c in design.columns], intercept=True)
        assert public.encoder(1.0).width + 1 == len(design.coefficients)


@pytest.mark.parametrize(("number", "rows", "full"), [(0, 2_000, 200), (2, 2_000, 60), (4, 20_000, 200)])
def test_drawn_designs_are_covered(number: int, rows: int, full: int, study: Study) -> None:
    """Categories, users and skewed columns, fitted as a user fits them; the benchmark has all twelve."""
    design = list(drawn_designs())[number]
    runs = trials(full)
    found = simulate_design(design, rows=rows, epsilon=8.0, runs=runs, seed=7)
    study.note(trials=runs, issued=found["issued"], coverage=min(found["coverage"], default=1.0))
    assert found["issued"] >= 0.5 * runs
    assert min(found["coverage"]) >= floor_of(found, errors=3.5), found

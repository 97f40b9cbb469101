"""Additive estimators: what they learn, promise, store and refuse."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from holdfast import Account, ApproxDP, Categorical, Identifier, Numeric, Schema, load_model, open_table
from holdfast.errors import AssumptionWarning, NoIntervals, NotPrivateWarning, ParameterError
from holdfast.learn import PrivateAdditiveClassifier, PrivateAdditiveRegressor
from holdfast.learn._estimators import estimator_of
from holdfast.privacy._account.resume import ResumableAccount
from holdfast.privacy._adjacency import PrivacyUnit

pytestmark = [
    pytest.mark.filterwarnings("ignore::holdfast.errors.NotPrivateWarning"),
    # Small tables with a class of about a quarter, whose noisy counts say less or more than that.
    pytest.mark.filterwarnings("ignore::holdfast.errors.ProbabilityWarning"),
]


def frame(rows: int = 6000, seed: int = 0) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    age, dose = random.integers(18, 80, rows), random.exponential(30.0, rows)
    kind = random.choice(["a", "b", "c"], rows)
    score = np.abs(age - 45) / 10.0 - 1.5 + (kind == "b") + np.where(dose > 50, 1.0, 0.0)
    ill = np.where(score + random.logistic(size=rows) > 0, "yes", "no")
    return {
        "age": age.astype(float),
        "dose": dose,
        "kind": kind,
        "ill": ill,
        "level": np.array(["low", "mid", "high"])[np.clip(np.floor(score + 1), 0, 2).astype(int)],
        "score": score,
        "who": np.array([f"u{place // 3}" for place in range(rows)]),
    }


def schema(target: Any, **options: Any) -> Schema:
    columns = [
        Numeric("age", 18, 80, integer=True, null="category"),
        Numeric("dose", 0, 1000),
        Categorical("kind", ["a", "b"], other="else"),
        target,
    ]
    extra = [Identifier("who")] if "unit" in options else []
    return Schema([*columns, *extra], **options)


ILL = Categorical("ill", ["no", "yes"])
LEVEL = Categorical("level", ["low", "mid", "high"])
SCORE = Numeric("score", -3, 6)


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [PrivateAdditiveClassifier(interactions=False), PrivateAdditiveRegressor(interactions=False)]
)
def test_scikit_learn_accepts_it(estimator: Any, check: Any) -> None:
    check(estimator)


def test_two_classes_from_a_table() -> None:
    table = open_table(frame(), schema(ILL, adjacency="zero_out"))
    model = PrivateAdditiveClassifier(4.0, 1e-6, random_state=1).fit(table, target="ill")
    test = frame(seed=1)
    right = np.mean(model.predict(test) == test["ill"])
    assert right > 0.68
    probability = model.predict_proba(test)
    assert probability.sum(axis=1) == pytest.approx(1.0)
    assert abs(probability[:, 1].mean() - np.mean(test["ill"] == "yes")) < 0.05
    shape = model.model_.split(model.model_.shapes)[0][:, 0]
    # |age - 45|: high at both ends.
    assert min(shape[2], shape[-4]) > shape[27] + 1


def test_several_classes_and_numbers() -> None:
    test = frame(seed=1)
    table = open_table(frame(), schema(LEVEL))
    model = PrivateAdditiveClassifier(8.0, 1e-6, random_state=1).fit(table, target="level")
    assert model.classes_.tolist() == ["high", "low", "mid"]
    assert np.mean(model.predict(test) == test["level"]) > 0.72
    assert model.predict_proba(test).sum(axis=1) == pytest.approx(1.0)
    numbers = open_table(frame(), schema(SCORE))
    regression = PrivateAdditiveRegressor(8.0, 1e-6, random_state=1).fit(numbers, target="score")
    residual = regression.predict(test) - test["score"]
    assert 1 - residual.var() / test["score"].var() > 0.8


@pytest.mark.parametrize("adjacency", ["replace", "zero_out", "add_remove"])
def test_users_and_every_adjacency(adjacency: str) -> None:
    unit = PrivacyUnit.user("who", max_rows=2)
    table = open_table(
        frame(),
        schema(ILL, unit=unit, adjacency=adjacency),
        n_public=2000 if adjacency == "add_remove" else None,
    )
    model = PrivateAdditiveClassifier(8.0, 1e-6, random_state=1).fit(table, target="ill")
    assert model.release_.guarantee.unit == unit
    assert model.release_.guarantee.adjacency.value == adjacency
    test = frame(seed=1)
    assert np.mean(model.predict(test) == test["ill"]) > 0.62


def test_missing_and_unknown_values_go_where_the_schema_says() -> None:
    table = open_table(frame(), schema(ILL))
    model = PrivateAdditiveClassifier(4.0, 1e-6, random_state=1).fit(table, target="ill")
    known = {"age": [None, 40.0], "dose": [1.0, 1.0], "kind": ["z", "else"]}
    first, second = model.decision_function(known)
    assert np.isfinite([first, second]).all()
    assert model.explain(known)[0]["kind"] == model.explain(known)[1]["kind"]


def test_contributions_sum_to_the_score() -> None:
    table = open_table(frame(), schema(ILL, adjacency="zero_out"))
    model = PrivateAdditiveClassifier(20.0, 1e-6, random_state=1).fit(table, target="ill")
    assert model.model_.pairs
    few = {name: values[:7] for name, values in frame(seed=1).items()}
    for parts, score in zip(model.explain(few), model.decision_function(few), strict=True):
        assert sum(parts.values()) == pytest.approx(score)


def test_monotone_shapes_are_monotone_and_stay_out_of_pairs() -> None:
    table = open_table(frame(), schema(ILL, adjacency="zero_out"))
    model = PrivateAdditiveClassifier(20.0, 1e-6, random_state=1, monotone={"dose": +1}).fit(
        table, target="ill"
    )
    at = {"age": [30.0] * 500, "kind": ["a"] * 500, "dose": np.linspace(0, 1000, 500).tolist()}
    assert (np.diff(model.decision_function(at)) >= -1e-12).all()
    assert all(1 not in pair for pair in model.model_.pairs)
    for wrong in ({"kind": 1}, {"nothing": 1}, {"dose": 2}):
        with pytest.raises(ParameterError, match="monotone"):
            PrivateAdditiveClassifier(monotone=wrong).fit(table, target="ill")


def test_save_load_and_json(tmp_path: Path) -> None:
    table = open_table(frame(), schema(ILL))
    model = PrivateAdditiveClassifier(4.0, 1e-6).fit(table, target="ill")
    assert model.release_.private
    model.release_.save(tmp_path / "model.holdfast")
    loaded = load_model(tmp_path / "model.holdfast")
    test = frame(seed=1)
    assert (loaded.decision_function(test) == model.decision_function(test)).all()
    assert "age" in loaded.summary()
    assert json.loads(loaded.to_json())["columns"][0]["column"] == "age"


def test_the_fit_spends_the_account_and_no_more() -> None:
    table = open_table(frame(500), schema(ILL))
    account = Account(ApproxDP(1.0, 1e-6), currency="gdp", seed=1)
    PrivateAdditiveClassifier().fit(table, target="ill", account=account)
    spent = account.spent().delta(0.0) / account.promised.delta(0.0)
    assert 0.999 < spent <= 1.0


def test_a_killed_fit_goes_on_without_paying_twice() -> None:
    table = open_table(frame(500), schema(ILL))
    account = Account(ApproxDP(1.0, 1e-6), currency="gdp", seed=1)
    first = PrivateAdditiveClassifier().fit(table, target="ill", account=ResumableAccount.of(account, None))
    entries = len(account.journal.entries)
    again = PrivateAdditiveClassifier().fit(table, target="ill", account=ResumableAccount.of(account, None))
    assert len(account.journal.entries) == entries
    assert (first.model_.shapes == again.model_.shapes).all()


def test_arrays_need_bounds_or_say_what_they_assume() -> None:
    x = np.random.default_rng(0).uniform(-1, 1, size=(400, 2))
    y = x[:, 0] > 0
    with pytest.warns(AssumptionWarning, match="bounds was not declared"):
        PrivateAdditiveClassifier(delta=1e-5, classes=[False, True], random_state=1).fit(x, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", NotPrivateWarning)
        model = PrivateAdditiveRegressor(bounds=[(-1, 1), (-2, 2)], target_bounds=(0, 1), random_state=1)
        model.fit(x.copy(), y.astype(float))
    assert model.predict(x).shape == (400,)
    for bounds in ((1, 2, 3), [(0, 1)] * 3, {"x0": (0, 1)}):
        with pytest.raises(ParameterError, match="bounds"):
            PrivateAdditiveClassifier(bounds=bounds, classes=[False, True]).fit(x, y)  # type: ignore[arg-type]


def test_what_is_refused_before_anything_is_spent() -> None:
    table = open_table(frame(300), schema(ILL))
    for told, match in (
        ({"delta": 0.0}, "delta"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"delta": 0.1}, "delta"),
        ({"bounds": (0, 1)}, "bounds"),
        ({"interactions": "yes"}, "interactions"),
    ):
        with pytest.raises(ParameterError, match=match):
            PrivateAdditiveClassifier(**told).fit(table, target="ill")
    with pytest.raises(ParameterError, match="sample_weight"):
        PrivateAdditiveClassifier().fit(table, target="ill", sample_weight=[1.0])
    with pytest.raises(ParameterError, match="target must be a numeric"):
        PrivateAdditiveRegressor().fit(table, target="ill")


HOSTILE = {
    "few rows": lambda random: {"x": random.uniform(size=200), "y": random.choice(["0", "1"], 200)},
    "constant": lambda random: {"x": np.full(300, 0.5), "y": random.choice(["0", "1"], 300)},
    "one class": lambda random: {"x": random.uniform(size=300), "y": np.full(300, "1")},
    "rare class": lambda random: {
        "x": random.uniform(size=3000),
        "y": random.choice(["0", "1"], 3000, p=[0.99, 0.01]),
    },
    "all missing": lambda random: {"x": [None] * 300, "y": random.choice(["0", "1"], 300)},
}


@pytest.mark.filterwarnings("ignore::holdfast.errors.UselessReleaseWarning")  # hopeless on purpose
@pytest.mark.parametrize("name", sorted(HOSTILE))
@pytest.mark.parametrize("epsilon", [0.01, 50.0])
def test_hostile_tables_end_in_a_sane_model(name: str, epsilon: float) -> None:
    rows = HOSTILE[name](np.random.default_rng(0))
    declared = Schema(
        [
            Numeric("x", -1e9, 1e9, null="category"),
            Categorical("one", ["only"]),
            Categorical("y", ["0", "1"]),
        ]
    )
    rows["one"] = ["only"] * len(rows["y"])
    model = PrivateAdditiveClassifier(epsilon, 1e-6, random_state=1).fit(
        open_table(rows, declared), target="y"
    )
    probability = model.predict_proba(rows)
    assert np.isfinite(probability).all()
    if epsilon == 50.0:
        assert abs(probability[:, 1].mean() - np.mean(np.asarray(rows["y"]) == "1")) < 0.15


def test_pictures_are_drawn() -> None:
    table = open_table(frame(), schema(ILL, adjacency="zero_out"))
    model = PrivateAdditiveClassifier(20.0, 1e-6, random_state=1).fit(table, target="ill")
    figure = model.plot()
    titles = [axes.get_title() for axes in figure.axes]
    assert "age" in titles
    assert any(" x " in title for title in titles)


def test_the_command_line_makes_them_by_the_target() -> None:
    declared = schema(ILL)
    asked: dict[str, Any] = {
        "epsilon": 1.0,
        "delta": 1e-6,
        "method": "auto",
        "row_norm": None,
        "radius": None,
    }
    assert isinstance(estimator_of(declared, "ill", "additive", **asked), PrivateAdditiveClassifier)
    assert isinstance(estimator_of(declared, "dose", "additive", **asked), PrivateAdditiveRegressor)
    for told in ({"penalty": 0.1}, {"row_norm": 2.0}, {"method": "output"}):
        with pytest.raises(ParameterError, match="must not be given for model='additive'"):
            estimator_of(declared, "ill", "additive", **(asked | told))


def test_no_band_is_drawn_that_does_not_cover() -> None:
    rows = np.linspace(0, 1, 300)[:, None]
    model = PrivateAdditiveRegressor(bounds=(0, 1), target_bounds=(0, 1), random_state=0).fit(
        rows, rows[:, 0]
    )
    with pytest.raises(NoIntervals, match="no bands"):
        model.bands()

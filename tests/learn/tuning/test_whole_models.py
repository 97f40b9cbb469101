"""Pipelines and every parameter in a private search: one budget, disjoint parts, nothing real in a rehearsal."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from holdfast.data import Categorical, Numeric, Schema, open_table
from holdfast.data._encode import Encoder
from holdfast.errors import AssumptionWarning, DataError, HoldfastError, NotPrivateWarning, ParameterError
from holdfast.learn import (
    PrivateAdditiveClassifier,
    PrivateLogisticRegression,
    PrivatePCA,
    PrivateRidge,
    PrivateScaler,
    PrivateSearch,
    load_model,
    pipeline_release,
)
from holdfast.learn._tuning.random_stopping import RandomStopping
from holdfast.learn._tuning.whole_models import WholeModels
from holdfast.privacy import Account, ApproxDP, PureDP

DRAW = np.random.default_rng(9)
X = DRAW.uniform(-0.7, 0.7, size=(1200, 2))
Y = np.where(X[:, 0] + 0.05 * DRAW.normal(size=1200) > 0.1, "yes", "no")
SCHEMA = Schema(
    [Numeric("a", -1, 1), Categorical("b", ["low", "high"]), Categorical("ill", ["no", "yes"])],
    adjacency="replace",
)
FRAME = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 0, "high", "low")})


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        yield


def model(**told: Any) -> PrivateLogisticRegression:
    settings: dict[str, Any] = {"classes": ["no", "yes"], "method": "output", "penalty": 0.01}
    return PrivateLogisticRegression(**(settings | told))


def piped(*steps: tuple[str, Any], **told: Any) -> Pipeline:
    return Pipeline([*steps, ("model", model(**told))])


SCALED = piped(("scale", PrivateScaler(bounds=(-1, 1))))


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_a_pipeline_is_searched_saved_and_loaded(delta: float, tmp_path: Any) -> None:
    grid = {"model__penalty": [0.01, 1e-7], "model__row_norm": [2.0], "scale__share": [0.2]}
    search = PrivateSearch(SCALED, grid, epsilon=8.0, delta=delta, random_state=1).fit(X, Y)
    assert search.best_params_["model__penalty"] == 0.01
    release = search.release_
    assert release.guarantee.curve.epsilon(delta) <= 8.0 + 1e-9
    assert release.provenance.parameters["candidates"] == 2
    assert pipeline_release(search.best_estimator_).guarantee == release.guarantee
    release.save(tmp_path / "m.holdfast")
    assert (load_model(tmp_path / "m.holdfast").predict(X) == search.predict(X)).all()
    assert search.score(X, Y) > 0.7
    assert "of 2 settings" in search.summary()
    assert search.classes_.tolist() == ["no", "yes"]


def test_steps_may_be_exchanged_and_a_step_that_does_not_pay_is_refused() -> None:
    grid: dict[str, list[Any]] = {"scale": ["passthrough", PrivatePCA(2), PrivateScaler(bounds=(-1, 1))]}
    search = PrivateSearch(SCALED, grid, epsilon=8.0, random_state=1).fit(X, Y)
    assert search.best_index_ in (0, 1, 2)
    account = Account(ApproxDP(2.0, 1e-6), adjacency="replace", currency="zcdp", seed=1)
    grid["scale"].append(StandardScaler())
    with pytest.raises(ParameterError, match="StandardScaler"):
        PrivateSearch(SCALED, grid).fit(X, Y, account=account)
    assert account.journal.entries == ()


@pytest.mark.parametrize(
    ("estimator", "grid", "match"),
    [
        (SCALED, {"model__epsilon": [1.0]}, "model__epsilon, which all candidates share"),
        (SCALED, {"model__row_nrm": [1.0]}, "did you mean 'model__row_norm'"),
        (SCALED, {"model__row_norm": [1.0, 0.0]}, "row_norm must be > 0"),
        (SCALED, {"scale__share": [2.0]}, "share must be in"),
        (SCALED, {"model__options": [{"inexactnes": 1.0}]}, "inexactness"),
        (SCALED, {"model__method": ["dp_sgd"]}, "dp_sgd"),
        (piped(("scale", StandardScaler())), {"model__penalty": [1.0]}, "StandardScaler"),
        (Pipeline([("scale", PrivateScaler())]), {"scale__share": [0.1]}, "ends in one, got PrivateScaler"),
    ],
)
def test_bad_candidates_are_refused_before_anything_is_spent(estimator: Any, grid: Any, match: str) -> None:
    account = Account(ApproxDP(2.0, 1e-6), adjacency="replace", currency="zcdp", seed=1)
    with pytest.raises(HoldfastError, match=match):
        PrivateSearch(estimator, grid).fit(X, Y, account=account)
    assert account.journal.entries == ()


def test_parts_are_disjoint_and_a_rehearsal_sees_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    real = WholeModels._rows

    def spy(self: WholeModels, places: Any) -> Any:
        found = real(self, places)
        seen.append(found[0])
        return found

    monkeypatch.setattr(WholeModels, "_rows", spy)
    PrivateSearch(model(), {"row_norm": [0.5, 1.0]}, epsilon=4.0, holdout=0.25, random_state=0).fit(X, Y)
    real_rows = {tuple(row) for row in X}
    touched = [{tuple(row) for row in rows} for rows in seen]
    rehearsed = [rows for rows in touched if not rows & real_rows]
    assert len(rehearsed) >= 4  # two fits and two scores
    (first, second, held, again) = [rows for rows in touched if rows & real_rows]
    assert held == again
    assert (len(first), len(second), len(held)) == (450, 450, 300)
    assert not first & second
    assert not (first | second) & held


def test_random_stopping_and_one_charge() -> None:
    account = Account(PureDP(6.0), adjacency="replace", seed=5)
    search = PrivateSearch(
        SCALED,
        {"model__penalty": [0.01, 1e-7]},
        strategy="random_stopping",
        stopping=RandomStopping(eta=1.0, gamma=0.2),
    ).fit(X, Y, account=account)
    assert len(account.journal.entries) == 1
    left = account.remaining().as_pure()
    assert left is not None
    assert float(left) == 0.0
    assert "negative binomial" in search.release_.guarantee.theorem


def test_a_search_with_secure_noise_warns_of_no_seed() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "bounds was not declared")
        search = PrivateSearch(model(), {"row_norm": [0.5, 1.0]}, epsilon=4.0).fit(X, Y)
    assert search.release_.private


@pytest.mark.parametrize("kind", ["pandas", "arrow"])
def test_frames_behind_an_encoder(kind: str) -> None:
    frame = FRAME if kind == "pandas" else pa.Table.from_pandas(FRAME)
    whole = piped(("encode", Encoder(SCHEMA, ["a", "b"], intercept=False)))
    search = PrivateSearch(whole, {"encode__row_norm": [0.001, 1.5]}, epsilon=8.0, random_state=3).fit(
        frame, Y
    )
    assert search.score(frame, Y) > 0.6
    assert search.release_.value["names"] == ["encode", "model"]


def test_a_table_with_any_parameter_and_typed_labels() -> None:
    schema = Schema([Numeric("a", -1, 1), Categorical("ill", [0, 1])], adjacency="replace")
    rows = {"a": X[:, 0], "ill": (Y == "yes").astype(int)}
    search = PrivateSearch(
        model(classes=None), {"row_norm": [1.0], "penalty": [0.01, 1e-7]}, epsilon=8.0, random_state=1
    ).fit(open_table(rows, schema), target="ill")
    table = open_table(rows, schema)
    assert search.best_params_["penalty"] == 0.01
    assert search.predict({"a": [0.9, -0.9]}).tolist() == [1, 0]
    assert search.release_.provenance.schema_hash == schema.hash()
    additive = PrivateSearch(
        PrivateAdditiveClassifier(), {"interactions": [True, False]}, epsilon=8.0, random_state=1
    )
    assert additive.fit(table, target="ill").predict({"a": [0.9]}).shape == (1,)
    with pytest.raises(ParameterError, match="for a Pipeline"):
        PrivateSearch(SCALED, {"model__row_norm": [1.0]}).fit(table, target="ill")


def test_numbers_are_compared_in_the_unit_of_the_estimator() -> None:
    """A candidate with narrow bounds of its own does not look better for it."""

    class Nineteen(PrivateRidge):
        def predict(self, rows: Any) -> Any:
            return np.full(len(rows), 19.0)

    ridge = PrivateRidge(target_bounds=(0, 20))
    rows = WholeModels.of(ridge, X, np.full(1200, 9.0), None, None)
    rows.fitted = [Nineteen(target_bounds=(18.9, 19.9))]
    errors = rows.rows(np.array([0.0]), np.array([[1.0], [7.0]]), np.zeros(2))
    assert errors.tolist() == pytest.approx([0.25, 0.25])
    grid = {"target_bounds": [(0, 20), (8, 12)]}
    search = PrivateSearch(ridge, grid, epsilon=8.0, random_state=0).fit(X, 10 + 8 * X[:, 0])
    assert search.predict(X[:1]).shape == (1,)


def test_what_was_read_is_said_and_unknown_kinds_of_columns_are_refused() -> None:
    with pytest.warns(AssumptionWarning, match="set of labels"):
        search = PrivateSearch(model(classes=None), {"row_norm": [1.0, 0.5]}, random_state=1).fit(X, Y)
    assert any("set of labels" in said.text for said in search.release_.guarantee.assumptions)
    for bad in (np.where(np.arange(1200) == 7, np.nan, X[:, 0])[:, None], np.array([["text"]] * 1200)):
        with pytest.raises((DataError, ValueError)):
            PrivateSearch(model(), {"row_norm": [1.0, 0.5]}, random_state=1).fit(bad, Y)
    with pytest.raises(ParameterError, match="one label for each of 1200 rows"):
        PrivateSearch(model(), {"row_norm": [1.0, 0.5]}).fit(X, Y[:5])


def test_a_row_without_a_label_is_no_error_of_any_model() -> None:
    """Its score moves by at most 1, as that of other rows; a model that counts it would be judged by a guess."""

    class Zeros(PrivateRidge):
        def predict(self, X: Any) -> Any:
            return np.zeros(len(X["b"]))

    frame = FRAME.assign(a=np.where(X[:, 1] > 0, np.nan, 1.0))
    table = open_table(frame, Schema(SCHEMA.columns[:2], adjacency="replace"))
    models = WholeModels.of(Zeros(target_bounds=(-1, 1)), table, None, "a", None)
    models.fitted.append(models.base)
    places = np.arange(1.0, len(frame) + 1.0)[:, None]
    errors = models.rows(np.zeros(1), places, np.zeros(len(frame)))
    np.testing.assert_array_equal(errors, np.where(X[:, 1] > 0, 0.0, 0.25))

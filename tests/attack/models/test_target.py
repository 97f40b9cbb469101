from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import LinearSVC

from holdfast.attack import Records, ShadowModels, Target, membership
from holdfast.attack._models.target import finite_signals, largest_finite
from holdfast.errors import DataError, ParameterError
from holdfast.learn import PrivateLogisticRegression, PrivateRidge
from tests.attack.attack_models import people


def test_a_classifier_its_callable_and_its_scores_agree() -> None:
    X, y = people(300, seed=1)
    records = Records.of((X, y), "members")
    model = LogisticRegression().fit(X, y)
    plain = Target.of(model).log_odds(records)
    called = Target.of(model.predict_proba, classes=[0, 1]).log_odds(records)
    second = Target.of(lambda rows: model.predict_proba(rows)[:, 1], classes=[0, 1]).log_odds(records)
    signed = np.where(y == 1, 1.0, -1.0) * model.decision_function(X)
    assert np.allclose(plain, called)
    assert np.allclose(plain, second)
    assert np.allclose(plain, signed, atol=1e-9)
    scored = Target.of(LinearSVC().fit(X, y))
    assert scored.task == "classification"
    assert not scored.labels_only


def test_log_odds_are_exact_where_the_model_is_sure() -> None:
    sure = np.array([[1e-12, 1.0 - 1e-12], [0.0, 1.0], [1.0, 0.0]])
    odds = Target.of(lambda rows: sure, classes=[0, 1]).log_odds(
        Records.of((np.zeros((3, 1)), [1, 1, 1]), "members")
    )
    assert odds[0] == pytest.approx(-math.log(1e-12), rel=1e-9)
    assert odds[1] == math.inf
    assert odds[2] == -math.inf
    assert finite_signals(odds)[1] == pytest.approx(largest_finite(odds) + math.log(2.0))


def test_a_model_that_shows_decisions_only() -> None:
    class Decides:
        classes_ = np.array(["a", "b"])

        def predict(self, rows: np.ndarray) -> np.ndarray:
            return np.where(rows[:, 0] > 0, "b", "a")

    X, _ = people(40, seed=1)
    y = np.where(X[:, 0] > 0.5, "b", "a")
    report = membership(
        Decides(), members=(X[:20], y[:20]), non_members=(X[20:], y[20:]), shadows=ShadowModels(count=4)
    )
    assert [result.attack for result in report] == ["correctness"]
    assert "decisions only" in report.skipped["loss"]
    assert "decisions only" in report.skipped["lira"]


def test_regressors_and_regression_callables() -> None:
    X, y = people(60, seed=2)
    model = LinearRegression().fit(X, y)
    target = Target.of(model)
    assert target.task == "regression"
    records = Records.of((X, y), "members")
    assert np.allclose(target.residuals(records), y - model.predict(X))
    assert np.allclose(Target.of(model.predict).signal(records), target.signal(records))


@pytest.mark.parametrize("form", ["estimator", "release", "path"])
def test_a_private_model_brings_its_promise(form: str, tmp_path: Path) -> None:
    X, y = people(2000, seed=len(form))  # data of its own: fitting the same rows twice is warned of
    model = PrivateLogisticRegression(epsilon=1.0, classes=[0, 1]).fit(X, y)
    assert model.release_ is not None
    model.release_.save(tmp_path / "m.holdfast")
    forms = {"estimator": model, "release": model.release_, "path": str(tmp_path / "m.holdfast")}
    target = Target.of(forms[form])
    records = Records.of((X[:50], y[:50]), "members")
    assert target.guarantee is not None
    assert target.guarantee.epsilon(1e-6) == pytest.approx(1.0, rel=1e-3)
    assert np.allclose(target.probabilities(records), model.predict_proba(X[:50]))
    report = membership(
        forms[form], members=(X[:100], y[:100]), non_members=people(100, seed=4), attacks="loss"
    )
    assert report.verdict() == "consistent"
    assert report["loss"].proved is not None


def test_a_released_regression(tmp_path: Path) -> None:
    X, y = people(500, seed=3)
    model = PrivateRidge(epsilon=1.0, target_bounds=(0, 1)).fit(X, y)
    assert model.release_ is not None
    assert Target.of(model.release_).task == "regression"


def test_rows_may_come_in_any_container() -> None:
    X, y = people(30, seed=5)
    model = LogisticRegression().fit(X, y)
    names = [f"c{place}" for place in range(X.shape[1])]
    forms = {
        "array": X,
        "frame": pd.DataFrame(X, columns=names),
        "sparse": csr_array(X),
        "table": pa.table({name: X[:, place] for place, name in enumerate(names)}),
    }
    chosen = np.array([3, 1])
    for name, features in forms.items():
        records = Records.of((features, y), "members")
        joined = records.take(chosen).join(records.take(np.arange(30) == 7))
        assert joined.labels.tolist() == y[[3, 1, 7]].tolist(), name
        rows = joined.features
        values = (
            rows.toarray() if name == "sparse" else np.asarray(rows) if name != "table" else rows.to_pandas()
        )
        assert np.allclose(values, X[[3, 1, 7]]), name
    assert Target.of(model).matrix(Records.of((forms["sparse"], y), "members")).shape == X.shape


def test_errors_say_what_is_wrong_and_show_no_data() -> None:
    X, y = people(20, seed=1)
    model = LogisticRegression().fit(X, y)
    with pytest.raises(DataError, match="does not know") as caught:
        Target.of(model).label_columns(Records.of((X, np.where(y == 1, 77, 0)), "members"))
    assert "77" not in str(caught.value)
    with pytest.raises(ParameterError, match="members must be a pair"):
        membership(model, members=X, non_members=(X, y))
    with pytest.raises(ParameterError, match="one label for each of 20 rows"):
        Records.of((X, y[:5]), "members")
    with pytest.raises(ParameterError, match="model must predict"):
        Target.of(3.0)
    with pytest.raises(ParameterError, match="classes"):
        Target.of(model.predict_proba, task="classification")

"""The scikit-learn faces: contracts of scikit-learn, and what privacy adds to them."""

from __future__ import annotations

import json
import math
import pickle
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from holdfast.errors import (
    AdjacencyError,
    AssumptionWarning,
    BudgetExceeded,
    BudgetWarning,
    DataError,
    FormatError,
    NotPrivateWarning,
    ParameterError,
)
from holdfast.learn import (
    PrivateLasso,
    PrivateLinearRegression,
    PrivateLinearSVC,
    PrivateLogisticRegression,
    PrivateRidge,
    load_model,
)
from holdfast.learn.design import INTERCEPT_SHARE, with_intercept
from holdfast.learn.estimator import GAUSSIAN_QUANTILE, LAPLACE_QUANTILE
from holdfast.learn.loading import ESTIMATORS
from holdfast.privacy import Account, ApproxDP, PureDP
from holdfast.release import Release

Floats = NDArray[np.float64]
BOUNDS = (-10.0, 10.0)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Seeds and refits are what these tests are made of; those that test the warnings ask for them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BudgetWarning)
        warnings.simplefilter("ignore", NotPrivateWarning)
        yield


def rows(n: int = 400, d: int = 3, *, seed: int = 0) -> tuple[Floats, Floats]:
    """Rows within the unit ball, and scores that a line explains."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    x = 0.95 * x / np.maximum(1.0, np.linalg.norm(x, axis=1))[:, None]
    return x, x @ np.linspace(3.0, -2.0, d) + 0.4 + 0.3 * rng.normal(size=n)


def labelled(n: int = 400, *, seed: int = 0) -> tuple[Floats, NDArray[np.int64]]:
    x, score = rows(n, seed=seed)
    return x, (score > 0).astype(np.int64)


def every() -> list[Any]:
    """One of each, with what it cannot do without."""
    return [
        PrivateLogisticRegression(),
        PrivateLinearSVC(),
        PrivateLinearRegression(target_bounds=(-300, 300)),
        PrivateRidge(target_bounds=(-300, 300)),
        PrivateLasso(target_bounds=(-300, 300)),
    ]


def declared(made: Any, **changes: Any) -> Any:
    """The estimator with everything declared, so that nothing is read from the data."""
    own = {"classes": [0, 1]} if hasattr(made, "classes") else {"target_bounds": BOUNDS}
    return clone(made).set_params(**(own | changes))


def data_for(made: Any, n: int = 400) -> tuple[Floats, Any]:
    return labelled(n) if hasattr(made, "classes") else rows(n)


# scikit-learn.


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(every())
def test_scikit_learn_accepts_it(estimator: Any, check: Any) -> None:
    check(estimator)


def test_naming_the_room_imports_nothing_heavy() -> None:
    code = (
        "import sys, holdfast.learn; print(not {'sklearn', 'scipy', 'numpy', 'pyarrow'} & set(sys.modules))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "True"


def test_all_estimators_are_tested() -> None:
    assert {type(made) for made in every()} == set(ESTIMATORS)


@pytest.mark.parametrize("made", every(), ids=lambda e: type(e).__name__)
def test_a_pipeline_a_search_and_a_cross_validation_run_and_say_what_they_cost(made: Any) -> None:
    x, y = data_for(made, 300)
    x = x + 1e-3 * np.random.default_rng(len(type(made).__name__)).normal(size=x.shape)
    whole = make_pipeline(MaxAbsScaler(), declared(made, epsilon=50.0))
    with pytest.warns(BudgetWarning, match="spends its epsilon again"):
        assert np.isfinite(cross_val_score(whole, x, y, cv=3)).all()
    step = whole.steps[-1][0]
    with pytest.warns(BudgetWarning, match="grid search once per fit"):
        search = GridSearchCV(whole, {f"{step}__epsilon": [10.0, 20.0]}, cv=2).fit(x, y)
    assert search.best_params_[f"{step}__epsilon"] in (10.0, 20.0)


def test_new_rows_and_an_account_give_no_budget_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", BudgetWarning)
        for seed in (71, 72):
            declared(PrivateLogisticRegression()).fit(*labelled(seed=seed))
        x, y = labelled(seed=73)
        for _ in range(2):
            declared(PrivateLogisticRegression()).fit(
                x, y, account=Account(ApproxDP(1.0, 1e-6), currency="gdp")
            )


def test_data_frames_and_sparse_rows_give_the_same_fit() -> None:
    import pandas as pd
    import polars as pl
    from scipy.sparse import csr_array

    x, y = labelled()
    names = ["age", "height", "weight"]
    model = declared(PrivateLogisticRegression(), random_state=3)
    plain = clone(model).fit(x, y).coef_
    for frame in (pd.DataFrame(x, columns=names), pl.DataFrame(x, schema=names)):
        fitted = clone(model).fit(frame, y)
        assert fitted.feature_names_in_.tolist() == names
        assert fitted.model_.feature_names == tuple(names)
        np.testing.assert_array_equal(fitted.coef_, plain)
        np.testing.assert_array_equal(fitted.predict(frame), fitted.predict(frame))
    sparse = clone(model).fit(csr_array(x), y)
    np.testing.assert_array_equal(sparse.coef_, plain)
    np.testing.assert_array_equal(sparse.predict(csr_array(x)), sparse.predict(x))


@pytest.mark.parametrize("made", every(), ids=lambda e: type(e).__name__)
def test_a_fitted_estimator_is_pickled_and_predicts_the_same(made: Any) -> None:
    x, y = data_for(made)
    fitted = declared(made, epsilon=10.0).fit(x, y)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(x), fitted.predict(x))
    assert again.release_ == fitted.release_


# Without privacy it is scikit-learn's model.


def constant(x: Floats) -> Floats:
    return with_intercept(x, INTERCEPT_SHARE)


@pytest.mark.parametrize("penalty", [0.0, 0.01])
@pytest.mark.parametrize("intercept", [True, False])
def test_without_privacy_it_is_scikit_learns_logistic_regression(penalty: float, intercept: bool) -> None:
    x, y = labelled()
    ours = declared(PrivateLogisticRegression(), epsilon=math.inf, penalty=penalty, fit_intercept=intercept)
    with pytest.warns(NotPrivateWarning, match="epsilon=inf"):
        ours.fit(x, y)
    assert ours.release_ is None
    assert "NOT PRIVATE" in ours.summary()
    c = math.inf if penalty == 0 else 1 / (len(y) * penalty)
    theirs = LogisticRegression(C=c, fit_intercept=False, tol=1e-10, max_iter=10_000)
    theirs.fit(constant(x) if intercept else x, y)
    np.testing.assert_allclose(ours.coef_[0], theirs.coef_[0][:3], atol=1e-5)
    if intercept:
        np.testing.assert_allclose(ours.intercept_[0], INTERCEPT_SHARE * theirs.coef_[0][3], atol=1e-5)
    if penalty == 0 and intercept:  # and then the constant column is no different from an intercept
        free = LogisticRegression(C=math.inf, tol=1e-10, max_iter=10_000).fit(x, y)
        np.testing.assert_allclose(ours.coef_, free.coef_, atol=1e-4)
        np.testing.assert_allclose(ours.predict_proba(x), free.predict_proba(x), atol=1e-4)


def test_without_privacy_it_is_scikit_learns_support_vector_machine() -> None:
    x, y = labelled(200)
    ours = declared(PrivateLinearSVC(), epsilon=math.inf, penalty=0.01, fit_intercept=False).fit(x, y)
    theirs = LinearSVC(loss="hinge", C=1 / (200 * 0.01), fit_intercept=False, tol=1e-9, max_iter=100_000)
    np.testing.assert_allclose(ours.coef_, theirs.fit(x, y).coef_, atol=1e-3)


def test_without_privacy_it_is_scikit_learns_least_squares_ridge_and_lasso() -> None:
    x, y = rows()
    least = PrivateLinearRegression(epsilon=math.inf, target_bounds=BOUNDS).fit(x, y)
    theirs = LinearRegression().fit(x, y)
    np.testing.assert_allclose(least.coef_, theirs.coef_, atol=1e-9)
    np.testing.assert_allclose(least.intercept_, theirs.intercept_, atol=1e-9)
    ridge = PrivateRidge(epsilon=math.inf, target_bounds=BOUNDS, penalty=0.1, fit_intercept=False).fit(x, y)
    np.testing.assert_allclose(
        ridge.coef_, Ridge(alpha=400 * 0.1, fit_intercept=False).fit(x, y).coef_, atol=1e-9
    )
    sparse = Lasso(alpha=0.05, fit_intercept=False, tol=1e-10, max_iter=100_000).fit(x, y)
    radius = float(np.abs(sparse.coef_).sum())
    lasso = PrivateLasso(epsilon=math.inf, target_bounds=BOUNDS, radius=radius, fit_intercept=False).fit(x, y)
    np.testing.assert_allclose(lasso.coef_, sparse.coef_, atol=1e-6)


def test_without_privacy_a_radius_is_a_ball() -> None:
    x, y = labelled()
    made = declared(PrivateLogisticRegression(), epsilon=math.inf, radius=1.5, fit_intercept=False).fit(x, y)
    w = made.coef_[0]
    assert np.linalg.norm(w) == pytest.approx(1.5)
    # At the minimiser on the sphere the gradient points inwards along w, and nowhere else.
    signs = 2.0 * y - 1.0
    gradient = -(signs / (1 + np.exp(signs * (x @ w)))) @ x / len(y)
    assert gradient @ w < 0
    np.testing.assert_allclose(gradient, (gradient @ w) / (w @ w) * w, atol=1e-9)


def three(n: int = 1500) -> tuple[Floats, NDArray[np.str_]]:
    x, _ = rows(n, seed=4)
    return x, np.array(["a", "b", "c"])[np.argmax(x @ np.random.default_rng(9).normal(size=(3, 3)), axis=1)]


def test_several_classes_are_one_softmax_model(tmp_path: Path) -> None:
    x, y = three()
    exact = PrivateLogisticRegression(epsilon=math.inf, penalty=1e-3, classes=["a", "b", "c"]).fit(x, y)
    theirs = LogisticRegression(C=1 / (len(y) * 1e-3), fit_intercept=False, tol=1e-10, max_iter=10_000)
    theirs.fit(constant(x), y)
    np.testing.assert_allclose(exact.coef_, theirs.coef_[:, :3], atol=1e-4)
    np.testing.assert_allclose(exact.predict_proba(x), theirs.predict_proba(constant(x)), atol=1e-5)
    for delta in (1e-6, 0.0):
        fitted = PrivateLogisticRegression(epsilon=8.0, delta=delta, classes=["a", "b", "c"]).fit(x, y)
        assert fitted.coef_.shape == (3, 3)
        assert fitted.score(x, y) > (0.8 if delta else 0.55)
        np.testing.assert_allclose(fitted.predict_proba(x).sum(axis=1), 1.0)
        assert fitted.release_ is not None
        fitted.release_.save(tmp_path / "model.holdfast")
        np.testing.assert_array_equal(load_model(tmp_path / "model.holdfast").predict(x), fitted.predict(x))
        assert "a: x0" in fitted.summary()


@pytest.mark.parametrize("made", every(), ids=lambda e: type(e).__name__)
def test_mean_scores_do_not_fall_as_epsilon_grows(made: Any) -> None:
    x, y = data_for(made, 1000)
    means = []
    for epsilon in (0.02, 1.0, 30.0):
        fits = [declared(made, epsilon=epsilon, random_state=seed).fit(x, y) for seed in range(4)]
        means.append(np.mean([max(-1.0, fit.score(x, y)) for fit in fits]))
    assert means[1] > means[0] - 0.05
    assert means[2] > means[1] - 0.02
    floor = 0.85 if hasattr(made, "classes") else 0.5
    assert means[2] > floor


# What is promised.


@pytest.mark.parametrize("made", every(), ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("adjacency", ["replace", "zero_out", "add_remove"])
def test_the_release_promises_what_was_asked_for(made: Any, adjacency: str) -> None:
    x, y = data_for(made)
    asked = declared(made, epsilon=0.7, delta=1e-5, adjacency=adjacency)
    if adjacency == "add_remove":
        asked.set_params(n_public=390)
    fitted = asked.fit(x, y)
    assert fitted.release_.guarantee.adjacency.value == adjacency
    assert fitted.release_.guarantee.epsilon(1e-5) <= 0.7 * (1 + 1e-9)
    assert fitted.release_.guarantee.epsilon(1e-5) >= 0.7 * 0.95
    assert fitted.release_.private
    assert fitted.release_.provenance.noise == "secure"
    assert fitted.method_ in fitted.release_.provenance.method


@pytest.mark.parametrize("made", every(), ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_delta_zero_is_pure(made: Any, adjacency: str) -> None:
    x, y = data_for(made)
    fitted = declared(made, epsilon=0.7, delta=0, adjacency=adjacency, n_public=400).fit(x, y)
    assert float(fitted.release_.guarantee.curve.as_pure()) == pytest.approx(0.7)


def test_a_seed_repeats_and_says_that_it_is_not_private() -> None:
    x, y = labelled()
    model = declared(PrivateLogisticRegression(), random_state=5)
    with pytest.warns(NotPrivateWarning, match="seed"):
        first = clone(model).fit(x, y)
    np.testing.assert_array_equal(first.coef_, clone(model).fit(x, y).coef_)
    assert not first.release_.private
    assert first.release_.provenance.noise == "seeded"
    secure = declared(PrivateLogisticRegression())
    assert not np.array_equal(clone(secure).fit(x, y).coef_, clone(secure).fit(x, y).coef_)


def test_what_fit_reads_from_the_data_is_an_assumption() -> None:
    x, y = labelled()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", AssumptionWarning)
        fitted = PrivateLogisticRegression(adjacency="add_remove").fit(x, y)
    said = [str(warning.message) for warning in seen if warning.category is AssumptionWarning]
    assert [text.split(" was read")[0] for text in said] == ["the set of labels", "the number of rows"]
    assert fitted.release_ is not None
    found = " ".join(fitted.release_.guarantee.assumptions)
    assert "set of labels" in found
    assert "number of rows" in found
    assert "assumes: the set of labels" in fitted.summary()
    quiet = PrivateLogisticRegression(adjacency="add_remove", classes=[0, 1], n_public=400, epsilon=2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", AssumptionWarning)
        quiet.fit(x, y)
    assert quiet.release_ is not None
    assert not any("read from the data" in a for a in quiet.release_.guarantee.assumptions)


def test_an_account_pays_and_its_limit_is_the_promise() -> None:
    x, y = labelled()
    account = Account(ApproxDP(0.5, 1e-6), adjacency="zero_out", currency="gdp")
    model = PrivateLogisticRegression(epsilon=99.0, classes=[0, 1]).fit(x, y, account=account)
    assert float(account.remaining().as_gdp() or 0) <= 1e-6 * float(account.spent().as_gdp() or 0)
    assert model.release_ is not None
    assert model.release_.guarantee.epsilon(1e-6) == pytest.approx(0.5, rel=1e-3)
    assert model.release_.guarantee.adjacency.value == "zero_out"
    with pytest.raises(BudgetExceeded):
        PrivateLogisticRegression(classes=[0, 1]).fit(x, y, account=account)
    with pytest.raises(AdjacencyError, match="contradicts"):
        PrivateLogisticRegression(classes=[0, 1], adjacency="replace").fit(x, y, account=account)
    with pytest.raises(ParameterError, match="random_state must be None with an account"):
        PrivateLogisticRegression(classes=[0, 1], random_state=1).fit(x, y, account=account)


def test_the_choice_of_a_method_looks_at_no_row() -> None:
    x, y = labelled()
    first = classifier().fit(x, y)
    other = classifier().fit(0.3 * x[::-1] ** 2, 1 - y)
    assert first.model_.choice == other.model_.choice
    assert "method='auto' looked at" in first.summary()
    assert "not bolt_on: " in first.summary()
    assert classifier(method="output").fit(x, y).model_.choice is None


def test_a_pipeline_hands_the_account_on() -> None:
    x, y = labelled()
    account = Account(PureDP(0.5))
    whole = make_pipeline(MaxAbsScaler(), PrivateLogisticRegression(classes=[0, 1], method="output"))
    whole.fit(x, y, privatelogisticregression__account=account)
    assert float(account.spent().as_pure() or 0) == pytest.approx(0.5)


# Rows and labels.


def test_rows_beyond_the_norm_are_clipped_in_training_and_in_prediction() -> None:
    x, y = labelled()
    model = declared(PrivateLogisticRegression(), random_state=1, row_norm=0.5)
    long = clone(model).fit(7.0 * x / np.linalg.norm(x, axis=1)[:, None], y)
    short = clone(model).fit(0.5 * x / np.linalg.norm(x, axis=1)[:, None], y)
    np.testing.assert_allclose(long.coef_, short.coef_, rtol=1e-9)
    np.testing.assert_allclose(short.decision_function(9.0 * x), short.decision_function(5e5 * x))


def test_the_constant_column_counts_in_the_norm() -> None:
    x, y = labelled()
    made = declared(PrivateLogisticRegression(), method="output", penalty=0.1, row_norm=2.0)
    sizes = {}
    for flag in (True, False):
        fitted = clone(made).set_params(fit_intercept=flag).fit(x, y)
        assert fitted.release_ is not None
        sizes[flag] = fitted.release_.provenance.parameters["l2_sensitivity"]
    # Soundness, section 3: G / (penalty n), G = 2 X under replace.
    assert sizes[False] == pytest.approx(2 * 2.0 / (0.1 * 400), rel=1e-2)
    assert sizes[True] == pytest.approx(sizes[False] * math.sqrt(1 + INTERCEPT_SHARE**2), rel=1e-6)


def test_targets_are_clipped_to_their_bounds_and_units_do_not_matter() -> None:
    x, y = rows()
    model = PrivateRidge(target_bounds=(-1.0, 1.0), random_state=4)
    np.testing.assert_array_equal(
        clone(model).fit(x, 5 * np.sign(y)).coef_, clone(model).fit(x, 500 * np.sign(y)).coef_
    )  # fmt: skip
    shifted = PrivateRidge(target_bounds=(40.0, 60.0), random_state=4).fit(x, 50 + 10 * y)
    plain = clone(model).fit(x, y)
    np.testing.assert_allclose(shifted.coef_, 10 * plain.coef_, rtol=1e-9)
    np.testing.assert_allclose(shifted.intercept_, 50 + 10 * plain.intercept_, rtol=1e-9)


# Bad input: a clear error before anything is spent.


def classifier(**changes: Any) -> Any:
    return PrivateLogisticRegression(**({"classes": [0, 1]} | changes))


@pytest.mark.parametrize(
    ("made", "match"),
    [
        (classifier(delta=1 / 400), "delta must be < 1 / n"),
        (classifier(delta=0.5), "delta must be < 1 / n"),
        (classifier(delta=1.5), "delta must be in"),
        (classifier(epsilon=0.0), "epsilon must be > 0"),
        (classifier(epsilon=-1.0), "epsilon must be > 0"),
        (classifier(epsilon=math.nan), "epsilon must be > 0"),
        (classifier(row_norm=0.0), "row_norm must be > 0"),
        (classifier(penalty=-1.0), "penalty must be >= 0"),
        (classifier(radius=0.0), "radius must be > 0"),
        (classifier(method="magic"), "method must be 'auto' or one of"),
        (classifier(adjacency="nearby"), "adjacency must be one of"),
        (classifier(n_public=7), "n_public must be the number of rows"),
        (classifier(random_state=-1), "random_state must be None or"),
        (classifier(classes=[0]), "one class"),
        (classifier(classes=[0, 2]), "labels must be among the 2 declared classes"),
        (classifier(classes=[0, 1, 2], method="output"), "method must be 'auto' or 'softmax'"),
        (PrivateLasso(target_bounds=(0, 1), method="adassp"), "method must be 'auto' or 'frank_wolfe'"),
        (PrivateLinearSVC(classes=[0, 1, 2]), "Only binary classification"),
        (classifier(fit_intercept=3), "fit_intercept must be"),
        (classifier(method="ridge"), "least squares"),
        (classifier(method="softmax"), "needs loss=Softmax"),
        (PrivateRidge(), "target_bounds must be declared"),
        (PrivateRidge(target_bounds=(1.0, 1.0)), "target_bounds must be"),
        (PrivateRidge(target_bounds=(0.0, math.inf)), "target_bounds must be"),
        (PrivateLinearRegression(target_bounds=(0, 1), method="bolt_on"), "finite radius"),
    ],
)
def test_bad_input_is_refused_before_anything_is_spent(made: Any, match: str) -> None:
    x, y = labelled()
    with pytest.raises(ValueError, match=match):
        made.fit(x, y)
    assert not hasattr(made, "release_")


def test_bad_input_spends_nothing_from_an_account() -> None:
    x, y = labelled()
    account = Account(ApproxDP(1.0, 1 / 400), currency="gdp")
    with pytest.raises(ParameterError, match="delta must be < 1 / n"):
        classifier().fit(x, y, account=account)
    with pytest.raises(DataError, match="declared classes"):
        classifier(classes=[0, 5]).fit(x, y, account=account)
    with pytest.raises(ParameterError, match="one class"):
        PrivateLogisticRegression().fit(x, 0 * y, account=account)
    assert float(account.spent().as_gdp() or 0) == 0


def test_errors_name_no_label() -> None:
    x, y = labelled()
    with pytest.raises(ValueError, match="declared classes") as caught:
        classifier(classes=["healthy", "ill"]).fit(x, np.where(y > 0, "secret", "ill"))
    assert "secret" not in str(caught.value)
    texts = x.astype(object)
    texts[3, 1] = "secret"
    for made, rows_, targets in [
        (classifier(), texts, y),
        (PrivateRidge(target_bounds=BOUNDS), x, np.where(y > 0, "secret", "ill")),
    ]:
        with pytest.raises(DataError, match="must be numbers") as caught:
            made.fit(rows_, targets)
        assert "secret" not in str(caught.value)
        assert caught.value.__cause__ is None
        assert caught.value.__suppress_context__


@pytest.mark.parametrize("name", ["sample_weight", "class_weight"])
def test_weights_are_refused_with_a_reason(name: str) -> None:
    x, y = labelled()
    with pytest.raises(ParameterError, match=f"{name} must not be given to fit.*; "):
        classifier().fit(x, y, **{name: np.ones(400)})
    with pytest.raises(ParameterError, match="fit takes"):
        classifier().fit(x, y, colour="red")


# What leaves.


@pytest.mark.parametrize("made", every(), ids=lambda e: type(e).__name__)
def test_a_model_is_saved_loaded_and_predicts_the_same(made: Any, tmp_path: Path) -> None:
    x, y = data_for(made)
    fitted = declared(made, epsilon=5.0).fit(x, y)
    fitted.release_.save(tmp_path / "model.holdfast")
    for again in (load_model(tmp_path / "model.holdfast"), type(made).load(tmp_path / "model.holdfast")):
        assert type(again) is type(made)
        np.testing.assert_array_equal(again.predict(9 * x), fitted.predict(9 * x))
        assert again.release_ == fitted.release_
        assert again.summary() == fitted.summary()
    other = PrivateLasso if not isinstance(made, PrivateLasso) else PrivateRidge
    with pytest.raises(FormatError, match="use load_model"):
        other.load(tmp_path / "model.holdfast")


def test_a_release_of_something_else_is_no_model(tmp_path: Path) -> None:
    account = Account(PureDP(1.0))
    Release.of(account, [1.0], method="other").save(tmp_path / "other.holdfast")
    with pytest.raises(FormatError, match="does not hold a model"):
        load_model(tmp_path / "other.holdfast")


@pytest.mark.parametrize("made", every(), ids=lambda e: type(e).__name__)
def test_plain_json_predicts_without_holdfast(made: Any) -> None:
    x, y = data_for(made)
    fitted = declared(made, epsilon=5.0).fit(x, y)
    plain = json.loads(fitted.to_json())
    x = 3 * x
    long = np.linalg.norm(x, axis=1, keepdims=True)
    short = x * np.minimum(1.0, plain["row_norm"] / long)
    scores = (short @ np.array(plain["coef"]).T + plain["intercept"])[:, 0]
    if hasattr(made, "classes"):
        np.testing.assert_array_equal(np.array(plain["classes"])[(scores > 0).astype(int)], fitted.predict(x))
    else:
        np.testing.assert_allclose(scores, fitted.predict(x))
    assert plain["private"] is True
    assert plain["guarantee"]["adjacency"] == "replace"


def test_the_summary_shows_the_noise_in_each_coefficient() -> None:
    x, y = labelled()
    fitted = declared(PrivateLogisticRegression(), method="output", penalty=0.1).fit(x, y)
    assert fitted.release_ is not None
    std = fitted.model_.noise_std
    assert std is not None
    assert fitted.model_.intercept_noise_std == pytest.approx(INTERCEPT_SHARE * std)
    reach = GAUSSIAN_QUANTILE * std
    weight = fitted.coef_[0, 1]
    assert f"[{weight - reach:.4g}, {weight + reach:.4g}]" in fitted.summary()
    assert "(intercept)" in fitted.summary()
    assert "whoever was 50 % sure" in fitted.summary()


@pytest.mark.parametrize(
    ("delta", "arithmetic"), [(1e-6, "strict"), (0.0, "strict"), (0.0, "idealised")], ids=str
)  # fmt: skip
def test_intervals_hold_what_the_fit_would_be_without_noise(delta: float, arithmetic: str) -> None:
    x, y = labelled(300)
    made = declared(PrivateLogisticRegression(), method="output", penalty=0.05, delta=delta)
    exact = clone(made).set_params(epsilon=math.inf).fit(x, y)
    centre = np.append(exact.coef_[0], exact.intercept_)
    inside, wide = [], []
    for seed in range(150):
        noisy = clone(made).set_params(random_state=seed, epsilon=2.0, arithmetic=arithmetic).fit(x, y)
        std = np.array([noisy.model_.noise_std] * 3 + [noisy.model_.intercept_noise_std])
        off = np.abs(np.append(noisy.coef_[0], noisy.intercept_) - centre) / std
        inside.append(off <= (GAUSSIAN_QUANTILE if delta else LAPLACE_QUANTILE))
        wide.append(off**2)
    # 600 coefficients, 150 of them independent at worst: 0.95 within four standard errors of 0.0178.
    assert 0.88 <= np.mean(inside) <= 0.995
    assert np.mean(wide) == pytest.approx(1.0, abs=0.4)

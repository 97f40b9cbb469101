"""At epsilon = inf the estimators are scikit-learn's, and accuracy does not fall as epsilon grows."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.svm import LinearSVC

from holdfast._arrays import Floats
from holdfast.errors import NotPrivateWarning
from holdfast.learn import (
    PrivateLasso,
    PrivateLinearRegression,
    PrivateLinearSVC,
    PrivateLogisticRegression,
    PrivateRidge,
    load_model,
)
from holdfast.learn._estimators.exact import exact_weights
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import HuberHinge, Logistic, OneVsAll, Softmax
from tests.learn.learn_cases import BOUNDS, QUIET, data_for, declared, every, labelled, rows

pytestmark = QUIET


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
    theirs = LogisticRegression(C=c, fit_intercept=intercept, tol=1e-10, max_iter=10_000).fit(x, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_[0], theirs.intercept_[0] if intercept else 0.0, atol=1e-4)
    np.testing.assert_allclose(ours.predict_proba(x), theirs.predict_proba(x), atol=1e-4)


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
    for intercept in (False, True):
        ridge = PrivateRidge(
            epsilon=math.inf, target_bounds=BOUNDS, penalty=0.1, fit_intercept=intercept
        ).fit(x, y)
        their_ridge = Ridge(alpha=400 * 0.1, fit_intercept=intercept).fit(x, y)
        np.testing.assert_allclose(ridge.coef_, their_ridge.coef_, atol=1e-9)
        np.testing.assert_allclose(ridge.intercept_, their_ridge.intercept_, atol=1e-9)
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


def test_without_privacy_several_classes_stay_in_their_ball() -> None:
    """Of all K d weights together; inside, moving towards the free minimiser does not pay."""
    random = np.random.default_rng(0)
    x = random.normal(size=(300, 2)) / 3
    y = np.argmax(
        x @ np.array([[3.0, -2.0, 0.0], [0.0, 2.0, -3.0]]) + random.gumbel(size=(300, 3)) / 2, axis=1
    )
    told: Any = {"epsilon": math.inf, "classes": [0, 1, 2], "fit_intercept": False}
    free, held = (PrivateLogisticRegression(**told, radius=radius).fit(x, y) for radius in (None, 2.0))
    assert np.linalg.norm(free.coef_) > 2.5
    assert np.linalg.norm(held.coef_) == pytest.approx(2.0)
    loss = [
        -float(np.mean(np.log(np.take_along_axis(model.predict_proba(x), y[:, None], axis=1))))
        for model in (free, held)
    ]
    scaled = PrivateLogisticRegression(**told).fit(x, y)
    scaled.model_ = dataclasses.replace(free.model_, coef=free.coef_ * 2.0 / np.linalg.norm(free.coef_))
    shrunk = -float(np.mean(np.log(np.take_along_axis(scaled.predict_proba(x), y[:, None], axis=1))))
    assert loss[0] < loss[1] <= shrunk


def test_several_classes_are_one_softmax_model(tmp_path: Path) -> None:
    x, y = three()
    exact = PrivateLogisticRegression(epsilon=math.inf, penalty=1e-3, classes=["a", "b", "c"]).fit(x, y)
    theirs = LogisticRegression(C=1 / (len(y) * 1e-3), tol=1e-10, max_iter=10_000).fit(x, y)
    np.testing.assert_allclose(exact.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(exact.predict_proba(x), theirs.predict_proba(x), atol=1e-5)
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


def test_several_classes_by_private_frank_wolfe() -> None:
    x, y = three()
    made = PrivateLogisticRegression(
        epsilon=2.0, delta=1e-6, classes=["a", "b", "c"], method="frank_wolfe", radius=8.0, random_state=1
    ).fit(x, y)
    assert made.coef_.shape == (3, 3)
    assert made.score(x, y) > 0.6
    assert made.method_ == "frank_wolfe"


@pytest.mark.parametrize("loss", [Softmax(classes=4), OneVsAll(classes=4, binary=HuberHinge())])
@pytest.mark.filterwarnings("ignore:Liblinear failed")
@pytest.mark.parametrize("there", [(0, 1, 2), (1, 3), (2,)])
def test_a_class_that_no_row_has_is_never_predicted(loss: Any, there: tuple[int, ...]) -> None:
    """And the scores of the others are those of a fit that never heard of it."""
    random = np.random.default_rng(len(there))
    rows = np.column_stack([0.3 * random.normal(size=(400, 3)), np.ones(400)])
    scores = rows @ random.normal(size=(4, len(there))) * 3 + random.gumbel(size=(400, len(there)))
    labels = np.array(there)[scores.argmax(axis=1)].astype(float)
    problem = Problem(loss=loss, dimension=4, penalty=0.01, constant=1.0)
    found = exact_weights(rows, labels, problem)
    assert found.shape == (4, 4)
    assert set((rows @ found.T).argmax(axis=1)) <= set(there)
    if len(there) > 2 and isinstance(loss, Softmax):
        fewer = dataclasses.replace(problem, loss=Softmax(classes=len(there)))
        np.testing.assert_allclose(found[list(there)], exact_weights(rows, labels, fewer), atol=1e-8)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_of_one_class_alone_the_fit_is_that_class(sign: float) -> None:
    rows = np.column_stack([np.linspace(0, 1, 9), np.ones(9)])
    found = exact_weights(rows, np.full(9, sign), Problem(loss=Logistic(), dimension=2, constant=1.0))
    assert (np.sign(rows @ found) == sign).all()

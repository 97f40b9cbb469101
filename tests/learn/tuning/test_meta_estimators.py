"""Whatever of scikit-learn fits our estimators, a release that was not paid for in full says so and is void.

The lists are scikit-learn's own, and nothing here knows what any of them does: what was paid is read from the account,
what a release says from the release.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
import sklearn
import sklearn.model_selection
from sklearn.base import is_classifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401 # it puts two searches on the list
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils import all_estimators

from holdfast import Account, ApproxDP
from holdfast.dossier import Dossier
from holdfast.errors import HoldfastError
from holdfast.learn import PrivateLogisticRegression, PrivateRidge, PrivateScaler
from holdfast.learn._rows.payment import PaidFit
from holdfast.privacy._account.shared import STEP_BETWEEN
from holdfast.release import Release

X = np.random.default_rng(2).uniform(-0.5, 0.5, size=(240, 3))
Y = (X[:, 0] + X[:, 1] > 0).astype(int)
SEVERAL = np.arange(240) % 3
"""Labels of three classes."""
FITS = 40
HOLDS = {"estimator", "estimators", "regressor", "base_estimator"}
"""Parameters of scikit-learn that take an estimator."""


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Of what others warn, and of what the releases say as well."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def classifier(**told: Any) -> PrivateLogisticRegression:
    return PrivateLogisticRegression(bounds=(-1, 1), method="output", penalty=0.1, **told)


def regressor() -> PrivateRidge:
    return PrivateRidge(bounds=(-1, 1), target_bounds=(-2, 2))


@cache
def meta_estimators() -> tuple[type[Any], ...]:
    """All classes of scikit-learn that hold an estimator, searches among them."""
    holding = [kind for _, kind in all_estimators() if HOLDS & set(kind._get_param_names())]
    return tuple(holding)


def built(kind: type[Any], folds: Any = None) -> list[Any]:
    """The class around a classifier and around a regressor of ours, where it takes one, in all of its settings."""
    names, candidates = set(kind._get_param_names()), []
    for inner in (classifier(), regressor()):
        given: dict[str, Any] = {}
        for name in names & HOLDS:
            given[name] = [("a", inner), ("b", inner)] if name == "estimators" else inner
        given |= {name: {"penalty": [0.1, 1.0]} for name in names & {"param_grid", "param_distributions"}}
        given |= {"n_iter": 2} if {"n_iter", "param_distributions"} <= names else {}
        given |= {"cv": folds} if "cv" in names and folds is not None else {}
        given |= {"final_estimator": inner} if "final_estimator" in names else {}
        candidates += [kind(**given)]
        if "ensemble" in names:
            candidates += [kind(**given, ensemble=choice) for choice in (True, False)]
    return candidates


def targets(made: Any) -> list[Any]:
    """Labels to try: two classes, three, numbers, and several columns of either."""
    numbers = X[:, 0] - X[:, 1]
    return [Y, SEVERAL, numbers, np.column_stack([Y, Y]), np.column_stack([numbers, numbers])]


def fitted_within(holder: Any, seen: set[int] | None = None) -> Iterator[Any]:
    """Every model and step of ours that was fitted anywhere inside."""
    seen = set() if seen is None else seen
    if id(holder) in seen or isinstance(holder, np.ndarray | str | bytes | int | float | Account | Release):
        return
    seen.add(id(holder))
    if isinstance(holder, PaidFit):
        if getattr(holder, "release_", None) is not None:
            yield holder
        return
    parts: Any = ()
    if isinstance(holder, dict):
        parts = holder.values()
    elif isinstance(holder, list | tuple | set):
        parts = holder
    elif type(holder).__module__.startswith("sklearn.") and hasattr(holder, "__dict__"):
        parts = vars(holder).values()
    for part in parts:
        yield from fitted_within(part, seen)


def voided(fitted: Any) -> bool:
    return any(
        assumption.voids and assumption.kind != "read from the data" for assumption in assumptions(fitted)
    )


def assumptions(fitted: Any) -> Any:
    return fitted.release_.guarantee.assumptions


def fits_of(made: Any, **told: Any) -> Iterator[Any]:
    """The estimator, fitted to whichever labels it takes."""
    for labels in targets(made):
        try:
            yield sklearn.clone(made).fit(X, labels, **told)
        except Exception:  # others may refuse by any error: then nothing is released
            continue


def test_without_an_account_every_copy_says_that_it_is_one_of_several() -> None:
    tried = set()
    for kind in meta_estimators():
        for made in built(kind):
            for whole in fits_of(made):
                for fitted in fitted_within(whole):
                    tried.add(kind.__name__)
                    assert voided(fitted), kind
    assert {
        "GridSearchCV",
        "RFECV",
        "CalibratedClassifierCV",
        "OneVsOneClassifier",
        "StackingClassifier",
    } <= tried
    assert len(tried) >= 20, tried


@pytest.mark.parametrize("routed", [False, True])
def test_with_a_shared_account_a_release_is_clean_only_where_every_other_fit_was_scored(routed: bool) -> None:
    """By the account's own count of fits and scores, which nothing but charges moves."""
    tried, clean = set(), set()
    with sklearn.config_context(enable_metadata_routing=routed):
        for kind in meta_estimators():
            for made in rerouted(kind) if routed else built(kind):
                for labels in targets(made):
                    account = Account(ApproxDP(8.0, 1e-5), currency="gdp", seed=1)
                    shared = account.shared_by(FITS)
                    if "cv" in kind._get_param_names():
                        made = made.set_params(cv=shared.folds(2))
                    else:
                        list(
                            shared.folds(2).split(X)
                        )  # whoever cuts no folds is refused, and this tries what comes after
                    try:
                        whole = made.fit(X, labels, account=shared)
                    except Exception:  # refused by us, by it, or never handed on
                        continue
                    for fitted in fitted_within(whole):
                        if "fits_paid" not in fitted.release_.provenance.parameters:
                            assert voided(fitted), kind  # the account never reached it
                            continue
                        tried.add(kind.__name__)
                        told = fitted.release_.provenance.parameters
                        if not voided(fitted):
                            assert told["scores_paid"] == told["fits_paid"] - 1, kind
                            clean.add(kind.__name__)
                    scores = [
                        entry for entry in account.journal.entries if entry.charge.label == "score of a fit"
                    ]
                    assert len(scores) == shared._scores_paid <= shared._handed_out
    searches = {"GridSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV", "RandomizedSearchCV"}
    assert clean == searches
    handed_on = {"CalibratedClassifierCV", "RFE", "TransformedTargetRegressor"}
    handed_on |= {"OneVsRestClassifier", "RFECV", "VotingClassifier"} if routed else set()
    assert handed_on <= tried


def rerouted(kind: type[Any]) -> list[Any]:
    """The same, with the account on the way that scikit-learn's routing wants it to be asked for."""
    made = built(kind)
    for whole in made:
        for value in whole.get_params(deep=True).values():
            if isinstance(value, PaidFit) and hasattr(value, "set_fit_request"):
                value.set_fit_request(account=True)
    return made


SEARCHES = [name for name in sklearn.model_selection.__all__ if name.endswith("SearchCV")]
EVALUATIONS = ["cross_val_score", "cross_validate", "learning_curve", "validation_curve"]


@pytest.mark.parametrize("name", [*SEARCHES, "HalvingGridSearchCV", "HalvingRandomSearchCV"])
def test_every_search_pays_for_every_fit_and_every_score(name: str) -> None:
    kind = getattr(sklearn.model_selection, name)
    account = Account(ApproxDP(8.0, 1e-5), currency="gdp", seed=1)
    shared = account.shared_by(FITS)
    grid = "param_grid" if "param_grid" in kind._get_param_names() else "param_distributions"
    own = {"n_iter": 2} if "n_iter" in kind._get_param_names() else {}
    if name.startswith("Halving"):
        own = {"min_resources": 60, "return_train_score": False}
    search = kind(classifier(classes=[0, 1]), **{grid: {"penalty": [0.1, 1.0]}}, cv=shared.folds(2), **own)
    search.fit(X, Y, account=shared)
    release = search.best_estimator_.release_
    assert not any(assumption.voids for assumption in release.guarantee.assumptions)
    told = release.provenance.parameters
    labels = [entry.charge.label for entry in account.journal.entries]
    assert told["scores_paid"] == told["fits_paid"] - 1 == labels.count("score of a fit") > 0
    assert release.guarantee.curve.epsilon(1e-5) == account.promised.epsilon(1e-5)
    noisy = search.cv_results_["mean_test_score"] * 240
    assert not np.isclose(noisy, np.round(noisy), atol=1e-6).all()


@pytest.mark.parametrize("name", EVALUATIONS)
def test_every_evaluation_pays_for_every_score_that_it_gives(name: str) -> None:
    evaluate = getattr(sklearn.model_selection, name)
    account = Account(ApproxDP(8.0, 1e-5), currency="gdp", seed=1)
    shared = account.shared_by(FITS)
    own = {"param_name": "penalty", "param_range": [0.1, 1.0]} if name == "validation_curve" else {}
    given = evaluate(classifier(classes=[0, 1]), X, Y, cv=shared.folds(2), params={"account": shared}, **own)
    scores = (
        given["test_score"] if name == "cross_validate" else given[-1] if isinstance(given, tuple) else given
    )
    paid = [entry for entry in account.journal.entries if entry.charge.label == "score of a fit"]
    assert len(paid) == shared._scores_paid == shared._handed_out == np.size(scores)
    assert not np.isclose(scores * 120, np.round(scores * 120), atol=1e-6).any()
    if isinstance(given, tuple):
        assert np.isnan(given[-2]).all()  # those of training rows, which nothing paid for


def test_nothing_else_of_the_room_takes_an_estimator_and_folds() -> None:
    """A function that scikit-learn adds is tried here, or this test says that it is not."""
    known = {*EVALUATIONS, "cross_val_predict", "permutation_test_score"}
    listed = {
        name
        for name in sklearn.model_selection.__all__
        if inspect.isfunction(function := getattr(sklearn.model_selection, name))
        and {"estimator", "cv"} <= set(inspect.signature(function).parameters)
    }
    assert listed == known


@pytest.mark.parametrize("first", [SelectKBest(k=1), PrivateScaler()])
def test_a_choice_of_columns_inside_of_a_search_is_red_on_the_page(first: Any, tmp_path: Any) -> None:
    """What S8 of a review found: the page stated that nothing but paid scores had compared the settings."""
    shared = Account(ApproxDP(8.0, 1e-5), currency="gdp").shared_by(5)
    pipeline = Pipeline([("first", first), ("model", classifier(classes=[0, 1]))])
    told = {"model__account": shared} | ({"first__account": shared} if isinstance(first, PaidFit) else {})
    search = GridSearchCV(pipeline, {"model__penalty": [0.1, 1.0]}, cv=shared.folds(2)).fit(X, Y, **told)
    release = search.best_estimator_[-1].release_
    assert (STEP_BETWEEN in release.guarantee.assumptions) is isinstance(first, SelectKBest)
    release.save(tmp_path / "model.holdfast")
    shown = (
        Dossier.of_files([tmp_path / "model.holdfast"])
        .save(tmp_path / "page.html")
        .read_text(encoding="utf-8")
    )
    red = [line for line in shown.splitlines() if 'class="red"' in line]
    assert any("hand the pipeline over" in line for line in red) is isinstance(first, SelectKBest)
    with (
        pytest.raises(HoldfastError, match="SelectKBest")
        if isinstance(first, SelectKBest)
        else warnings.catch_warnings()
    ):
        Account(ApproxDP(8.0, 1e-5), currency="gdp").shared_by(5).folds(2, estimator=pipeline)


def test_a_search_over_a_pipeline_that_was_handed_over_is_clean() -> None:
    from sklearn.preprocessing import Normalizer

    shared = Account(ApproxDP(8.0, 1e-5), currency="gdp", seed=1).shared_by(5)
    pipeline = Pipeline([("first", Normalizer()), ("model", classifier(classes=[0, 1]))])
    folds = shared.folds(2, estimator=pipeline)
    search = GridSearchCV(pipeline, {"model__penalty": [0.1, 1.0]}, cv=folds).fit(X, Y, model__account=shared)
    assert not voided(search.best_estimator_[-1])
    assert is_classifier(search)

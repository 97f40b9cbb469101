"""scikit-learn's searches and cross-validations with an account: every fit and score paid, anything else refused."""

from __future__ import annotations

import pickle
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import parallel_config  # type: ignore[import-untyped]
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    RandomizedSearchCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    permutation_test_score,
)
from sklearn.pipeline import Pipeline

from holdfast.dossier import Dossier, verify_dossier
from holdfast.errors import BudgetExceeded, BudgetWarning, HoldfastError, NotPrivateWarning
from holdfast.learn import (
    PrivateAdditiveClassifier,
    PrivateLogisticRegression,
    PrivateRidge,
    PrivateScaler,
    PrivateSearch,
    pipeline_release,
)
from holdfast.learn._estimators.paid_score import row_scores
from holdfast.learn._rows.payment import ONE_OF_SEVERAL
from holdfast.ledger import Ledger
from holdfast.privacy import Account, ApproxDP
from holdfast.privacy._account import Witness, replay_tape
from holdfast.privacy._account.shared import CHOSEN_BY_PAID_SCORES, unscored_fits

DRAW = np.random.default_rng(4)
X = DRAW.uniform(-0.7, 0.7, size=(600, 2))
Y = np.where(X[:, 0] + 0.1 * DRAW.normal(size=600) > 0, "yes", "no")
GRID = {"penalty": [0.01, 1e-6]}
LIMIT = ApproxDP(8.0, 1e-5)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        yield


def opened(**told: Any) -> Account:
    return Account(LIMIT, adjacency="replace", currency="gdp", **({"seed": 3} | told))


CHARGES = 2
"""Of one fit: the centre of the intercept, and the minimiser."""


def model(**told: Any) -> PrivateLogisticRegression:
    return PrivateLogisticRegression(classes=["no", "yes"], method="output", **told)


def test_a_grid_search_splits_the_account_over_its_fits_and_the_release_says_so() -> None:
    account = opened()
    shared = account.shared_by(7)
    search = GridSearchCV(model(), GRID, cv=shared.folds(3)).fit(X, Y, account=shared)
    assert search.best_params_ == {"penalty": 0.01}  # the other leaves nothing but noise
    release = search.best_estimator_.release_
    said = release.provenance.parameters
    assert (said["fits"], said["fits_paid"], said["scores_paid"]) == (7, 7, 6)
    assert len(account.journal.entries) == CHARGES * 7 + 6
    assert release.guarantee.curve.epsilon(1e-5) == account.promised.epsilon(1e-5) <= 8.0 + 1e-9
    assert CHOSEN_BY_PAID_SCORES in release.guarantee.assumptions
    assert not any(assumption.voids for assumption in release.guarantee.assumptions)
    # The refit is one of the fits: without its share it would have been trained for nothing.
    fits = [entry.charge.share for entry in account.journal.entries if entry.charge.label != "score of a fit"]
    assert len(set(fits)) == 7
    # Scores of the search are noisy, and may be published with it.
    scores = np.concatenate([search.cv_results_[f"split{k}_test_score"] for k in range(3)]) * 200
    assert not np.isclose(scores, np.round(scores), atol=1e-6).all()


@pytest.mark.parametrize("place", [0, 300, 599])
def test_a_search_that_is_told_the_same_on_a_neighbour_moves_within_what_it_paid(place: int) -> None:
    """Replay: one row with its label is another; folds, fits and scores differ in that row and nowhere else."""

    def searched(rows: Any, labels: Any, tape: Any) -> Any:
        witness, account = Witness(seed=2, tape=tape), opened()
        account.watch(witness)
        shared = account.shared_by(5)
        GridSearchCV(model(), GRID, cv=shared.folds(2)).fit(rows, labels, account=shared)
        return witness.seen.steps

    first = searched(X, Y, None)
    rows, labels = X.copy(), Y.copy()
    rows[place], labels[place] = [9.0, -9.0], "no" if Y[place] == "yes" else "yes"
    second = searched(rows, labels, replay_tape([step.output for step in first]))
    assert len(first) == len(second) == CHARGES * 5 + 4
    moved = [float(np.linalg.norm(a.value - b.value)) for a, b in zip(first, second, strict=True)]
    for step, distance in zip(first, moved, strict=True):
        assert distance <= step.mechanism.l2_sensitivity * (1 + 1e-9)
    assert sum(distance > 0 for distance in moved) >= 3  # half of the fits, and the refit


def test_a_randomised_search_and_a_cross_validation() -> None:
    shared = opened().shared_by(5)
    search = RandomizedSearchCV(model(), GRID, n_iter=2, cv=shared.folds(2), random_state=0)
    assert search.fit(X, Y, account=shared).best_params_ == {"penalty": 0.01}
    shared = opened().shared_by(3)
    scores = cross_val_score(model(penalty=0.01), X, Y, cv=shared.folds(KFold(3)), params={"account": shared})
    assert scores.shape == (3,)
    assert shared._scores_paid == shared._handed_out == 3
    assert search.score(X, Y) == search.score(X, Y)  # afterwards, by its owner: neither paid nor noisy


@pytest.mark.parametrize("told", [{}, {"scoring": "accuracy"}])
def test_a_search_of_several_threads_pays_for_each_fit_and_score(told: dict[str, Any], tmp_path: Any) -> None:
    with Ledger.create(tmp_path / "l.db") as ledger:
        ledger.dataset("d", limit=LIMIT, currency="gdp", adjacency="replace", approver="A")
        account = ledger.account("d", name="search", limit=ApproxDP(6.0, 1e-5), purpose="p")
        shared = account.shared_by(5)
        search = GridSearchCV(model(), GRID, cv=shared.folds(2), n_jobs=2, error_score="raise", **told)
        with parallel_config(backend="threading"):
            if told:  # two threads, and neither need have a second fit that could tell: the refit tells
                with pytest.warns(BudgetWarning, match="not scored by it"):
                    search.fit(X, Y, account=shared)
            else:
                search.fit(X, Y, account=shared)
        release = search.best_estimator_.release_
        said = release.provenance.parameters
        assert (said["fits_paid"], said["scores_paid"]) == (5, 0 if told else 4)
        voided = [assumption for assumption in release.guarantee.assumptions if assumption.voids]
        assert voided == ([unscored_fits(4)] if told else [])
        if told:
            return
        shares = [one.charge.share for one in account.journal.entries]
        assert sorted(Counter(shares).values()) == [1] * 4 + [CHARGES] * 5


def test_a_search_of_several_processes_is_refused_with_the_way_out() -> None:
    account = opened()
    shared = account.shared_by(5)
    with pytest.raises(TypeError, match=r"joblib\.parallel_config\(backend='threading'\)"):
        pickle.dumps({"account": shared})
    assert account.journal.entries == ()


def test_every_kind_of_estimator_is_scored_within_bounds() -> None:
    shared = opened().shared_by(2)
    ridge = PrivateRidge(target_bounds=(-2, 2), method="ridge")
    scores = cross_val_score(ridge, X, X[:, 0], cv=shared.folds(2), params={"account": shared})
    assert (scores > 0.3).all()
    shared = opened(seed=5).shared_by(2)
    additive = PrivateAdditiveClassifier(classes=["no", "yes"], bounds=(-1, 1), interactions=False)
    scores = cross_val_score(additive, X, Y, cv=shared.folds(2), params={"account": shared})
    assert (scores > 0.4).all()
    account = Account(LIMIT, adjacency="replace", currency="zcdp", seed=2)
    shared = account.shared_by(2)
    searched = PrivateSearch(model(), {"row_norm": [0.5, 1.0], "penalty": [0.01]})
    scores = cross_val_score(searched, X, Y, cv=shared.folds(2), params={"account": shared})
    assert (scores > 0.4).all()
    assert shared._scores_paid == shared._handed_out == 2


def test_a_pipeline_pays_for_its_steps_from_the_share_of_its_fit() -> None:
    account = opened()
    shared = account.shared_by(5)
    whole = Pipeline([("scale", PrivateScaler(bounds=(-1, 1), share=0.1)), ("model", model(penalty=0.01))])
    search = GridSearchCV(whole, {"model__row_norm": [0.01, 2.0]}, cv=shared.folds(2))
    search.fit(X, Y, scale__account=shared, model__account=shared)
    release = pipeline_release(search.best_estimator_)
    assert release.provenance.parameters["fits_paid"] == 5
    assert release.guarantee.curve.epsilon(1e-5) == account.promised.epsilon(1e-5)
    assert len(account.journal.entries) == 5 * (1 + CHARGES) + 4


REFUSALS: list[tuple[dict[str, Any], int, int, type[Exception], str]] = [
    ({"cv": 3}, 7, 0, HoldfastError, "cv must be account"),
    ({}, 6, (CHARGES + 1) * 6, BudgetExceeded, "all 6 fits"),
]


@pytest.mark.parametrize(
    ("told", "fits", "charged", "error", "match"), REFUSALS, ids=lambda value: str(value)[:20]
)
def test_what_would_not_be_paid_is_refused(
    told: dict[str, Any], fits: int, charged: int, error: type[Exception], match: str
) -> None:
    """Folds that look at labels, and a refit that nobody counted."""
    account = opened()
    shared = account.shared_by(fits)
    with pytest.raises(error, match=match):
        GridSearchCV(model(), GRID, **({"cv": shared.folds(3), "error_score": "raise"} | told)).fit(
            X, Y, account=shared
        )
    assert len(account.journal.entries) == charged


def test_a_plain_account_is_refused_and_says_how_to_share_it() -> None:
    account = opened()
    with pytest.raises(HoldfastError, match=r"shared_by\(settings x folds, and 1 for the refit\)"):
        GridSearchCV(model(), GRID, cv=3, error_score="raise").fit(X, Y, account=account)
    assert account.journal.entries == ()


def test_a_permutation_test_is_refused() -> None:
    """It gives one person's label to another: folds see it at the first exchange, and nothing of that is fitted."""
    account = opened()
    with pytest.raises(HoldfastError, match="cv must be account"):
        permutation_test_score(model(), X, Y, cv=3, params={"account": account.shared_by(9)})
    assert account.journal.entries == ()
    shared = account.shared_by(9)
    with pytest.raises(HoldfastError, match="permutation test"):
        permutation_test_score(
            model(), X, Y, cv=shared.folds(2), n_permutations=2, params={"account": shared}
        )
    assert shared._handed_out == 2  # of the labels as they are


@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
def test_a_setting_that_is_refused_takes_no_share() -> None:
    shared = opened().shared_by(5)
    search = GridSearchCV(model(), {"penalty": [0.01, -1.0]}, cv=shared.folds(2))
    with pytest.warns(Warning, match="2 fits failed"):
        search.fit(X, Y, account=shared)
    assert search.best_params_ == {"penalty": 0.01}
    assert search.best_estimator_.release_.provenance.parameters["fits_paid"] == 3  # and two shares are left


def test_an_exact_score_is_on_the_release_that_it_chose() -> None:
    """Whatever compares the fits, the account knows that it was not paid for it."""
    account = opened()
    shared = account.shared_by(5)
    search = GridSearchCV(model(), GRID, cv=shared.folds(2), scoring="accuracy")
    with pytest.warns(BudgetWarning, match="leave scoring=None"):
        search.fit(X, Y, account=shared)
    assert unscored_fits(4) in search.best_estimator_.release_.guarantee.assumptions
    shared = opened().shared_by(3)
    with pytest.warns(BudgetWarning, match="not scored by it"):
        rivals: list[Any] = [model(penalty=penalty).fit(X, Y, account=shared) for penalty in (0.01, 0.1, 1.0)]
    for rival in rivals:  # a loop: the first was released before it was known what would be done with it
        assert any(assumption.voids for assumption in rival.release_.guarantee.assumptions)


def test_a_loop_that_scores_by_the_account_is_paid() -> None:
    shared = opened().shared_by(3)
    for penalty in (0.01, 0.1):
        rival = model(penalty=penalty).fit(X, Y, account=shared)
        assert rival.score(X, Y) != rival.predict(X).tolist().count("yes") / 600
        with pytest.raises(BudgetExceeded, match="once"):
            rival.score(X, Y)
    last: Any = model(penalty=0.01).fit(X, Y, account=shared)
    assert CHOSEN_BY_PAID_SCORES in last.release_.guarantee.assumptions
    assert not any(assumption.voids for assumption in last.release_.guarantee.assumptions)


def test_scores_on_training_rows_are_not_given_beside() -> None:
    shared = opened().shared_by(2)
    with pytest.raises(BudgetExceeded, match="return_train_score=False"):
        cross_validate(
            model(),
            X,
            Y,
            cv=shared.folds(2),
            params={"account": shared},
            return_train_score=True,
            error_score="raise",
        )


def test_predictions_of_held_out_rows_need_no_score() -> None:
    shared = opened().shared_by(2)
    with pytest.warns(BudgetWarning, match="not scored by it"):
        predicted = cross_val_predict(model(), X, Y, cv=shared.folds(2), params={"account": shared})
    assert set(predicted) <= {"no", "yes"}


def test_a_search_without_an_account_makes_releases_that_say_what_they_leave_out() -> None:
    with pytest.warns(BudgetWarning):
        search = GridSearchCV(model(), GRID, cv=2).fit(X, Y)
    assert ONE_OF_SEVERAL in search.best_estimator_.release_.guarantee.assumptions
    assert ONE_OF_SEVERAL.voids


def test_the_page_of_a_search_is_verified_against_its_ledger(tmp_path: Any) -> None:
    with Ledger.create(tmp_path / "l.db") as ledger:
        ledger.dataset("d", limit=LIMIT, currency="gdp", adjacency="replace", approver="A")
        account = ledger.account("d", name="search", limit=ApproxDP(4.0, 1e-5), purpose="p")
        shared = account.shared_by(5)
        search = GridSearchCV(model(), GRID, cv=shared.folds(2)).fit(X, Y, account=shared)
        search.best_estimator_.release_.save(tmp_path / "m.holdfast")
        page = Dossier.of_files([tmp_path / "m.holdfast"], ledger=ledger).save(tmp_path / "p.html")
    found = verify_dossier(page, releases=[tmp_path / "m.holdfast"], ledger=tmp_path / "l.db", recompute=True)
    assert found.ok, found.problems
    assert "fits_paid" in page.read_text(encoding="utf-8")


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20), st.tuples(st.floats(-9, 0), st.floats(1, 9)))
def test_what_a_row_adds_to_a_score_lies_between_0_and_1(values: list[float], bounds: Any) -> None:
    class Echo(PrivateRidge):
        def predict(self, rows: Any) -> Any:
            return -3.0 * np.asarray(rows)[:, 0]

    rows = np.array(values)[:, None]
    found = row_scores(Echo(target_bounds=bounds), rows, np.array(values))
    assert found.min() >= 0.0
    assert found.max() <= 1.0

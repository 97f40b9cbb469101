"""The scikit-learn faces: contracts of scikit-learn, what is promised, and bad input."""

from __future__ import annotations

import dataclasses
import math
import pickle
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from holdfast.data import Numeric, Schema, open_table
from holdfast.errors import AssumptionWarning, BudgetWarning, DataError, ParameterError
from holdfast.learn import (
    PrivateLasso,
    PrivateLinearRegression,
    PrivateLinearSVC,
    PrivateLogisticRegression,
    PrivateRidge,
)
from holdfast.learn._choice import find_learner
from holdfast.learn._estimators import ESTIMATORS
from holdfast.learn._estimators.estimator import PrivateLinearEstimator
from holdfast.privacy import Account, ApproxDP
from tests.learn.learn_cases import BOUNDS, QUIET, classifier, data_for, declared, every, labelled

pytestmark = QUIET

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


def test_all_linear_estimators_are_tested() -> None:
    assert {type(made) for made in every()} == {
        one for one in ESTIMATORS if issubclass(one, PrivateLinearEstimator)
    }


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


# Bad input: a clear error before anything is spent.


@pytest.mark.parametrize(
    ("made", "match"),
    [
        (classifier(delta=1 / 400), "delta must be < 1 / n"),
        (classifier(delta=0.5), "delta must be < 1 / n"),
        (classifier(delta=1.5), "delta must be in"),
        (classifier(epsilon=0.0), "epsilon must be > 0"),
        (classifier(epsilon=-1.0), "epsilon must be > 0"),
        (classifier(epsilon=math.nan), "epsilon must be a number, got epsilon=nan"),
        (classifier(row_norm=0.0), "row_norm must be > 0"),
        (classifier(penalty=-1.0), "penalty must be >= 0"),
        (classifier(radius=0.0), "radius must be > 0"),
        (classifier(epsilon="1"), "epsilon must be a number, got epsilon='1'"),
        (classifier(delta="0"), "delta must be a number or None, got delta='0'"),
        (classifier(row_norm="1"), "row_norm must be a number"),
        (classifier(penalty="1"), "penalty must be a number or None"),
        (classifier(radius="1"), "radius must be a number or None"),
        (classifier(method="magic"), "method must be 'auto', a Learner or one of"),
        (classifier(method=3), "method must be a text or a Learner, got method=3"),
        (classifier(options=["steps"]), "options must be a dict of names or None, got options=a list"),
        (classifier(options={"stpes": 3}), "options must be among .*did you mean 'steps'"),
        (classifier(options={"steps": "3"}), r"steps must be int \| None for method='noisy_gd'"),
        (classifier(options={"steps": 0}), "steps must be a whole number >= 1"),
        (classifier(method="ridge", options={"steps": 3}), "options must be among count_bound, arithmetic"),
        (classifier(adjacency="nearby"), "adjacency must be one of"),
        (classifier(n_public=7), "n_public must be the number of rows"),
        (classifier(random_state=-1), "random_state must be a whole number of at least 0 or None"),
        (classifier(classes=[0]), "one class"),
        (classifier(classes=[0, 2]), "labels must be among the 2 declared classes"),
        (
            classifier(classes=[0, 1, 2], method="objective"),
            "method must be 'auto' or 'bolt_on' or 'bst14' or 'dp_sgd' or 'frank_wolfe' or 'output'",
        ),
        (PrivateLasso(target_bounds=(0, 1), method="adassp"), "method must be 'auto' or 'frank_wolfe'"),
        (PrivateLinearSVC(classes=[0, 1], loss="square"), "loss must be one of 'huber', 'hinge'"),
        (
            PrivateLinearSVC(classes=[0, 1], loss="hinge", method="objective"),
            "objective needs a loss with two",
        ),
        (classifier(fit_intercept=3), "fit_intercept must be"),
        (classifier(method="ridge"), "least squares"),
        (classifier(method="softmax"), "method must be 'auto' or 'adassp'"),
        (
            classifier(classes=[0, 1, 2], method="frank_wolfe"),
            "^radius must be finite for frank_wolfe, got radius=inf; give radius=",
        ),
        (PrivateRidge().set_params(target_bounds=3.0), "target_bounds must be a pair of numbers"),
        (PrivateRidge().set_params(target_bounds=("0", "x")), "target_bounds must be a pair of numbers"),
        (
            PrivateRidge(target_bounds=(0, 1), adjacency="add_remove", n_public=400, method="ridge"),
            "got radius=inf; give radius=..., or the option count_bound",
        ),
        (PrivateRidge(target_bounds=(1.0, 1.0)), "target_bounds must be"),
        (PrivateRidge(target_bounds=(0.0, math.inf)), "target_bounds must be"),
        (
            PrivateLinearRegression(target_bounds=(0, 1), method="bolt_on"),
            "finite radius, got radius=inf; give radius=...$",
        ),
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


def test_what_fit_reads_from_the_data_is_an_assumption() -> None:
    x, y = labelled()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", AssumptionWarning)
        fitted = PrivateLogisticRegression(adjacency="add_remove").fit(x, y)
    said = [str(warning.message) for warning in seen if warning.category is AssumptionWarning]
    assert [text.split(" was ")[0] for text in said] == ["the set of labels", "the number of rows", "bounds"]
    assert fitted.release_ is not None
    found = " ".join(map(str, fitted.release_.guarantee.assumptions))
    assert "set of labels" in found
    assert "number of rows" in found
    assert "assumes: the set of labels" in fitted.summary()
    quiet = PrivateLogisticRegression(adjacency="add_remove", classes=[0, 1], n_public=400, epsilon=2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", AssumptionWarning)
        warnings.filterwarnings("ignore", "bounds was not declared")
        quiet.fit(x, y)
    assert quiet.release_ is not None
    assert not any("read from the data" in a.text for a in quiet.release_.guarantee.assumptions)


# Bounds of targets.


@pytest.mark.parametrize(
    "made", [PrivateLinearRegression(), PrivateRidge(), PrivateLasso()], ids=lambda e: type(e).__name__
)
def test_default_bounds_of_targets_are_an_assumption(made: Any) -> None:
    x, y = data_for(made)
    with pytest.warns(
        AssumptionWarning, match=r"target_bounds was not declared: targets are clipped to the default"
    ):
        fitted = clone(made).set_params(epsilon=50.0, random_state=0).fit(x, y)
    assert fitted.release_ is not None
    assert any("target_bounds was not declared" in one.text for one in fitted.release_.guarantee.assumptions)
    told = clone(made).set_params(epsilon=50.0, random_state=0, target_bounds=(-1.0, 1.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error", AssumptionWarning)
        warnings.filterwarnings("ignore", "bounds was not declared")
        told.fit(x, y)
    np.testing.assert_array_equal(told.coef_, fitted.coef_)
    assert told.release_ is not None
    assert not any("target_bounds" in one.text for one in told.release_.guarantee.assumptions)


def test_a_schema_declares_the_bounds_of_targets() -> None:
    schema = Schema([Numeric("x", -1, 1), Numeric("y", 0, 20)])
    table = open_table({"x": [0.5, -0.5] * 500, "y": [15.0, 5.0] * 500}, schema)
    with warnings.catch_warnings():
        warnings.simplefilter("error", AssumptionWarning)
        fitted = PrivateRidge(epsilon=50.0, random_state=0).fit(table, target="y")
    assert abs(fitted.intercept_ - 10.0) < 2.0


# Options and methods of the user's own.


def test_options_reach_the_method_and_have_the_last_word() -> None:
    x, y = labelled()
    model = classifier(random_state=0, options={"steps": 3, "arithmetic": "idealised"}, arithmetic="strict")
    model.fit(x, y)
    assert model.method_ == "noisy_gd"
    assert model.release_ is not None
    assert model.release_.provenance.parameters["steps"] == 3
    assert model.release_.provenance.arithmetic == "idealised"
    plain = classifier(random_state=0, options={"preconditioner": "none"}).fit(x, y)
    named = classifier(random_state=0, method="noisy_gd", options={"preconditioner": "none"}).fit(x, y)
    np.testing.assert_array_equal(plain.coef_, named.coef_)
    batch = classifier(random_state=0, method="bolt_on", options={"passes": 2, "batch": 20}).fit(x, y)
    assert batch.release_.provenance.parameters["passes"] == 2


@pytest.mark.parametrize("made", every(), ids=lambda e: type(e).__name__)
def test_options_are_a_parameter_like_any_other(made: Any) -> None:
    assert made.get_params()["options"] is None
    given = {"arithmetic": "idealised"}
    again = clone(clone(made).set_params(options=given))
    assert again.options == given
    x, y = data_for(made)
    fitted = declared(again, epsilon=20.0, random_state=0).fit(x, y)
    assert fitted.release_.provenance.arithmetic == "idealised"


def test_a_misspelt_option_costs_nothing() -> None:
    x, y = labelled()
    account = Account(ApproxDP(1.0, 1e-6), currency="gdp")
    with pytest.raises(ParameterError, match="did you mean 'momentum'"):
        classifier(options={"momentun": 0.1}).fit(x, y, account=account)
    assert account.journal.entries == ()


def test_a_learner_is_a_method_as_well_as_its_name() -> None:
    x, y = labelled()
    by_name = classifier(method="output", penalty=0.1, random_state=0).fit(x, y)
    by_object = classifier(method=find_learner("output"), penalty=0.1, random_state=0).fit(x, y)
    np.testing.assert_array_equal(by_name.coef_, by_object.coef_)
    assert by_object.method_ == "output"
    own = dataclasses.replace(find_learner("output"), name="mine", outputs=("one",))
    fitted = clone(classifier(method=own)).fit(x, y)
    assert fitted.method_ == "mine"
    said = "the method 'mine' is not registered: that it is private is the claim of its author"
    assert said in [one.text for one in fitted.release_.guarantee.assumptions]
    assert not any("not registered" in one.text for one in by_object.release_.guarantee.assumptions)
    with pytest.raises(ParameterError, match="got method='mine'"):
        classifier(method=own, classes=[0, 1, 2]).fit(x, y)

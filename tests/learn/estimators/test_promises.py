"""What an estimator's release promises, who pays for it, and what the promise is about."""

from __future__ import annotations

import io
import itertools
import math
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from holdfast.errors import AdjacencyError, BudgetExceeded, NotPrivateWarning, ParameterError
from holdfast.learn import PrivateLogisticRegression, PrivateRidge
from holdfast.learn._rows.design import INTERCEPT_SHARE
from holdfast.privacy import Account, ApproxDP, PureDP
from tests.learn.learn_cases import QUIET, classifier, data_for, declared, every, labelled, rows

pytestmark = QUIET


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
    assert fitted.method_ == fitted.release_.provenance.method


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
    )
    shifted = PrivateRidge(target_bounds=(40.0, 60.0), random_state=4).fit(x, 50 + 10 * y)
    plain = clone(model).fit(x, y)
    np.testing.assert_allclose(shifted.coef_, 10 * plain.coef_, rtol=1e-9)
    np.testing.assert_allclose(shifted.intercept_, 50 + 10 * plain.intercept_, rtol=1e-9)


# While it runs.


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("method", ["noisy_gd", "bolt_on"])
def test_a_fit_says_how_far_it_is_on_a_terminal_only(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = labelled()
    seconds = itertools.count()
    monkeypatch.setattr("tqdm.std.time", lambda: float(next(seconds)))
    for stream, seen in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr("sys.stderr", stream)
        classifier(method=method).fit(x, y)
        assert (f"{method}: " in stream.getvalue()) is seen
        assert seen or not stream.getvalue()

"""Who paid for a fit is known to the fitted object alone: by what it was given, and by whether it is a copy."""

from __future__ import annotations

import copy
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

import holdfast
from holdfast import Account, ApproxDP
from holdfast.errors import BudgetWarning, ParameterError
from holdfast.learn import PrivateLogisticRegression, PrivatePCA, PrivateScaler, PrivateSearch
from holdfast.learn._estimators import ESTIMATORS
from holdfast.learn._rows.payment import ONE_OF_SEVERAL, ROWS_AS_COLLECTED, PaidFit, own_copy, payer_of

pytestmark = pytest.mark.filterwarnings("ignore::holdfast.errors.NotPrivateWarning")
X = np.random.default_rng(0).uniform(-0.5, 0.5, size=(400, 3))
Y = (X[:, 0] > 0).astype(int)


def model(**told: Any) -> PrivateLogisticRegression:
    return PrivateLogisticRegression(classes=[0, 1], bounds=(-1, 1), method="output", penalty=0.1, **told)


def warned(fit: Any) -> bool:
    """Whether a fit says that it is one of several."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()
    return any(issubclass(one.category, BudgetWarning) for one in caught)


def test_nothing_looks_at_a_stack_or_keeps_a_list_of_estimators() -> None:
    """`_caution` finds the line of a warning, and journals and engines close what they hold; nothing else does."""
    root = Path(holdfast.__file__).parent
    for mark, allowed in {
        "_getframe": {"_caution.py"},
        "f_locals": set(),
        "currentframe": set(),
        "inspect.stack": set(),
        "WeakKeyDictionary": set(),
        "WeakValueDictionary": set(),
        "WeakSet": {"_store.py"},
    }.items():
        users = {path.name for path in root.rglob("*.py") if mark in path.read_text(encoding="utf-8")}
        assert users <= allowed, mark


@pytest.mark.parametrize("kind", [*ESTIMATORS, PrivateScaler, PrivatePCA])
def test_every_estimator_and_step_knows_that_it_is_a_copy(kind: type[Any]) -> None:
    made: Any = kind()
    assert isinstance(made, PaidFit)
    assert not made._is_copy
    assert clone(made)._is_copy
    assert clone(clone(made))._is_copy
    assert pickle.loads(pickle.dumps(clone(made)))._is_copy
    assert not own_copy(made)._is_copy
    assert clone(made).get_params() == kind().get_params()


def test_a_copy_inside_of_any_other_estimator_is_one() -> None:
    class Holder(BaseEstimator):  # type: ignore[misc]
        def __init__(self, inner: Any) -> None:
            self.inner = inner

    assert clone(Holder(model())).inner._is_copy
    assert clone(PrivateSearch(model(), {"penalty": [0.1]})).estimator._is_copy


def test_a_copy_without_an_account_says_what_it_leaves_out() -> None:
    with pytest.warns(BudgetWarning, match=r"pass account=\.\.\. to fit"):
        fitted = clone(model()).fit(X, Y)
    assert ONE_OF_SEVERAL in fitted.release_.guarantee.assumptions
    assert ONE_OF_SEVERAL.voids
    alone: Any = model().fit(X, Y)
    assert ONE_OF_SEVERAL not in alone.release_.guarantee.assumptions


def test_a_copy_is_not_given_a_whole_account() -> None:
    account = Account(ApproxDP(2.0, 1e-6), currency="gdp")
    for made in (clone(model()), clone(PrivateScaler())):
        with pytest.raises(ParameterError, match=r"shared_by\(settings x folds"):
            made.fit(X, Y, account=account)
    assert account.journal.entries == ()
    fitted = clone(model()).fit(X, Y, account=account.shared_by(1))
    assert not any(assumption.voids for assumption in fitted.release_.guarantee.assumptions)


def test_the_same_estimator_fitted_again_says_so_whatever_the_rows() -> None:
    made = model()
    assert not warned(lambda: made.fit(X, Y))
    assert warned(lambda: made.fit(X, Y))
    assert warned(lambda: made.fit(X[::-1] / 2.0, Y))
    assert not warned(lambda: model().fit(X, Y))  # nothing remembers the rows, nor other estimators


def test_a_fit_from_an_account_needs_no_warning() -> None:
    made = model()
    for account in Account(ApproxDP(2.0, 1e-6), currency="gdp").split(0.5, 0.5):
        assert not warned(lambda paying=account: made.fit(X, Y, account=paying))


@pytest.mark.parametrize("made", [model(), PrivateScaler()])
def test_who_paid_is_not_copied_or_stored(made: Any) -> None:
    account = Account(ApproxDP(2.0, 1e-6), currency="gdp")
    fitted = made.fit(X, Y, account=account)
    assert payer_of(fitted) == (id(account.journal), "")
    for other in (clone(fitted), copy.deepcopy(fitted), pickle.loads(pickle.dumps(fitted))):
        assert payer_of(other) is None
    assert payer_of(fitted) is not None  # storing changed nothing
    assert payer_of(object()) is None


@pytest.mark.parametrize("kind", [*ESTIMATORS, PrivateScaler, PrivatePCA])
def test_every_fit_of_an_array_assumes_rows_as_collected(kind: type[Any]) -> None:
    public = {"bounds": (-1, 1), "target_bounds": (0, 1), "classes": [0, 1]}
    fitted = kind(**{name: public[name] for name in public if name in kind().get_params()}).fit(X, Y)
    assert ROWS_AS_COLLECTED in fitted.release_.guarantee.assumptions
    assert f"assumes: {ROWS_AS_COLLECTED.text}" in fitted.release_.summary()

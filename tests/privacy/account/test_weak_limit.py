"""Limits that protect nobody are warned of where they are declared; one delta for every promise that names none."""

from __future__ import annotations

import inspect
import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.data import Categorical, Schema
from holdfast.data._engines import open_table
from holdfast.errors import BudgetWarning
from holdfast.learn import PrivateLogisticRegression, PrivatePCA, PrivateScaler, PrivateSearch
from holdfast.learn._estimators import ESTIMATORS
from holdfast.ledger import Dataset, Ledger
from holdfast.plan._paid_steps import FitStep, SynthStep
from holdfast.privacy import ApproxDP, GaussianDP, PureDP
from holdfast.privacy._account.request import default_delta, limit_of, require_small_delta
from holdfast.privacy._account.weak_limit import (
    RARE_PRIOR,
    SURE_POSTERIOR,
    SURPRISING_LOSS,
    TOO_OFTEN,
    weak_limit,
)
from holdfast.synth import Synthesizer


@given(epsilon=st.floats(1e-3, 8.0), delta=st.floats(1e-12, 1e-3))
def test_usual_limits_are_not_weak(epsilon: float, delta: float) -> None:
    assert not weak_limit(ApproxDP(epsilon, delta))
    assert not weak_limit(PureDP(epsilon))


@given(epsilon=st.floats(0.1, 200.0), delta=st.floats(0.02, 0.99))
def test_a_large_delta_protects_nobody(epsilon: float, delta: float) -> None:
    assert weak_limit(ApproxDP(epsilon, delta))


@given(epsilon=st.floats(9.5, 500.0))
def test_a_large_epsilon_protects_nobody(epsilon: float) -> None:
    """The sentence's numbers: odds of one in a thousand, multiplied, are nine to one."""
    odds = RARE_PRIOR / (1 - RARE_PRIOR) * math.exp(SURPRISING_LOSS)
    assert odds / (1 + odds) == pytest.approx(SURE_POSTERIOR)
    assert weak_limit(PureDP(epsilon)) == weak_limit(GaussianDP(20.0))
    assert f"{SURE_POSTERIOR:.0%}" in weak_limit(PureDP(epsilon))
    assert f"once in {1 / TOO_OFTEN:.0f}" in weak_limit(PureDP(epsilon))


@pytest.mark.filterwarnings("ignore:this release was drawn from a seed")
@pytest.mark.filterwarnings("error:this limit protects nobody")
def test_it_is_said_where_a_limit_is_declared(tmp_path: Path) -> None:
    weak, fine = ApproxDP(100.0, 0.5), ApproxDP(1.0, 1e-6)
    schema = Schema([Categorical("a", ["x", "y"]), Categorical("b", ["x", "y"])])
    frame = {"a": ["x", "y"] * 50, "b": ["x", "y"] * 50}
    ways: tuple[Any, ...] = (
        lambda limit: Dataset.declare("clinic", limit=limit),
        lambda limit: Synthesizer(100.0 if limit == weak else 1.0, 1e-6, random_state=0).fit(frame, schema),
    )
    for way in ways:
        with pytest.raises(BudgetWarning, match="protects nobody"):
            way(weak)
        way(fine)
    with Ledger.create(tmp_path / "b.db", datasets=[Dataset.declare("clinic", limit=fine)]) as opened:
        assert opened.dataset("clinic").limit == fine


# One delta.


@given(count=st.integers(1, 10**12))
def test_the_default_delta_is_far_below_one_over_n(count: int) -> None:
    delta = default_delta(count)
    assert delta <= default_delta() == 1e-6
    assert delta <= 1.0 / (10 * count) or count <= 100_000
    assert delta > 1.0 / (101 * count) or delta == 1e-6
    require_small_delta(limit_of(1.0, None, count=count), count)


def test_everything_that_takes_a_delta_has_the_same_default() -> None:
    """Found by its signature; a promise that names no delta gets that of its public number of rows."""
    for kind in (*ESTIMATORS, PrivateScaler, PrivatePCA, PrivateSearch, Synthesizer, FitStep, SynthStep):
        assert inspect.signature(kind).parameters["delta"].default is None, kind


def test_a_fit_of_many_rows_gets_a_smaller_delta() -> None:
    rows = 200_000
    labels = np.where(np.arange(rows) % 2 == 0, "x", "y")
    table = open_table(
        {"a": labels, "b": labels}, Schema([Categorical("a", ["x", "y"]), Categorical("b", ["x", "y"])])
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PrivateLogisticRegression(random_state=0).fit(table, target="b")
    assert model.release_ is not None
    assert model.release_.guarantee.epsilon(1e-7) == pytest.approx(1.0, rel=1e-3)

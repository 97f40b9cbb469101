"""Whether the probabilities of an additive model can be trusted is said by public numbers, and measured."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.data import Categorical, Numeric, Schema, Table, open_table
from holdfast.errors import NotPrivateWarning, ProbabilityWarning
from holdfast.learn import PrivateAdditiveClassifier, PrivateAdditiveRegressor, load_model, recommend
from holdfast.learn._estimators.rare_classes import LEAST_RECORDS, LEAST_SHARE, RareClass
from tests.studies.size import Study, trials

SCHEMA = Schema([*(Numeric(f"x{place}", 0, 1) for place in range(4)), Categorical("ill", ["no", "yes"])])


def rare(rows: int, rate: float, seed: int) -> dict[str, Any]:
    """A curve and a step, and a class of this rate."""
    random = np.random.default_rng(seed)
    features = random.random((rows, 4))
    score = 1.5 * np.sin(6 * features[:, 0]) + 1.2 * (features[:, 1] > 0.8) + features[:, 2]
    low, high = -20.0, 10.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if (1 / (1 + np.exp(-(middle + score)))).mean() > rate else (middle, high)
    ill = random.random(rows) < 1 / (1 + np.exp(-(low + score)))
    return {f"x{place}": features[:, place] for place in range(4)} | {"ill": np.where(ill, "yes", "no")}


def fitted(table: Table, epsilon: float, seed: int) -> tuple[PrivateAdditiveClassifier, bool]:
    """A model, and whether it warned of its probabilities."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = PrivateAdditiveClassifier(epsilon, 1e-6, random_state=seed).fit(table, target="ill")
    assert any(issubclass(one.category, NotPrivateWarning) for one in said)
    return model, any(issubclass(one.category, ProbabilityWarning) for one in said)


@pytest.mark.parametrize(("rate", "least", "most"), [(0.005, 0.0, 0.7), (0.01, 0.0, 0.8)])
def test_a_rare_class_is_said_and_its_probabilities_are_too_low(
    rate: float, least: float, most: float, study: Study
) -> None:
    """.5 % and 1 % of 40,000 at epsilon 1: .05 to .65 of the true rate in 20 fits, and every one of them says so."""
    ratios = []
    for seed in range(trials(20)):
        rows = rare(40_000, rate, seed)
        model, warned = fitted(open_table(rows, SCHEMA), 1.0, seed)
        ratio = model.predict_proba(rows)[:, 1].mean() / np.mean(rows["ill"] == "yes")
        ratios.append(ratio)
        assert warned
        assert least <= ratio <= most
        assert "probabilities of this model cannot be trusted" in model.summary().splitlines()[1]
    study.note(trials=len(ratios), least=min(ratios), mean=np.mean(ratios), most=max(ratios), rate=rate)


def test_a_class_that_is_frequent_enough_is_trusted_and_can_be(tmp_path: Path) -> None:
    rows = rare(40_000, 0.05, 3)
    model, warned = fitted(open_table(rows, SCHEMA), 2.0, 3)
    assert not warned
    assert "cannot be trusted" not in model.summary()
    ratio = model.predict_proba(rows)[:, 1].mean() / np.mean(rows["ill"] == "yes")
    assert 0.8 <= ratio <= 1.1


@pytest.mark.filterwarnings("ignore::holdfast.errors.NotPrivateWarning")
@pytest.mark.filterwarnings("ignore::holdfast.errors.ProbabilityWarning")
def test_a_loaded_release_says_it_too(tmp_path: Path) -> None:
    """By the released count of the class: no row is looked at again."""
    model = PrivateAdditiveClassifier(1.0, 1e-6, random_state=1).fit(
        open_table(rare(3_000, 0.01, 1), SCHEMA), target="ill"
    )
    model.release_.save(tmp_path / "m.holdfast")
    assert load_model(tmp_path / "m.holdfast").summary() == model.summary()
    told = model.release_.provenance.parameters
    assert set(told) >= {"rarest_share", "records"}


@pytest.mark.filterwarnings("ignore::holdfast.errors.NotPrivateWarning")
def test_numbers_have_no_rarest_class() -> None:
    table = open_table(rare(2_000, 0.01, 1), Schema([*SCHEMA.columns[:3], Numeric("x3", 0, 1)]))
    model = PrivateAdditiveRegressor(1.0, 1e-6, random_state=1).fit(table, target="x3")
    assert RareClass.of_release(model.release_) is None
    assert "cannot be trusted" not in model.summary()


@given(st.floats(1e-4, 0.5), st.integers(10, 10**7), st.floats(0.01, 20.0), st.integers(1, 20))
def test_more_of_everything_is_never_trusted_less(share: float, rows: int, epsilon: float, most: int) -> None:
    one = RareClass(share=share, rows=rows, epsilon=epsilon, max_rows=most)
    assert (
        RareClass(share=share, rows=2 * rows, epsilon=epsilon, max_rows=most).trustworthy >= one.trustworthy
    )
    assert (
        RareClass(share=share, rows=rows, epsilon=2 * epsilon, max_rows=most).trustworthy >= one.trustworthy
    )
    assert (
        RareClass(share=min(0.5, 2 * share), rows=rows, epsilon=epsilon, max_rows=most).trustworthy
        >= one.trustworthy
    )
    assert RareClass(share=share, rows=rows, epsilon=epsilon).trustworthy >= one.trustworthy
    assert one.trustworthy == (one.warning() == "")
    assert one.trustworthy or share < LEAST_SHARE or one.records < LEAST_RECORDS


def test_rows_of_one_person_count_once() -> None:
    assert RareClass(share=0.05, rows=40_000, epsilon=1.0).trustworthy
    shared = RareClass(share=0.05, rows=40_000, epsilon=1.0, max_rows=10)
    assert not shared.trustworthy
    assert "/ 10 rows of one person = 200, below 1,500" in shared.warning()


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("rows", [1_000, 100_000, 10_000_000])
def test_recommend_never_names_shapes_where_they_cannot_be_trusted(rows: int, epsilon: float) -> None:
    for share in (0.001, 0.005, 0.01, 0.03, 0.1):
        found = recommend(SCHEMA, target="ill", epsilon=epsilon, rows=rows, rarest=share)
        if not RareClass(share=share, rows=rows, epsilon=epsilon).trustworthy:
            assert found.estimator == "PrivateLogisticRegression"
            assert "cannot be trusted" in found.why
    assert (
        recommend(SCHEMA, target="ill", epsilon=1.0, rows=rows, rarest=0.005).estimator
        == "PrivateLogisticRegression"
    )

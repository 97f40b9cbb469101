"""Finding L4: whatever candidates are mixed, a search runs to its end or spends nothing."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.errors import AssumptionWarning, BudgetWarning, HoldfastError, NotPrivateWarning
from holdfast.learn import PrivateLinearRegression, PrivateLogisticRegression, PrivateSearch
from holdfast.learn._catalogue import LEARNERS
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.learn._tuning import rehearsal
from holdfast.learn._tuning.search import Strategy
from holdfast.privacy import Account, Adjacency, ApproxDP, PureDP

ROWS = 240
SOURCE = np.random.default_rng(3)
X = SOURCE.uniform(-0.7, 0.7, size=(ROWS, 2))
SCORES = X[:, 0] + 0.1 * SOURCE.normal(size=ROWS)
BAD_OPTIONS = ({"batch": 10_000}, {"passes": 0}, {"steps": 0}, {"inexactness": 2.0}, {"count_bound": 0})
"""Of the right type, and refused by some methods: a batch is larger than a part, a number out of its range."""


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        for told in (NotPrivateWarning, BudgetWarning, AssumptionWarning):
            warnings.simplefilter("ignore", told)
        yield


@st.composite
def candidates(draw: Any) -> dict[str, Any]:
    """One setting: a method, perhaps a penalty, a radius, and options that it may refuse."""
    named = draw(st.sampled_from(["auto", *(method.name for method in LEARNERS)]))
    taken = {option.name for method in LEARNERS if method.name == named for option in method.options}
    options = [bad for bad in BAD_OPTIONS if set(bad) <= taken]
    return {
        "method": [named],
        "penalty": [draw(st.sampled_from([None, 0.05]))],
        "radius": [draw(st.sampled_from([None, 2.0]))],
        "options": [draw(st.sampled_from([None, None, None, *options]))],
    }


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True)
@given(
    grid=st.lists(candidates(), min_size=1, max_size=3),
    regression=st.booleans(),
    strategy=st.sampled_from(["parts", "random_stopping"]),
    adjacency=st.sampled_from(["replace", "zero_out", "add_remove"]),
    currency=st.sampled_from(["pure", "gdp", "zcdp", "renyi", "basic"]),
)
def test_any_mix_is_accepted_or_refused_before_anything_is_spent(
    grid: list[dict[str, Any]], regression: bool, strategy: Strategy, adjacency: str, currency: str
) -> None:
    made: Any = (
        PrivateLinearRegression(target_bounds=(-1, 1), adjacency=adjacency, n_public=ROWS)
        if regression
        else PrivateLogisticRegression(classes=[0, 1], adjacency=adjacency, n_public=ROWS)
    )
    labels = SCORES if regression else (SCORES > 0).astype(int)
    limit = PureDP(2.0) if currency == "pure" else ApproxDP(2.0, 1e-6)
    account = Account(limit, adjacency=adjacency, currency=currency, seed=1)
    try:
        search = PrivateSearch(made, grid, strategy=strategy).fit(X, labels, account=account)
    except HoldfastError:
        assert account.journal.entries == ()
    else:
        assert len(account.journal.entries) == 1
        assert search.release_.guarantee.curve == account.guarantee().curve


PAIRS = [(a.name, b.name) for a in LEARNERS for b in LEARNERS if a.name < b.name]


@pytest.mark.parametrize(
    ("one", "other"),
    # gibbs is counted in epsilon and delta alone, or with its slack in a plan: others have no cost there. Selections of
    # columns are paid in zCDP or epsilon, which the three others are not.
    [
        pair
        for pair in PAIRS
        if not {"softmax", "adassp", "ridge", "gibbs", "ssp"} & set(pair)
        and not ("projected_histogram" in pair and {"bst14", "dp_sgd", "objective"} & set(pair))
    ],
)
def test_two_methods_of_different_currencies_find_one_that_pays_for_both(one: str, other: str) -> None:
    """All that can run alone under these declarations, in pairs: no pair lacks a currency."""
    adjacency = "zero_out"
    made = PrivateLogisticRegression(classes=[0, 1], adjacency=adjacency)
    grid: list[dict[str, Any]] = [
        # Objective perturbation is over the whole space, others need a ball.
        {"method": [name], "penalty": [0.05], "radius": [None if name == "objective" else 2.0]}
        for name in (one, other)
    ]
    search = PrivateSearch(made, grid, epsilon=2.0, random_state=1).fit(X, (SCORES > 0).astype(int))
    assert search.release_.guarantee.curve.epsilon(1e-6) <= 2.0 + 1e-9


def test_a_rehearsal_sees_no_row_and_leaves_the_account_alone() -> None:
    real = ArrayExamples(
        features=X,
        labels=SCORES,
        adjacency=Adjacency.add_remove,
        public_count=ROWS + 7,
        unit=Account(PureDP(1.0)).unit,
    )
    account = Account(PureDP(1.0), adjacency="add_remove")
    seen: list[Any] = []

    def search(examples: Any, twin: Account) -> None:
        seen.append((examples, twin.remaining(), twin.source.provenance))

    rehearsal.rehearse_search(search, real, account)
    ((examples, left, noise),) = seen
    assert examples.features.shape == (ROWS + 7, 2)
    assert not examples.features.any()
    assert not examples.labels.any()
    assert left == account.remaining()
    assert "seed" in str(noise)
    assert account.journal.entries == ()

"""Whitening at a pure price: what the squares cost, what a whitened row can be, and the fit in the rows' units."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from holdfast.audit.refutation.two_worlds import TwoWorlds
from holdfast.errors import BudgetExceeded, HoldfastError, ParameterError
from holdfast.learn import whitened_examples
from holdfast.learn.choice import choose_learner
from holdfast.learn.methods.objective import METHOD as OBJECTIVE
from holdfast.learn.problem import Problem
from holdfast.learn.problem.losses import Logistic
from holdfast.learn.rows.examples import ArrayExamples, ClippedBlocks
from holdfast.learn.whitened_examples import SHARE, WhitenedExamples, release_diagonal, squares_sensitivity
from holdfast.learn.whitening import DiagonalWhitener, second_moment
from holdfast.noise.source import Source
from holdfast.privacy import Account, Adjacency, ApproxDP, PureDP
from holdfast.privacy.rounding import NORM_SLACK

objective_perturbation = OBJECTIVE.fit

Floats = NDArray[np.float64]
DIMENSION = 4


def table(x: Floats, y: Floats, adjacency: str = "replace") -> ArrayExamples:
    return ArrayExamples(features=x, labels=y, adjacency=Adjacency.of(adjacency), public_count=max(1, len(y)))


def uneven(rows: int = 6_000, adjacency: str = "replace") -> ArrayExamples:
    """Columns of very different sizes, all of which matter."""
    rng = np.random.Generator(np.random.PCG64(5))
    x = rng.normal(size=(rows, DIMENSION)) * np.array([0.5, 0.05, 0.05, 0.02])
    x /= np.maximum(1.0, np.linalg.norm(x, axis=1))[:, None]
    return table(x, np.sign(x @ np.array([1.0, 10.0, -10.0, 25.0])), adjacency)


def problem(**changed: Any) -> Problem:
    return Problem(loss=Logistic(), dimension=DIMENSION, **changed)


# What the squares cost.


@given(
    st.lists(st.floats(-1, 1), min_size=2 * DIMENSION, max_size=2 * DIMENSION),
    st.sampled_from(["replace", "zero_out", "add_remove"]),
)
def test_one_row_moves_the_squares_by_no_more(entries: list[float], adjacency: str) -> None:
    first, second = np.array(entries).reshape(2, 1, DIMENSION)
    if adjacency != "replace":
        second = np.zeros_like(second)
    sums = [
        second_moment(ClippedBlocks(table(x, np.ones(1)), problem()), dimension=DIMENSION, kind="diagonal")
        for x in (first, second)
    ]
    bound = squares_sensitivity(Adjacency.of(adjacency), row_norm=problem().norm_bound)
    assert np.abs(sums[0] - sums[1]).sum() <= bound * (1 + 1e-12)


def test_the_bound_is_reached() -> None:
    swapped = np.abs(np.array([1.0, 0.0]) - np.array([0.0, 1.0])).sum()
    assert squares_sensitivity(Adjacency.replace, row_norm=1.0) == swapped == 2.0
    assert squares_sensitivity(Adjacency.add_remove, row_norm=3.0) == 9.0


@pytest.mark.parametrize("adjacency", ["replace", "zero_out", "add_remove"])
def test_squares_take_their_share_and_the_fit_the_rest(adjacency: str) -> None:
    account = Account(PureDP(1.0), adjacency=adjacency, seed=1)
    release_diagonal(uneven(adjacency=adjacency), problem(), account, most=6_000, arithmetic="strict")
    left = account.remaining().as_pure()
    assert left is not None
    assert float(left) == pytest.approx(1.0 - SHARE, rel=1e-12)
    assert left <= 1 - Fraction(SHARE)
    account = Account(PureDP(1.0), adjacency=adjacency, seed=1)
    objective_perturbation(uneven(adjacency=adjacency), problem(), account=account, preconditioner="diagonal")
    spent = account.remaining().as_pure()
    assert spent is not None
    assert 0 <= spent < 1e-9


def test_noise_is_of_the_size_that_was_paid_for() -> None:
    """Twenty releases at epsilon = 1: Laplace of scale 2 / SHARE, so a mean absolute value of that."""
    rows = uneven(2_000)
    exact = second_moment(ClippedBlocks(rows, problem()), dimension=DIMENSION, kind="diagonal")
    errors = []
    for seed in range(100):
        made = release_diagonal(
            rows, problem(), Account(PureDP(1.0), seed=seed), most=2_000, arithmetic="strict"
        )
        assert isinstance(made, DiagonalWhitener)
        floor = 3 * whitened_examples.RIDGE * math.sqrt(2) * 2.0 / SHARE
        errors.append((1 / made.root**2)[0] * 2_000 - floor - exact[0])
    assert 1.5 / SHARE < float(np.mean(np.abs(errors))) < 2.6 / SHARE


# What a whitened row can be.


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=DIMENSION, max_size=DIMENSION))
def test_every_whitened_row_is_within_norm_one(entries: list[float]) -> None:
    rows = table(np.array([entries, [0.0] * DIMENSION]), np.ones(2))
    whitening = DiagonalWhitener(np.array([1e3, 1.0, 1e-3, 50.0]), 4.0)
    made = WhitenedExamples(examples=rows, problem=problem(), whitening=whitening, norm=0.7)
    for x, _ in made.chunks():
        assert np.all(np.isfinite(x))
        assert np.all(np.linalg.norm(x, axis=1) <= 1.0 + NORM_SLACK)


def test_a_row_is_whitened_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """However the table is cut, a row becomes the same bits: the proof compares rows one by one."""
    rows = uneven(500)
    whitening = DiagonalWhitener(np.array([1.0, 9.0, 9.0, 30.0]), 4.0)
    whole = WhitenedExamples(examples=rows, problem=problem(), whitening=whitening, norm=1.0)
    expected = np.concatenate([x for x, _ in whole.chunks()])
    monkeypatch.setattr(whitened_examples, "BLOCK", 7)
    assert np.array_equal(np.concatenate([x for x, _ in whole.chunks()]), expected)
    shuffled = np.concatenate([x for x, _ in whole.shuffled(Source(seed=1))])
    assert np.array_equal(np.sort(shuffled, axis=0), np.sort(expected, axis=0))


def test_kept_and_streamed_fits_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def fit() -> Floats:
        account = Account(PureDP(2.0), seed=3)
        return objective_perturbation(uneven(), problem(), account=account, preconditioner="diagonal").weights

    kept = fit()
    monkeypatch.setattr(whitened_examples, "KEPT_BYTES", 0)
    assert fit() == pytest.approx(kept, rel=1e-6)


# The fit.


def test_small_columns_that_matter_are_found() -> None:
    """Plain objective perturbation shrinks them away; weights come back in the rows' own units."""
    rows = uneven()

    def accuracy(preconditioner: Any) -> float:
        scores = []
        for seed in range(5):
            fit = objective_perturbation(
                rows, problem(), account=Account(PureDP(1.0), seed=seed), preconditioner=preconditioner
            )
            scores.append(float(np.mean(np.sign(rows.features @ fit.weights) == rows.labels)))
        return float(np.mean(scores))

    assert accuracy("diagonal") > accuracy("none") + 0.03


def test_an_empty_table_gives_noise() -> None:
    rows = ArrayExamples(
        features=np.zeros((0, DIMENSION)),
        labels=np.zeros(0),
        adjacency=Adjacency.add_remove,
        public_count=100,
    )
    account = Account(PureDP(1.0), adjacency="add_remove", seed=0)
    fit = objective_perturbation(rows, problem(), account=account, preconditioner="diagonal")
    assert np.all(np.isfinite(fit.weights))


@pytest.mark.parametrize(
    ("limit", "told", "changed", "match"),
    [
        (ApproxDP(1.0, 1e-6), {}, {}, "pure epsilon"),
        (PureDP(1.0), {}, {"penalty": 0.1}, "penalty"),
        (PureDP(1.0), {"preconditioner": "full"}, {}, "preconditioner"),
        (PureDP(1.0), {"mechanism": object()}, {}, "mechanism"),
    ],
)
def test_what_is_not_proved_is_refused_before_anything_is_spent(
    limit: Any, told: dict[str, Any], changed: dict[str, Any], match: str
) -> None:
    account = Account(limit, currency="basic" if isinstance(limit, ApproxDP) else "pure", seed=0)
    before = account.remaining()
    with pytest.raises(ParameterError, match=match):
        objective_perturbation(
            uneven(50), problem(**changed), account=account, **({"preconditioner": "diagonal"} | told)
        )
    assert account.remaining() == before


def test_an_empty_account_is_refused() -> None:
    account = Account(PureDP(1.0), seed=0)
    objective_perturbation(uneven(50), problem(), account=account, preconditioner="diagonal")
    with pytest.raises(HoldfastError) as caught:
        objective_perturbation(uneven(50), problem(), account=account, preconditioner="diagonal")
    assert isinstance(caught.value, BudgetExceeded | ParameterError)


def test_auto_whitens_where_the_signal_is_strong() -> None:
    for count, expected in ((10**5, "diagonal"), (100, "none")):
        choice = choose_learner(problem(), count=count, limit=PureDP(0.5), adjacency="replace")
        assert choice.method == "objective"
        assert choice.options == {"preconditioner": expected}
        assert f"preconditioner {expected}" in choice.summary()
    assert (
        choose_learner(problem(penalty=0.1), count=10**5, limit=PureDP(0.5), adjacency="replace").options
        == {}
    )


@pytest.mark.slow
@pytest.mark.parametrize(("spent", "refuted"), [(1.0, False), (400.0, True)])
def test_an_attack_finds_no_more_than_was_promised(spent: float, refuted: bool) -> None:
    """Two tables that differ in one row; the same attack breaks a fit with far too little noise."""
    features = np.zeros((60, 2))
    features[:-1, 0], features[-1, 1] = 1.0, 1.0
    labels = np.where(np.arange(60) % 2 == 0, 1.0, -1.0)

    def world(label: float) -> Callable[[Source, int], Floats]:
        rows = table(features, np.append(labels[:-1], label))
        task = Problem(loss=Logistic(), dimension=2)

        def draw(source: Source, size: int) -> Floats:
            accounts = (Account(PureDP(spent), seed=int(word) >> 1) for word in source.words(size))
            fits = (
                objective_perturbation(rows, task, account=account, preconditioner="diagonal")
                for account in accounts
            )
            return np.array([fit.weights[1] for fit in fits])

        return draw

    audit = TwoWorlds(what="whitened", without=world(-1.0), present=world(1.0), claim=PureDP(1.0), draws=300)
    outcome = audit.run(Source(seed=1), error=1e-8)
    assert (outcome.statistic > outcome.bound) is refuted

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

from holdfast._arrays import Floats
from holdfast.data._clipped_rows import NORM_SLACK
from holdfast.errors import BudgetExceeded, HoldfastError, ParameterError
from holdfast.learn import _whitened_examples as whitened_examples
from holdfast.learn._choice import choose_learner
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Logistic
from holdfast.learn._rows.clipped_blocks import ClippedBlocks
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.learn._whitened_examples import (
    SHARE,
    VARIANCE_FLOOR,
    RowMap,
    WhitenedExamples,
    moments_bound,
    moments_sensitivity,
    plain_map,
    release_units,
    row_moments,
    units_of,
)
from holdfast.learn._whitening import Standardisation
from holdfast.learn.methods.objective import METHOD as OBJECTIVE
from holdfast.learn.methods.pure_rows import pure_rows, row_plan
from holdfast.noise._source import Source
from holdfast.privacy import Account, Adjacency, ApproxDP, PureDP
from holdfast.refute._two_worlds import TwoWorlds

objective_perturbation = OBJECTIVE.fit

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
    told: Any = {"loss": Logistic(), "dimension": DIMENSION} | changed
    return Problem(**told)


# What the moments cost.


@given(
    st.lists(st.floats(-2, 2), min_size=2 * DIMENSION, max_size=2 * DIMENSION),
    st.sampled_from(["replace", "zero_out", "add_remove"]),
    st.sampled_from([None, 1, 2, 3]),
    st.sampled_from([0.0, 0.3, 0.5, 1.0]),
)
def test_one_row_moves_the_moments_by_no_more(
    entries: list[float], adjacency: str, active: int | None, constant: float
) -> None:
    """Whether or not rows are as sparse as was said, and whatever stands where the constant should."""
    first, second = np.array(entries).reshape(2, 1, DIMENSION)
    if adjacency != "replace":
        second = np.zeros_like(second)
    told = problem(constant=constant, active=active)
    sums = [row_moments(ClippedBlocks(table(x, np.ones(1)), told), told) for x in (first, second)]
    bound = moments_sensitivity(Adjacency.of(adjacency), bound=moments_bound(told))
    assert np.abs(sums[0] - sums[1]).sum() <= bound * (1 + 1e-9)


def test_the_bound_is_reached() -> None:
    """By rows of two columns that swap, and by one row whose numbers are alike beside its constant."""
    swapped = np.abs(np.array([1.0, 0.0]) - np.array([0.0, 1.0])).sum()
    plain = problem()
    assert moments_sensitivity(Adjacency.replace, bound=moments_bound(plain)) == swapped == 2.0
    centred = problem(constant=0.5, row_norm=math.sqrt(1.25))
    row = np.append(np.full(3, 1.0 / math.sqrt(3.0)), 0.5)
    assert np.abs(
        row_moments(ClippedBlocks(table(row[None], np.ones(1)), centred), centred)
    ).sum() == pytest.approx(moments_bound(centred), rel=1e-12)


def test_units_and_origins_are_found_where_they_can_be_seen() -> None:
    """Means 0.6 and 0.0, deviations 0.1 and 0.2: the first column is centred, the second is not."""
    told = Problem(loss=Logistic(), dimension=3, constant=0.5, row_norm=math.sqrt(1.25))
    exact = np.array([0.37, 0.04, 0.25, 0.3, 0.0])
    made = units_of(exact, told, noise=1e-9, dimension=3)
    assert made.standard.shift == pytest.approx([1.2, 0.0, 0.0])
    assert made.standard.scale == pytest.approx([10.0, 5.0, 2.0], rel=1e-6)
    assert made.active == 3
    assert made.effective_dimension == pytest.approx(3.0, rel=1e-6)
    drowned = units_of(exact, told, noise=1.0, dimension=3)
    assert not drowned.standard.shift.any()
    assert drowned.standard.scale[0] == pytest.approx((0.37 + 3 * VARIANCE_FLOOR) ** -0.5)


@pytest.mark.parametrize("adjacency", ["replace", "zero_out", "add_remove"])
def test_squares_take_their_share_and_the_fit_the_rest(adjacency: str) -> None:
    account = Account(PureDP(1.0), adjacency=adjacency, seed=1)
    release_units(uneven(adjacency=adjacency), problem(), account, most=6_000, arithmetic="strict")
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
    """A hundred releases at epsilon = 1: Laplace of scale 2 / SHARE, so a mean absolute value of that."""
    rows = uneven(2_000)
    exact = row_moments(ClippedBlocks(rows, problem()), problem())
    errors = []
    for seed in range(100):
        made = release_units(
            rows, problem(), Account(PureDP(1.0), seed=seed), most=2_000, arithmetic="strict"
        )
        floor = 3 * VARIANCE_FLOOR * math.sqrt(2) * 2.0 / SHARE
        errors.append((1 / made.standard.scale**2)[0] * 2_000 - floor - exact[0])
    assert 1.5 / SHARE < float(np.mean(np.abs(errors))) < 2.6 / SHARE


# What a mapped row can be.

UNITS = Standardisation(np.array([1e3, 1.0, 1e-3, 50.0]), np.array([0.3, 0.0, -2.0, 0.0]))
MAPS = {
    "as they are": plain_map(problem()),
    "units": RowMap(UNITS, 4, 4.0),
    "along two": RowMap(UNITS, 4, 4.0).along(2),
}


@given(
    st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=DIMENSION, max_size=DIMENSION),
    st.sampled_from(list(MAPS)),
)
def test_every_whitened_row_is_within_both_norms(entries: list[float], turned: str) -> None:
    rows = table(np.array([entries, [0.0] * DIMENSION]), np.ones(2))
    made = WhitenedExamples(examples=rows, problem=problem(), row_map=MAPS[turned], norm=0.7, reach=1.2)
    for x, _ in made.chunks():
        assert x.shape[1] == made.dimension
        assert np.all(np.isfinite(x))
        assert np.all(np.linalg.norm(x, axis=1) <= 1.0 + NORM_SLACK)
        assert np.all(np.abs(x).sum(axis=1) <= 1.2 * (1.0 + NORM_SLACK))


@pytest.mark.parametrize("turned", list(MAPS))
def test_a_row_is_whitened_by_itself(monkeypatch: pytest.MonkeyPatch, turned: str) -> None:
    """However the table is cut, a row becomes the same bits: the proof compares rows one by one."""
    rows = uneven(500)
    whole = WhitenedExamples(examples=rows, problem=problem(), row_map=MAPS[turned], norm=1.0, reach=9.0)
    expected = np.concatenate([x for x, _ in whole.chunks()])
    monkeypatch.setattr(whitened_examples, "BLOCK", 7)
    assert np.array_equal(np.concatenate([x for x, _ in whole.chunks()]), expected)
    shuffled = np.concatenate([x for x, _ in whole.shuffled_chunks(Source(seed=1))])
    assert np.array_equal(np.sort(shuffled, axis=0), np.sort(expected, axis=0))


@pytest.mark.parametrize("turned", list(MAPS))
def test_weights_of_mapped_rows_predict_as_weights_of_the_rows(turned: str) -> None:
    rng, rows = np.random.default_rng(2), uneven(50).features
    weights = rng.normal(size=(3, MAPS[turned].dimension))
    there = MAPS[turned].forward(rows) @ weights.T
    assert rows @ MAPS[turned].backward(weights).T == pytest.approx(there, rel=1e-9, abs=1e-9)
    assert rows @ MAPS[turned].backward(weights[0]) == pytest.approx(there[:, 0], rel=1e-9, abs=1e-9)


def test_kept_and_streamed_fits_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def fit() -> Floats:
        account = Account(PureDP(2.0), seed=3)
        return objective_perturbation(uneven(), problem(), account=account, preconditioner="diagonal").weights

    kept = fit()
    monkeypatch.setattr(whitened_examples, "MOST_MEMORY_BYTES", 0)
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
    for count, expected in ((10**5, "diagonal"), (20, "none")):
        choice = choose_learner(problem(), count=count, limit=PureDP(0.5), adjacency="replace")
        assert choice.method == "objective"
        assert choice.options == {"preconditioner": expected}
        assert f"preconditioner {expected}" in choice.summary()
    assert (
        choose_learner(problem(penalty=0.1), count=10**5, limit=PureDP(0.5), adjacency="replace").options
        == {}
    )


def test_few_directions_where_noise_would_drown_all() -> None:
    """200 columns that are alike, and one direction of them that matters: more of it is found along few sums."""
    wide = Problem(loss=Logistic(), dimension=201, constant=0.5, row_norm=math.sqrt(1.25))
    plan = row_plan(wide, epsilon=0.5, adjacency="replace", count=3_000)
    assert (plan.preconditioner, plan.directions) == ("none", 22)
    assert "22 public directions" in plan.reason
    sparse = Problem(loss=Logistic(), dimension=201, constant=0.5, row_norm=math.sqrt(1.25), active=9)
    assert row_plan(sparse, epsilon=0.5, adjacency="replace", count=3_000).directions is None
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3_000, 200)) / 20
    x /= np.maximum(1.0, np.linalg.norm(x, axis=1, keepdims=True))
    rows = table(np.hstack([x, np.full((3_000, 1), 0.5)]), np.sign(x @ rng.normal(size=200)))

    def accuracy(directions: int) -> float:
        scores = []
        for seed in range(6):
            fit = objective_perturbation(
                rows,
                wide,
                account=Account(PureDP(0.5), seed=seed),
                preconditioner="none",
                directions=directions,
            )
            assert fit.parameters["directions"] == directions
            scores.append(float(np.mean(np.sign(rows.features @ fit.weights) == rows.labels)))
        return float(np.mean(scores))

    assert accuracy(22) > accuracy(200) + 0.02
    with pytest.raises(ParameterError, match="directions must be"):
        objective_perturbation(rows, wide, account=Account(PureDP(0.5), seed=0), directions=201)


def test_sparse_rows_need_less_noise() -> None:
    """Rows with two of forty numbers that differ from 0, as one-hot codes have."""
    told = Problem(loss=Logistic(), dimension=40, constant=0.5, row_norm=math.sqrt(1.25), active=3)
    x = np.zeros((200, 40))
    x[:, 0], x[:, 5], x[:, -1] = 0.7, -0.7, 0.5
    rows = pure_rows(table(x, np.ones(200)), told, Account(PureDP(1.0), seed=0), preconditioner="none")
    dense = pure_rows(
        table(x, np.ones(200)), problem(dimension=40), Account(PureDP(1.0), seed=0), preconditioner="none"
    )
    assert rows.reach == 1.0
    assert dense.reach == pytest.approx(0.5 * math.sqrt(40))


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

"""DP-SGD: clipping, secret Poisson samples, and a numeric price."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from holdfast.errors import AdjacencyError, ParameterError
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Logistic, OneVsAll, Softmax, Squared
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.learn.classics.dp_sgd import METHOD, DpSgdOptions, Sgd, plan_for
from holdfast.noise._source import Source
from holdfast.privacy import Account, ApproxDP, GaussianDP, PureDP, RenyiDP
from holdfast.privacy._adjacency import Adjacency, PrivacyUnit
from holdfast.privacy._mechanisms.subsampled import SubsampledGaussian

dp_sgd = METHOD.fit

LOGISTIC = Problem(loss=Logistic(), dimension=3)
LIMIT = ApproxDP(1.0, 1e-6)


def table(rows: np.ndarray, labels: np.ndarray, adjacency: str = "zero_out", **options: Any) -> ArrayExamples:
    return ArrayExamples(
        features=rows,
        labels=labels,
        adjacency=Adjacency.of(adjacency),
        public_count=max(1, len(rows)),
        **options,
    )


def separable(n: int, d: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rows = np.random.default_rng(0).normal(size=(n, d))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows, np.where(rows[:, 0] > 0, 1.0, -1.0)


@pytest.mark.parametrize("clip", [0.3, 1.0])
def test_neighbours_with_the_same_coins_are_within_the_clip(clip: float) -> None:
    generator = np.random.default_rng(1)
    rows, labels = separable(40)
    problem = Problem(loss=Squared(target_bound=1.0), dimension=3)
    sgd = Sgd.of(problem, count=41, options=DpSgdOptions(rate=0.5, steps=1, clip=clip))
    claimed = sgd.l2_sensitivity(41)
    records = [
        (np.eye(3)[0], -1.0),
        (1e9 * np.eye(3)[1], 1.0),
        *((row, 0.5) for row in generator.normal(size=(5, 3))),
    ]
    distances, weights = [], np.array([[30.0, -20.0, 10.0]])
    for row, label in records:
        for seed in range(20):
            sums = [
                sgd.batch_gradient(
                    weights,
                    table(np.vstack([rows, last]), np.append(labels, target)),
                    Source(seed),
                )
                for last, target in ((row, label), (np.zeros(3), 1.0))
            ]
            distances.append(float(np.linalg.norm(sums[0] - sums[1])))
    assert max(distances) <= claimed
    assert max(distances) >= claimed / 3
    assert claimed <= clip * (1 + 1e-6)
    # The coins: the record is in about half of the samples, and where it is not nothing moves.
    assert 0.2 < np.mean(np.array(distances) == 0.0) < 0.8


@pytest.mark.parametrize("loss", [Softmax(classes=4), OneVsAll(classes=4)], ids=lambda loss: loss.name)
def test_the_gradient_of_all_classes_is_clipped_as_one(loss: Any) -> None:
    sgd = Sgd.of(Problem(loss=loss, dimension=3), count=1, options=DpSgdOptions(rate=1.0, steps=1, clip=0.3))
    for row in np.eye(3):
        one = sgd.batch_gradient(np.zeros((4, 3)), table(row[None, :], np.array([2.0])), Source(0))
        assert float(np.linalg.norm(one)) == pytest.approx(0.3)


def test_each_step_draws_a_fresh_sample_of_the_declared_rate() -> None:
    n = 4_000
    sgd = Sgd.of(LOGISTIC, count=n, options=DpSgdOptions(rate=0.25, steps=1))
    source = Source(3)
    rows = np.tile(np.eye(3)[0], (n, 1))
    sums = [sgd.batch_gradient(np.zeros((1, 3)), table(rows, -np.ones(n)), source)[0, 0] for _ in range(20)]
    sizes = np.array(sums) / 0.5
    assert abs(sizes.mean() - n / 4) < 4 * math.sqrt(n * 0.1875 / 20)
    assert 0.5 < sizes.std() / math.sqrt(n * 0.25 * 0.75) < 1.6
    assert Sgd.of(LOGISTIC, count=n, options=DpSgdOptions(rate=0.1)).coin <= Fraction(0.1)


@pytest.mark.parametrize("adjacency", ["zero_out", "add_remove"])
def test_a_renyi_account_is_spent_to_its_limit(adjacency: str) -> None:
    account = Account(LIMIT, adjacency=adjacency, currency="renyi", seed=1)
    dp_sgd(table(*separable(500), adjacency), LOGISTIC, account=account, rate=0.1, steps=40)
    (entry,) = account.journal.entries
    assert entry.charge.times == 40
    assert entry.charge.mechanism["rate"] == 0.1
    whole = account.guarantee().curve
    assert isinstance(whole, RenyiDP)
    assert account.spent().within(whole)
    order = whole.orders[0]
    assert 0.995 < account.spent().renyi(order) / whole.renyi(order) <= 1.0


def test_a_plan_needs_less_noise_than_one_order_and_keeps_the_limit() -> None:
    rows, labels = separable(500)
    plan = plan_for(
        LOGISTIC, LIMIT, count=500, adjacency="zero_out", options=DpSgdOptions(rate=0.1, steps=40)
    )
    planned = Account(LIMIT, adjacency="zero_out", plan=plan, seed=1)
    first = dp_sgd(table(rows, labels), LOGISTIC, account=planned)
    single = Account(LIMIT, adjacency="zero_out", currency="renyi", seed=1)
    second = dp_sgd(table(rows, labels), LOGISTIC, account=single, rate=0.1, steps=40)
    assert first.parameters["noise_multiplier"] < second.parameters["noise_multiplier"]
    mechanism, times = plan[0]
    composed = mechanism.curve.repeat(times)
    assert composed.delta(1.0) <= 1e-6
    # Not vacuous: a tenth less noise breaks the limit.
    assert _with_noise(mechanism, 0.9).curve.repeat(times).delta(1.0) > 1e-6


def _with_noise(mechanism: SubsampledGaussian, share: float) -> SubsampledGaussian:
    return SubsampledGaussian(
        sigma=float(mechanism.sigma) * share, l2_sensitivity=mechanism.l2_sensitivity, rate=mechanism.rate
    )


def test_a_plan_made_for_a_smaller_clip_is_refused() -> None:
    plan = plan_for(
        LOGISTIC, LIMIT, count=100, adjacency="zero_out", options=DpSgdOptions(rate=0.5, steps=2, clip=0.5)
    )
    account = Account(LIMIT, adjacency="zero_out", plan=plan, seed=1)
    with pytest.raises(ParameterError, match="clip"):
        dp_sgd(table(*separable(100)), LOGISTIC, account=account, clip=1.0)
    assert not account.journal.entries


def test_the_noise_of_a_step_has_the_deviation_of_its_proof() -> None:
    # Null rows: one step is nothing but noise, divided by the expected batch, q n.
    d, n = 3_000, 50
    problem = Problem(loss=Logistic(), dimension=d)
    account = Account(LIMIT, adjacency="zero_out", currency="renyi", seed=2)
    fit = dp_sgd(table(np.zeros((n, d)), np.ones(n)), problem, account=account, rate=0.5, steps=1, step=1.0)
    expected = fit.parameters["noise_multiplier"] / (0.5 * n)
    assert abs(float(np.std(fit.weights)) / expected - 1.0) < 0.06


def test_the_divisor_is_the_expected_batch() -> None:
    n = 2_000
    rows = np.tile(np.eye(3)[0], (n, 1))
    account = Account(ApproxDP(1e4, 1e-6), adjacency="zero_out", currency="renyi", seed=2)
    fit = dp_sgd(table(rows, np.ones(n)), LOGISTIC, account=account, rate=0.5, steps=1, step=1.0)
    # The gradient of each row is -1/2: weights of 1/2 up to the size of the sample, about 5 %.
    assert 0.4 < fit.weights[0] < 0.6
    assert abs(fit.weights[0] - 0.5) > 1e-6  # divided by q n, not by the size drawn


@pytest.mark.parametrize("options", [{"rate": 0.2}, {"steps": 41}])
def test_options_do_not_contradict_the_plan(options: dict[str, Any]) -> None:
    plan = plan_for(LOGISTIC, LIMIT, count=50, adjacency="zero_out", options=DpSgdOptions(rate=0.1, steps=40))
    account = Account(LIMIT, adjacency="zero_out", plan=plan, seed=1)
    (name,) = options
    with pytest.raises(ParameterError, match=f"^{name} must be left out or "):
        dp_sgd(table(*separable(50)), LOGISTIC, account=account, **options)
    assert not account.journal.entries
    dp_sgd(table(*separable(50)), LOGISTIC, account=account, rate=0.1, steps=40)


def test_the_printed_noise_is_not_what_is_used() -> None:
    # Section 6: "32 N^2 log(N/delta) log(1/delta) / eps^2" is a variance, for a sum; 5.94e7 at N=100.
    n, delta = 100, 1e-5
    printed = 32 * n**2 * math.log(n / delta) * math.log(1 / delta)
    assert round(printed / 1e7, 2) == 5.94
    sgd = Sgd.of(LOGISTIC, count=n, options=DpSgdOptions(rate=0.1, steps=100))
    mechanism = sgd.mechanism(ApproxDP(1.0, delta), most=n, adjacency=Adjacency.zero_out, arithmetic="strict")
    assert 1.0 < float(mechanism.sigma) < 20.0


def test_it_learns_where_noise_is_small() -> None:
    rows, labels = separable(3_000)
    account = Account(ApproxDP(20.0, 1e-6), adjacency="add_remove", currency="renyi", seed=4)
    fit = dp_sgd(
        table(rows, labels, "add_remove"), LOGISTIC, account=account, rate=0.2, steps=60, momentum=0.5
    )
    assert np.mean((rows @ fit.weights > 0) == (labels > 0)) > 0.95
    assert METHOD.adjacencies == ("add_remove", "zero_out")


def test_what_has_no_proof_is_refused_before_anything_is_spent() -> None:
    rows, labels = separable(50)
    unit = PrivacyUnit("user", max_rows=3)
    cases = [
        (
            Account(LIMIT, adjacency="replace", currency="renyi"),
            table(rows, labels, "replace"),
            LOGISTIC,
            AdjacencyError,
        ),
        (Account(GaussianDP(1.0), adjacency="zero_out"), table(rows, labels), LOGISTIC, ParameterError),
        (Account(PureDP(1.0), adjacency="zero_out"), table(rows, labels), LOGISTIC, ParameterError),
        (
            Account(LIMIT, adjacency="zero_out", currency="renyi", unit=unit),
            table(rows, labels, unit=unit),
            LOGISTIC,
            ParameterError,
        ),
        (
            Account(LIMIT, adjacency="zero_out", currency="renyi"),
            table(rows, labels),
            Problem(loss=Squared(target_bound=1.0), dimension=3),
            ParameterError,
        ),
    ]
    for account, examples, problem, error in cases:
        with pytest.raises(error):
            dp_sgd(examples, problem, account=account)
        assert not account.journal.entries
    for options in (
        {"rate": 0.0},
        {"rate": 1.5},
        {"steps": 0},
        {"clip": 0.0},
        {"momentum": 1.0},
        {"speed": 1},
    ):
        account = Account(LIMIT, adjacency="zero_out", currency="renyi")
        with pytest.raises(ParameterError):
            dp_sgd(table(rows, labels), LOGISTIC, account=account, **options)
        assert not account.journal.entries

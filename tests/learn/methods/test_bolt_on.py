"""Bolt-on SGD as a method: its public constants, its noise, and neighbours in every adjacency."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast.errors import DataError, HoldfastError, ParameterError
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Hinge, HuberHinge, Logistic, Loss, Squared
from holdfast.learn._rows.examples import ArrayExamples, Chunk, regroup
from holdfast.learn.methods.bolt_on import METHOD, SCHEDULES, ScheduleInput, SgdPlan
from holdfast.noise._source import Source
from holdfast.privacy import Account, Adjacency, GaussianDP, PrivacyUnit, PureDP
from holdfast.refute._subjects.bolt_on import label_change_pair, random_pairs, worst_known_pair

bolt_on = METHOD.fit


def table(x: Any, y: Any, adjacency: str = "replace", count: int | None = None) -> ArrayExamples:
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    return ArrayExamples(
        features=x, labels=y, adjacency=Adjacency.of(adjacency), public_count=count or max(1, len(y))
    )


def learnable(adjacency: str = "replace", rows: int = 4003) -> ArrayExamples:
    rng = np.random.Generator(np.random.PCG64(3))
    x = rng.normal(size=(rows, 5))
    x /= np.maximum(1.0, np.linalg.norm(x, axis=1))[:, None]
    return table(x, np.sign(x @ np.array([2.0, -1.0, 0.5, 0.0, 0.0])), adjacency)


def course(**changed: Any) -> SgdPlan:
    problem = Problem(loss=Logistic(), dimension=2, penalty=changed.pop("penalty", 0.01))
    problem = dataclasses.replace(problem, radius=changed.pop("radius", math.inf))
    plan: dict[str, Any] = {
        "problem": problem,
        "adjacency": Adjacency.replace,
        "records": 200,
        "batch": 20,
        "passes": 3,
        "schedule": "strongly_convex",
    }
    return SgdPlan(**(plan | changed))


# What the noise is scaled to.


def test_the_sensitivity_is_not_divided_by_the_batch() -> None:
    """Soundness, section 1: 2L/(penalty m) for every batch; 001 and TensorFlow Privacy divide by b = 50."""
    for batch in (1, 50):
        plan = course(records=10_000, batch=batch, passes=1, penalty=0.01)
        assert plan.l2_sensitivity == pytest.approx(2.0 / (0.01 * 10_000), rel=1e-6)


@pytest.mark.parametrize(("adjacency", "change"), [("replace", 2.0), ("zero_out", 1.0), ("add_remove", 2.0)])
def test_closed_forms(adjacency: str, change: float) -> None:
    """One record more may push another out of a full batch: 2L under add_remove."""
    kind = Adjacency.of(adjacency)
    # No penalty, constant step: k G eta / b for the last iterate.
    plan = course(adjacency=kind, penalty=0.0, schedule="constant", step=0.3)
    assert plan.l2_sensitivity == pytest.approx(3 * change * 0.3 / 20, rel=1e-6)
    # Penalty, constant step (soundness, section 1, third closed form); 10 batches in a pass.
    plan = course(adjacency=kind, penalty=0.1, schedule="constant", step=0.5)
    kept = 1 - 0.5 * 0.1
    expected = change * 0.5 / 20 * (1 - kept**30) / (1 - kept**10)
    assert plan.l2_sensitivity == pytest.approx(expected, rel=1e-6)
    # Decreasing steps: (2 G / (beta b)) sum over passes of 1/(m^c + j M + 1).
    plan = course(adjacency=kind, penalty=0.0, schedule="decreasing")
    expected = 2 * change / (0.25 * 20) * sum(1 / (math.sqrt(200) + j * 10 + 1) for j in range(3))
    assert plan.l2_sensitivity == pytest.approx(expected, rel=1e-6)
    # Square-root steps: likewise, the first step of each pass.
    plan = course(adjacency=kind, penalty=0.0, schedule="square_root")
    expected = 2 * change / (0.25 * 20) * sum(1 / (math.sqrt(200) + math.sqrt(j * 10 + 1)) for j in range(3))
    assert plan.l2_sensitivity == pytest.approx(expected, rel=1e-6)


def test_uniform_averaging_costs_more_than_the_last_iterate() -> None:
    """001, Lemma 3.15 is false for decreasing steps; soundness, section 1, Test B and E."""
    last = course(records=1000, batch=1, passes=1, penalty=0.1)
    uniform = dataclasses.replace(last, average_from=1)
    assert uniform.l2_sensitivity > 3 * last.l2_sensitivity


def test_steps_never_pass_what_the_contraction_allows() -> None:
    smoothness = 0.25 * (1 + 1e-9) ** 2
    for name in SCHEDULES:
        for adjacency in Adjacency:
            plan = course(adjacency=adjacency, schedule=name, penalty=0.01)
            assert plan.steps.shape == (30,)
            assert plan.steps.max() <= 1.0 / (smoothness + 0.01) * (1 + 1e-12)
    # Without penalty 2/beta_0 is allowed, but not where batches may be overfull.
    course(penalty=0.0, schedule="constant", step=7.9).steps  # noqa: B018
    with pytest.raises(ParameterError, match="step"):
        course(penalty=0.0, schedule="constant", step=7.9, adjacency=Adjacency.add_remove).steps  # noqa: B018
    with pytest.raises(ParameterError, match="step"):
        course(penalty=0.0, schedule="constant", step=8.1).steps  # noqa: B018


# Neighbours.

PLANS = [
    pytest.param({}, id="strongly convex"),
    pytest.param({"records": 205}, id="short last batch"),
    pytest.param({"batch": 1, "passes": 1}, id="single records"),
    pytest.param({"average_from": 1}, id="uniform average"),
    pytest.param({"radius": 0.5}, id="projected"),
    pytest.param({"penalty": 0.0, "schedule": "constant", "step": 2.0}, id="convex, constant"),
    pytest.param({"penalty": 0.0, "schedule": "decreasing"}, id="convex, decreasing"),
    pytest.param({"penalty": 0.0, "schedule": "square_root"}, id="convex, square root"),
]


@pytest.mark.parametrize("changed", PLANS)
@pytest.mark.parametrize("adjacency", ["replace", "zero_out"])
def test_neighbours_with_the_same_coins_stay_within(changed: dict[str, Any], adjacency: str) -> None:
    """Soundness, section 1, Test H: fresh permutations, adversarial and random pairs."""
    plan = course(**(changed | {"adjacency": Adjacency.of(adjacency)}))
    largest = 0.0
    for number, pair in enumerate(
        (label_change_pair(plan.records), worst_known_pair(plan.records), *random_pairs(plan.records, 2, 4))
    ):
        x, y, x2, y2 = pair
        if adjacency == "zero_out":
            changed_rows = np.any(x != x2, axis=1) | (y != y2)
            x2, y2 = np.where(changed_rows[:, None], 0.0, x), y
        for seed in (number, number + 100):
            one, two = (plan.train(table(a, b, adjacency), Source(seed=seed)) for a, b in ((x, y), (x2, y2)))
            largest = max(largest, float(np.linalg.norm(one - two)) / plan.l2_sensitivity)
    assert 0.0 < largest <= 1.0


def test_the_bound_is_not_idle() -> None:
    plan = course(records=1000, batch=50, passes=10)
    x, y, x2, y2 = worst_known_pair(1000)
    moved = max(
        float(
            np.linalg.norm(
                plan.train(table(x, y), Source(seed=s)) - plan.train(table(x2, y2), Source(seed=s))
            )
        )
        for s in range(3)
    )
    assert moved > plan.l2_sensitivity / 3
    # The printed value, 2L/(penalty m b), is refuted by the same pair.
    assert moved > 2.0 / (0.01 * 1000 * 50)


def own_draws(
    x: Floats, y: Floats, places: NDArray[np.int64], priorities: Floats, batches: int
) -> Iterator[Chunk]:
    """Each record's own batch and priority, the first in each batch first."""
    for number in range(batches):
        chosen = np.flatnonzero(places == number)
        chosen = chosen[np.argsort(priorities[chosen])]
        yield x[chosen], y[chosen]


@pytest.mark.parametrize(
    "changed",
    [{}, {"average_from": 1}, {"penalty": 0.0, "schedule": "constant", "step": 3.9}, {"radius": 0.5}],
    ids=["strongly convex", "average", "convex", "projected"],
)
def test_one_record_more_stays_within_however_full_the_batches_are(changed: dict[str, Any]) -> None:
    rng = np.random.Generator(np.random.PCG64(8))
    plan = course(**({"adjacency": Adjacency.add_remove, "records": 40, "batch": 4, "passes": 2} | changed))
    largest = 0.0
    for trial in range(40):
        rows = int(rng.choice([0, 10, 40, 120]))  # 120: three times the nominal size, so that the cap binds
        x = np.tile([1.0, 0.0], (rows, 1)) if trial % 2 else rng.normal(size=(rows, 2))
        y = np.full(rows, -1.0) if trial % 2 else np.sign(rng.normal(size=rows))
        x2, y2 = np.vstack([x, [0.5, math.sqrt(0.75)]]), np.append(y, 1.0)
        both: tuple[list[Chunk], list[Chunk]] = ([], [])
        for _ in range(plan.passes):
            places = rng.integers(plan.batches, size=rows + 1)
            priorities = rng.random(rows + 1)
            priorities[-1] = 0.0 if trial % 4 < 2 else priorities[-1]
            both[0].extend(own_draws(x, y, places[:-1], priorities[:-1], plan.batches))
            both[1].extend(own_draws(x2, y2, places, priorities, plan.batches))
        moved = float(np.linalg.norm(plan.over(both[0]) - plan.over(both[1])))
        largest = max(largest, moved / plan.l2_sensitivity)
    assert 0.1 < largest <= 1.0


def test_a_batch_keeps_twice_its_size_and_an_empty_one_takes_its_step() -> None:
    plan = course(adjacency=Adjacency.add_remove, records=8, batch=4, passes=1)
    x, y = np.tile([1.0, 0.0], (16, 1)), np.ones(16)
    none: Chunk = np.empty((0, 2)), np.empty(0)
    full = plan.over([(x, y), none])
    assert np.array_equal(full, plan.over([(x[:8], y[:8]), none]))
    assert not np.allclose(full, plan.over([(x[:7], y[:7]), none]))
    # By hand: w = (eta / b) * 8/2, then shrunk by the empty batch's step. Divisor b = 4, not 8 or 9.
    eta = plan.steps
    assert full[0] == pytest.approx(eta[0] / 4 * 8 / 2 * (1 - eta[1] * 0.01), rel=1e-12)


def test_drawn_batches_use_every_record_once_and_vary_in_size() -> None:
    rows = table(np.arange(3000.0).reshape(-1, 1) / 3000, np.arange(3000.0), "add_remove")
    pieces = list(rows.random_batches(Source(seed=1), batches=30))
    assert len(pieces) == 30
    assert sorted(np.concatenate([labels for _, labels in pieces]).tolist()) == list(range(3000))
    sizes = np.array([len(labels) for _, labels in pieces])
    assert 50 < np.var(sizes) < 200  # multinomial: 3000/30 (1 - 1/30) = 97
    again = np.concatenate([labels for _, labels in rows.random_batches(Source(seed=2), batches=30)])
    assert not np.array_equal(again, np.concatenate([labels for _, labels in pieces]))
    assert [len(b[1]) for b in regroup(iter([]), [0, 0], dimension=1)] == [0, 0]


# The method.


@pytest.mark.parametrize("limit", [PureDP(2.0), GaussianDP(0.5)], ids=["pure", "gaussian"])
@pytest.mark.parametrize("arithmetic", ["strict", "idealised"])
@pytest.mark.parametrize("adjacency", METHOD.adjacencies)
def test_the_noise_is_as_large_as_the_bound_says(limit: Any, arithmetic: Any, adjacency: str) -> None:
    """Null records: SGD stays at 0, and what is released is the noise alone."""
    width, rows = 1000, 100
    problem = Problem(loss=Logistic(), dimension=width, penalty=0.1)
    account = Account(limit, adjacency=adjacency, seed=1)
    fit = bolt_on(
        table(np.zeros((rows, width)), np.zeros(rows), adjacency),
        problem,
        account=account,
        batch=7,
        passes=2,
        schedule="constant",
        step=0.5,
        arithmetic=arithmetic,
    )
    kept, change = 1 - 0.5 * 0.1, 1.0 if adjacency == "zero_out" else 2.0
    delta = change * 0.5 / 7 * (1 - kept**30) / (1 - kept**15)
    spread = math.sqrt(2 * width if arithmetic == "strict" else width + 1)
    expected = delta / 0.5 if limit == GaussianDP(0.5) else delta / 2.0 * spread
    assert fit.noise_std == pytest.approx(expected, rel=1e-6)
    assert float(np.std(fit.weights)) == pytest.approx(expected, rel=0.12)


@pytest.mark.parametrize("adjacency", METHOD.adjacencies)
@pytest.mark.parametrize(
    ("loss", "radius"),
    [
        (Logistic(), math.inf),
        (HuberHinge(width=0.2), 5.0),
        (Squared(target_bound=1.0, prediction_bound=3.0), 3.0),
    ],
    ids=["logistic", "huber", "squared"],
)
@pytest.mark.parametrize("penalty", [0.0, 0.01])
def test_learns_and_spends_its_limit(loss: Loss, radius: float, penalty: float, adjacency: str) -> None:
    rows = learnable(adjacency)
    account = Account(PureDP(50.0), adjacency=adjacency, seed=1)
    problem = Problem(loss=loss, dimension=5, penalty=penalty, radius=radius)
    fit = bolt_on(rows, problem, account=account, arithmetic="idealised")
    assert np.mean(np.sign(rows.features @ fit.weights) == rows.labels) > 0.93
    assert account.spent() == PureDP(50)


def test_a_seed_gives_the_same_weights_and_secure_coins_do_not() -> None:
    rows, problem = learnable(rows=500), Problem(loss=Logistic(), dimension=5, penalty=0.01)

    def weights(seed: int | None) -> tuple[float, ...]:
        return tuple(bolt_on(rows, problem, account=Account(GaussianDP(9.0), seed=seed)).weights)

    assert weights(4) == weights(4)
    assert weights(None) != weights(None)


@pytest.mark.parametrize(
    ("problem", "options", "named"),
    [
        (Problem(loss=Hinge(), dimension=5), {}, "smooth"),
        (Problem(loss=Squared(target_bound=1.0), dimension=5), {}, "radius"),
        (Problem(loss=Logistic(), dimension=4), {}, "dimension"),
        (Problem(loss=Logistic(), dimension=5), {"batch": 0}, "batch"),
        (Problem(loss=Logistic(), dimension=5), {"passes": 0}, "passes"),
        (Problem(loss=Logistic(), dimension=5), {"schedule": "adam"}, "schedule"),
        (Problem(loss=Logistic(), dimension=5), {"schedule": "strongly_convex"}, "penalty"),
        (Problem(loss=Logistic(), dimension=5), {"step": -1.0}, "step"),
        (Problem(loss=Logistic(), dimension=5), {"average": "most"}, "average"),
        (Problem(loss=Logistic(), dimension=5), {"average": 10_000}, "average"),
        (Problem(loss=Logistic(), dimension=5), {"momentum": 0.9}, "momentum"),
    ],
)
def test_bad_constants_are_refused_before_spending(
    problem: Problem, options: dict[str, Any], named: str
) -> None:
    account = Account(GaussianDP(1.0), seed=1)
    with pytest.raises(ParameterError, match=named):
        bolt_on(learnable(rows=60), problem, account=account, **options)
    assert account.journal.entries == ()


def test_a_count_that_is_public_must_be_true() -> None:
    x, y = np.ones((60, 5)) / 3, np.ones(60)
    for count in (59, 61, 120):
        account = Account(GaussianDP(1.0), seed=1)
        with pytest.raises(DataError, match="public_count"):
            bolt_on(table(x, y, count=count), Problem(loss=Logistic(), dimension=5), account=account)
        assert account.journal.entries == ()
    private = Account(GaussianDP(1.0), adjacency="add_remove", seed=1)
    bolt_on(table(x, y, "add_remove", 40), Problem(loss=Logistic(), dimension=5), account=private)


def test_units_of_several_rows_are_refused() -> None:
    """Soundness, section 18: without padding, a user's rows move batch boundaries."""
    rows = dataclasses.replace(learnable(rows=10), unit=PrivacyUnit("user", max_rows=3))
    account = Account(GaussianDP(1.0), unit=PrivacyUnit("user", max_rows=3), seed=1)
    with pytest.raises(HoldfastError, match="max_rows"):
        bolt_on(rows, Problem(loss=Logistic(), dimension=5), account=account)


def test_a_course_is_checked() -> None:
    with pytest.raises(ParameterError, match="steps"):
        ScheduleInput(steps=0, records=1, smoothness=1.0, penalty=0.0, cap=1.0)
    with pytest.raises(ParameterError, match="offset_power"):
        ScheduleInput(steps=1, records=1, smoothness=1.0, penalty=0.0, cap=1.0, offset_power=1.0)


@pytest.mark.parametrize("adjacency", ["replace", "zero_out", "add_remove"])
def test_a_run_without_a_penalty_goes_as_far_as_the_budget_pays(adjacency: str) -> None:
    """Finding L5: one record moves the result by G t / n, and t grows as (n mu)^(2/3) (risk/balance.py)."""
    problem, travelled = Problem(loss=Logistic(), dimension=8), []
    for count, mu in ((400, 0.5), (3_200, 0.5), (400, 4.0)):
        world = Adjacency.of(adjacency)
        rows = ArrayExamples(
            features=np.full((count, 8), 0.3), labels=np.ones(count), adjacency=world, public_count=count
        )
        fit = METHOD.fit(rows, problem, account=Account(GaussianDP(mu), adjacency=adjacency, seed=1))
        change = 2.0 if adjacency != "zero_out" else 1.0
        travelled.append(fit.parameters["l2_sensitivity"] * count / change)
    assert travelled[1] / travelled[0] == pytest.approx(4.0, rel=1e-3)
    assert travelled[2] / travelled[0] == pytest.approx(4.0, rel=1e-3)
    # Where stopping costs as much as the noise: |w|^2 = d / X^2, beta = 1/4, G = 2 or 1.
    change = 2.0 if adjacency != "zero_out" else 1.0
    assert travelled[0] == pytest.approx((2 * 0.25 * (change / (400 * 0.5)) ** 2 / 8) ** (-1 / 3), rel=1e-3)

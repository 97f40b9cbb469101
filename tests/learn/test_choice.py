"""method="auto": a rule in public quantities, with a reason for every method."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import ParameterError
from holdfast.learn.choice import choose_learner
from holdfast.learn.methods import METHODS
from holdfast.learn.methods.noisy_gd import METHOD as NOISY_GD
from holdfast.learn.problem import Problem
from holdfast.learn.problem.losses import Hinge, HuberHinge, Logistic, Loss, Squared
from holdfast.learn.rows.examples import ArrayExamples
from holdfast.privacy import Account, ApproxDP, GaussianDP, PrivacyCurve, PureDP
from holdfast.privacy.adjacency import Adjacency

noisy_gd = NOISY_GD.fit

APPROXIMATE = ApproxDP(1.0, 1e-7)


@pytest.mark.parametrize(
    ("loss", "limit", "options", "expected"),
    [
        (Logistic(), APPROXIMATE, {}, "noisy_gd"),
        (Logistic(), GaussianDP(0.1), {}, "noisy_gd"),
        (Hinge(), APPROXIMATE, {}, "noisy_gd"),
        (Logistic(), PureDP(1.0), {}, "objective"),
        (Logistic(), APPROXIMATE, {"dimension": 5_000}, "objective"),
        (HuberHinge(), APPROXIMATE, {"dimension": 5_000}, "noisy_gd"),
        (HuberHinge(), PureDP(1.0), {"penalty": 0.01}, "output"),
        (HuberHinge(), PureDP(1.0), {}, "bolt_on"),
        (Squared(target_bound=1.0), APPROXIMATE, {}, "adassp"),
        (Squared(target_bound=1.0), PureDP(1.0), {"penalty": 0.01}, "functional"),
        (Squared(target_bound=1.0), PureDP(1.0), {}, "functional"),
    ],
)
def test_the_choice(loss: Loss, limit: PrivacyCurve, options: dict[str, Any], expected: str) -> None:
    problem = Problem(loss=loss, **({"dimension": 50} | options))
    choice = choose_learner(problem, count=10_000, limit=limit, adjacency="zero_out")
    assert choice.method == expected
    names = {method.name for method in METHODS}
    assert set(choice.rejected) == names - {expected}
    assert all(choice.rejected.values())
    assert all(method.behind for method in METHODS)


def test_a_method_that_no_proof_admits_says_what_is_missing() -> None:
    problem = Problem(loss=HuberHinge(), dimension=10)
    rejected = choose_learner(problem, count=1_000, limit=PureDP(1.0), adjacency="replace").rejected
    assert rejected["noisy_gd"] == "needs delta > 0"
    assert rejected["output"] == "needs penalty > 0"
    assert rejected["objective"] == "needs a loss with two continuous derivatives"
    assert rejected["ridge"] == "needs penalty > 0"
    unbounded = Problem(loss=Squared(target_bound=1.0), dimension=10)
    rejected = choose_learner(unbounded, count=1_000, limit=APPROXIMATE, adjacency="replace").rejected
    assert rejected["noisy_gd"] == "needs a bounded gradient"


def test_the_rule_is_handed_no_rows() -> None:
    assert set(inspect.signature(choose_learner).parameters) == {
        "problem",
        "count",
        "limit",
        "adjacency",
        "max_rows",
    }


def test_units_of_several_rows() -> None:
    problem = Problem(loss=Logistic(), dimension=10)
    choice = choose_learner(problem, count=1_000, limit=APPROXIMATE, adjacency="add_remove", max_rows=5)
    assert choice.method == "noisy_gd"
    assert "single rows" in choice.rejected["objective"]


def test_nothing_is_proved_for_a_plain_hinge_of_pure_users() -> None:
    problem = Problem(loss=Hinge(), dimension=10)
    with pytest.raises(ParameterError, match="no method is proved for the hinge loss"):
        choose_learner(problem, count=1_000, limit=PureDP(1.0), adjacency="replace", max_rows=2)


def test_the_summary_says_inputs_choice_and_every_reason() -> None:
    text = choose_learner(
        Problem(loss=Logistic(), dimension=108), count=32_561, limit=APPROXIMATE, adjacency="replace"
    ).summary()
    assert "n=32561" in text
    assert "chosen: noisy_gd" in text
    assert all(f"not {method.name}:" in text for method in METHODS if method.name != "noisy_gd")
    assert "dp_sgd: is not proved for adjacency replace" in text


@given(st.floats(0.01, 8.0), st.integers(10, 10**6), st.integers(1, 300), st.sampled_from(list(Adjacency)))
def test_what_is_told_is_what_the_method_would_do_by_itself(
    epsilon: float, count: int, dimension: int, adjacency: Adjacency
) -> None:
    limit = ApproxDP(epsilon, 1e-9)
    choice = choose_learner(
        Problem(loss=Logistic(), dimension=dimension), count=count, limit=limit, adjacency=adjacency
    )
    assert choice.method == "noisy_gd"
    schedule = choice.options["schedule"]
    assert 6 <= schedule.steps <= 12
    assert 0 < schedule.step <= 24.0
    assert math.isfinite(schedule.step)


def test_the_options_run_and_do_not_depend_on_values() -> None:
    problem = Problem(loss=Logistic(), dimension=4)
    parameters = []
    for seed in (1, 2):
        rows = np.random.default_rng(seed).normal(size=(200, 4)) / 4
        labels = np.where(rows[:, seed] > 0, 1.0, -1.0)
        examples = ArrayExamples(features=rows, labels=labels, adjacency=Adjacency.replace, public_count=200)
        account = Account(GaussianDP(1.0), adjacency="replace", seed=3)
        choice = choose_learner(problem, count=200, limit=account.remaining(), adjacency="replace")
        fit = noisy_gd(examples, problem, account=account, **choice.options)
        by_itself = noisy_gd(examples, problem, account=Account(GaussianDP(1.0), adjacency="replace", seed=3))
        assert np.array_equal(fit.weights, by_itself.weights)
        parameters.append({name: fit.parameters[name] for name in ("preconditioner", "steps", "step")})
    assert parameters[0] == parameters[1]

"""method="auto": a rule in public quantities, with a reason for every method."""

from __future__ import annotations

import dataclasses
import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import ParameterError
from holdfast.learn import PrivateLogisticRegression
from holdfast.learn._catalogue import LEARNERS
from holdfast.learn._choice import choose_learner
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Hinge, HuberHinge, Logistic, Loss, Squared
from holdfast.learn._risk.descent import schedule_for
from holdfast.learn._rows.examples import ArrayExamples, Examples
from holdfast.learn.methods.method import Fit, Learner, Rank, Settings
from holdfast.learn.methods.noisy_gd import METHOD as NOISY_GD
from holdfast.privacy import Account, ApproxDP, GaussianDP, PrivacyCurve, PureDP
from holdfast.privacy._account.remaining import noise_within
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._mechanisms.mechanism import Arithmetic

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
        (Squared(target_bound=1.0), APPROXIMATE, {}, "noisy_gd"),
        (Squared(target_bound=1.0), PureDP(1.0), {"penalty": 0.01}, "functional"),
        (Squared(target_bound=1.0), PureDP(1.0), {"radius": 2.0}, "functional"),
        (Squared(target_bound=1.0), PureDP(1.0), {}, "objective"),
    ],
)
def test_the_choice(loss: Loss, limit: PrivacyCurve, options: dict[str, Any], expected: str) -> None:
    problem = Problem(loss=loss, **({"dimension": 50} | options))
    choice = choose_learner(problem, count=10_000, limit=limit, adjacency="zero_out")
    assert choice.method == expected
    names = {method.name for method in LEARNERS}
    assert set(choice.rejected) == names - {expected}
    assert all(choice.rejected.values())
    assert all(method.behind for method in LEARNERS)


def test_a_method_that_no_proof_admits_says_what_is_missing() -> None:
    problem = Problem(loss=HuberHinge(), dimension=10)
    rejected = choose_learner(problem, count=1_000, limit=PureDP(1.0), adjacency="replace").rejected
    assert rejected["noisy_gd"] == "needs delta > 0"
    assert rejected["output"] == "needs penalty > 0"
    assert rejected["objective"] == "needs a loss with two continuous derivatives"
    assert rejected["ridge"] == "needs penalty > 0"
    unbounded = Problem(loss=Squared(target_bound=1.0), dimension=10)
    rejected = choose_learner(unbounded, count=1_000, limit=APPROXIMATE, adjacency="replace").rejected
    assert rejected["bolt_on"] == "needs a bounded gradient"


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
    with pytest.raises(
        ParameterError, match=r"no method is proved for the hinge loss.*declare one row of each user"
    ):
        choose_learner(problem, count=1_000, limit=PureDP(1.0), adjacency="replace", max_rows=2)


def test_the_summary_says_inputs_choice_and_every_reason() -> None:
    text = choose_learner(
        Problem(loss=Logistic(), dimension=108), count=32_561, limit=APPROXIMATE, adjacency="replace"
    ).summary()
    assert "n=32561" in text
    assert "chosen: noisy_gd" in text
    assert all(f"not {method.name}:" in text for method in LEARNERS if method.name != "noisy_gd")
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
    assert schedule == schedule_for(1.0, count=count, dimension=dimension)


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


# A method of a stranger.


def mean_direction(
    examples: Examples,
    problem: Problem,
    *,
    account: Account,
    scale: float = 1.0,
    arithmetic: Arithmetic = "strict",
) -> Fit:
    """One noisy sum of y x."""
    total = np.zeros(problem.dimension)
    for rows, labels in examples.chunks():
        total += labels @ rows
    sensitivity = account.adjacency.gradient_factor * problem.norm_bound
    noise = noise_within(
        account, l2_sensitivity=sensitivity, dimension=problem.dimension, arithmetic=arithmetic
    )
    noisy = account.release(noise.mechanism, total, label="mean_direction")
    return Fit(weights=scale * noisy / examples.public_count, theorem="one noisy sum")


STRANGER = Learner(
    name="mean_direction", run=mean_direction, paper="none", pure=True, single_rows="average them"
)


def with_entry(monkeypatch: pytest.MonkeyPatch, entry: Learner) -> None:
    monkeypatch.setattr("holdfast.learn._choice.LEARNERS", (*LEARNERS, entry))


def test_a_stranger_without_a_rank_takes_part_and_stands_back(monkeypatch: pytest.MonkeyPatch) -> None:
    with_entry(monkeypatch, STRANGER)
    problem = Problem(loss=Logistic(), dimension=10)
    told: dict[str, Any] = {"count": 1_000, "limit": APPROXIMATE, "adjacency": "replace"}
    choice = choose_learner(problem, **told)
    assert choice.method == "noisy_gd"
    assert choice.rejected["mean_direction"] == "gives no rank to method='auto'"
    assert "not mean_direction:" in choice.summary()
    users = choose_learner(problem, **told, max_rows=3)
    assert users.rejected["mean_direction"] == "protects single rows, not units of several"


@pytest.mark.filterwarnings(
    "ignore::holdfast.errors.NotPrivateWarning", "ignore::holdfast.errors.BudgetWarning"
)
def test_a_stranger_with_the_best_rank_is_chosen_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = dataclasses.replace(
        STRANGER,
        ranks=(Rank(place=0.5, losses=("logistic",), columns=5),),
        settings=lambda facts: Settings(options={"scale": 2.0}, reasons=("the table is small",)),
    )
    with_entry(monkeypatch, entry)
    x = np.random.default_rng(0).uniform(-0.5, 0.5, size=(2_000, 2))
    model = PrivateLogisticRegression(classes=[False, True], random_state=0).fit(x, x[:, 0] > 0)
    assert model.method_ == "mean_direction"
    assert "chosen: mean_direction (scale=2)" in model.summary()
    assert "because the table is small" in model.summary()
    assert model.coef_[0, 0] > abs(model.coef_[0, 1])
    named = PrivateLogisticRegression(
        classes=[False, True], random_state=0, method="mean_direction", epsilon=2.0
    )
    assert named.fit(x[:1_500], x[:1_500, 0] > 0).method_ == "mean_direction"
    wide = choose_learner(
        Problem(loss=Logistic(), dimension=6), count=99, limit=APPROXIMATE, adjacency="replace"
    )
    assert wide.method == "noisy_gd"


def test_the_rule_names_no_method() -> None:
    text = Path(inspect.getfile(choose_learner)).read_text(encoding="utf-8")
    doctests = 'find_learner("output")', "'noisy_gd'"
    for shown in doctests:
        text = text.replace(shown, "")
    assert not [
        method.name for method in LEARNERS if f'"{method.name}"' in text or f"'{method.name}'" in text
    ]

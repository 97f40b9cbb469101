"""Player B: the growing cost of draws, generators fixed before their queries, and the regret certificate."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from holdfast.errors import ParameterError
from holdfast.noise._source import Source
from holdfast.privacy import Account, ApproxDP
from holdfast.synth._exact_counts import ExactAnswers
from holdfast.synth.classics.dual_query import DualQueryPlan
from holdfast.synth.classics.query_gan_leader import (
    METHOD,
    LeaderTraining,
    _answers,
    leader_rounds,
    regret_certificate,
)
from holdfast.synth.classics.query_gan_select import average_mixture
from tests.studies.size import Study, trials
from tests.synth.synth_binary import account, bits, counted, marginals, max_error, neighbours

query_gan_leader = METHOD.fit
WORK = marginals(3, 2)


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_scores_move_by_the_number_of_rounds_and_no_less(adjacency: str) -> None:
    """Whatever the generators were: their answers are public, and each round counts the table once more."""
    work, plan = marginals(), DualQueryPlan(rounds=4, samples=1, step=0.5)
    for first, second in neighbours(adjacency, 2):
        one, two = ExactAnswers.of(first, work), ExactAnswers.of(second, work)
        game = leader_rounds(
            first,
            one,
            plan,
            account(first, ApproxDP(50.0, 1e-3)),
            LeaderTraining(components=2, training_steps=1, recent=1),
        )
        moves = [_answers(one, turn.model) for turn in game]
        gap = sum(one.signed_excess(move) for move in moves) - sum(two.signed_excess(move) for move in moves)
        assert np.abs(gap).max() == pytest.approx(len(moves), abs=1e-9)


def test_the_game_costs_what_the_plan_says() -> None:
    """Soundness, section 10: eta .1, T 20, s 5, n 1000 are rho 6.175e-5."""
    data = counted(bits(1000, 3))
    opened = account(data)
    made = query_gan_leader(
        data,
        WORK,
        account=opened,
        rounds=20,
        samples=5,
        step=0.1,
        regret_share=0.0,
        components=4,
        training_steps=1,
    )
    spent = opened.spent().as_zcdp()
    assert spent is not None
    assert float(spent) == pytest.approx(6.175e-5, rel=1e-5)
    assert "regret_certificate" not in made.parameters


def test_the_mixture_of_all_rounds_learns_and_the_last_move_is_no_release() -> None:
    data = counted(bits(4000, 3))
    work = WORK
    wide = ApproxDP(8.0, 1e-6)
    made = query_gan_leader(data, work, account=account(data, wide), components=20)
    first = query_gan_leader(data, work, account=account(data, wide), components=20, rounds=2, samples=1)
    last = query_gan_leader(data, work, account=account(data, wide), components=20, release="last")
    assert max_error(data, made, work) < 0.6 * max_error(data, first, work)
    assert max_error(data, made, work) < max_error(data, last, work)
    assert max_error(data, made, work) <= made.parameters["regret_certificate"]


def test_the_regret_bound_is_that_of_the_weights() -> None:
    data = counted(bits(100, 3))
    made = query_gan_leader(
        data, WORK, account=account(data), rounds=5, samples=2, step=0.5, components=2, training_steps=1
    )
    told = made.parameters
    assert told["regret_bound"] == pytest.approx(math.log(2 * 12) / (0.5 * 5) + 0.25)
    sampling = math.sqrt(2 * math.log(40) / 10)
    assert told["regret_certificate"] >= min(1.0, told["mean_payoff"] + told["regret_bound"] + sampling)


def test_historical_play_learns_from_every_round() -> None:
    data = counted(bits(500, 3))
    truth, plan = ExactAnswers.of(data, WORK), DualQueryPlan(rounds=3, samples=3, step=0.5)
    moves = {}
    for recent in (1, None):
        turns = list(
            leader_rounds(
                data,
                truth,
                plan,
                account(data),
                LeaderTraining(components=4, training_steps=3, recent=recent),
            )
        )
        moves[recent] = [np.concatenate(list(turn.model.columns.values())) for turn in turns]
    assert np.array_equal(moves[1][1], moves[None][1])
    assert not np.array_equal(moves[1][2], moves[None][2])


def test_bad_options_cost_nothing() -> None:
    data = counted(bits(100, 3))
    opened = account(data)
    for name, bad in (("recent", 0), ("regret_share", 1.0), ("components", 0), ("training_steps", 0)):
        with pytest.raises(ParameterError, match=name):
            METHOD.fit(data, WORK, account=opened, **{name: bad})
    assert not opened.journal.entries


def test_the_regret_certificate_covers_the_mixture(study: Study) -> None:
    """At a stated 5 %. The step is large and the class small, so that the bound is not idle."""
    data = counted(bits(400, 2))
    work = marginals(2, 2)
    runs, missed, idle = trials(100), 0, 0
    for seed in range(runs):
        opened = Account(ApproxDP(50.0, 1e-3), adjacency=data.adjacency, currency="zcdp", seed=seed)
        made = query_gan_leader(
            data, work, account=opened, components=4, rounds=40, samples=8, step=0.25, training_steps=2
        )
        claim = made.parameters["regret_certificate"]
        missed += max_error(data, made, work) > claim
        idle += claim >= 1.0
    study.alarms(missed, rate=0.05, runs=runs, chance=0.01)
    assert idle < runs / 2


def test_a_generator_that_moves_after_the_draw_breaks_the_certificate() -> None:
    """The wrong version: payoffs of generators that had seen the queries say that all is well, and it is not."""
    data = counted(bits(400, 2))
    work = marginals(2, 2)
    truth, plan = ExactAnswers.of(data, work), DualQueryPlan(rounds=40, samples=8, step=0.5)
    wide = ApproxDP(500.0, 1e-3)
    opened = Account(wide, adjacency=data.adjacency, currency="zcdp", seed=1)
    training = LeaderTraining(components=8, training_steps=20, recent=1)
    turns = list(leader_rounds(data, truth, plan, opened, training))
    late = [
        type(turn)(number=turn.number, model=after.model, drawn=turn.drawn) for turn, after in pairwise(turns)
    ]
    found = {}
    for name, played in (("fixed", turns[:-1]), ("late", late)):
        paying = Account(wide, adjacency=data.adjacency, currency="zcdp", seed=2)
        found[name] = regret_certificate(truth, plan, played, paying)["mean_payoff"]
    assert found["late"] < found["fixed"] - 0.05
    assert average_mixture([turn.model for turn in turns]).sample(5, Source(seed=1)).shape == (5, 2)

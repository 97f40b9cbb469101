"""Transcript audits: they spare what keeps its promise, notice what does not, and know when a figure is an estimate."""

from __future__ import annotations

import json
import math
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from holdfast._demo.broken import too_little_noise
from holdfast.audit import AuditResult, Budget, OneRun, Transcript, audit
from holdfast.audit._bounds import multi_run
from holdfast.audit._findings.transcripts import Transcripts
from holdfast.audit._worst_pairs import HINGE, PENALISED_HINGE, opposite_records
from holdfast.errors import ParameterError
from holdfast.learn._catalogue import LEARNERS
from holdfast.privacy import Account, Adjacency, ApproxDP, Gaussian, GaussianDP, PureDP, RandomisedResponse
from tests.studies.size import Study, deep

BY_NAME = {learner.name: learner for learner in LEARNERS}
CLAIM = GaussianDP(1.0)
PLAIN = {"preconditioner": "none", "steps": 4}
"""Four gradients and nothing else."""
PAIR = (np.array([1.0]), np.array([0.0]))


def one_release(table: NDArray[np.float64], account: Account) -> Any:
    return account.release(Gaussian(sigma=1.0, l2_sensitivity=1.0), table)


def two_releases(table: NDArray[np.float64], account: Account) -> Any:
    """The second centre depends on what was released first."""
    first = account.release(Gaussian(sigma=math.sqrt(2.0), l2_sensitivity=1.0), table)
    return account.release(Gaussian(sigma=math.sqrt(2.0), l2_sensitivity=1.0), table + np.tanh(first))


DESIGN = {"currency": "gdp", "runs": 400}


def transcripts(train: Any, pair: Any = PAIR, **more: Any) -> AuditResult:
    own = {field.name for field in fields(Transcript)}
    design: dict[str, Any] = DESIGN | {name: more.pop(name) for name in own & more.keys()}
    settings: dict[str, Any] = {
        "claim": CLAIM,
        "adjacency": "replace",
        "delta": 1e-5,
        "seed": 1,
        "rows": "public",
    } | more
    return audit(train, pair, design=Transcript(**design), **settings)


@pytest.mark.parametrize("train", [one_release, two_releases])
def test_a_kept_promise_is_spared_and_half_of_the_noise_is_not(train: Any) -> None:
    honest = transcripts(train)
    assert honest.verdict(CLAIM) == "consistent"
    assert 0 < honest.epsilon_lower() < CLAIM.epsilon(1e-5)
    assert isinstance(honest.finding, Transcripts)
    assert honest.finding.distance == pytest.approx(1.0, abs=1e-6)
    known = honest.power(CLAIM)
    assert known is not None
    assert known.can_fail
    assert known.kappa is not None
    assert 1.1 < known.kappa < 2.0
    with too_little_noise():
        assert transcripts(train).verdict(CLAIM) == "refuted"


def test_what_is_stated_is_noticed() -> None:
    """At the stated factor about four of five audits notice, as simulated on scores of that law."""
    honest = transcripts(one_release, runs=400)
    known = honest.power(CLAIM)
    assert known is not None
    assert known.kappa is not None
    random = np.random.default_rng(5)
    finding = honest.finding
    assert isinstance(finding, Transcripts)
    noticed = 0
    for _ in range(60):
        inside = random.normal(1.0, 1.0 / known.kappa, finding.against.with_canary)
        outside = random.normal(0.0, 1.0 / known.kappa, finding.against.without)
        seen = replace(finding, against=multi_run.at_threshold(inside, outside, threshold=0.5))
        noticed += seen.p_value(CLAIM, delta=1e-5) <= 0.05
    assert 36 <= noticed <= 59


def test_the_normal_version_is_a_bound_only_where_it_was_checked() -> None:
    fixed = transcripts(one_release, bound="gaussian")
    assert fixed.valid
    assert 0.7 * CLAIM.epsilon(1e-5) < fixed.epsilon_lower() < 1.2 * CLAIM.epsilon(1e-5)
    assert "was checked" in fixed.summary()
    adaptive = transcripts(two_releases, bound="gaussian")
    assert not adaptive.valid
    assert adaptive.epsilon_lower() == 0.0
    assert adaptive.epsilon_estimate() > 2.0
    assert "rests on normal scores" in adaptive.summary()

    def seldom(table: NDArray[np.float64], account: Account) -> Any:
        """The second centre follows the first release only where it is far out, as no run here shows."""
        first = account.release(Gaussian(sigma=math.sqrt(2.0), l2_sensitivity=1.0), table)
        return account.release(
            Gaussian(sigma=math.sqrt(2.0), l2_sensitivity=1.0), table * (abs(first[0]) < 50.0)
        )

    assert not transcripts(seldom, bound="gaussian", runs=100).valid

    def answers(table: NDArray[np.float64], account: Account) -> Any:
        return account.release(RandomisedResponse(epsilon=1.0), [int(table[0])])

    told = transcripts(answers, claim=PureDP(1.0), currency="pure", bound="gaussian")
    assert not told.valid
    # With too little noise the law test fails, and the normal version is no bound any more.
    with too_little_noise():
        assert not transcripts(one_release, bound="gaussian").valid


def test_bounds_on_randomised_response_stay_below_the_truth() -> None:
    def answers(table: NDArray[np.float64], account: Account) -> Any:
        return account.release(RandomisedResponse(epsilon=1.0), [int(table[0])])

    results = [transcripts(answers, claim=PureDP(1.0), currency="pure", seed=seed) for seed in range(3)]
    assert sum(one.epsilon_lower() > 1.0 for one in results) <= 1
    assert sum(one.verdict(PureDP(1.0)) == "refuted" for one in results) <= 1
    assert np.median([one.epsilon_lower() for one in results]) > 0.5


def test_another_number_of_releases_gives_the_tables_away() -> None:
    def counting(table: NDArray[np.float64], account: Account) -> Any:
        for _ in range(1 + int(table[0])):
            last = account.release(Gaussian(sigma=5.0, l2_sensitivity=1.0), [0.0])
        return last

    assert transcripts(counting, runs=100).verdict(CLAIM) == "refuted"

    def scaling(table: NDArray[np.float64], account: Account) -> Any:
        return account.release(Gaussian(sigma=5.0 + float(table[0]), l2_sensitivity=1.0), [0.0])

    assert transcripts(scaling, runs=100).verdict(CLAIM) == "refuted"


def test_a_table_that_shows_nothing_is_no_test() -> None:
    blind = transcripts(one_release, (PAIR[0], PAIR[0]), runs=100)
    known = blind.power(CLAIM)
    assert known is not None
    assert not known.can_fail


def test_a_group_shows_more_in_fewer_runs() -> None:
    claim = GaussianDP(0.2)

    def sums(table: NDArray[np.float64], account: Account) -> Any:
        return account.release(Gaussian(sigma=5.0, l2_sensitivity=1.0), [table.sum()])

    def kappa(group: int) -> float:
        pair = (np.ones(20), np.concatenate([np.ones(20 - group), np.zeros(group)]))
        made = transcripts(sums, pair, claim=claim, group=group, runs=400)
        assert made.verdict(claim) == "consistent"
        known = made.power(claim)
        assert known is not None
        return known.kappa or math.inf

    assert kappa(8) < 1.6 < kappa(1)
    with too_little_noise():
        pair = (np.ones(20), np.concatenate([np.ones(12), np.zeros(8)]))
        assert transcripts(sums, pair, claim=claim, group=8, runs=400).verdict(claim) == "refuted"


def test_a_bound_for_groups_is_one_for_single_records() -> None:
    claim = GaussianDP(0.5)

    def sums(table: NDArray[np.float64], account: Account) -> Any:
        return account.release(Gaussian(sigma=2.0, l2_sensitivity=1.0), [table.sum()])

    pair = (np.ones(9), np.concatenate([np.ones(6), np.zeros(3)]))
    made = transcripts(sums, pair, claim=claim, group=3, runs=1000)
    assert 0.2 < made.epsilon_lower() < claim.epsilon(1e-5)


def test_secret_coins_are_refused() -> None:
    def sampled(table: NDArray[np.float64], account: Account) -> Any:
        account.source.bytes(4)
        return account.release(Gaussian(sigma=1.0, l2_sensitivity=1.0), table)

    with pytest.raises(ParameterError, match="secret coins"):
        transcripts(sampled)


def test_the_budget_is_stated_first_and_kept() -> None:
    told: list[str] = []

    def train(table: NDArray[np.float64], account: Account) -> Any:
        told.append("run")
        return one_release(table, account)

    budgets: list[Budget] = []

    def announce(budget: Budget) -> None:
        budgets.append(budget)
        told.append("budget")

    made = transcripts(train, runs=50_000, seconds=0.5, announce=announce)
    (budget,) = budgets
    assert 64 <= budget.runs < 50_000
    assert budget.seconds <= 0.5
    assert told.index("budget") <= 2 * 9  # after the pilot alone, each of its runs replayed
    assert 0 <= len(told) - (1 + 2 * 9 + 4 * budget.runs) <= 8  # and a few hostile replays at the end
    assert "CPU seconds" in budget.summary()
    assert f"{budget.runs} runs" in made.planted


def test_the_counted_runs_are_others_than_those_that_choose() -> None:
    made = transcripts(one_release, runs=200)
    assert isinstance(made.finding, Transcripts)
    assert made.m == 2 * 168  # a tenth of 200, but 32 at least, chose
    assert made.finding.errors.without == made.finding.against.with_canary == made.finding.scores.count == 168


def test_results_come_back_and_rows_are_real_unless_declared() -> None:
    made = transcripts(one_release, runs=100)
    assert AuditResult.from_json(json.loads(json.dumps(made.to_json()))) == made
    assert transcripts(one_release, runs=100, rows=None).rows == "real"
    assert "not this run's rows" in made.summary()


@pytest.mark.parametrize(
    ("more", "word"),
    [
        ({"runs": 3}, "runs"),
        ({"seconds": 0.0}, "seconds"),
        ({"seconds": 1e-9}, "seconds"),
        ({"group": 0}, "group"),
        ({"bound": "bayesian"}, "bound"),
    ],
)
def test_bad_settings_are_named(more: dict[str, Any], word: str) -> None:
    with pytest.raises(ParameterError, match=word):
        transcripts(one_release, **more)
    with pytest.raises(ParameterError, match="data"):
        transcripts(one_release, np.zeros(3))
    with pytest.raises(ParameterError, match="data"):
        audit(lambda rows: rows, PAIR, claim=PureDP(1.0), adjacency="replace", design=OneRun(canaries=2))


@pytest.mark.parametrize("stranger", ["canaries", "score", "noiseless", "guesses", "classes", "null"])
def test_a_design_of_transcripts_plants_nothing(stranger: str) -> None:
    settings: dict[str, Any] = {stranger: 3}
    with pytest.raises(TypeError, match=stranger):
        Transcript(**settings)


@pytest.mark.share(1)
@pytest.mark.parametrize("adjacency", list(Adjacency))
def test_learners_come_close_to_what_they_declare_on_the_public_pair(adjacency: Adjacency) -> None:
    for name, problem, options in (
        ("noisy_gd", HINGE, PLAIN),
        ("output", PENALISED_HINGE, {}),
    ):
        made = _learner(name, problem, options, runs=64, seed=0, adjacency=adjacency)
        assert isinstance(made.finding, Transcripts)
        assert made.finding.distance > 0.98, name
        assert made.finding.distance <= 1.0 + 1e-9


def _learner(
    name: str, problem: Any, options: Any, *, runs: int, seed: int, adjacency: Any = "replace"
) -> AuditResult:
    def train(table: Any, account: Account) -> Any:
        return BY_NAME[name].fit(table, problem, account=account, **options)

    return transcripts(
        train,
        opposite_records(rows=200, adjacency=adjacency),
        claim=ApproxDP(1.0, 1e-3),
        delta=None,
        runs=runs,
        seed=seed,
        adjacency=adjacency,
    )


@pytest.mark.parametrize(
    ("name", "problem", "options", "least"),
    [
        ("noisy_gd", HINGE, PLAIN, 0.45),
        ("output", PENALISED_HINGE, {}, 0.30),
    ],
)
def test_what_transcripts_show_at_epsilon_one(
    name: str, problem: Any, options: Any, least: float, study: Study
) -> None:
    """4,000 runs on each table: the median of five bounds; at a tenth of the runs there is only a sign of it."""
    repeats, runs = (5, 4000) if deep() else (1, 200)
    made = [_learner(name, problem, options, runs=runs, seed=seed) for seed in range(repeats)]
    bounds = [one.epsilon_lower() for one in made]
    estimates = [replace(one, finding=replace(one.finding, bound="gaussian")) for one in made]  # type: ignore[type-var]
    study.note(trials=repeats, runs=runs, median=float(np.median(bounds)), largest=max(bounds))
    assert max(bounds) <= 1.0
    assert all(one.valid == (name == "output") for one in estimates)
    if deep():
        assert np.median(bounds) >= least
        assert np.median([one.epsilon_estimate() for one in estimates]) > least

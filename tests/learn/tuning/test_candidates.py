from __future__ import annotations

import io
import logging
import math
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast._arrays import Floats
from holdfast._progress import progress
from holdfast.errors import BudgetExceeded, ParameterError
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Logistic, Squared
from holdfast.learn._rows.batches import partition
from holdfast.learn._rows.examples import ArrayExamples, Examples
from holdfast.learn._tuning.candidates import (
    Candidate,
    ClippedLoss,
    ErrorRate,
    base_budget,
    choose_by_random_stopping,
    choose_on_parts,
    score_change,
)
from holdfast.learn._tuning.random_stopping import RandomStopping
from holdfast.learn.methods import ridge
from holdfast.learn.methods.method import Fit
from holdfast.noise._source import Source
from holdfast.privacy import (
    ZCDP,
    Account,
    Adjacency,
    ApproxDP,
    Gaussian,
    GaussianDP,
    Laplace,
    PrivacyUnit,
    PureDP,
)


def examples_of(
    features: Floats, labels: Floats, adjacency: str = "replace", **changes: Any
) -> ArrayExamples:
    arguments: dict[str, Any] = {"public_count": max(1, features.shape[0])} | changes
    return ArrayExamples(features=features, labels=labels, adjacency=Adjacency(adjacency), **arguments)


def classes(n: int) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(n, 2))
    return features, np.where(features[:, 0] > 0, 1.0, -1.0)


def guess(direction: list[float], spends: bool = True) -> Candidate:
    """Weights fixed in advance, and an account spent to the last."""

    def train(examples: Examples, account: Account) -> Fit:
        left = account.remaining()
        pure = left.as_pure()
        if spends and pure is not None:
            account.release(Laplace(scale=1 / pure, l1_sensitivity=1.0), [0.0])
        elif spends:
            account.release(Gaussian.within(left, l2_sensitivity=1.0), [0.0])
        return Fit(weights=np.array(direction), theorem="none")

    return Candidate(name=str(direction), train=train)


CANDIDATES = [guess([-1.0, 0.0]), guess([1.0, 0.0]), guess([0.0, 1.0])]


# The score (soundness, section 5).


def test_the_printed_sensitivity_is_refuted() -> None:
    # R = 0.25, |S'| = 10, squared loss (1/2)(w x - y)^2 without the half: range (1 + R)^2 = 1.5625.
    radius, held = 0.25, 10
    w = np.array([radius])
    score = ClippedLoss(loss=Squared(target_bound=1.0), bound=(1 + radius) ** 2 / 2)
    worst = float(score.rows(w, np.array([[1.0]]), np.array([-1.0]))[0])
    best = float(score.rows(w, np.array([[1.0]]), np.array([radius]))[0])
    assert 2 * (worst - best) / held == pytest.approx(0.156, abs=5e-4)
    assert radius**2 == 0.0625 < 2 * worst / held, "printed: R^2, with no |S'| in it, and less than the truth"
    assert (worst - best) / held <= score_change(score, count=held) * (1 + 1e-12)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**31), n=st.integers(1, 30), adjacency=st.sampled_from(list(Adjacency)))
def test_no_neighbour_moves_a_score_further(seed: int, n: int, adjacency: Adjacency) -> None:
    rng = np.random.default_rng(seed)
    features, labels = rng.normal(size=(n, 2)), rng.choice([-1.0, 1.0], size=n)
    other, other_labels = features.copy(), labels.copy()
    other[-1], other_labels[-1] = rng.normal(size=2) * 100, -labels[-1]
    if adjacency is not Adjacency.replace:
        other, other_labels = other[:-1], other_labels[:-1]
    for score in (ErrorRate(), ClippedLoss(loss=Logistic(), bound=3.0)):
        change = []
        for w in rng.normal(size=(4, 2)) * 10:
            one = np.sum(score.rows(w, features, labels)) / n
            two = np.sum(score.rows(w, other, other_labels)) / n
            change.append(one - two)
        assert np.max(np.abs(change)) <= score_change(score, count=n) * (1 + 1e-12)
        if adjacency is not Adjacency.replace:
            assert min(change) >= -1e-12, "monotone: a row more never lowers an error"


# Disjoint parts.


@pytest.mark.parametrize("adjacency", ["replace", "zero_out", "add_remove"])
@pytest.mark.parametrize("limit", [PureDP(1.0), ZCDP(0.5), GaussianDP(1.0)])
def test_parts_choose_well_and_cost_one_part(limit: Any, adjacency: str) -> None:
    features, labels = classes(2_000)
    account = Account(limit, adjacency=adjacency, seed=3)
    chosen = choose_on_parts(CANDIDATES, examples_of(features, labels, adjacency), account=account)
    assert chosen.index == 1
    assert chosen.private
    assert "held-out" in chosen.summary()
    assert account.spent().within(limit)
    assert account.spent().epsilon(1e-6) == pytest.approx(limit.epsilon(1e-6), rel=1e-6)


@pytest.mark.parametrize(("adjacency", "odds"), [("replace", math.e**0.5), ("zero_out", math.e)])
def test_the_choice_has_the_odds_of_the_exponential_mechanism(adjacency: str, odds: float) -> None:
    # Ten held-out rows on which the candidates' error counts differ by 1: log-odds epsilon / 2, or epsilon.
    features, labels = np.ones((20, 2)), np.ones(20)
    features[:, 1] = -1.0

    def right_but_for(count: int) -> Candidate:
        return Candidate(
            name=str(count), train=lambda examples, account: Fit(weights=np.array([count]), theorem="")
        )

    class OneWrong:
        bound = 1.0

        def rows(self, weights: Floats, features: Floats, labels: Floats) -> Floats:
            values = np.zeros(labels.size)
            values[: int(weights[0])] = 1.0
            return values

    rows = examples_of(features, labels, adjacency)
    wins = 0
    for seed in range(800):
        account = Account(PureDP(1.0), adjacency=adjacency, seed=seed)
        chosen = choose_on_parts(
            [right_but_for(0), right_but_for(1)],
            rows,
            account=account,
            score=OneWrong(),
            holdout=0.5,
            arithmetic="idealised",
        )
        wins += chosen.index == 0
    share = odds / (1 + odds)
    assert wins / 800 == pytest.approx(share, abs=4 * math.sqrt(share * (1 - share) / 800))


def test_a_part_is_trained_on_its_own_rows_only() -> None:
    seen: list[set[float]] = []

    def train(examples: Examples, account: Account) -> Fit:
        seen.append({float(v) for features, _ in examples.chunks() for v in features[:, 0]})
        assert examples.public_count == 20
        return Fit(weights=np.array([1.0]), theorem="")

    rows = examples_of(np.arange(50.0)[:, None], np.ones(50))
    choose_on_parts(
        [Candidate(name="a", train=train)] * 2, rows, account=Account(PureDP(1.0), seed=0), holdout=0.2
    )
    assert len(seen[0] & seen[1]) == 0
    assert [len(part) for part in seen] == [20, 20]


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_partition(adjacency: str) -> None:
    rows = examples_of(np.arange(1000.0)[:, None], np.ones(1000), adjacency)
    parts = partition(rows, Source(2), sizes=[500, 300])
    values = np.concatenate([part.features[:, 0] for part in parts])
    assert len(set(values.tolist())) == values.size
    assert [part.public_count for part in parts] == [500, 300]
    sizes = [part.labels.size for part in parts]
    if adjacency == "replace":
        assert sizes == [500, 300]
    else:
        assert sizes == pytest.approx([500, 300], abs=80)
        assert sizes != [500, 300]
    with pytest.raises(ParameterError, match="sizes"):
        partition(rows, Source(2), sizes=[900, 200])


# Random stopping.


@pytest.mark.parametrize("eta", [-0.5, 0.0, 0.5, 1.0])
def test_the_law_sums_to_one_has_its_mean_and_is_drawn(eta: float) -> None:
    law = RandomStopping(eta=eta, gamma=0.2)
    probabilities = np.array([law.probability(k) for k in range(400)])
    assert np.sum(probabilities) == pytest.approx(1.0, abs=1e-12)
    assert probabilities @ np.arange(400) == pytest.approx(law.mean, rel=1e-9)
    source = Source(4)
    draws = np.array([law.draw(source) for _ in range(800)])
    for k in range(1, 5):
        p = probabilities[k]
        assert np.mean(draws == k) == pytest.approx(p, abs=4.5 * math.sqrt(p * (1 - p) / 800))
    assert np.min(draws) == 1


def best_of(law: RandomStopping, base: Floats) -> Floats:
    """The exact law of the best of K draws, outcomes ordered from the worst."""
    places = np.arange(1, 2_000)
    shape = np.concatenate([[1.0], np.cumprod((places + law.eta) / (places + 1.0))])
    runs = np.concatenate([[0.0], law.probability(1) * shape * (1 - law.gamma) ** np.arange(2_000)])
    cumulative = np.concatenate([[0.0], np.cumsum(base)])
    generating = np.polynomial.polynomial.polyval(np.minimum(cumulative, 1.0), runs)
    return np.diff(generating)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    eta=st.sampled_from([-0.5, 0.0, 0.5, 1.0]),
    gamma=st.floats(0.02, 0.6),
    epsilon=st.floats(0.1, 1.5),
)
def test_the_exact_law_of_the_best_run_is_within_both_bounds(
    seed: int, eta: float, gamma: float, epsilon: float
) -> None:
    rng = np.random.default_rng(seed)
    law = RandomStopping(eta=eta, gamma=gamma)
    # A pair of laws with ratios e^epsilon and e^-epsilon: the rare, best outcome made likelier.
    size = int(rng.integers(2, 6))
    first = rng.dirichlet(np.ones(size))
    up = rng.random(size) < 0.5
    up[0], up[-1] = rng.choice([True, False]), rng.choice([True, False])
    if up.all() or not up.any():
        up[0] = not up[0]
    # p e^eps on one side, p e^-eps' on the other, with masses that sum to one.
    mass = 1.0 / (1.0 + math.exp(epsilon))
    first[up] *= mass / np.sum(first[up])
    first[~up] *= (1 - mass) / np.sum(first[~up])
    second = np.where(up, first * math.exp(epsilon), first * math.exp(-epsilon))
    assert np.sum(second) == pytest.approx(1.0)
    a, b = best_of(law, first), best_of(law, second)
    assert np.max(np.abs(np.log(a / b))) <= float(law.pure(Fraction(epsilon))) + 1e-9
    for order in (1.5, 3.0, 10.0):
        for p, q in ((a, b), (b, a)):
            divergence = math.log(float(np.sum(p * (p / q) ** (order - 1)))) / (order - 1)
            assert divergence <= law.renyi(order, PureDP(epsilon)) + 1e-9


def test_more_than_the_base_epsilon_is_needed() -> None:
    # The bad outcome, made rarer by e^-epsilon, survives many runs only if every run gives it.
    epsilon, law = 1.0, RandomStopping(eta=1.0, gamma=0.001)
    first = np.array([0.5, 0.5])
    second = np.array([0.5 * math.exp(-epsilon), 1 - 0.5 * math.exp(-epsilon)])
    worst = math.log(best_of(law, first)[0] / best_of(law, second)[0])
    assert 1.05 * epsilon < worst <= 3 * epsilon, "the base's epsilon alone would be a false claim"


def test_the_budget_of_a_run() -> None:
    assert base_budget(Account(PureDP(3.0)), RandomStopping(eta=1.0)) == PureDP(Fraction(1))
    assert base_budget(Account(PureDP(3.0)), RandomStopping(eta=0.0)) == PureDP(Fraction(3, 2))
    account = Account(ApproxDP(2.0, 1e-6), currency="renyi", seed=0)
    law = RandomStopping(eta=0.0, gamma=0.3)
    base = base_budget(account, law)
    order = account.currency.order  # type: ignore[attr-defined]
    allowed = account.remaining().renyi(order)
    assert law.renyi(order, base) <= allowed
    assert law.renyi(order, ZCDP(float(base.as_zcdp() or 0) * 1.001)) > allowed
    assert 0 < float(base.as_zcdp() or 0) < allowed / order
    with pytest.raises(ParameterError, match="currency"):
        base_budget(Account(GaussianDP(1.0)), law)
    with pytest.raises(ParameterError, match="gamma"):
        base_budget(Account(ApproxDP(0.5, 1e-6), currency="renyi"), RandomStopping(eta=1.0, gamma=1e-12))


@pytest.mark.parametrize(
    ("limit", "currency"), [(PureDP(40.0), None), (ApproxDP(20.0, 1e-6), "renyi")], ids=["pure", "renyi"]
)
def test_random_stopping_chooses_well_and_spends_its_limit(limit: Any, currency: str | None) -> None:
    features, labels = classes(3_000)
    right = 0
    for seed in range(5):
        account = Account(limit, currency=currency, seed=seed)
        start = account.remaining()
        chosen = choose_by_random_stopping(
            CANDIDATES,
            examples_of(features, labels),
            account=account,
            stopping=RandomStopping(eta=1.0, gamma=0.1),
        )
        right += chosen.index == 1
        assert account.spent().within(start)
        assert account.spent().epsilon(1e-6) == pytest.approx(start.epsilon(1e-6), rel=1e-6)
    assert right >= 3, "about one run in three draws the right candidate; several runs find it"


def test_a_secret_number_of_runs_shows_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A warning, a bar or a log record of each run would tell how many there were."""
    trained: list[int] = []
    opened: list[object] = []
    monkeypatch.setattr("tqdm.std.tqdm.display", lambda bar, *_, **__: opened.append(bar))
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)

    def train(examples: Examples, account: Account) -> Fit:
        trained.append(len(trained))
        warnings.warn(f"run {len(trained)}", UserWarning, stacklevel=1)
        logging.getLogger("a.library").critical("run %s", len(trained))
        for _ in progress(range(2), delay=0, file=terminal, disable=None):
            pass
        return Fit(weights=np.array([1.0, 0.0]), theorem="none")

    features, labels = classes(50)
    rows = examples_of(features, labels)
    for seed in range(5):
        with warnings.catch_warnings(record=True) as shown:
            warnings.simplefilter("always")
            choose_by_random_stopping(
                [Candidate(name="loud", train=train)],
                rows,
                account=Account(PureDP(4.0), adjacency="replace", seed=seed),
                stopping=RandomStopping(eta=1.0, gamma=0.2),
            )
        assert [str(warning.message) for warning in shown if "run" in str(warning.message)] == []
    assert len(trained) > 5
    assert not opened
    assert not terminal.getvalue()
    assert not caplog.records
    logging.getLogger("a.library").critical("heard again")
    assert len(caplog.records) == 1


def test_every_run_gets_its_share_and_no_more() -> None:
    seen = []

    def train(examples: Examples, account: Account) -> Fit:
        seen.append(float(account.remaining().as_pure() or 0))
        return Fit(weights=np.array([1.0, 0.0]), theorem="")

    features, labels = classes(100)
    account = Account(PureDP(2.0), seed=5)
    choose_by_random_stopping(
        [Candidate(name="a", train=train)],
        examples_of(features, labels),
        account=account,
        score_share=0.58,
        stopping=RandomStopping(eta=0.0, gamma=0.05),
    )
    assert seen == pytest.approx([0.42] * len(seen), rel=1e-9)
    with pytest.raises(BudgetExceeded):
        account.release(Laplace(scale=1e6, l1_sensitivity=1.0), [0.0])


# Methods, the oracle, refusals.


def test_candidates_of_methods() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(4_000, 2)) / 3
    features /= np.maximum(1.0, np.linalg.norm(features, axis=1, keepdims=True))
    labels = np.where(features[:, 0] > 0, 1.0, -1.0)
    candidates = [
        Candidate.of(
            ridge.METHOD, Problem(loss=Squared(target_bound=1.0), dimension=2, penalty=penalty, radius=2.0)
        )
        for penalty in (1e-4, 0.1)
    ]
    chosen = choose_on_parts(
        candidates, examples_of(features, labels), account=Account(GaussianDP(1.0), seed=1)
    )
    assert chosen.index == 1, "too small a penalty drowns in noise"
    assert chosen.name == "ridge(penalty=0.1, radius=2)"


def test_refuses_before_spending() -> None:
    features, labels = classes(50)
    account = Account(PureDP(1.0), seed=0)
    rows = examples_of(features, labels)
    wrongs: list[tuple[dict[str, Any], str]] = [
        ({"candidates": []}, "candidates"),
        ({"holdout": 1.0}, "holdout"),
    ]
    for wrong, word in wrongs:
        arguments: dict[str, Any] = {"candidates": CANDIDATES} | wrong
        with pytest.raises(ParameterError, match=word):
            choose_on_parts(arguments.pop("candidates"), rows, account=account, **arguments)
    with pytest.raises(ParameterError, match="score_share"):
        choose_by_random_stopping(CANDIDATES, rows, account=account, score_share=0.0)
    unit = PrivacyUnit("user", max_rows=2)
    with pytest.raises(ParameterError, match="max_rows"):
        choose_on_parts(
            CANDIDATES, examples_of(features, labels, unit=unit), account=Account(PureDP(1.0), unit=unit)
        )
    with pytest.raises(ParameterError, match="eta"):
        RandomStopping(eta=2.0)
    with pytest.raises(ParameterError, match="bound"):
        ClippedLoss(loss=Logistic(), bound=0.0)
    assert account.journal.spent("") is None

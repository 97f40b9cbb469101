"""The two-world audit: right about its error on the tightest null, and not blind."""

from __future__ import annotations

import math

import numpy as np
import pytest

from holdfast._arrays import Floats
from holdfast.errors import ParameterError
from holdfast.noise._source import Source
from holdfast.privacy import Gaussian, GaussianDP, PureDP
from holdfast.refute._two_worlds import (
    TwoWorlds,
    score_between,
    separate_draws,
    subsampled_draws,
    worst_event,
)
from tests.studies.size import Study, trials


def coin(share: float):  # type: ignore[no-untyped-def]
    return lambda source, size: ((source.words(size) + 0.5) * 2.0**-64 < share).astype(float)


def response(epsilon: float, *, claimed: float, draws: int = 2000) -> TwoWorlds:
    """Randomised response: every test on it is at the edge of pure epsilon."""
    keep = 1 / (1 + math.exp(-epsilon))
    return TwoWorlds(what="", without=coin(1 - keep), present=coin(keep), claim=PureDP(claimed), draws=draws)


def test_a_true_claim_is_refuted_no_oftener_than_the_error(study: Study) -> None:
    trial, runs = response(1.0, claimed=1.0, draws=400), trials(1000)
    alarms = sum(trial.run(Source(seed=seed), error=0.2).refuted for seed in range(runs))
    study.alarms(alarms, rate=0.2, runs=runs, chance=3e-3)


def test_a_normal_pair_on_its_own_curve() -> None:
    rng = np.random.default_rng(1)
    alarms = 0
    for _ in range(60):
        event = worst_event(
            GaussianDP(1.0).trade_off(), rng.normal(size=600), rng.normal(size=600) + 1.0, error=0.2
        )
        alarms += event.contradicts
    assert alarms <= 60 * 0.2 + 3 * math.sqrt(60 * 0.16)


def test_events_are_not_chosen_on_the_draws_that_test_them() -> None:
    """Two equal worlds: bins picked for their likelihood ratio look different on the draws that picked them."""
    rng, same = np.random.default_rng(2), PureDP(0.0).trade_off()
    alarms = sum(
        worst_event(same, rng.normal(size=800), rng.normal(size=800), error=0.2).contradicts
        for _ in range(60)
    )
    assert alarms <= 60 * 0.2


def test_false_claims_fall() -> None:
    assert response(2.0, claimed=1.0).run(Source(seed=1), error=1e-8).refuted
    found = response(5.0, claimed=1.0).run(Source(seed=1), error=1e-8)
    assert found.refuted
    assert "epsilon >=" in found.detail


def test_both_directions_are_tested() -> None:
    """An event of probability 0 in the world *with* the unit is as telling."""
    trial = TwoWorlds(what="", without=coin(0.5), present=coin(0.0), claim=PureDP(1.0), draws=2000)
    assert trial.run(Source(seed=1), error=1e-8).refuted


def test_the_limits_hold_for_the_reported_event() -> None:
    event = worst_event(PureDP(0.1).trade_off(), np.zeros(2000), np.ones(2000), error=0.05)
    assert event.contradicts
    assert 0.99 < event.detection < 1.0
    assert 0.0 < event.false_alarm < 0.01
    assert event.epsilon_lower == pytest.approx(math.log(event.detection / event.false_alarm))
    with pytest.raises(ParameterError, match="draws"):
        worst_event(PureDP(0.1).trade_off(), np.zeros(3), np.ones(3), error=0.05)


def test_a_subsampled_unit_takes_part_sometimes() -> None:
    mixed = subsampled_draws(0.25, lambda _, size: np.ones(size), lambda _, size: np.zeros(size))
    assert np.mean(mixed(Source(seed=2), 20_000)) == pytest.approx(0.25, abs=0.02)
    always = coin(0.5)
    assert subsampled_draws(1.0, always, coin(0.1)) is always


def test_draws_are_separate_calls() -> None:
    seen = []

    def sample(value: Floats, source: Source) -> Floats:
        seen.append(value)
        return value

    assert separate_draws(sample, np.zeros(3))(Source(seed=0), 5).shape == (5, 2)
    assert len(seen) == 5
    noise = Gaussian(sigma=1.0, l2_sensitivity=1.0)
    low, high = np.zeros(3), np.array([0.0, 3.0, 4.0])
    scores = separate_draws(noise.sample, high, score=score_between(low, high))(Source(seed=0), 400)
    assert np.mean(scores) == pytest.approx(5.0, abs=0.3)
    assert np.std(scores) == pytest.approx(1.0, abs=0.2)

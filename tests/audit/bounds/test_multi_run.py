"""One canary, many trainings: anchor numbers, the failures of peers, and false alarms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from holdfast.audit._bounds import multi_run
from holdfast.audit._bounds.multi_run import ErrorRates
from holdfast.errors import ParameterError
from holdfast.privacy._tradeoff import clopper_pearson_upper
from tests.studies.size import Study, trials

RUNS = 2000
ALLOWED = 0.05 + 2 * np.sqrt(0.05 * 0.95 / RUNS)


@pytest.mark.parametrize(
    ("runs", "exact", "credible"), [(100, 3.28, 4.90), (1000, 5.60, 7.21), (100_000, 10.21, 11.82)]
)
def test_a_perfect_attack_is_capped(runs: int, exact: float, credible: float) -> None:
    # The caps of the anchor table (bolt-on showcase).
    perfect = ErrorRates(false_alarms=0, without=runs, misses=0, with_canary=runs)
    assert multi_run.epsilon_lower(perfect) == pytest.approx(exact, abs=6e-3)
    assert multi_run.bayesian_epsilon_lower(perfect) == pytest.approx(credible, abs=1.2e-2)


@given(st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(1e-4, 0.4))
def test_clopper_pearson_is_the_inverted_tail(count: tuple[int, int], error: float) -> None:
    from scipy.stats import binom

    k, n = count
    upper = clopper_pearson_upper(k, n, error=error)
    assert (upper == 1.0) == (k == n)
    if k < n:  # rounded up by a hair, which lowers the tail by a hair
        assert error - 1e-7 <= binom.cdf(k, n, upper) <= error * (1 + 1e-9)


def test_bayesian_bound_agrees_with_sampling() -> None:
    errors = ErrorRates(false_alarms=7, without=300, misses=40, with_canary=200)
    rng = np.random.default_rng(7)
    x, y = rng.beta(7.5, 293.5, 400_000), rng.beta(40.5, 160.5, 400_000)
    epsilon = np.maximum(np.log((1 - 1e-3 - y) / x), np.log((1 - 1e-3 - x) / y))
    assert multi_run.bayesian_epsilon_lower(errors, delta=1e-3) == pytest.approx(
        np.quantile(epsilon, 0.05), abs=4e-3
    )


@given(st.integers(0, 50), st.integers(0, 50), st.floats(0, 0.1))
def test_laws_of_the_bound(alarms: int, misses: int, delta: float) -> None:
    errors = ErrorRates(false_alarms=alarms, without=100, misses=misses, with_canary=100)
    mirrored = ErrorRates(false_alarms=misses, without=100, misses=alarms, with_canary=100)
    bound = multi_run.epsilon_lower(errors, delta=delta)
    assert bound == multi_run.epsilon_lower(mirrored, delta=delta)
    assert bound <= multi_run.epsilon_lower(errors)
    shared = ErrorRates(false_alarms=alarms, without=100, misses=misses, with_canary=100, tried=10)
    assert multi_run.epsilon_lower(shared, delta=delta) <= bound
    alarm_limit = clopper_pearson_upper(alarms, 100, error=0.05 / 20)
    assert shared.limits(0.95)[0] == pytest.approx(alarm_limit, rel=1e-12)
    assert multi_run.epsilon_lower(errors, delta=delta, confidence=0.99) <= bound


def laplace_worlds(
    epsilon: float, size: int, seed: int, runs: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Scores of a mechanism that is exactly epsilon-DP."""
    rng = np.random.default_rng(seed)
    scale = 1.0 / max(epsilon, 1e-3)
    shift = 1.0 if epsilon > 0 else 0.0
    return shift + rng.laplace(scale=scale, size=(runs, size)), rng.laplace(scale=scale, size=(runs, size))


@pytest.mark.parametrize("epsilon", [0.0, 1.0, 4.0])
def test_false_alarms_at_a_fixed_threshold(epsilon: float) -> None:
    rng, rate = np.random.default_rng(5), 1 / (1 + np.exp(epsilon))
    alarms, misses = rng.binomial(300, rate, RUNS), rng.binomial(300, rate, RUNS)
    found = [
        multi_run.epsilon_lower(ErrorRates(false_alarms=a, without=300, misses=b, with_canary=300)) > epsilon
        for a, b in zip(alarms.tolist(), misses.tolist(), strict=True)
    ]
    assert np.mean(found) <= ALLOWED
    # Two limits hold together although a product is tested: conservative, not vacuous where one rate binds.
    assert epsilon < 4 or np.mean(found) >= 0.001


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.0, 1.0, 4.0])
def test_false_alarms_of_chosen_thresholds(epsilon: float, study: Study) -> None:
    runs = trials(RUNS)
    inside, outside = laplace_worlds(epsilon, 120, seed=9, runs=runs)
    grid = np.linspace(-1, 2, 7)
    held = [
        multi_run.epsilon_lower(multi_run.held_out_errors(a, b)) for a, b in zip(inside, outside, strict=True)
    ]
    best = [
        multi_run.epsilon_lower(multi_run.best_threshold_errors(a, b, thresholds=grid))
        for a, b in zip(inside, outside, strict=True)
    ]
    study.alarms(sum(bound > epsilon for bound in held), rate=0.05, runs=runs, chance=0.03)
    study.alarms(sum(bound > epsilon for bound in best), rate=0.05, runs=runs, chance=0.03)


@pytest.mark.parametrize("mu", [0.0, 0.27, 0.92])
def test_false_alarms_in_the_gaussian_family(mu: float) -> None:
    rng = np.random.default_rng(13)
    inside, outside = mu + rng.standard_normal((RUNS, 200)), rng.standard_normal((RUNS, 200))
    found = [
        multi_run.mu_lower(multi_run.at_threshold(a, b, threshold=mu / 2)) > mu
        for a, b in zip(inside, outside, strict=True)
    ]
    assert np.mean(found) <= ALLOWED


def test_pure_noise_shows_nothing_where_a_peer_reports_eight() -> None:
    # jax-privacy 2.0.0, epsilon_from_gdp, 500 in and 500 out of pure noise: 7.79 on average, above 0 in 20 of 20.
    found = []
    for seed in range(40):
        scores = np.random.default_rng(seed).standard_normal((2, 500))
        found.append(
            multi_run.gaussian_epsilon_lower(multi_run.held_out_errors(scores[0], scores[1]), delta=1e-5)
        )
    assert np.mean(np.array(found) > 0) <= 0.1
    assert max(found) < 1.0


def test_the_credible_bound_is_not_a_confidence_bound(study: Study) -> None:
    # Where both directions bind its error is far above 5 %: the reason why it never refutes.
    rng, rate = np.random.default_rng(6), 1 / (1 + np.exp(4.0))
    runs = trials(1000)
    alarms, misses = rng.binomial(500, rate, runs), rng.binomial(500, rate, runs)
    found = [
        multi_run.bayesian_epsilon_lower(ErrorRates(false_alarms=a, without=500, misses=b, with_canary=500))
        > 4.0
        for a, b in zip(alarms.tolist(), misses.tolist(), strict=True)
    ]
    study.note(trials=runs, alarms=sum(found), more_than=0.08)
    assert np.mean(found) > 0.08


def test_thresholds() -> None:
    inside, outside = np.arange(10.0) + 5, np.arange(10.0)
    errors = multi_run.at_threshold(inside, outside, threshold=7.0)
    assert (errors.false_alarms, errors.misses) == (3, 2)
    assert multi_run.best_threshold_errors(inside, outside, thresholds=[0.0, 7.0, 20.0]).tried == 3
    assert multi_run.held_out_errors(inside, outside, share=0.5).without == 5
    for bad in ({"share": 0.0}, {"share": 0.99}):
        with pytest.raises(ParameterError, match="share"):
            multi_run.held_out_errors(inside, outside, **bad)
    with pytest.raises(ParameterError, match="false_alarms"):
        ErrorRates(false_alarms=5, without=4, misses=0, with_canary=4)
    with pytest.raises(ParameterError, match="finite"):
        multi_run.at_threshold([np.inf], [0.0], threshold=1.0)

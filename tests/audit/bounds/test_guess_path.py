"""The best number of guesses made valid: exact calibration, geometric grids, splitting."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from holdfast.audit._bounds import guess_path as path
from holdfast.audit._bounds import one_run
from holdfast.audit._bounds.epsilon_grid import climb, last_epsilon, rung
from holdfast.audit._bounds.worst_case import keep_probability, upper_tail
from holdfast.errors import ParameterError
from tests.studies.size import Study, trials

RUNS = 2000
ALLOWED = 0.05 + 2 * np.sqrt(0.05 * 0.95 / RUNS)


def above(epsilon: float) -> float:
    """The first rung that covers this epsilon."""
    return rung(last_epsilon(lambda e: e < epsilon) + 1)


def null_paths(epsilon: float, guesses: int, seed: int, runs: int = RUNS) -> NDArray[np.bool_]:
    return np.asarray(np.random.default_rng(seed).random((runs, guesses)) < keep_probability(epsilon))


def smallest_tails(paths: NDArray[np.bool_], epsilon: float) -> NDArray[np.float64]:
    tails = upper_tail(np.arange(1, paths.shape[1] + 1), np.cumsum(paths, axis=1), epsilon)
    return np.asarray(tails.min(axis=1))


@pytest.mark.parametrize(
    ("epsilon", "expected"), [(0.0, 0.00506), (1.0, 0.00575), (2.0, 0.00769), (4.0, 0.0219)]
)
def test_levels_of_soundness(epsilon: float, expected: float) -> None:
    got = path.level(range(1, 501), epsilon=epsilon, beta=0.05)
    assert got == pytest.approx(expected, rel=2e-3)
    assert path.crossing(got, range(1, 501), epsilon=epsilon) <= 0.05
    assert path.crossing(got * 1.01, range(1, 501), epsilon=epsilon) > 0.05


@given(
    st.lists(st.integers(1, 11), min_size=1, max_size=6, unique=True),
    st.floats(0.0, 3.0),
    st.floats(0.001, 0.6),
)
def test_crossing_is_the_sum_over_all_paths(looks: list[int], epsilon: float, level: float) -> None:
    times = sorted(looks)
    q, total = keep_probability(epsilon), 0.0
    for bits in itertools.product([0, 1], repeat=times[-1]):
        right = np.cumsum(bits)
        if np.any(upper_tail(times, right[np.array(times) - 1], epsilon) <= level):
            total += q ** sum(bits) * (1 - q) ** (len(bits) - sum(bits))
    assert path.crossing(level, times, epsilon=epsilon) == pytest.approx(total, abs=1e-9)


def test_the_window_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = np.arange(1, 1201)
    windowed = path.crossing(0.004, looks, epsilon=0.5)
    monkeypatch.setattr(path, "_DROPPED_MASS", 0.0)
    assert windowed == pytest.approx(path.crossing(0.004, looks, epsilon=0.5), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.0, 1.0, 4.0])
def test_false_alarms_of_the_exact_path(epsilon: float) -> None:
    covering, guesses = above(epsilon), 300
    levels = path.Levels(range(1, guesses + 1), beta=0.05)
    paths = null_paths(epsilon, guesses, seed=17)
    # A bound above the truth needs the rung that covers the truth to be rejected.
    level = path.level(levels.looks, epsilon=covering, beta=0.05)
    rejected = smallest_tails(paths, covering) <= level
    assert rejected.mean() <= ALLOWED
    assert rejected.mean() >= 0.01
    # What is reported agrees: above the truth only where rejected, and for most of those.
    fooled = [path.epsilon_lower(p, canaries=guesses, levels=levels) > epsilon for p in paths[rejected][:12]]
    honest = [path.epsilon_lower(p, canaries=guesses, levels=levels) > epsilon for p in paths[~rejected][:12]]
    assert sum(fooled) >= 6
    assert not any(honest)


@pytest.mark.parametrize("epsilon", [0.0, 1.0])
def test_the_uncorrected_maximum_is_not_a_bound(epsilon: float) -> None:
    # Anchor: 0.326 and 0.315 at K = 500 pairs; soundness: 30 % and 32 %.
    paths = null_paths(epsilon, 500, seed=3)
    assert 0.25 < np.mean(smallest_tails(paths, epsilon) <= 0.05) < 0.5
    fooled = paths[smallest_tails(paths, epsilon) <= 0.045][0]
    assert path.uncorrected_maximum(fooled, canaries=500) > epsilon


def test_the_uncorrected_maximum_is_the_best_fixed_look() -> None:
    bits = null_paths(2.0, 60, seed=5)[0]
    each = [one_run.epsilon_lower(r, int(bits[:r].sum()), canaries=60) for r in range(1, 61)]
    assert path.uncorrected_maximum(bits, canaries=60) == pytest.approx(max(each), abs=1e-9)


@given(st.lists(st.booleans(), min_size=1, max_size=40), st.sampled_from([0.0, 1e-5]))
def test_validity_costs_and_the_order_of_repairs(bits: list[bool], delta: float) -> None:
    m = 50
    exact = path.epsilon_lower(bits, canaries=m, delta=delta)
    assert exact <= path.uncorrected_maximum(bits, canaries=m) + 1e-9
    if exact > 0.01:  # the adjusted p-value tells the same story, at the rung and everywhere below
        for share in (0.0, 0.5, 1.0):
            assert path.p_value(bits, canaries=m, epsilon=share * exact, delta=delta) <= 0.05 + 1e-9
    assert path.epsilon_lower(bits, canaries=m, delta=1e-4) <= path.epsilon_lower(bits, canaries=m)


def test_delta_is_paid_m_times() -> None:
    assert (
        path.epsilon_lower([True] * 100, canaries=1000, delta=5e-5) == 0.0
    )  # m delta = beta: nothing is left
    assert path.epsilon_lower([True] * 100, canaries=1000, delta=4e-5) > 0.0
    with_delta = path.p_value([True] * 20, canaries=100, epsilon=0.5, delta=1e-4)
    assert with_delta - path.p_value([True] * 20, canaries=100, epsilon=0.5) == pytest.approx(100 * 1e-4)


def test_one_look_needs_no_correction() -> None:
    bits = np.arange(100) < 90
    alone = path.epsilon_lower(bits, canaries=100, looks=[100])
    exact = one_run.epsilon_lower(100, 90, canaries=100)
    assert exact / 1.006 <= alone <= exact


def test_shared_levels_change_nothing() -> None:
    levels = path.Levels(np.arange(2, 121, 2), beta=0.05)
    for seed in range(8):
        bits = null_paths(1.0 + seed % 3, 120, seed=seed)[0]
        kept = path.epsilon_lower(bits, canaries=120, levels=levels)
        assert kept == pytest.approx(path.epsilon_lower(bits, canaries=120, looks=levels.looks), rel=1e-12)
    with pytest.raises(ParameterError, match=r"levels\.beta"):
        path.epsilon_lower(bits, canaries=120, levels=levels, confidence=0.99)


@pytest.mark.parametrize("epsilon", [0.0, 1.0, 4.0])
def test_false_alarms_of_the_geometric_grid(epsilon: float) -> None:
    paths = null_paths(epsilon, 400, seed=23)
    looks = path.geometric_looks(400)
    right = np.cumsum(paths, axis=1)[:, looks - 1]
    rejected = np.asarray((upper_tail(looks, right, epsilon) <= 0.05 / looks.size).any(axis=1))
    assert rejected.mean() <= ALLOWED
    for row in np.concatenate([np.flatnonzero(rejected)[:5], np.flatnonzero(~rejected)[:5]]):
        bound = path.geometric_epsilon_lower(paths[row], canaries=400)
        assert (bound > epsilon) == rejected[row]


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.0, 1.0, 4.0])
def test_false_alarms_of_splitting(epsilon: float, monkeypatch: pytest.MonkeyPatch, study: Study) -> None:
    @cache
    def kept(guesses: int, correct: int, canaries: int, confidence: float) -> float:
        return exact(guesses, correct, canaries=canaries, confidence=confidence)

    exact = one_run.epsilon_lower
    monkeypatch.setattr(
        one_run, "epsilon_lower", lambda r, v, *, canaries, confidence: kept(r, v, canaries, confidence)
    )
    runs = trials(RUNS)
    halves = null_paths(epsilon, 400, seed=29, runs=runs)
    bounds = [path.split_epsilon_lower(h[:200], h[200:], canaries=200) for h in halves]
    study.alarms(sum(bound > epsilon for bound in bounds), rate=0.05, runs=runs, chance=0.03)


def test_the_ladder_stops_at_the_first_rung_that_holds() -> None:
    assert climb(lambda e: e <= 1.0 or e > 1.5) <= 1.0
    assert climb(lambda e: False) == 0.0
    assert np.all(np.diff([rung(i) for i in range(1101)]) > 0)


def test_bad_looks_are_refused() -> None:
    for looks in ([], [0, 1], [2, 2], [1, 200]):
        with pytest.raises(ParameterError, match="looks"):
            path.epsilon_lower([True] * 10, canaries=10, looks=looks)
    with pytest.raises(ParameterError, match="canaries"):
        path.epsilon_lower([True] * 10, canaries=9)

"""One-run bounds: the numbers of soundness section 13, laws, and false alarms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.audit._bounds import one_run
from holdfast.audit._canaries import decoder
from holdfast.errors import ParameterError

FORMULA = [
    (1000, 100, 90, 0.0, 1.6308),
    (1000, 100, 90, 1e-5, 1.6261),
    (1000, 100, 100, 0.0, 3.4930),
    (1000, 100, 100, 1e-5, 3.4654),
    (1000, 600, 600, 1e-5, 5.2704),
]
PROGRAMME = [
    (1000, 100, 90, 0.0, 1.6308),
    (1000, 100, 90, 1e-5, 1.6302),
    (1000, 100, 90, 1e-4, 1.6248),
    (1000, 100, 100, 0.0, 3.4930),
    (1000, 100, 100, 1e-5, 3.4923),
    (1000, 600, 600, 1e-5, 5.2971),
]


@pytest.mark.parametrize(("m", "r", "v", "delta", "expected"), FORMULA)
def test_closed_formula(m: int, r: int, v: int, delta: float, expected: float) -> None:
    bound = one_run.epsilon_lower(r, v, canaries=m, delta=delta, method="formula")
    assert bound == pytest.approx(expected, abs=6e-5)


@pytest.mark.parametrize(("m", "r", "v", "delta", "expected"), PROGRAMME)
def test_exact(m: int, r: int, v: int, delta: float, expected: float) -> None:
    assert one_run.epsilon_lower(r, v, canaries=m, delta=delta) == pytest.approx(expected, abs=6e-5)


def test_coin_flipping_shows_nothing() -> None:
    # PrivacyGuard's f-DP audit reports 0.397 here (its grid cannot say 0).
    assert one_run.epsilon_lower(100, 50, canaries=100) == 0.0
    assert one_run.epsilon_lower(100, 58, canaries=1000, delta=1e-5) == 0.0
    assert one_run.epsilon_lower(100, 59, canaries=1000, delta=1e-5) > 0.0


@st.composite
def cases(draw: st.DrawFn) -> tuple[int, int, int, float]:
    guesses = draw(st.integers(1, 80))
    correct, delta = draw(st.integers(0, guesses)), draw(st.sampled_from([0.0, 1e-6, 1e-4]))
    return guesses + draw(st.integers(0, 100)), guesses, correct, delta


@given(cases(), st.sampled_from([0.9, 0.95, 0.999]))
def test_the_bound_is_where_refutation_ends(case: tuple[int, int, int, float], confidence: float) -> None:
    m, r, v, delta = case
    bound = one_run.epsilon_lower(r, v, canaries=m, delta=delta, confidence=confidence)
    if bound > 0:
        for share in (0.0, 0.3, 0.7, 1.0):  # every smaller epsilon is refuted, too
            p = one_run.p_value(r, v, canaries=m, epsilon=share * bound, delta=delta)
            assert p <= 1 - confidence + 1e-12
    assert one_run.p_value(r, v, canaries=m, epsilon=bound + 1e-6, delta=delta) > 1 - confidence - 1e-9


@given(cases())
def test_more_right_guesses_never_lower_the_bound(case: tuple[int, int, int, float]) -> None:
    m, r, v, delta = case
    if v < r:
        low, high = (one_run.epsilon_lower(r, k, canaries=m, delta=delta) for k in (v, v + 1))
        assert low <= high + 1e-9


@given(cases())
def test_the_formula_never_beats_the_programme(case: tuple[int, int, int, float]) -> None:
    m, r, v, delta = case
    formula = one_run.epsilon_lower(r, v, canaries=m, delta=delta, method="formula")
    assert formula <= one_run.epsilon_lower(r, v, canaries=m, delta=delta) + 1e-8


def test_the_formula_is_refused_where_it_is_no_bound() -> None:
    with pytest.raises(ParameterError, match="binomial tail"):
        one_run.p_value(3, 1, canaries=3, epsilon=0.0, delta=0.1, method="formula")
    with pytest.raises(ParameterError, match="confidence"):
        one_run.epsilon_lower(3, 3, canaries=3, confidence=0.4, method="formula")


@pytest.mark.parametrize(
    ("guesses", "correct", "canaries", "delta"),
    [(5, 6, 10, 0.0), (11, 5, 10, 0.0), (5, -1, 10, 0.0), (5, 5, 5, 1.0)],
)
def test_impossible_counts_are_refused(guesses: int, correct: int, canaries: int, delta: float) -> None:
    with pytest.raises(ParameterError):
        one_run.epsilon_lower(guesses, correct, canaries=canaries, delta=delta)


@pytest.mark.parametrize("epsilon", [0.0, 1.0, 4.0])
@pytest.mark.parametrize("method", ["exact", "formula"])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_false_alarms(epsilon: float, method: one_run.Method, delta: float) -> None:
    # Randomised response is the worst null. 400 guesses: at epsilon 4 fewer can never refute.
    m, r, runs = 1000, 400, 2000
    rng = np.random.default_rng(20240613 + int(epsilon))
    correct = rng.binomial(r, 1 / (1 + np.exp(-epsilon)), size=runs)
    leaked = rng.random(runs) < delta
    bounds = {
        v: one_run.epsilon_lower(r, v, canaries=m, delta=delta, method=method)
        for v in np.unique(correct).tolist()
    }
    alarms = np.mean([bounds[v] > epsilon for v in np.where(leaked, r, correct).tolist() if v in bounds])
    assert alarms <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / runs)
    assert alarms >= 0.01


def test_guesses_from_scores() -> None:
    scores, member = np.array([3.0, -2.0, 0.5, -1.0, 2.0]), np.array([True, False, False, True, True])
    assert decoder.count_correct(scores, member, include=2, exclude=2) == 3
    assert decoder.correct_path(scores, member, include=2, exclude=2).tolist() == [True, True, True, False]
    assert decoder.correct_path(scores, member, include=2, exclude=0).tolist() == [True, True]
    with pytest.raises(ParameterError, match="include"):
        decoder.count_correct(scores, member, include=4, exclude=2)
    with pytest.raises(ParameterError, match="finite"):
        decoder.count_correct([np.nan, 1.0], [True, False], include=1, exclude=0)


@pytest.mark.parametrize(("guesses", "correct"), [(10, 10), (100, 90), (1000, 600), (50, 25)])
def test_the_bound_by_hand_is_valid_and_never_above_the_exact_one(guesses: int, correct: int) -> None:
    by_hand = one_run.epsilon_lower(guesses, correct, canaries=guesses, method="hoeffding")
    assert 0.0 <= by_hand <= one_run.epsilon_lower(guesses, correct, canaries=guesses)
    for epsilon in (0.0, 0.5, 2.0):
        exact = one_run.p_value(guesses, correct, canaries=guesses, epsilon=epsilon)
        assert (
            one_run.p_value(guesses, correct, canaries=guesses, epsilon=epsilon, method="hoeffding") >= exact
        )
    with pytest.raises(ParameterError, match="delta must be 0 for method='hoeffding'"):
        one_run.epsilon_lower(guesses, correct, canaries=guesses, delta=1e-5, method="hoeffding")

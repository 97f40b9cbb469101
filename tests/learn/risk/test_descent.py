"""The schedule of noisy gradient descent: a rule in public quantities, and noise that never costs more."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import BudgetExceeded, ParameterError
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Logistic, Squared
from holdfast.learn._risk.descent import (
    MOST_FULL_COLUMNS,
    DescentChanges,
    DescentSchedule,
    gaussian_for,
    gaussian_square,
    gradient_clip,
    noisy_descent,
    plain_schedule,
    schedule_for,
    signal,
)
from holdfast.learn._whitening import no_whitening
from holdfast.privacy import ZCDP, ApproxDP, GaussianDP


@given(st.floats(1e-4, 20.0), st.integers(1, 10**8), st.integers(1, 5_000))
def test_the_rule_is_defined_everywhere(mu: float, n: int, d: int) -> None:
    for rule in (schedule_for, plain_schedule):
        weak, strong = rule(mu, count=n, dimension=d, factor=2.0), rule(mu, count=n, dimension=d)
        assert weak.step <= strong.step
        assert weak.steps <= strong.steps
    assert signal(mu, count=n, dimension=d, factor=2.0) == pytest.approx(mu * n / d / 2)


def test_clips_grow_with_the_signal_up_to_whole_gradients() -> None:
    problem, setting = Problem(loss=Logistic(), dimension=100), DescentSchedule()
    clips = [gradient_clip(problem, setting, no_whitening(100), signal=s) for s in (0.0, 1e3, 1e4, 1e5, 1e9)]
    assert clips == sorted(clips)
    assert clips[0] == pytest.approx(0.06 * 10)
    assert clips[2] == pytest.approx(0.05 * 10 * 10)
    assert clips[-1] == pytest.approx(0.5 * 10)
    numbers = Problem(loss=Squared(target_bound=1.0), dimension=100)
    assert gradient_clip(numbers, setting, no_whitening(100), signal=1e4) == pytest.approx(clips[2] / 2)
    plain = DescentSchedule(preconditioner="none")
    assert gradient_clip(problem, plain, no_whitening(100), signal=1.0) == pytest.approx(1.0)
    assert gradient_clip(numbers, plain, no_whitening(100), signal=1.0) == pytest.approx(1.0)


class _Noise:
    """A permit that adds seeded noise of one deviation."""

    def __init__(self, deviation: float, seed: int) -> None:
        self.deviation, self.rng = deviation, np.random.default_rng(seed)

    def release(self, value: Any) -> Any:
        return value + self.deviation * self.rng.normal(size=value.shape)


def _descended(curvature: float, seed: int, *, guarded: bool, deviation: float = 1.0) -> Any:
    """Weights after descending on (curvature / 2) |w - 1|^2, a mean over ten rows."""
    problem = Problem(loss=Logistic(), dimension=20)
    permit: Any = _Noise(deviation, seed)
    return noisy_descent(
        lambda weights: 10.0 * curvature * (weights - 1.0),
        problem,
        no_whitening(20),
        DescentSchedule(),
        permit,
        step=1.0,
        divisor=10.0,
        name="test",
        noise=deviation if guarded else None,
    )


def test_noise_alone_does_not_shorten_steps() -> None:
    same = [
        np.array_equal(_descended(1e-3, seed, guarded=True), _descended(1e-3, seed, guarded=False))
        for seed in range(40)
    ]
    # Three deviations, in each of 16 steps: one run in fifty or so.
    assert sum(same) >= 36


def test_steps_that_overshoot_become_shorter() -> None:
    for deviation in (1e-6, 1.0):
        wild = _descended(8.0, 0, guarded=False, deviation=deviation)
        calm = _descended(8.0, 0, guarded=True, deviation=deviation)
        assert np.linalg.norm(calm - 1.0) < 2.0 < 100.0 < np.linalg.norm(wild - 1.0)


@given(st.fractions(Fraction(1, 10**9), Fraction(10**6)), st.floats(1e-6, 1e6))
def test_noise_for_a_square_never_costs_more(square: Fraction, sensitivity: float) -> None:
    cost = gaussian_for(square, l2_sensitivity=sensitivity).curve.as_gdp()
    assert 1 - Fraction(1, 10**12) <= cost / square <= 1


def test_a_square_is_read_in_every_currency() -> None:
    assert gaussian_square(ZCDP(0.5)) <= 1
    assert float(gaussian_square(ZCDP(0.5))) == pytest.approx(1.0, rel=1e-8)
    assert math.isclose(float(gaussian_square(GaussianDP(3.0))), 9.0)
    assert DescentSchedule(steps=5, average=0.0).averaged_steps == 1
    assert DescentSchedule(steps=5, average=0.5).averaged_steps == 3


def test_the_rule_of_the_decision_note() -> None:
    setting = schedule_for(0.2185, count=32_561, dimension=108)
    assert (setting.unit_share, setting.share, setting.floor, setting.ridge) == (0.1, 0.25, 0.2, 0.5)
    assert (setting.steps, setting.step, setting.momentum, setting.average) == (16, 8.0, 0.4, 0.5)
    assert setting.preconditioner == "full"
    assert setting.moment_share == pytest.approx(0.35)
    several = schedule_for(0.2185, count=32_561, dimension=108, classes=7)
    assert several.moment_share == pytest.approx(0.15)
    wide = schedule_for(1.0, count=10**8, dimension=MOST_FULL_COLUMNS + 1)
    assert (wide.preconditioner, wide.moment_share) == ("diagonal", 0.1)


def test_what_a_caller_gives_is_kept() -> None:
    changed = DescentSchedule().with_changes(DescentChanges(steps=3, step=None, preconditioner="none"))
    assert (changed.steps, changed.step, changed.moment_share) == (3, 8.0, 0.0)


@pytest.mark.parametrize(
    "options",
    [
        {"preconditioner": "some"},
        {"share": 0.0},
        {"share": 1.0},
        {"unit_share": 0.8},
        {"floor": 0.0},
        {"ridge": 0.0},
        {"clip": math.inf},
        {"steps": 0},
        {"steps": 2.5},
        {"step": 0.0},
        {"momentum": 1.0},
        {"average": 1.1},
    ],
)
def test_bad_settings_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=next(iter(options))):
        DescentSchedule(**options)


def test_an_empty_limit_is_refused() -> None:
    with pytest.raises(BudgetExceeded):
        gaussian_square(GaussianDP(0.0))
    square = gaussian_square(ApproxDP(1.0, 1e-6))
    assert GaussianDP.from_square(square).delta(1.0) <= 1e-6

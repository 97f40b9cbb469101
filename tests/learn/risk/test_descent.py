"""The schedule of noisy gradient descent: a rule in public quantities, and noise that never costs more."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import BudgetExceeded, ParameterError
from holdfast.learn.risk.descent import (
    LARGEST_FULL,
    DescentSchedule,
    gaussian_for,
    gaussian_square,
    plain_schedule,
    schedule_for,
    signal,
)
from holdfast.privacy import ZCDP, ApproxDP, GaussianDP


@given(st.floats(1e-4, 20.0), st.integers(1, 10**8), st.integers(1, 5_000))
def test_the_rule_is_defined_everywhere_and_takes_longer_steps_with_more_signal(
    mu: float, n: int, d: int
) -> None:
    for rule in (schedule_for, plain_schedule):
        weak, strong = rule(mu, count=n, dimension=d, factor=2.0), rule(mu, count=n, dimension=d)
        assert weak.step <= strong.step
        assert weak.steps <= strong.steps
    assert 6 <= schedule_for(mu, count=n, dimension=d).steps <= 12
    assert signal(mu, count=n, dimension=d, factor=2.0) == pytest.approx(mu * n / d / 2)


@given(st.fractions(Fraction(1, 10**9), Fraction(10**6)), st.floats(1e-6, 1e6))
def test_noise_for_a_square_never_costs_more(square: Fraction, sensitivity: float) -> None:
    cost = gaussian_for(square, l2_sensitivity=sensitivity).curve.as_gdp()
    assert 1 - Fraction(1, 10**12) <= cost / square <= 1


def test_a_square_is_read_in_every_currency() -> None:
    assert gaussian_square(ZCDP(0.5)) <= 1
    assert float(gaussian_square(ZCDP(0.5))) == pytest.approx(1.0, rel=1e-8)
    assert math.isclose(float(gaussian_square(GaussianDP(3.0))), 9.0)
    assert DescentSchedule(steps=5, average=0.0).averaged == 1
    assert DescentSchedule(steps=5, average=0.5).averaged == 3


def test_the_rule_of_the_decision_note() -> None:
    setting = schedule_for(0.2185, count=32_561, dimension=108)
    s = 0.2185 * 32_561 / 108
    assert (setting.preconditioner, setting.share, setting.ridge, setting.clip) == ("full", 0.25, 0.25, 0.5)
    assert (setting.momentum, setting.average) == (0.4, 0.5)
    assert setting.steps == round(6 + math.log2(1 + s))
    assert setting.step == pytest.approx(2 * math.sqrt(s))
    assert schedule_for(0.01, count=1_000, dimension=100).preconditioner == "diagonal"
    assert schedule_for(1.0, count=10**8, dimension=LARGEST_FULL + 1).preconditioner == "diagonal"
    assert schedule_for(1.0, count=10**8, dimension=50).step == 24.0


def test_what_a_caller_gives_is_kept() -> None:
    given_by_caller = {"steps": 3, "step": None, "preconditioner": "none"}
    changed = DescentSchedule().changed(given_by_caller)
    assert (changed.steps, changed.step, changed.moment_share) == (3, 24.0, 0.0)


@pytest.mark.parametrize(
    "options",
    [
        {"preconditioner": "some"}, {"share": 0.0}, {"share": 1.0}, {"ridge": 0.0}, {"clip": math.inf},
        {"steps": 0}, {"steps": 2.5}, {"step": 0.0}, {"momentum": 1.0}, {"average": 1.1},
    ],
)  # fmt: skip
def test_bad_settings_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=next(iter(options))):
        DescentSchedule(**options)


def test_an_empty_limit_is_refused() -> None:
    with pytest.raises(BudgetExceeded):
        gaussian_square(GaussianDP(0.0))
    square = gaussian_square(ApproxDP(1.0, 1e-6))
    assert GaussianDP.from_square(square).delta(1.0) <= 1e-6

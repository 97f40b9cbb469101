"""The plan: golden numbers, every bound on the side of privacy, and refusals before anything is spent."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from holdfast.errors import ParameterError
from holdfast.learn._sampling.rounds import CAP_SHARE, MOST_DIRECT_PROPOSALS, SamplingPlan
from holdfast.learn._sampling.start import certified_start

from .sampling_cases import marginal, plan_of, potential_of

N500: dict[str, Any] = {
    "dimension": 5,
    "inverse_temperature": 395.284708,
    "penalty": 6.324555e-3,
    "smoothness": 0.25,
}
"""n = 500, G = 1, D = 2, mu = 1: soundness, section 11."""


def test_the_printed_example() -> None:
    assert round(SamplingPlan(**N500).direct_bound) == 237
    assert SamplingPlan(**N500, total_variation=1e-8).rounds == 24
    d, k, mu = N500["dimension"], N500["inverse_temperature"], N500["penalty"]
    assert d / k + mu * 2.0**2 / 2 == pytest.approx(0.025298, abs=1e-6)


@pytest.mark.parametrize("eta", [1e-4, 1e-9])
def test_rounds_bring_the_divergence_below_the_total_variation(eta: float) -> None:
    plan = SamplingPlan(**N500, total_variation=eta)
    left = plan.start_divergence * (1 + plan.strong_convexity * plan.step) ** (-2 * plan.rounds)
    before = plan.start_divergence * (1 + plan.strong_convexity * plan.step) ** (-2 * plan.rounds + 2)
    assert math.sqrt(left / 2) + CAP_SHARE * eta <= eta < math.sqrt(before / 2) + CAP_SHARE * eta


@pytest.mark.parametrize("residual", [0.0, 3.0])
def test_a_round_gives_up_no_more_often_than_is_charged(residual: float) -> None:
    plan = SamplingPlan(**N500, total_variation=1e-6)
    least = math.exp(-0.5 * plan.spread * residual**2) / 400.0
    given_up = (1 - least) ** plan.cap(residual)
    assert plan.rounds * given_up <= CAP_SHARE * plan.total_variation


def test_the_step_keeps_every_table_within_its_proposals() -> None:
    """The trace's worst spread over d directions, and all of it along one."""
    for d in (1, 4, 108):
        plan = SamplingPlan(
            dimension=d, inverse_temperature=1e3, penalty=1e-3, smoothness=0.25, total_variation=1e-9
        )
        k, s = plan.inverse_temperature, plan.spread
        assert (1 + s * k * 0.25 / d) ** (d / 2) <= 400.0
        assert math.sqrt(1 + s * k * 0.25) <= 400.0


def test_the_start_is_as_near_as_its_bound() -> None:
    potential = potential_of(1)
    plan = plan_of(potential, eta=1e-6)
    start = certified_start(potential, plan)
    at = np.linspace(-9, 9, 4001)
    law = np.gradient(marginal(potential, np.ones(1), nodes=4001)(at), at)
    precision = plan.inverse_temperature * potential.second_moment()[0, 0] + plan.strong_convexity
    first = np.sqrt(precision / (2 * np.pi)) * np.exp(-precision * (at - start.minimiser[0]) ** 2 / 2)
    seen = (first > 1e-12) & (law > 0)
    divergence = float(np.sum(first[seen] * np.log(first[seen] / law[seen])) * (at[1] - at[0]))
    assert 0 < divergence <= plan.start_divergence


def test_what_cannot_be_drawn_is_refused() -> None:
    wide = {**N500, "dimension": 200}
    with pytest.raises(ParameterError, match="direct draw may need"):
        SamplingPlan(**wide)
    with pytest.raises(ParameterError, match="half_side"):
        SamplingPlan(**N500, total_variation=1e-6, half_side=1.0)
    with pytest.raises(ParameterError, match="penalty"):
        SamplingPlan(**{**N500, "penalty": 0.0})
    with pytest.raises(ParameterError, match="rounds"):
        SamplingPlan(**{**wide, "inverse_temperature": 1e9, "penalty": 1e-9}, total_variation=1e-9)
    box = {**N500, "penalty": 0.0, "half_side": 0.3}
    assert SamplingPlan(**box).direct_bound <= MOST_DIRECT_PROPOSALS
    with pytest.raises(ParameterError, match="fewer columns"):
        SamplingPlan(**{**box, "half_side": 50.0})

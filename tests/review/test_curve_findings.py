"""Findings P3, P4 and P9: groups, Poisson samples and slack of curves (soundness, sections 18 and 21)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from holdfast.privacy import (
    ZCDP,
    Account,
    ApproxDP,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    GaussianDP,
    Laplace,
    LossDistribution,
    Mechanism,
    PrivacyCurve,
    PureDP,
    RandomisedResponse,
    SubsampledGaussian,
    VectorLaplace,
    WithSlack,
    compose,
    to_replace,
)
from tests.review.support import finite_pair, refused, stored, subsampled, true_delta

SMALL = ZCDP(1e-4)
"""A part without a loss distribution, far too small to matter."""


# P3: the delta of a curve is no event: a group of h pays delta (e^(h eps) - 1) / (e^eps - 1) for it.


@pytest.mark.parametrize(
    ("epsilon", "delta", "size", "truth"),
    [
        (2.0, 1e-6, 2, 8.389056e-6),
        (2.0, 1e-6, 3, 6.298721e-5),
        (1.0, 1e-3, 2, 3.718282e-3),
        (0.5, 1e-4, 4, 1e-4 * math.expm1(2.0) / math.expm1(0.5)),
    ],
)
def test_delta_of_a_part_grows_as_a_curves_delta_in_a_group(
    epsilon: float, delta: float, size: int, truth: float
) -> None:
    mixed = compose([ApproxDP(epsilon, delta), SMALL])
    assert mixed.group(size).delta(60.0) >= truth * (1 - 1e-6)


def test_delta_of_a_part_grows_under_to_replace() -> None:
    assert to_replace(compose([ApproxDP(2.0, 1e-6), SMALL])).delta(60.0) >= 8.389e-6


def test_delta_of_repeated_parts_grows_in_a_group() -> None:
    """Three parts, each of which reveals everything with (1 + e) 1e-3 to a group of two."""
    mixed = compose([ApproxDP(1.0, 1e-3).repeat(3), SMALL])
    assert mixed.group(2).delta(60.0) >= 1 - (1 - 3.718281e-3) ** 3


def test_an_event_of_a_pair_grows_by_the_size_of_the_group() -> None:
    """Soundness, section 21: h beta, so the rule for deltas must not be put in its place."""
    assert WithSlack(PureDP(1.0), 0.0, 1e-3).group(2).delta(60.0) == pytest.approx(2e-3)


# P4: under a Poisson sample the mass that only the second law has sits at a finite loss.


@pytest.mark.parametrize(
    ("epsilon", "truth"),
    [(0.0, 0.392247), (0.5, 0.254236), (1.0, 0.145753), (2.0, 0.036077), (3.0, 0.012655)],
)
def test_a_hundred_poisson_samples_of_approximate_dp(epsilon: float, truth: float) -> None:
    said = subsampled(ApproxDP(1.0, 1e-3), 0.1).repeat(100).delta(epsilon)
    assert truth * (1 - 1e-5) <= said <= truth * 1.02


_LAWS = ((0.55, 0.35, 0.1, 0.0), (0.35, 0.55, 0.0, 0.1))


@pytest.mark.parametrize("rate", [0.1, 0.5])
@pytest.mark.parametrize("stored_as", ["finite pair", "loss distribution"])
def test_poisson_samples_of_laws_with_outcomes_of_their_own(stored_as: str, rate: float) -> None:
    loss = math.log(0.55 / 0.35)
    base: PrivacyCurve = (
        finite_pair(*_LAWS)
        if stored_as == "finite pair"
        else LossDistribution.from_atoms([loss, -loss], [0.55, 0.35], infinity=0.1, spacing=1e-3)
    )
    said = subsampled(base, rate).repeat(12).delta(0.0)
    assert said >= true_delta(*_LAWS, rate=rate, times=12, epsilon=0.0) * (1 - 1e-6)


def test_poisson_samples_of_a_loss_distribution_whose_lower_tail_was_cut() -> None:
    base = LossDistribution.gaussian(10.0, spacing=1e-2)
    at_0, at_5_percent = subsampled(base, 0.01).repeat(10).deltas(np.array([0.0, 0.05]))
    assert at_0 >= 0.095618 * (1 - 1e-4)
    assert at_5_percent >= 0.049249 * (1 - 1e-4)


@pytest.mark.parametrize("rate", [0.5, 0.9, 1.0])
def test_a_single_direction_is_not_taken_for_both(rate: float) -> None:
    """(.9, .1) against (.5, .5) is not symmetric: such a base is refused, or both directions are counted."""
    base = LossDistribution.from_atoms([math.log(1.8), math.log(0.2)], [0.9, 0.1], spacing=1e-4)
    epsilon = 1.0 if rate == 1.0 else 0.5
    truth = true_delta((0.9, 0.1), (0.5, 0.5), rate=rate, times=1, epsilon=epsilon)
    assert refused(lambda: subsampled(base, rate)) or subsampled(base, rate).delta(epsilon) >= truth - 1e-6


# P9: slack is outermost; which law is the unit's is part of a pair; parameters are fixed when they are paid.

SLACK = WithSlack(PureDP(1.0), 0.01, 0.02)


def _lifted_or_refused(data: dict[str, Any], *, tau: float, delta: float) -> bool:
    """Whether a stored curve with slack inside is refused, or shows the slack outside."""
    if refused(lambda: stored(data)):
        return True
    curve = stored(data)
    shown = float(curve.total_variation) >= tau and curve.delta(60.0) == 1.0
    return shown and curve.delta(2.0) >= delta and not curve.within(PureDP(2.0))


def test_slack_inside_a_composition_is_lifted_or_refused() -> None:
    data = {"kind": "Composed", "parts": [[SLACK.to_json(), 2]]}
    assert _lifted_or_refused(data, tau=0.02, delta=(1 + math.exp(2.0)) * 0.02 + 0.04 - 1e-12)


def test_slack_inside_two_steps_is_lifted_or_refused() -> None:
    data = {"kind": "GroupReplace", "curve": SLACK.to_json()}
    assert _lifted_or_refused(data, tau=0.01, delta=(1 + math.exp(2.0)) * 0.01 + 0.04 - 1e-12)


@dataclass(frozen=True, kw_only=True)
class LopsidedAnswer(RandomisedResponse):
    """A mechanism of the user whose two laws are (.9, .1) and (.5, .5)."""

    exchanged: bool = False

    @property
    def curve(self) -> PrivacyCurve:
        laws = ((0.9, 0.1), (0.5, 0.5))
        return finite_pair(*(laws[::-1] if self.exchanged else laws))


@pytest.mark.parametrize("exchanged", [False, True])
def test_under_replace_a_lopsided_pair_may_point_either_way(exchanged: bool) -> None:
    """Twice at epsilon 1: 0.2335 in the same direction, 0.3141 opposed; `replace` must allow for both."""
    mechanism = LopsidedAnswer(epsilon=1.0, exchanged=exchanged)

    def promised() -> float:
        account = Account(ApproxDP(1.0, 0.5), adjacency="replace", plan=[(mechanism, 2)])
        return account.guarantee().curve.delta(1.0)

    assert refused(promised) or promised() >= 0.3140


_SCALED: list[tuple[type[Mechanism], str, dict[str, Any]]] = [
    (Gaussian, "sigma", {"l2_sensitivity": 1.0}),
    (Laplace, "scale", {"l1_sensitivity": 1.0}),
    (VectorLaplace, "epsilon", {"l2_sensitivity": 1.0}),
    (DiscreteLaplace, "scale", {"l1_sensitivity": 1}),
    (SubsampledGaussian, "sigma", {"l2_sensitivity": 1.0, "rate": 0.1}),
    (RandomisedResponse, "epsilon", {}),
    (Exponential, "epsilon", {"sensitivity": 1.0}),
]


@pytest.mark.parametrize(("kind", "name", "others"), _SCALED, ids=[kind.__name__ for kind, _, _ in _SCALED])
def test_a_mechanism_keeps_its_parameters_when_an_array_of_the_caller_changes(
    kind: type[Mechanism], name: str, others: dict[str, Any]
) -> None:
    handed_in = np.array(10.0)
    make = {name: handed_in, **others}
    if refused(lambda: kind(**make)):
        return
    mechanism = kind(**make)
    handed_in[...] = 1e-3
    assert float(getattr(mechanism, name)) == 10.0


def test_a_permit_draws_with_the_noise_that_was_paid_for() -> None:
    sigma = np.array(10.0)
    account = Account(GaussianDP(0.1))
    permit = account.permit(Gaussian(sigma=sigma, l2_sensitivity=1.0), times=1)  # type: ignore[arg-type]
    sigma[...] = 1e-6
    assert np.abs(permit.release(np.zeros(1000))).max() > 1.0


@pytest.mark.parametrize("kind", [PureDP, ZCDP, GaussianDP])
def test_a_curve_keeps_its_parameter_when_an_array_of_the_caller_changes(kind: Any) -> None:
    handed_in = np.array(4.0)
    if refused(lambda: kind(handed_in)):
        return
    curve, before = kind(handed_in), kind(4.0).delta(1.0)
    handed_in[...] = 0.01
    assert curve.delta(1.0) == before

"""Laws that drawn faults asked for: each lived until its law was written (docs/mutation.md)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from holdfast.errors import ParameterError
from holdfast.privacy import ApproxDP, GaussianDP, PureDP
from holdfast.privacy._curves.composition import Composed
from holdfast.privacy._curves.finite_curve import FinitePair
from holdfast.privacy._curves.group_replace import _at_any_loss
from holdfast.privacy._curves.loss_sum import _infinite_mass
from holdfast.privacy._fixed_numbers import FixedNumbers
from holdfast.privacy._grid import Grid
from holdfast.privacy._guarantee import Sureness, usual_failure
from holdfast.privacy._losses.grid_losses import GridLosses
from holdfast.privacy._losses.steps import _common_pieces, _crossings
from holdfast.privacy._mechanisms import RandomisedResponse, SubsampledGaussian, VectorLaplace
from holdfast.privacy._mechanisms.mechanism import euclidean
from holdfast.privacy._mechanisms.randomised_response import AnswerShares
from holdfast.privacy._rounding import root_above


def test_a_limit_admits_what_it_is() -> None:
    for limit in (ApproxDP(1.0, 1e-6), ApproxDP(0.25, 0.125), PureDP(2.0)):
        assert limit.admits(limit)


@pytest.mark.parametrize("times", [0, -1, 1.5, 2.0, np.float64(3.0)])
def test_a_composition_is_of_whole_numbers(times: float) -> None:
    with pytest.raises(ParameterError, match="times must be a whole number >= 1"):
        Composed(((GaussianDP(1.0), times),))  # type: ignore[arg-type]


def test_laws_of_a_finite_pair_are_numbers_whatever_holds_them() -> None:
    pair = FinitePair((0.25, 0.75), (0.75, 0.25))
    for kind in (list, np.array, lambda law: [Fraction(x) for x in law]):
        other = FinitePair(kind((0.25, 0.75)), kind((0.75, 0.25)))  # type: ignore[arg-type]
        assert other == pair
        assert hash(other) == hash(pair)
        assert all(type(x) is float for x in (*other.p, *other.q))


def test_losses_of_either_sign() -> None:
    """H_a of a Gaussian pair in closed form, where a is below 1 and where it is above."""
    from scipy.stats import norm

    mu, losses = 0.7, np.array([-30.0, -2.0, -0.5, -1e-3, 0.0, 0.4, 3.0])
    truth = norm.cdf(mu / 2 - losses / mu) - np.exp(losses) * norm.cdf(-mu / 2 - losses / mu)
    for side in _at_any_loss(GaussianDP(mu), losses):
        assert side == pytest.approx(truth, rel=1e-9, abs=1e-12)


def test_below_the_grid_a_loss_is_certain_to_be_larger() -> None:
    """Where every loss is above epsilon, delta is 1 - e^epsilon E[e^-loss]: all mass lies above."""
    losses = GridLosses(
        masses=np.array([0.25, 0.5, 0.25]), spacing=0.5, first=2, infinity=0.0, loss_error=0.0
    )
    grid = np.array([1.0, 1.5, 2.0])
    mean = float(np.array([0.25, 0.5, 0.25]) @ np.exp(-grid))
    for epsilon in (-3.0, 0.0, 0.5, 0.99):
        assert losses.deltas(np.array([epsilon]))[0] == pytest.approx(
            1.0 - math.exp(epsilon) * mean, rel=1e-9
        )


def test_deltas_of_a_grid_are_rounded_to_their_side() -> None:
    """By far more than sums of doubles err, between the points of the grid and below it."""
    masses, grid = np.array([0.25, 0.5, 0.25]), np.array([1.0, 1.5, 2.0])
    for lower in (False, True):
        losses = GridLosses(masses=masses, spacing=0.5, first=2, infinity=0.0, is_lower=lower)
        for epsilon in (0.5, 1.0, 1.5):
            excess = np.maximum(0.0, -np.expm1(epsilon - grid))
            truth = math.fsum(masses * excess)
            off = losses.deltas(np.array([epsilon]))[0] / truth - 1.0
            assert 5e-12 < (-off if lower else off) < 2e-11


def test_a_sum_with_a_part_that_is_lost_for_certain_is_lost() -> None:
    part = GridLosses(masses=np.array([0.0]), spacing=0.5, first=0, infinity=1.0)
    assert _infinite_mass([(part, 1)]) == pytest.approx(1.0)
    half = GridLosses(masses=np.array([0.5]), spacing=0.5, first=0, infinity=0.5)
    assert _infinite_mass([(half, 2)]) >= 0.75


def test_the_epsilon_of_a_group_is_exact() -> None:
    assert ApproxDP(0.1, 1e-9).group(3).as_approximate()[0] == Fraction(3, 10)


@pytest.mark.parametrize("largest", [1e300, math.inf])
def test_numbers_beyond_the_largest_are_refused(largest: float) -> None:
    class Held(metaclass=FixedNumbers):
        LARGEST = largest

        def __init__(self, size: float) -> None:
            self.size = size

    assert Held(1e300).size == 1e300
    assert Held(math.inf).size == math.inf
    if math.isfinite(largest):
        with pytest.raises(ParameterError, match="must be at most 1e\\+300"):
            Held(-1e301)
    else:
        assert Held(-1e301).size == -1e301


def test_how_sure_one_becomes_is_about_the_failure_that_was_chosen() -> None:
    curve = GaussianDP(1.0)
    for failure in (None, 1e-3, 0.2):
        sureness = Sureness.of(curve, failure=failure)
        assert sureness.failure == (usual_failure(curve) if failure is None else failure)
        assert sureness.loss > curve.epsilon(sureness.failure)


def test_intervals_of_shares_reach_as_far_as_they_say() -> None:
    shares = AnswerShares(share=(0.02, 0.5, 0.97), reach=0.1, confidence=0.95)
    expected = ((0.0, 0.12), (0.4, 0.6), (0.87, 1.0))
    assert np.allclose(shares.interval, expected, atol=1e-15)


def test_answers_may_be_as_truthful_as_the_range_says() -> None:
    assert RandomisedResponse(epsilon=700, categories=2).epsilon == 700
    with pytest.raises(ParameterError, match="at most 700"):
        RandomisedResponse(epsilon=math.nextafter(700, 701), categories=2)


def test_a_distance_may_be_infinite_and_is_a_number() -> None:
    assert euclidean(np.array([math.inf, 0.0]), np.array([0.0, 0.0])) == math.inf
    assert euclidean(np.array([1e200, 0.0]), np.array([0.0, 1e200])) == pytest.approx(1e200 * math.sqrt(2))


def test_parameters_of_vector_noise_are_exact() -> None:
    noise = VectorLaplace(epsilon=0.1, l2_sensitivity=0.3)
    for dimension in (1, 3):
        sensitivity = root_above(dimension) * Fraction(3, 10)
        assert noise._stand_in(dimension) == {"scale": sensitivity * 10, "l1_sensitivity": sensitivity}


def test_vector_noise_refuses_what_it_cannot_draw_before_anything_is_charged() -> None:
    from holdfast.privacy import Account

    account = Account(PureDP(1.0), seed=1)
    noise = VectorLaplace(epsilon=1e-300, l2_sensitivity=1.0)
    with pytest.raises(ParameterError):
        account.release(noise, [0.5])
    assert account.journal.spent("") is None


def test_a_sampled_gaussian_tells_outputs_apart_as_its_law_does() -> None:
    noise = SubsampledGaussian(sigma=2.0, l2_sensitivity=1.0, rate=0.1)
    first, second, output = (np.array([value]) for value in (0.0, 1.0, 3.0))
    # log of exp(-(3 - 0)^2 / 8) / exp(-(3 - 1)^2 / 8)
    assert noise.log_ratio(first, second, output) == pytest.approx(-9 / 8 + 4 / 8, rel=1e-4)
    assert noise.log_ratio(second, first, output) == pytest.approx(9 / 8 - 4 / 8, rel=1e-4)


def test_whole_numbers_and_fractions_have_the_nearest_point_of_a_grid() -> None:
    values = [2**80 + 1, Fraction(1, 3), Fraction(-5, 16), 0]
    steps = Grid(-3).nearest(np.array(values, dtype=object))
    assert steps.tolist() == [8 * (2**80 + 1), 3, -2, 0]  # ties go to the even one
    assert Grid(-3).nearest(np.array([0.3, -0.3125, 1e300])).tolist()[:2] == [2, -2]


def test_pieces_of_two_partitions_are_those_of_both() -> None:
    random = np.random.default_rng(1)
    for _ in range(20):
        first, second = (random.dirichlet(np.full(size, 0.2)) for size in (5, 7))
        pieces, i, j = _common_pieces(first, second)
        for masses, places in ((first, i), (second, j)):
            assert np.bincount(places, pieces, minlength=masses.size) == pytest.approx(
                masses, rel=1e-9, abs=1e-15
            )
    # Small outcomes keep their digits at either end.
    first, second = np.array([3e-200, 0.5, 0.5, 5e-180]), np.array([1e-200, 0.75, 0.25])
    pieces, _, _ = _common_pieces(first, second)
    assert pieces[:2] == pytest.approx([1e-200, 2e-200], rel=1e-12, abs=0)
    assert pieces[-1] == pytest.approx(5e-180, rel=1e-12, abs=0)


def test_polygons_cross_where_they_are_equally_high() -> None:
    corners = np.array([0.0, 1.0, 2.0])
    heights = np.array([[1.0, 0.5, 0.1], [0.9, 0.8, 0.0]])
    crossings = _crossings(corners, heights)
    for at in crossings:
        alpha, place = np.exp(at), int(np.searchsorted(corners, at)) - 1
        share = (alpha - np.exp(corners[place])) / (np.exp(corners[place + 1]) - np.exp(corners[place]))
        high = (1 - share) * heights[:, place] + share * heights[:, place + 1]
        assert high[0] == pytest.approx(high[1], rel=1e-12)
    assert len(crossings) == 2


def test_losses_on_a_grid_are_rounded_up_unless_the_lower_bound_is_asked_for() -> None:
    curve = GaussianDP(1.0)
    upper, lower = curve.loss_distribution(spacing=0.05), curve.loss_distribution(spacing=0.05, lower=True)
    assert upper is not None
    assert lower is not None
    for epsilon in (0.1, 1.0, 3.0):
        assert lower.delta(epsilon) < curve.delta(epsilon) < upper.delta(epsilon)

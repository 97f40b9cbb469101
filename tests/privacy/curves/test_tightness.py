"""Bounds are close to the truth: rare samples, large Laplace ratios, parts that have only Renyi divergences.

The wide net is `studies/benchmarks/accounting_random.py`; here are the settings that once were far off.
"""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from holdfast.privacy import Exponential, Laplace, Mechanism, RandomisedResponse, SubsampledPure
from holdfast.privacy._curves.best_order import BestOrder
from holdfast.privacy._curves.composition import Composed, compose
from holdfast.privacy._curves.curve import PureDP
from holdfast.privacy._curves.laplace import LaplaceCurve
from holdfast.privacy._curves.renyi import FINE_ORDERS, ZCDP, RenyiDP
from holdfast.privacy._curves.subsampled import SubsampledGaussianCurve, amplified_pure
from holdfast.privacy._losses.pairs import LaplacePair
from holdfast.privacy._mechanisms.gibbs import BoxExponential

RARE_SAMPLES = [
    (0.6, 1e-4, 50, 1e-5),
    (0.5, 1e-6, 100, 1e-5),
    (0.4695, 8.08e-5, 18, 1.6e-11),
    (0.4947, 1.1e-6, 5303, 3e-9),
    (0.3653, 3.12e-7, 11172, 1.4e-7),
    (0.451, 1.8e-7, 12, 3.5e-5),
]


@pytest.mark.parametrize(("noise", "rate", "times", "delta"), RARE_SAMPLES)
def test_rare_samples_cost_what_they_cost_elsewhere(
    noise: float, rate: float, times: int, delta: float
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from dp_accounting.pld import privacy_loss_distribution as pld

        theirs: Any = pld.from_gaussian_mechanism(
            noise, sampling_prob=rate, value_discretization_interval=1e-4
        )
        bound = float(theirs.self_compose(times).get_epsilon_for_delta(delta))
    assert SubsampledGaussianCurve(noise, rate).repeat(times).epsilon(delta) <= max(
        1.01 * bound, bound + 1e-3
    )


@pytest.mark.parametrize("ratio", [1e-3, 1.0, 300.0, 5e4])
def test_cells_of_laplace_losses_have_their_exact_masses(ratio: float) -> None:
    edges = np.array(
        [-math.inf, -1.5 * ratio, -ratio, -0.3 * ratio, 0.0, 0.7 * ratio, ratio, 2 * ratio, math.inf]
    )
    cells = LaplacePair(ratio).cells(edges)
    with mpmath.workdps(400):
        r = mpmath.mpf(ratio)

        def below(loss: float, law: int) -> mpmath.mpf:
            """P (law 1) or Q (law -1) of losses up to here: an atom at either end, a density between."""
            if loss < -ratio:
                return mpmath.mpf(0)
            if loss >= ratio:
                return mpmath.mpf(1)
            inner = (
                (mpmath.exp(law * mpmath.mpf(loss) / 2) - mpmath.exp(-law * r / 2))
                * mpmath.exp(-r / 2)
                * law
                / 2
            )
            return inner + mpmath.exp(-r * (1 + law) / 2) / 2

        for place in range(edges.size - 1):
            low, high = float(edges[place]), float(edges[place + 1])
            p, q = (below(high, law) - below(low, law) for law in (1, -1))
            scaled = q * mpmath.exp(low) if math.isfinite(low) else mpmath.mpf(0)
            for value, truth, error in (
                (cells.p, p, cells.p_error),
                (cells.q, q, cells.q_error),
                (cells.q_scaled, scaled, cells.q_error),
            ):
                assert abs(mpmath.mpf(float(value[place])) - truth) <= truth * float(error[place]) + 1e-300


@pytest.mark.parametrize(("ratio", "times"), [(5e4, 2), (1e3, 3), (2e4, 50)])
def test_large_laplace_ratios_stay_below_their_sum(ratio: float, times: int) -> None:
    """Losses are all but certain to be the largest: 1 - delta of the truth is at most P[every loss is the largest]."""
    epsilon = LaplaceCurve(ratio).repeat(times).epsilon(1e-5)
    assert 0.999 * ratio * times <= epsilon <= ratio * times


def test_divergences_are_computed_only_where_the_best_order_is_looked_for() -> None:
    orders: list[float] = []

    def divergence(order: float) -> float:
        orders.append(order)
        return 0.01 * order

    bound = BestOrder(divergence)
    everywhere = RenyiDP.of(lambda order: 0.01 * order, FINE_ORDERS)
    for delta in (1e-3, 1e-6, 1e-12):
        assert bound.epsilon(delta) == pytest.approx(everywhere.epsilon(delta), rel=1e-9)
        assert bound.delta(bound.epsilon(delta)) == pytest.approx(delta, rel=1e-6)
    assert len(orders) == len(set(orders)) < 60


def test_beside_a_part_without_a_pair_the_best_order_is_that_of_all_orders() -> None:
    steps = SubsampledGaussianCurve(1.0, 0.01).repeat(100)
    everywhere = RenyiDP.of(lambda order: steps.renyi(order) + 0.001 * order, FINE_ORDERS[::10])
    assert compose([ZCDP(0.001), steps]).epsilon(1e-5) <= everywhere.epsilon(1e-5)


@pytest.mark.parametrize(
    "base",
    [
        Laplace(scale=1.0, l1_sensitivity=1.0),
        Exponential(epsilon=1.0, sensitivity=1.0),
        RandomisedResponse(epsilon=1.0, categories=2),
    ],
)
@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_a_sampled_pure_mechanism_composes_by_its_pair(base: Mechanism, rate: float) -> None:
    sampled = SubsampledPure(base=base, rate=rate)
    pure = sampled.curve.as_pure()
    assert pure is not None
    assert sampled.curve.epsilon(0.0) == amplified_pure(Fraction(1), rate)
    assert sampled.curve.as_gdp() == PureDP(pure).as_gdp()
    assert sampled.curve.as_zcdp() == PureDP(pure).as_zcdp()
    assert sampled.curve.renyi(5.0) == PureDP(pure).renyi(5.0)
    together = sampled.curve_of_uses(50).epsilon(1e-6)
    assert together < 0.9 * PureDP(pure).repeat(50).epsilon(1e-6)
    # Not below what both directions of the product come to, from below.
    low, _ = Composed(((sampled.curve, 50),)).bracket(1e-6)
    assert low <= together * (1 + 1e-9)


def test_a_density_on_a_box_is_of_bounded_range() -> None:
    box = BoxExponential(inverse_temperature=2.0, half_side=1.5, gradient_change=0.4, dimension=1)
    epsilon = box.curve.as_pure()
    assert epsilon == Fraction(2) * 2 * Fraction(3, 2) * Fraction(2, 5)
    assert box.curve.as_zcdp() == epsilon**2 / 8
    # The worst linear losses, whose slopes differ by the change of a gradient: densities cut to the box.
    grid = np.linspace(-1.5, 1.5, 20_001)
    for slope in (-1.0, -0.2, 0.0, 0.3):
        p, q = (np.exp(2.0 * v * grid) / np.sum(np.exp(2.0 * v * grid)) for v in (slope, slope + 0.4))
        losses = np.log(p / q)
        assert float(np.ptp(losses)) <= float(epsilon) * (1 + 1e-9)
        for order in (1.5, 3.0, 20.0):
            divergence = math.log(float(np.sum(p * (p / q) ** (order - 1)))) / (order - 1)
            assert divergence <= box.curve.renyi(order) * (1 + 1e-9)
        for level in (0.0, 0.3, 1.0):
            assert float(np.sum(np.maximum(p - math.exp(level) * q, 0.0))) <= box.curve.delta(level) + 1e-12

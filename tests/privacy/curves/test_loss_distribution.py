"""The numeric core brackets closed forms from both sides, down to deltas no plain transform can see."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from studies.reproductions.textbook_composition import optimal

from holdfast.errors import ParameterError
from holdfast.privacy._curves.gaussian import GaussianDP
from holdfast.privacy._curves.laplace import LaplaceCurve
from holdfast.privacy._curves.loss_distribution import LossDistribution
from holdfast.privacy._curves.stored import curve_from_json
from holdfast.privacy._losses.atomic_pair import AtomicPair
from holdfast.privacy._losses.dominating_pair import DominatingPair
from holdfast.privacy._losses.fft_compose import convolve
from holdfast.privacy._losses.fourier_sum import fast_size
from holdfast.privacy._losses.grid_losses import LARGEST_GRID, GridLosses
from holdfast.privacy._losses.pairs import AddedUnit, LaplacePair, NormalPair, RemovedUnit

DELTAS = (1e-2, 1e-6, 1e-12, 1e-18)


@pytest.mark.parametrize(
    ("mu", "spacing"), [(0.01, 1e-5), (0.5, 1e-3), (1.0, 1e-3), (5.0, 1e-2), (30.0, 0.1)]
)
def test_one_gaussian_is_bracketed_at_every_delta(mu: float, spacing: float) -> None:
    exact = GaussianDP(mu)
    upper = LossDistribution.gaussian(mu, spacing=spacing)
    lower = LossDistribution.gaussian(mu, spacing=spacing, lower=True)
    for delta in DELTAS:
        truth = exact.epsilon(delta)
        assert lower.epsilon(delta) <= truth * (1 + 1e-11) <= upper.epsilon(delta) * (1 + 2e-11)
        assert upper.epsilon(delta) - lower.epsilon(delta) < max(4e-5 * max(truth, mu), 1e-9)


@pytest.mark.parametrize(("mu", "times"), [(1.0, 1000), (0.01, 5000), (0.3, 7)])
def test_composed_gaussians_are_bracketed_at_every_delta(mu: float, times: int) -> None:
    exact = GaussianDP(mu).merge_copies(times)
    spacing = mu / 100
    upper = LossDistribution.gaussian(mu, spacing=spacing).merge_copies(times)
    lower = LossDistribution.gaussian(mu, spacing=spacing, lower=True).merge_copies(times)
    for delta in DELTAS:
        truth = exact.epsilon(delta)
        assert lower.epsilon(delta) <= truth <= upper.epsilon(delta)
        assert upper.epsilon(delta) - lower.epsilon(delta) < 2e-4 * truth
    # As functions of epsilon too, with a relative error that does not grow as delta shrinks.
    for epsilon in [exact.epsilon(delta) for delta in DELTAS]:
        assert lower.delta(epsilon) <= exact.delta(epsilon) <= upper.delta(epsilon)
        assert upper.delta(epsilon) < lower.delta(epsilon) * 1.03


@given(
    epsilon=st.floats(0.01, 3.0),
    times=st.integers(2, 60),
    at=st.floats(0.0, 1.0),
    divide=st.floats(3.0, 40.0),
)
def test_randomised_response_against_the_binomial_sum(
    epsilon: float, times: int, at: float, divide: float
) -> None:
    high = 1 / (1 + math.exp(-epsilon))
    low = math.exp(-epsilon) / (1 + math.exp(-epsilon))
    point = at * times * epsilon
    truth = optimal(epsilon, times=times, at=point)
    for lower in (False, True):
        one = LossDistribution.from_atoms(
            [epsilon, -epsilon], [high, low], spacing=epsilon / divide, lower=lower
        )
        value = one.merge_copies(times).delta(point)
        assert value <= truth + 1e-12 if lower else value >= truth * (1 - 1e-9)


def test_atoms_on_the_grid_lose_nothing() -> None:
    one = LossDistribution.from_atoms([0.1, -0.1], [0.52497918747894, 0.47502081252106], spacing=0.1 / 7)
    hundred = one.merge_copies(100)
    # dp-accounting's event accountant reports 0.1001 here, and 4.7820 with the atom rounded up.
    assert hundred.epsilon(1e-6) == pytest.approx(4.774567588, abs=1e-8)
    assert optimal(0.1, times=100, at=hundred.epsilon(1e-6)) <= 1e-6


PAIRS: list[DominatingPair] = [
    NormalPair(0.7),
    LaplacePair(0.8),
    RemovedUnit(NormalPair(1.2), 0.05),
    AddedUnit(NormalPair(1.2), 0.05),
    RemovedUnit(LaplacePair(2.0), 0.3),
    AddedUnit(LaplacePair(2.0), 0.3),
    RemovedUnit(NormalPair(1.0), 1e-6),
    AddedUnit(NormalPair(3.0), 0.99),
    AtomicPair(np.array([0.5, 0.1, -0.9]), np.array([0.5, 0.3, 0.1]), 0.1),
]


@pytest.mark.parametrize("pair", PAIRS, ids=repr)
def test_cells_are_two_laws(pair: DominatingPair) -> None:
    low, high = pair.loss_range(1e-20)
    edges = np.concatenate([[-np.inf], np.linspace(low - 1e-3, high + 1e-3, 901), [np.inf]])
    cells = pair.cells(edges)
    assert cells.p.sum() + pair.infinity == pytest.approx(1.0, abs=1e-10)
    assert cells.q.sum() <= 1 + 1e-10
    # Within a cell P/Q lies between e^left and e^right.
    inner = slice(1, -1)
    ratio = np.exp(edges[2:-1] - edges[1:-2])
    p, q, error = cells.p[inner], cells.q_scaled[inner], (cells.p_error + cells.q_error)[inner]
    solid = (p > 1e-25) & (error < 1e-6)
    slack = 1 + 1e-12 + 2 * error
    assert np.all(p[solid] * slack[solid] >= q[solid])
    assert np.all(p[solid] <= q[solid] * ratio[solid] * slack[solid])
    plain = cells.q[inner] * np.exp(edges[1:-2])
    assert np.allclose(plain[solid], q[solid], rtol=1e-6)


@pytest.mark.parametrize("pair", PAIRS, ids=repr)
@pytest.mark.parametrize("coarse", [0.3, 0.05])
def test_a_finer_grid_is_tighter_on_both_sides(pair: DominatingPair, coarse: float) -> None:
    low, high = pair.loss_range(1e-10)
    spacing = coarse * (high - low)
    epsilons = np.linspace(0.0, max(high, 1e-9), 40)
    values = {
        (lower, factor): LossDistribution.of(pair, spacing=spacing / factor, lower=lower)
        .merge_copies(3)
        .deltas(epsilons)
        for lower in (False, True)
        for factor in (1, 8)
    }
    tolerance = 1e-10
    assert np.all(values[False, 8] <= values[False, 1] * (1 + 1e-6) + tolerance)
    assert np.all(values[True, 8] <= values[False, 8] + tolerance)
    assert np.all(values[True, 1] <= values[False, 8] + tolerance)


def test_the_excess_is_the_hockey_stick_sum() -> None:
    rng = np.random.default_rng(5)
    grid = GridLosses(0.9, -300, rng.dirichlet(np.ones(900)), 0.0)
    for epsilon in (-200.0, -3.1, 0.0, 17.3, 400.0):
        losses = grid.losses
        truth = float(np.sum(grid.masses * np.maximum(0.0, -np.expm1(np.minimum(epsilon - losses, 0.0)))))
        assert grid.deltas(np.array([epsilon]))[0] == pytest.approx(truth, rel=1e-9)


@given(st.floats(1e-15, 0.9))
def test_epsilon_inverts_delta_from_the_safe_side(delta: float) -> None:
    curve = LossDistribution.laplace(2.0, spacing=0.01).merge_copies(4)
    epsilon = curve.epsilon(delta)
    assert curve.delta(epsilon) <= delta
    if epsilon > 1e-6:
        assert curve.delta(epsilon * (1 - 1e-6)) > delta * (1 - 1e-9)


def test_doubling_the_spacing_rounds_outwards() -> None:
    fine = LossDistribution.laplace(1.0, spacing=0.01).directions[0]
    for epsilon in (0.0, 0.3, 0.77):
        point = np.array([epsilon])
        assert fine.with_double_spacing().deltas(point)[0] >= fine.deltas(point)[0] * (1 - 1e-9)
    low = LossDistribution.laplace(1.0, spacing=0.01, lower=True).directions[0]
    assert np.all(
        low.with_double_spacing().deltas(np.linspace(0, 1, 30)) <= low.deltas(np.linspace(0, 1, 30)) + 1e-12
    )


def test_the_grid_never_outgrows_memory() -> None:
    curve = LossDistribution.gaussian(40.0, spacing=1e-7)
    assert curve.directions[0].masses.size <= LARGEST_GRID + 2
    assert curve.spacing > 1e-7
    assert curve.epsilon(1e-6) >= GaussianDP(40.0).epsilon(1e-6)
    many = LossDistribution.gaussian(0.5, spacing=2e-5).merge_copies(40_000)
    assert all(way.masses.size <= 2 * LARGEST_GRID for way in many.directions)
    assert many.epsilon(1e-6) >= GaussianDP(100.0).epsilon(1e-6)


def test_infinity_is_never_lost() -> None:
    whole = (1 - 1e-4) / (1 + math.exp(-0.1))
    leak = LossDistribution.from_atoms(
        [0.1, -0.1], [whole, whole * math.exp(-0.1)], infinity=1e-4, spacing=0.01
    )
    assert leak.merge_copies(10).delta(1e9) == pytest.approx(1e-3, rel=1e-3)
    assert leak.epsilon(1e-5) == math.inf


def test_both_directions_count() -> None:
    base = NormalPair(1 / 0.8)
    one = LossDistribution.of(RemovedUnit(base, 0.01), spacing=1e-3)
    removed, added = one.merge_copies(3000).directions
    assert removed.epsilon(1e-5) == pytest.approx(5.242, abs=2e-3)
    assert added.epsilon(1e-5) == pytest.approx(3.938, abs=2e-3)
    assert one.merge_copies(3000).epsilon(1e-5) == removed.epsilon(1e-5)


def test_trade_offs_of_both_directions_mirror_each_other() -> None:
    base = NormalPair(1.0)
    one = LossDistribution.of(RemovedUnit(base, 0.2), spacing=1e-3)
    removed, added = one.trade_offs()
    assert abs(removed.miss_at(0.01) - added.miss_at(0.01)) > 1e-3
    # Swapping the two laws swaps the two error rates.
    for x in (0.05, 0.2, 0.6):
        y = removed.miss_at(x)
        assert added.miss_at(y) == pytest.approx(x, abs=3e-3)
    # Never above the exact one: false alarm a of N(0, 1) beyond a threshold.
    from scipy.special import ndtr, ndtri

    for x in (0.001, 0.05, 0.2, 0.6):
        threshold = -float(ndtri(x))
        exact = 0.8 * float(ndtr(threshold)) + 0.2 * float(ndtr(threshold - 1.0))
        assert exact - 2e-3 < removed.miss_at(x) <= exact + 1e-12


def test_storage_keeps_every_answer() -> None:
    curve = LossDistribution.laplace(0.3, spacing=0.01).merge_copies(5)
    again = curve_from_json(json.loads(json.dumps(curve.to_json())))
    assert [again.delta(e) for e in (0.0, 0.5, 1.4)] == [curve.delta(e) for e in (0.0, 0.5, 1.4)]


def test_another_grid_is_never_below() -> None:
    curve = LossDistribution.laplace(0.3, spacing=0.01).merge_copies(5)
    moved = curve.loss_distribution(spacing=0.0137)
    assert all(moved.delta(e) >= curve.delta(e) * (1 - 1e-9) for e in (0.0, 0.4, 1.1))
    merge = curve.compose(LaplaceCurve(0.2))
    assert merge.epsilon(1e-6) >= curve.epsilon(1e-6)


def test_upper_and_lower_do_not_mix() -> None:
    upper, lower = (LossDistribution.laplace(1.0, spacing=0.1, lower=side) for side in (False, True))
    with pytest.raises(ParameterError):
        upper.convolve_with([(lower, 1)])
    with pytest.raises(ParameterError):
        lower.loss_distribution(spacing=0.1)


def test_bad_atoms_are_refused() -> None:
    with pytest.raises(ParameterError, match="sum"):
        LossDistribution.from_atoms([0.0, 1.0], [0.5, 0.4], spacing=0.1)
    with pytest.raises(ParameterError, match="spacing"):
        LossDistribution.gaussian(1.0, spacing=0.0)
    with pytest.raises(ParameterError, match="finite"):
        LossDistribution.from_atoms([math.inf], [1.0], spacing=0.1)


@given(st.integers(1, 10**6))
def test_fast_sizes(size: int) -> None:
    found = fast_size(size)
    assert size <= found <= max(2, 1.34 * size + 2)
    assert found % 2 == 0


def test_transform_agrees_with_direct_convolution() -> None:
    rng = np.random.default_rng(3)
    a = GridLosses(0.05, -4, rng.dirichlet(np.ones(30)), 0.0)
    b = GridLosses(0.05, 2, rng.dirichlet(np.ones(11)), 1e-3)
    direct = np.convolve(np.convolve(a.masses, a.masses), b.masses)
    summed = convolve([(a, 2), (b, 1)])
    start = (-4 - 4 + 2) - summed.first
    inside = summed.masses[start : start + direct.size]
    assert np.all(inside >= direct)
    assert np.allclose(inside, direct, rtol=1e-8, atol=1e-13)
    assert summed.infinity == pytest.approx(1e-3, rel=1e-9)

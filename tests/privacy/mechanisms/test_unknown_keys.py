"""Keys that no schema declares: numbers of soundness section 25, enumerations, and pairs that are as bad as any."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy.special import ndtr

from holdfast.errors import AdjacencyError, ParameterError
from holdfast.privacy import Account, Adjacency, ApproxDP, GaussianDP, KeySelection, PureDP, Thresholded
from holdfast.privacy._curves.threshold import max_rule
from holdfast.privacy._mechanisms.thresholded import entries

LIMIT = ApproxDP(1.0, 1e-5)


def test_the_numbers_of_the_soundness_notes() -> None:
    laplace, gaussian = Thresholded.within(LIMIT), Thresholded.within(LIMIT, family="gaussian")
    assert laplace.threshold == 13
    assert 1 + math.log(1 / (2 * 1e-5)) == pytest.approx(11.820, abs=1e-3)
    # At (1, delta/2) the notes have sigma 3.8841 and 18.157; the maximum rule spends the whole delta on either.
    half = GaussianDP(Fraction(1) / Fraction("3.8841"))
    assert half.delta(1.0) == pytest.approx(5e-6, rel=1e-3)
    assert 1 - float(ndtr((18.157 - 1) / 3.8841)) == pytest.approx(5e-6, rel=1e-3)
    assert gaussian.threshold == 18
    assert float(gaussian.scale) < 3.8841
    chances = [float(KeySelection(epsilon=1.0, delta=1e-5).chance(n)) for n in (10, 11, 12, 22, 23)]
    assert chances[:3] == pytest.approx([0.1282, 0.3484, 0.7603], abs=5e-5)
    assert chances[3] < 1 == chances[4]


def test_of_four_keys_the_maximum_is_half_of_the_sum() -> None:
    passes = 1 - float(ndtr((37.574 - 1) / 7.7683))
    parts = [
        (GaussianDP(math.sqrt(known) / 7.7683), -math.expm1((4 - known) * math.log1p(-passes)))
        for known in range(5)
    ]
    assert max_rule(parts, 1.0) == pytest.approx(5.00e-6, rel=2e-3)


@pytest.mark.parametrize("new", [1, 2, 3])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.5, 1.0])
def test_the_curve_is_above_three_keys_enumerated(new: int, epsilon: float) -> None:
    """A unit with three keys of which some are new: the joint law of all releases, cell by cell, both ways."""
    mechanism = Thresholded(family="gaussian", scale=30.0, threshold=60, epsilon=1.0, steps=20, most=3)
    adds = entries(20, 3)[2]
    seen = np.arange(-60, 260)
    noisy = [np.diff(mechanism.below(centre, np.concatenate([seen[:1] - 1, seen]))) for centre in (0, adds)]
    known_p, known_q = noisy[1], noisy[0]
    laws = [(np.ones(1), np.ones(1))]
    for place in range(3):
        if place < new:
            chance = 1.0 - float(mechanism.below(adds, 59))
            p, q = np.array([1.0 - chance, chance]), np.array([1.0, 0.0])
        else:
            p, q = known_p, known_q
        laws = [(np.multiply.outer(a, p).ravel(), np.multiply.outer(b, q).ravel()) for a, b in laws]
    p, q = laws[0]
    for first, second in ((p, q), (q, p)):
        exact = float(np.maximum(first - math.exp(epsilon) * second, 0.0).sum())
        assert exact <= mechanism.curve.delta(epsilon)


@pytest.mark.parametrize("epsilon", [0.0, 0.01, 0.3, 1.0])
def test_the_curve_of_one_key_is_reached(epsilon: float) -> None:
    """Known keys by Laplace noise, and a new one: the larger of two deltas, and both happen."""
    mechanism = Thresholded(scale=1.0, threshold=4, epsilon=1.0)
    passes = 1.0 - float(mechanism.below(1, 3))
    assert passes == pytest.approx(math.exp(-3) / (1 + math.exp(-1)), rel=1e-12)
    expected = max(passes, PureDP(1.0).delta(epsilon), 1 - math.exp(epsilon) * (1 - passes))
    assert mechanism.curve.delta(epsilon) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-5), (0.3, 1e-3), (3.0, 0.01)])
def test_chances_grow_as_fast_as_privacy_allows_and_no_faster(epsilon: float, delta: float) -> None:
    selection = KeySelection(epsilon=epsilon, delta=delta)
    chances = [selection.chance(n) for n in range(len(selection._chances) + 2)]
    assert chances[0] == 0
    assert chances[-1] == 1
    growth, lost = Fraction(math.exp(epsilon)) * (1 + Fraction(1, 10**15)), Fraction(repr(delta))
    tight = 0
    for low, high in pairwise(chances):
        slack = (
            growth * low + lost - high,
            growth * (1 - high) + lost - (1 - low),
            growth * high + lost - low,
            growth * (1 - low) + lost - (1 - high),
        )
        assert min(slack) >= 0
        tight += min(slack[:2]) < Fraction(1, 10**12)
    assert tight >= len(chances) - 4


def test_chances_are_rounded_down() -> None:
    """Of delta = 1/3 the first chance is the largest multiple of 2^-80 below it."""
    first = KeySelection(epsilon=1.0, delta=Fraction(1, 3)).chance(1)
    assert 0 < Fraction(1, 3) - first < Fraction(1, 2**79)


def test_under_replace_both_take_two_steps() -> None:
    one, two = Thresholded.within(LIMIT), Thresholded.within(LIMIT, adjacency="replace")
    assert two.scale == 2 * one.scale
    assert two.curve.delta(1.0) <= 1e-5
    epsilon, delta = two.curve.as_approximate() or (0, 1)
    assert epsilon == 1
    assert delta <= Fraction("1e-5")
    far = KeySelection(epsilon=1.0, delta=1e-5, adjacency=Adjacency.replace)
    # A replaced unit moves two keys, one up and one down.
    up, down = float(far.chance(6)) / float(far.chance(5)), float(far.chance(9)) / float(far.chance(8))
    assert up * down < math.e + 0.5
    account = Account(ApproxDP(1.0, 1e-5), adjacency="replace", currency="basic", seed=0)
    for mechanism in (one, KeySelection(epsilon=1.0, delta=1e-5)):
        with pytest.raises(AdjacencyError, match="replace"):
            account.release(mechanism, [5, 0])


def test_a_key_that_nobody_has_is_never_released_and_costs_no_draw() -> None:
    account = Account(ApproxDP(60.0, 0.4), adjacency="add_remove", currency="basic", seed=0)
    low = Thresholded(scale=5.0, threshold=2, epsilon=1.0)
    with pytest.raises(ParameterError):
        Thresholded.within(PureDP(1.0))
    assert low.curve.delta(1.0) > 0.4
    released = Account(ApproxDP(60.0, 0.9), adjacency="add_remove", currency="basic", seed=0).release(
        low, [0] * 500 + [50]
    )
    assert not released[:500].any()
    assert released[500] > 0
    assert account.release(KeySelection(epsilon=1.0, delta=0.3), [0] * 500 + [40])[:500].sum() == 0


def test_weights_have_the_same_whole_numbers_as_doubles_give() -> None:
    """Engines compute floor(steps / sqrt(t)) in doubles; norms are at most `steps`."""
    keys = np.arange(1, 2**16 + 1)
    exact = entries(1024, 2**16)
    assert np.floor(1024 / np.sqrt(keys.astype(np.float64))).astype(int).tolist() == exact
    assert all(count * weight**2 <= 1024**2 for count, weight in zip(keys.tolist(), exact, strict=True))

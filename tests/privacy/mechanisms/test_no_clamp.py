"""Grids have no end and whole numbers do not wrap: what is released is the exact sum, of any size (finding P12)."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import ParameterError
from holdfast.noise._choose import choose_by_score, permute_and_flip
from holdfast.noise._source import Source
from holdfast.privacy import (
    Account,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    Laplace,
    Mechanism,
    ObjectivePerturbation,
    PermuteAndFlip,
    PureObjectivePerturbation,
    RandomisedResponse,
    RenyiDP,
    SubsampledGaussian,
    SubsampledPure,
    VectorLaplace,
)
from holdfast.privacy._account.payload import decode_payload, encode_payload
from holdfast.privacy._grid import Grid, exact_sum, multiples
from holdfast.privacy._mechanisms.mechanism import vector
from holdfast.privacy._rounding import as_written

doubles = st.floats(-(2.0**1000), 2.0**1000)
"""What is beyond counts as the last of them (`test_values_count_as_the_numbers_that_they_are`)."""
whole = st.one_of(
    st.integers(-(2**70), 2**70),
    st.sampled_from([2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 2**64, 2**200, -(2**900)]),
)
LARGEST = float(np.finfo(np.float64).max)


def _noise(scale: float, dimension: int) -> list[Mechanism]:
    """Every law on the grid of its own choice, with noise of about this scale."""
    return [
        Gaussian(sigma=scale, l2_sensitivity=scale),
        Laplace(scale=scale, l1_sensitivity=scale),
        VectorLaplace(epsilon=1.0, l2_sensitivity=scale),
        SubsampledGaussian(sigma=scale, l2_sensitivity=scale, rate=0.5),
        SubsampledPure(base=Laplace(scale=scale, l1_sensitivity=scale), rate=0.5),
    ]


def _on_grid(scale: float, grid: float | None, dimension: int) -> list[Mechanism]:
    """Every law on a declared grid, or on whole numbers."""
    declared: dict[str, Any] = {"grid": grid, "dimension": dimension}
    return [
        DiscreteGaussian(sigma=scale, l2_sensitivity=1.0, **declared),
        DiscreteLaplace(scale=scale, l1_sensitivity=1.0, **declared),
    ]


def _drawn(mechanism: Mechanism, value: Any) -> Any:
    return mechanism.sample(mechanism.check(value), Source(seed=3))


def _grid_of(mechanism: Mechanism, size: int) -> Grid:
    if isinstance(mechanism, SubsampledPure):
        mechanism = mechanism.base
    if isinstance(mechanism, SubsampledGaussian):
        mechanism = mechanism._noise
    if isinstance(mechanism, Gaussian):
        grid, _ = mechanism.grid_and_sigma(size)
    else:
        from holdfast.privacy._mechanisms.laplace import grid_and_scale

        named = (
            mechanism._stand_in(size)
            if isinstance(mechanism, VectorLaplace)
            else {"scale": mechanism.scale, "l1_sensitivity": mechanism.l1_sensitivity}  # type: ignore[attr-defined]
        )
        grid, _ = grid_and_scale(size, **named)
    return grid


def _nearest_double(exact: Fraction) -> float:
    return float(max(Fraction(-LARGEST), min(Fraction(LARGEST), exact)))


@given(values=st.lists(doubles, min_size=1, max_size=3), scale=st.sampled_from([1e-3, 1.0, 1e6, 1e200]))
def test_real_values_are_moved_from_where_they_are(values: list[float], scale: float) -> None:
    """1e14 became 3.5e13."""
    for mechanism in _noise(scale, len(values)):
        step = _grid_of(mechanism, len(values)).step
        noise = [round(Fraction(one) / step) for one in _drawn(mechanism, np.zeros(len(values)))]
        wanted = [
            _nearest_double((round(Fraction(value) / step) + moved) * step)
            for value, moved in zip(values, noise, strict=True)
        ]
        assert _drawn(mechanism, np.array(values)).tolist() == wanted


@given(
    values=st.lists(st.one_of(doubles, whole), min_size=1, max_size=3),
    grid=st.sampled_from([0.1, 1.0, 2.0**-30, 1e-3, 1e5]),
)
def test_values_on_a_declared_grid_are_moved_from_where_they_are(
    values: list[float | int], grid: float
) -> None:
    step = as_written(grid)
    for mechanism in _on_grid(100.0 * grid, grid, len(values)):
        noise = [round(Fraction(one) / step) for one in _drawn(mechanism, np.zeros(len(values)))]
        for value, moved, found in zip(values, noise, _drawn(mechanism, values), strict=True):
            wanted = _nearest_double((round(Fraction(value) / step) + moved) * step)
            assert found == pytest.approx(wanted, rel=1e-15)


@given(values=st.lists(whole, min_size=1, max_size=3))
def test_whole_numbers_do_not_wrap(values: list[int]) -> None:
    """Near 2^63 they did; what 64 bits do not hold is the last number that they hold."""
    for mechanism in _on_grid(2.0**40, None, len(values)):
        noise = _drawn(mechanism, np.zeros(len(values), dtype=np.int64)).tolist()
        noisy = _drawn(mechanism, values)
        exact = [value + moved for value, moved in zip(values, noise, strict=True)]
        assert noisy.tolist() == [max(-(2**63), min(2**63 - 1, number)) for number in exact]
        stored = decode_payload(encode_payload(noisy))
        assert (stored.tolist(), stored.dtype) == (noisy.tolist(), np.int64)


@given(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**63), 2**63 - 1), st.integers(-3, 3))
def test_how_a_sum_is_held_depends_on_the_sum_alone(centre: int, noise: int, other: int) -> None:
    held = exact_sum(np.array([centre]), np.array([noise]))
    assert held.tolist() == [centre + noise]
    fits = -(2**63) <= centre + noise < 2**63
    assert held.dtype == (np.int64 if fits else object)
    if -(2**63) <= noise - other < 2**63:
        again = exact_sum(np.array([centre + other], dtype=object), np.array([noise - other]))
        assert (again.tolist(), again.dtype) == (held.tolist(), held.dtype)
    assert exact_sum(np.array(centre), np.array(noise)).shape == ()


def test_what_is_beyond_the_largest_double_is_the_largest() -> None:
    assert multiples(np.array([2**1100, -(2**1100), 3], dtype=object), Fraction(1)).tolist() == [
        LARGEST,
        -LARGEST,
        3.0,
    ]


# Scores.


@given(
    scores=st.lists(st.integers(-40, 40), min_size=1, max_size=5),
    far=whole,
    seed=st.integers(0, 50),
    sign=st.sampled_from([1, -1]),
)
def test_only_differences_of_scores_count_however_large_they_are(
    scores: list[int], far: int, seed: int, sign: int
) -> None:
    shifted = [score + far for score in scores]
    for choose in (choose_by_score, permute_and_flip):
        found = {
            choose(Source(seed=seed), scores=np.array(given, dtype=kind), factor=Fraction(sign, 7))
            for given, kind in ((scores, np.int64), (scores, object), (shifted, object))
        }
        assert len(found) == 1
    for kind in (Exponential, PermuteAndFlip):
        mechanism = kind(epsilon=1.0, sensitivity=2.0)
        assert _drawn(mechanism, scores) == _drawn(mechanism, shifted)


def test_scores_that_are_no_whole_numbers_are_refused_by_the_sampler() -> None:
    for bad in (np.array([0.5, 1.0]), np.array([True, False]), np.array([1, 2.5], dtype=object)):
        with pytest.raises(ParameterError, match="whole numbers"):
            choose_by_score(Source(seed=1), scores=bad, factor=Fraction(1))
    unsigned = np.array([2**64 - 1, 0], dtype=np.uint64)
    assert choose_by_score(Source(seed=1), scores=unsigned, factor=Fraction(1)) == 0


@given(st.lists(doubles, min_size=2, max_size=4))
def test_scores_far_apart_choose_the_best(scores: list[float]) -> None:
    """Scores of any size are on the grid; the clamp made the largest of them equal."""
    best = int(np.argmax(scores))
    apart = [Fraction(scores[best]) - Fraction(one) for i, one in enumerate(scores) if i != best]
    for kind in (Exponential, PermuteAndFlip):
        chosen = _drawn(kind(epsilon=1.0, sensitivity=1.0), np.array(scores))
        if min(apart) > 1000:
            assert chosen == best


# Values of every kind.


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ([2**63, -1], [2**63, -1]),  # NumPy makes doubles of them
        ([2**60 + 1, 0.5], [2**60 + 1, Fraction(1, 2)]),  # and of these
        ([[2**70], [1]], [[2**70], [1]]),
        (np.array([2**64 - 1], dtype=np.uint64), [2**64 - 1]),
        (np.array([7], dtype=np.uint64), [7]),
        (np.array([3, 4], dtype=object), [3, 4]),
        ((1, 2.5), [1.0, 2.5]),
        ([True, 2**70], [1, 2**70]),
        (["1", 2], [1, 2]),
        ([Decimal("2.5"), "x", None, 1j], [Fraction(5, 2), 0, 0, 0]),
        ([2**1001, -(2**2000)], [2**1000, -(2**1000)]),
        ([2**1025, 0.5], [2**1000, Fraction(1, 2)]),
        (
            np.array([np.longdouble("1e4000"), -np.inf, np.nan, 1e308]),
            [2.0**1000, -(2.0**1000), 0.0, 2.0**1000],
        ),
        ([float("inf"), 2**60 + 1], [2**1000, 2**60 + 1]),
        (2**65, 2**65),
        (np.float32(0.5), 0.5),
    ],
)
def test_values_count_as_the_numbers_that_they_are(value: Any, wanted: Any) -> None:
    assert vector(value).tolist() == wanted


@pytest.mark.parametrize("value", [[], [[1], [2, 3]], {"a": 1}, {1}, object(), np.sum])
def test_what_is_no_array_is_refused_before_anything_is_charged(value: Any) -> None:
    account = Account(RenyiDP((2.0,), (1e300,)))
    for mechanism in (*_noise(1.0, 1), *_on_grid(1.0, 0.5, 1), *_on_grid(1.0, None, 1)):
        if not mechanism.secret_sample:
            with pytest.raises((ParameterError, OverflowError)):
                account.release(mechanism, value)
    assert account.journal.entries == ()


# Parameters: what cannot be drawn is refused by its parameters and its shape, before anything is charged.

sizes = st.one_of(st.floats(-300, 300).map(lambda power: 10.0**power), st.floats(1e-3, 1e3))
_MAKERS: list[Callable[[float, float, float, float], Mechanism]] = [
    lambda a, b, c, d: Gaussian(sigma=a, l2_sensitivity=b),
    lambda a, b, c, d: Laplace(scale=a, l1_sensitivity=b),
    lambda a, b, c, d: VectorLaplace(epsilon=a, l2_sensitivity=b),
    lambda a, b, c, d: DiscreteGaussian(sigma=a, l2_sensitivity=b),
    lambda a, b, c, d: DiscreteLaplace(scale=a, l1_sensitivity=b),
    lambda a, b, c, d: DiscreteGaussian(sigma=a, l2_sensitivity=b, grid=c, dimension=2),
    lambda a, b, c, d: DiscreteLaplace(scale=a, l1_sensitivity=b, grid=c, dimension=2),
    lambda a, b, c, d: SubsampledGaussian(sigma=a, l2_sensitivity=b, rate=0.5),
    lambda a, b, c, d: SubsampledPure(base=Laplace(scale=a, l1_sensitivity=b), rate=0.5),
    lambda a, b, c, d: Exponential(epsilon=a, sensitivity=b),
    lambda a, b, c, d: PermuteAndFlip(epsilon=a, sensitivity=b),
    lambda a, b, c, d: RandomisedResponse(epsilon=a, categories=3),
    lambda a, b, c, d: ObjectivePerturbation(
        sigma=a, output_sigma=b, lipschitz=1.0, smoothness=1.0, penalty=c, tolerance=d
    ),
    lambda a, b, c, d: PureObjectivePerturbation(
        scale=a, output_epsilon=b, lipschitz=1.0, smoothness=1.0, penalty=c, tolerance=d
    ),
]


@settings(max_examples=60)
@given(a=sizes, b=sizes, c=sizes, d=sizes, values=st.sampled_from([[0, 1], [0.0, 1.0], [1e300, -1e300]]))
def test_what_passes_the_check_can_be_drawn(
    a: float, b: float, c: float, d: float, values: list[float]
) -> None:
    """After a charge it would be too late: the noise must be drawable at any parameters that are accepted."""
    for make in _MAKERS:
        try:
            mechanism = make(a, b, c, d)
            checked = mechanism.check(values)
        except (ParameterError, OverflowError):  # the latter where a curve beyond all doubles is asked for
            continue
        drawn = np.asarray(mechanism.sample(checked, Source(seed=1)))
        assert not np.any(np.isnan(drawn.astype(np.float64)))

"""Integers with a symmetric law: widths, magnitudes from one word, and wide laws in two steps."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from holdfast.errors import ParameterError
from holdfast.noise import _symmetric as symmetric_module
from holdfast.noise._bernoulli import LazyUniform, Threshold
from holdfast.noise._gaussian import _RoundedNormalLaw, discrete_gaussian, rounded_gaussian
from holdfast.noise._laplace import (
    _DiscreteLaplaceLaw,
    _TruncatedLaplaceLaw,
    discrete_laplace,
    truncated_laplace,
)
from holdfast.noise._source import Source
from holdfast.noise._symmetric import (
    MAGNITUDE_BITS,
    SMALLEST_TRUSTED_WORD,
    SymmetricLaw,
    _CellLaw,
    checked_width,
    draw_symmetric,
)


@pytest.mark.parametrize("value", [Fraction(0), Fraction(-1), Fraction(2**50) + 1, Fraction(1, 2**41)])
def test_widths_outside_the_range_are_refused_by_name(value: Fraction) -> None:
    for draw in (discrete_gaussian, rounded_gaussian):
        with pytest.raises(ParameterError, match="sigma must be in"):
            draw(Source(seed=1), sigma=value, size=1)
    with pytest.raises(ParameterError, match="scale must be in"):
        discrete_laplace(Source(seed=1), scale=value, size=1)


def test_integers_are_rational_and_floats_are_not() -> None:
    assert checked_width("sigma", 3) == Fraction(3)  # type: ignore[arg-type]
    assert checked_width("sigma", Fraction(3, 2)) == 1.5  # remembered, which must not let the float pass
    for value in (1.5, float("nan"), "3/2"):
        with pytest.raises(ParameterError, match="rational"):
            checked_width("sigma", value)  # type: ignore[arg-type]


def test_sizes() -> None:
    for size in (0, 1, 2**16 - 1, 2**16, 2**16 + 1):
        assert discrete_laplace(Source(seed=1), scale=Fraction(1), size=size).shape == (size,)
        assert discrete_gaussian(Source(seed=1), sigma=Fraction(1), size=size).shape == (size,)
        assert rounded_gaussian(Source(seed=1), sigma=Fraction(1), size=size).dtype == "int64"
    with pytest.raises(ParameterError, match="size"):
        discrete_gaussian(Source(seed=1), sigma=Fraction(1), size=-1)


# Doubles decide only where they are right: the margins, and the two paths against each other.

mp = mpmath.MPContext()
mp.prec = 200

WIDTHS = [
    Fraction(1, 3),
    Fraction(1),
    Fraction(22, 7),
    Fraction(16),
    Fraction(10**4, 3),
    Fraction(2**20),
    Fraction(2**40),
    Fraction(2**50),
]
widths = pytest.mark.parametrize("width", WIDTHS, ids=float)


def trusted_words() -> list[int]:
    """Random words over the whole trusted range, its ends, and where Cephes changes formula (exp(-2))."""
    top = 2**MAGNITUDE_BITS
    random = [
        SMALLEST_TRUSTED_WORD + int(w) % (top - SMALLEST_TRUSTED_WORD) for w in Source(seed=30).words(150)
    ]
    small = [SMALLEST_TRUSTED_WORD + int(w) % (63 * SMALLEST_TRUSTED_WORD) for w in Source(seed=31).words(50)]
    edges = [
        SMALLEST_TRUSTED_WORD,
        SMALLEST_TRUSTED_WORD + 1,
        top - 1,
        top - 2,
        top // 2,
        top // 2 - 1,
        top - 2**10,
        top - 2**12,
    ]
    branch = int(2 * np.exp(-2.0) * top)
    upper_branch = int(2 * (1 - np.exp(-2.0)) * top / 2)
    return [*random, *small, *edges, *(b + d for b in (branch, upper_branch) for d in (-(2**12), 0, 2**12))]


def double(words: list[int]) -> NDArray[np.float64]:
    return (np.array(words, dtype=np.uint64).astype(np.float64) + 0.5) * 2.0**-MAGNITUDE_BITS


@widths
def test_laplace_positions_are_a_sixteenth_of_their_tolerance_from_the_truth(width: Fraction) -> None:
    law = _DiscreteLaplaceLaw(width=width)
    words = trusted_words()
    s = mp.mpf(width.numerator) / width.denominator
    offset = mp.log(2 / (1 + mp.exp(-1 / s)))
    for word, x in zip(words, law.position(double(words)).tolist(), strict=True):
        for end in (word, word + 1):  # both ends of the word's interval
            exact = s * (offset - mp.log(mp.mpf(end) / 2**MAGNITUDE_BITS))
            assert abs(exact - x) <= law.tolerance / 16


@widths
def test_normal_positions_are_a_sixteenth_of_their_tolerance_from_the_truth(width: Fraction) -> None:
    law = _RoundedNormalLaw(width=width)
    words = trusted_words()
    s = mp.mpf(width.numerator) / width.denominator
    for word, x in zip(words, law.position(double(words)).tolist(), strict=True):
        for end in (word, word + 1):
            # Check the claim forwards: erfc is decreasing, so v lies between its values at x -+ tolerance/16.
            v = mp.mpf(end) / 2**MAGNITUDE_BITS
            slack = mp.mpf(law.tolerance) / 16
            near, far = (mp.erfc((mp.mpf(x) - 0.5 + e) / (s * mp.sqrt(2))) for e in (-slack, slack))
            assert far <= v <= near


def all_laws(seed: int, width: Fraction, size: int) -> list[list[int]]:
    draws = [
        discrete_laplace(Source(seed=seed), scale=width, size=size),
        rounded_gaussian(Source(seed=seed), sigma=width, size=size),
        discrete_gaussian(Source(seed=seed), sigma=width, size=size),
        truncated_laplace(Source(seed=seed), scale=width, size=size),
    ]
    return [d.tolist() for d in draws]


@pytest.mark.parametrize("width", WIDTHS, ids=float)
def test_exact_arithmetic_alone_gives_the_same_integers(
    width: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    fast = all_laws(32, width, 1500)
    monkeypatch.setattr(symmetric_module, "SMALLEST_TRUSTED_WORD", 2**63)
    monkeypatch.setattr("holdfast.noise._bernoulli.COIN_ERROR", 2.0**20)
    assert all_laws(32, width, 1500) == fast


def test_the_guess_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    # Even with positions that are plain wrong, the exact path finds the right integers.
    fast = all_laws(33, Fraction(7), 300)
    monkeypatch.setattr(symmetric_module, "SMALLEST_TRUSTED_WORD", 2**63)
    for law in (_DiscreteLaplaceLaw, _RoundedNormalLaw, _TruncatedLaplaceLaw):
        right = law.position
        monkeypatch.setattr(law, "position", lambda self, v, right=right: 3 * right(self, v) + 5)
    assert all_laws(33, Fraction(7), 300) == fast


class Constant(Source):
    """The same word first, then honest bits."""

    def __init__(self, word: int) -> None:
        super().__init__(seed=34)
        self._first: int | None = word

    def words(self, count: int) -> NDArray[np.uint64]:
        if self._first is None:
            return super().words(count)
        first, self._first = self._first, None
        return np.array([first], dtype=np.uint64)


def test_the_far_tail_is_reached_by_drawing_more_bits() -> None:
    # The word 0 says V < 2^-63: a magnitude above 43.67 scales or 9.1 sigma, found with further bits.
    far = discrete_laplace(Constant(0), scale=Fraction(1000), size=1)[0]
    assert 43_668 <= far < 80_000
    far = rounded_gaussian(Constant(0), sigma=Fraction(1000), size=1)[0]
    assert 9_100 <= far < 14_000
    assert rounded_gaussian(Constant(2**64 - 1), sigma=Fraction(1000), size=1)[0] == 0
    assert discrete_laplace(Constant(1), scale=Fraction(1000), size=1)[0] <= -43_668


@pytest.mark.parametrize("width", [2**20, 2**40, 2**50], ids=["one step", "two steps", "widest"])
def test_doubtful_draws_are_rare(width: int) -> None:
    """They are what takes time: of cut Laplace numbers half were in doubt at a scale of 2^40 (finding P12)."""
    asked: list[LazyUniform] = []

    class Counting(LazyUniform):
        def below(self, threshold: Threshold) -> bool:
            asked.append(self)
            return super().below(threshold)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(symmetric_module, "LazyUniform", Counting)
        for draw, name in ((rounded_gaussian, "sigma"), (truncated_laplace, "scale")):
            asked.clear()
            draw(Source(seed=35), size=200_000, **{name: Fraction(width)})
            assert 0 < len(set(asked)) < 80


# Two steps, taken where the exact law is easy to see.

Make = Callable[..., SymmetricLaw]
LAWS: list[Make] = [_DiscreteLaplaceLaw, _RoundedNormalLaw, _TruncatedLaplaceLaw]
laws = pytest.mark.parametrize("make", LAWS)


def probabilities(law: SymmetricLaw, reach: int) -> list[float]:
    """P[-reach], ..., P[reach] from the exact survival function."""
    survival = [1.0, *(law.survival(m)(200) / 2**200 for m in range(1, reach + 2))]
    magnitude = [survival[m] - survival[m + 1] for m in range(reach + 1)]
    return [(magnitude[abs(k)] / 2 if k else magnitude[0]) for k in range(-reach, reach + 1)]


@laws
@pytest.mark.parametrize("bits", [2, 3, 4])
def test_two_steps_have_the_law_of_one(make: Make, bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # With so few cells, places are often rejected, and the cell around zero is seen as well.
    monkeypatch.setattr(symmetric_module, "CELL_COUNT_BITS", bits)
    law = make(width=Fraction(40))
    draws = draw_symmetric(Source(seed=80), law=law, size=40_000)
    reach = 120
    expected = np.array(probabilities(law, reach)) * len(draws)
    observed = np.array([(draws == k).sum() for k in range(-reach, reach + 1)])
    keep = expected >= 10
    expected, observed = (np.append(x[keep], len(draws) - x[keep].sum()) for x in (expected, observed))
    assert stats.chisquare(observed, expected).pvalue > 1e-3


@laws
def test_cells_take_over_exactly_where_they_should(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[int] = []
    original = _CellLaw.places

    def counting(self: _CellLaw, source: Source, cells: np.ndarray) -> np.ndarray:
        used.append(self.integers)
        return original(self, source, cells)

    monkeypatch.setattr(_CellLaw, "places", counting)
    draw_symmetric(Source(seed=81), law=make(width=Fraction(2**22 - 1)), size=10)
    assert used == []
    draw_symmetric(Source(seed=81), law=make(width=Fraction(2**22)), size=10)
    draw_symmetric(Source(seed=81), law=make(width=Fraction(2**50)), size=10)
    assert used == [7, 2**31 - 1]


@laws
def test_the_cells_cover_the_integers_once(make: Make) -> None:
    cells = _CellLaw(law=make(width=Fraction(10**7)), integers=7)
    whole = np.repeat(np.arange(-3, 4), 4_000)
    places = cells.places(Source(seed=82), whole)
    assert set(places.tolist()) == set(range(-3 * 7 - 3, 3 * 7 + 4))
    assert (np.round(places / 7) == whole).all()


@settings(deadline=None)
@given(
    make=st.sampled_from(LAWS),
    width=st.fractions(1, 2**50, max_denominator=50),
    near=st.fractions(0, 9, max_denominator=1000),
    far=st.fractions(0, 1, max_denominator=1000),
)
def test_the_quick_bound_is_below_the_exact_ratio(
    make: Make, width: Fraction, near: Fraction, far: Fraction
) -> None:
    law = make(width=width)
    nearest = int(near * width)
    k = nearest + int(far * width)
    loss = float(law.loss(np.array([k]), np.array([nearest]))[0])
    ratio = law.ratio(k, nearest)(128) / 2**128
    assert 1 - loss <= ratio * (1 + 1e-12)
    assert ratio <= 1 + 1e-12


def test_the_quick_bound_is_sharp_enough_in_narrow_cells() -> None:
    # A cell of 2^-19 of the width: fewer than one coin in 2^13 may need the exact ratio for its bound. Around 0 a cut
    # law has half its mass on either side; one draw in 2^19 comes there.
    for make in LAWS:
        law = make(width=Fraction(2**40))
        nearest = np.array([2**40, 4 * 2**40])
        assert law.loss(nearest + 2**21, nearest).max() < 2**-13

"""Wide noise in two steps, made to take them where its exact law is easy to see."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from holdfast.noise import symmetric as symmetric_module
from holdfast.noise.gaussian import _Rounded
from holdfast.noise.laplace import _Laplace
from holdfast.noise.source import Source
from holdfast.noise.symmetric import Symmetric, _Cells, symmetric

Make = Callable[..., Symmetric]
LAWS: list[Make] = [_Laplace, _Rounded]
laws = pytest.mark.parametrize("make", LAWS)


def probabilities(law: Symmetric, reach: int) -> list[float]:
    """P[-reach], ..., P[reach] from the exact survival function."""
    survival = [1.0, *(law.survival(m)(200) / 2**200 for m in range(1, reach + 2))]
    magnitude = [survival[m] - survival[m + 1] for m in range(reach + 1)]
    return [(magnitude[abs(k)] / 2 if k else magnitude[0]) for k in range(-reach, reach + 1)]


@laws
@pytest.mark.parametrize("bits", [2, 3, 4])
def test_two_steps_have_the_law_of_one(make: Make, bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # With so few cells, places are often rejected, and the cell around zero is seen as well.
    monkeypatch.setattr(symmetric_module, "CELL_WIDTH_BITS", bits)
    law = make(width=Fraction(40))
    draws = symmetric(Source(seed=80), law=law, size=40_000)
    reach = 120
    expected = np.array(probabilities(law, reach)) * len(draws)
    observed = np.array([(draws == k).sum() for k in range(-reach, reach + 1)])
    keep = expected >= 10
    expected, observed = (np.append(x[keep], len(draws) - x[keep].sum()) for x in (expected, observed))
    assert stats.chisquare(observed, expected).pvalue > 1e-3


@laws
def test_cells_take_over_exactly_where_they_should(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[int] = []
    original = _Cells.places

    def counting(self: _Cells, source: Source, cells: np.ndarray) -> np.ndarray:
        used.append(self.integers)
        return original(self, source, cells)

    monkeypatch.setattr(_Cells, "places", counting)
    symmetric(Source(seed=81), law=make(width=Fraction(2**22 - 1)), size=10)
    assert used == []
    symmetric(Source(seed=81), law=make(width=Fraction(2**22)), size=10)
    symmetric(Source(seed=81), law=make(width=Fraction(2**50)), size=10)
    assert used == [7, 2**31 - 1]


@laws
def test_the_cells_cover_the_integers_once(make: Make) -> None:
    cells = _Cells(law=make(width=Fraction(10**7)), integers=7)
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
    # A cell of 2^-19 of the width: fewer than one coin in 2^13 may need the exact ratio for its bound.
    for make in LAWS:
        law = make(width=Fraction(2**40))
        nearest = np.array([0, 2**40, 4 * 2**40])
        assert law.loss(nearest + 2**21, nearest).max() < 2**-13

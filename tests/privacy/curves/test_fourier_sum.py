"""Sums by Fourier transform against sums of whole numbers by exact fractions: every mass, and all of them together."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.privacy._losses.fourier_sum import Summand, law_of_sum


def exact_power(masses: list[Fraction], times: int) -> list[Fraction]:
    """The law of a sum of copies, by repeated squaring."""
    if times == 0:
        return [Fraction(1)]
    half = exact_power(masses, times // 2)
    whole = product(half, half)
    return whole if times % 2 == 0 else product(whole, masses)


def product(first: list[Fraction], second: list[Fraction]) -> list[Fraction]:
    out = [Fraction(0)] * (len(first) + len(second) - 1)
    for i, a in enumerate(first):
        for j, b in enumerate(second):
            out[i + j] += a * b
    return out


def exact_law(summands: list[Summand]) -> tuple[int, list[Fraction]]:
    law = [Fraction(1)]
    for each in summands:
        law = product(law, exact_power([Fraction(float(mass)) for mass in each.masses], each.times))
    return sum(each.times * each.first for each in summands), law


@st.composite
def some_summands(draw: st.DrawFn) -> list[Summand]:
    """One law or two; often one that hardly ever moves."""
    out = []
    for _ in range(draw(st.integers(1, 2))):
        rng = np.random.default_rng(draw(st.integers(0, 10**6)))
        masses = rng.dirichlet(np.ones(draw(st.integers(2, 4))))
        moves = 10.0 ** -draw(st.floats(0.0, 9.0))
        masses = moves * masses
        masses[draw(st.integers(0, masses.size - 1))] += 1.0 - moves
        out.append(Summand(masses, draw(st.integers(-5, 5)), draw(st.integers(1, 12))))
    return out


@settings(max_examples=60)
@given(some_summands())
def test_every_mass_is_within_its_error(summands: list[Summand]) -> None:
    first, exact = exact_law(summands)
    law = law_of_sum(summands, first, first + len(exact) - 1)
    gaps = [abs(Fraction(float(mass)) - true) for mass, true in zip(law.masses, exact, strict=True)]
    assert float(max(gaps)) <= law.error
    assert math.sqrt(float(sum(gap * gap for gap in gaps))) <= law.norm_error


@settings(max_examples=20)
@given(some_summands(), st.integers(1, 6))
def test_what_lies_outside_the_window_wraps_around(summands: list[Summand], width: int) -> None:
    first, exact = exact_law(summands)
    low = first + len(exact) // 3
    law = law_of_sum(summands, low, low + width)
    for place, mass in enumerate(law.masses):
        true = exact[low - first + place] if low - first + place < len(exact) else Fraction(0)
        assert float(mass) >= float(true) - law.error
    # One mass of the window would be lost if anything were: around a circle nothing is.
    assert float(np.sum(law.masses)) <= 1.0 + 1e-12


@pytest.mark.parametrize("times", [10**3, 10**6])
def test_errors_grow_with_how_often_a_summand_moves_not_with_how_often_it_is_added(times: int) -> None:
    moves = 1e-7
    law = law_of_sum([Summand(np.array([1.0 - moves, moves]), 0, times)], 0, 1000)
    poisson = np.exp(
        -times * moves + np.arange(5) * math.log(times * moves) - [math.lgamma(k + 1) for k in range(5)]
    )
    assert law.masses[:5] == pytest.approx(poisson, abs=1e-8)  # Le Cam: within times moves^2
    assert law.error < 2e-14


def test_a_sum_that_hardly_vanishes_anywhere_and_one_that_does() -> None:
    """A thousand fair coins: most frequencies vanish, and the central masses are right."""
    law = law_of_sum([Summand(np.array([0.5, 0.5]), 0, 1000)], 0, 1000)
    assert law.masses[500] == pytest.approx(float(Fraction(math.comb(1000, 500), 2**1000)), abs=law.error)
    assert law.error < 1e-12


@given(st.integers(2, 200), st.floats(0.0, 0.9))
def test_a_doubt_about_the_masses_counts_as_often_as_they_are_added(times: int, stays: float) -> None:
    doubt = 1e-6
    claimed = np.array([stays, 1.0 - stays])
    law = law_of_sum([Summand(claimed, 0, times, doubt)], 0, times)
    other = law_of_sum([Summand(claimed + np.array([doubt / 2, -doubt / 2]), 0, times)], 0, times)
    assert float(np.max(np.abs(law.masses - other.masses))) <= law.error
    assert float(np.linalg.norm(law.masses - other.masses)) <= law.norm_error

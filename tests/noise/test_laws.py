"""The integer samplers against their exact probabilities, and against OpenDP's samplers.

Seeds are fixed, so a test passes or fails for good; with p-values above 1e-3 asked for, a law that
is wrong by a few per cent anywhere in its body or tail does not pass.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from holdfast.noise._gaussian import discrete_gaussian, rounded_gaussian
from holdfast.noise._laplace import discrete_laplace, truncated_laplace
from holdfast.noise._source import Source

mp = mpmath.MPContext()
mp.prec = 160

Integers = NDArray[np.int64]
Survival = Callable[[Fraction, int], Any]


def real(x: Fraction) -> Any:
    return mp.mpf(x.numerator) / x.denominator


def laplace_tail(scale: Fraction, m: int) -> Any:
    """P[K >= m] for m >= 1, from the geometric series."""
    q = mp.exp(-1 / real(scale))
    return q**m / (1 + q)


def truncated_tail(scale: Fraction, m: int) -> Any:
    """P[K >= m] for m >= 1: a positive Laplace number of at least m."""
    return mp.exp(-m / real(scale)) / 2


def rounded_tail(sigma: Fraction, m: int) -> Any:
    return mp.erfc((mp.mpf(m) - 0.5) / (real(sigma) * mp.sqrt(2))) / 2


def gaussian_tail(sigma: Fraction, m: int) -> Any:
    """P[K >= m], summed term by term for small sigma; Euler-Maclaurin (midpoint) for large."""
    s = real(sigma)
    if sigma < 200:
        f = [mp.exp(-mp.mpf(k * k) / (2 * s * s)) for k in range(int(14 * sigma) + 20)]
        return sum(f[m:]) / (2 * sum(f) - 1)
    a = mp.mpf(m) - 0.5
    slope = -a / (s * s) * mp.exp(-a * a / (2 * s * s))
    tail = s * mp.sqrt(mp.pi / 2) * mp.erfc(a / (s * mp.sqrt(2))) + slope / 24
    return tail / (s * mp.sqrt(2 * mp.pi))


def draw_laplace(source: Source, width: Fraction, size: int) -> Integers:
    return discrete_laplace(source, scale=width, size=size)


def draw_gaussian(source: Source, width: Fraction, size: int) -> Integers:
    return discrete_gaussian(source, sigma=width, size=size)


def draw_rounded(source: Source, width: Fraction, size: int) -> Integers:
    return rounded_gaussian(source, sigma=width, size=size)


def draw_truncated(source: Source, width: Fraction, size: int) -> Integers:
    return truncated_laplace(source, scale=width, size=size)


LAWS = {
    "laplace": (draw_laplace, laplace_tail),
    "gaussian": (draw_gaussian, gaussian_tail),
    "rounded": (draw_rounded, rounded_tail),
    "truncated": (draw_truncated, truncated_tail),
}
WIDTHS = [
    Fraction(1, 5),
    Fraction(1, 3),
    Fraction(9, 20),
    Fraction(1),
    Fraction(5, 2),
    Fraction(10),
    Fraction(159, 10),
    Fraction(16),
    Fraction(1000),
    Fraction(2**20),
    Fraction(2**30) + Fraction(1, 7),
]
by_law = pytest.mark.parametrize("law", LAWS)
by_width = pytest.mark.parametrize("width", WIDTHS, ids=lambda width: f"{float(width):.3g}")


def cell_probabilities(tail: Survival, width: Fraction, edges: list[int]) -> list[float]:
    """Probabilities of k < edges[0], edges[0] <= k < edges[1], ..., k >= edges[-1]."""
    at_least = [tail(width, e) if e >= 1 else 1 - tail(width, 1 - e) for e in edges]
    ends = [mp.mpf(1), *at_least, mp.mpf(0)]
    return [float(above - below) for above, below in pairwise(ends)]


def fit(draws: Integers, tail: Survival, width: Fraction, edges: list[int]) -> float:
    """The chi-square p-value over cells that are expected to hold at least ten draws."""
    expected = np.array(cell_probabilities(tail, width, edges)) * len(draws)
    observed = np.bincount(np.searchsorted(edges, draws, side="right"), minlength=len(edges) + 1)
    thin = expected < 10
    if thin.any():
        expected = np.append(expected[~thin], expected[thin].sum())
        observed = np.append(observed[~thin], observed[thin].sum())
        if expected[-1] < 5:  # too thin even together: an exact test of its own
            assert stats.binomtest(int(observed[-1]), len(draws), expected[-1] / len(draws)).pvalue > 1e-4
            expected, observed = expected[:-1], observed[:-1]
            expected = expected * (observed.sum() / expected.sum())
    return 1.0 if len(expected) < 2 else float(stats.chisquare(observed, expected).pvalue)


@by_law
@by_width
def test_draws_follow_the_exact_probabilities(law: str, width: Fraction) -> None:
    draw, tail = LAWS[law]
    draws = draw(Source(seed=20), width, 300_000)
    reach = int(12 * width) + 3
    edges = sorted({round(x) for x in np.linspace(-reach, reach, min(2 * reach + 1, 241))})
    assert fit(draws, tail, width, edges) > 1e-3


@pytest.mark.parametrize(
    ("law", "stand_in"), [("gaussian", "rounded"), ("rounded", "gaussian"), ("laplace", "gaussian")]
)
def test_the_goodness_of_fit_tells_close_laws_apart(law: str, stand_in: str) -> None:
    # Discrete and rounded Gaussian differ by 2 per cent in total variation at sigma = 1.
    draws = LAWS[stand_in][0](Source(seed=20), Fraction(1), 300_000)
    assert fit(draws, LAWS[law][1], Fraction(1), list(range(-15, 16))) < 1e-9
    wider = LAWS[law][0](Source(seed=20), Fraction(51, 50), 300_000)
    assert fit(wider, LAWS[law][1], Fraction(1), list(range(-15, 16))) < 1e-9


@by_law
@pytest.mark.parametrize("width", [Fraction(1), Fraction(10), Fraction(2**20)], ids=float)
def test_both_tails_have_their_exact_weight(law: str, width: Fraction) -> None:
    draw, tail = LAWS[law]
    draws = draw(Source(seed=21), width, 1_000_000)
    for weight in (1e-2, 1e-3, 1e-4):
        m = next(m for m in steps(width) if tail(width, m) < weight)
        p = float(tail(width, m))
        for beyond in (draws >= m, draws <= -m):
            assert stats.binomtest(int(beyond.sum()), len(draws), p).pvalue > 1e-3


def steps(width: Fraction) -> range:
    return range(1, int(40 * width) + 40, max(1, int(width) // 64))


@by_law
def test_low_digits_of_wide_noise_are_uniform(law: str) -> None:
    draws = LAWS[law][0](Source(seed=22), Fraction(2**34), 100_000)
    assert stats.chisquare(np.bincount(draws % 32, minlength=32)).pvalue > 1e-3


@by_law
def test_signs_are_fair_and_independent_of_magnitudes(law: str) -> None:
    draws = LAWS[law][0](Source(seed=23), Fraction(3), 200_000)
    table = [[(draws == sign * m).sum() for m in range(1, 8)] for sign in (1, -1)]
    assert stats.chi2_contingency(table).pvalue > 1e-3
    assert stats.binomtest(int((draws > 0).sum()), int((draws != 0).sum()), 0.5).pvalue > 1e-3


@by_law
def test_neighbouring_draws_are_uncorrelated(law: str) -> None:
    draws = np.abs(LAWS[law][0](Source(seed=24), Fraction(1000), 200_000)).astype(float)
    for lag in (1, 2, 3):
        assert abs(np.corrcoef(draws[:-lag], draws[lag:])[0, 1]) < 4 / np.sqrt(len(draws))


@by_law
def test_very_narrow_noise_is_zero(law: str) -> None:
    assert not LAWS[law][0](Source(seed=25), Fraction(1, 1000), 10_000).any()
    assert not LAWS[law][0](Source(seed=25), Fraction(1, 2**40), 100).any()


@by_law
def test_the_widest_noise_is_as_wide_as_it_says(law: str) -> None:
    width = Fraction(2**50)
    draws = LAWS[law][0](Source(seed=26), width, 200_000)
    edges = [int(x * 2**50) for x in np.linspace(-4, 4, 81)]
    assert fit(draws, LAWS[law][1], width, edges) > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("width", [Fraction(2, 5), Fraction(1), Fraction(10), Fraction(300)], ids=float)
@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_opendp_draws_from_the_same_law(law: str, width: Fraction) -> None:
    # OpenDP draws from the operating system, so this one p-value is random: 1e-6 is the rate of false alarms.
    import opendp.prelude as dp

    dp.enable_features("contrib")
    make = {"laplace": dp.m.make_laplace, "gaussian": dp.m.make_gaussian}[law]
    metric = {"laplace": dp.l1_distance(T=int), "gaussian": dp.l2_distance(T=float)}[law]
    theirs = np.array(make(dp.vector_domain(dp.atom_domain(T=int)), metric, scale=float(width))([0] * 10_000))
    ours = LAWS[law][0](Source(seed=27), Fraction(float(width)), 100_000)
    edges = np.unique(np.quantile(ours, np.linspace(0.005, 0.995, 60)).astype(int))
    table = [
        np.bincount(np.searchsorted(edges, d, side="right"), minlength=len(edges) + 1) for d in (ours, theirs)
    ]
    counts = np.array(table)
    assert stats.chi2_contingency(counts[:, counts.sum(axis=0) > 20]).pvalue > 1e-6

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from holdfast.noise._laplace import _TruncatedLaplaceLaw, truncated_laplace
from holdfast.noise._source import Source


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(5), Fraction(10**9)])
def test_magnitudes_are_cut_exponential_numbers(scale: Fraction) -> None:
    """P[|K| >= m] = exp(-m / scale): the discrete Laplace law has another mass at 0."""
    size = 40_000
    draws = truncated_laplace(Source(seed=7), scale=scale, size=size)
    assert draws.dtype == np.int64
    for quantile in (0.1, 0.5, 1.0, 3.0):
        m = max(1, round(quantile * float(scale)))
        wanted = math.exp(-m / float(scale))
        slack = 4.5 * math.sqrt(wanted * (1 - wanted) / size) + 1e-9
        assert abs(float(np.mean(np.abs(draws) >= m)) - wanted) < slack
    assert abs(np.mean(draws > 0) - np.mean(draws < 0)) < 4.5 / math.sqrt(size)


def test_survival_is_the_exact_exponential() -> None:
    law = _TruncatedLaplaceLaw(width=Fraction(7, 2))
    for m in (1, 4, 60):
        assert law.survival(m)(80) / 2**80 == pytest.approx(math.exp(-m / 3.5), rel=1e-9)


def test_position_and_survival_agree() -> None:
    law = _TruncatedLaplaceLaw(width=Fraction(1000))
    uniform = np.array([0.9, 0.5, 0.01])
    for v, x in zip(uniform, law.position(uniform), strict=True):
        m = int(np.floor(x))
        assert law.survival(m)(60) / 2**60 > v >= law.survival(m + 1)(60) / 2**60


def test_sizes() -> None:
    assert truncated_laplace(Source(seed=1), scale=Fraction(2), size=0).shape == (0,)
    assert truncated_laplace(Source(seed=1), scale=Fraction(2), size=70_000).shape == (70_000,)

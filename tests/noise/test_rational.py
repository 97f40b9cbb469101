from __future__ import annotations

from fractions import Fraction

import pytest

from holdfast.errors import ParameterError
from holdfast.noise.fixed_point import width
from holdfast.noise.gaussian import discrete_gaussian, rounded_gaussian
from holdfast.noise.laplace import discrete_laplace
from holdfast.noise.source import Source


@pytest.mark.parametrize("value", [Fraction(0), Fraction(-1), Fraction(2**50) + 1, Fraction(1, 2**41)])
def test_widths_outside_the_range_are_refused_by_name(value: Fraction) -> None:
    for draw in (discrete_gaussian, rounded_gaussian):
        with pytest.raises(ParameterError, match="sigma must be in"):
            draw(Source(seed=1), sigma=value, size=1)
    with pytest.raises(ParameterError, match="scale must be in"):
        discrete_laplace(Source(seed=1), scale=value, size=1)


def test_integers_are_rational_and_floats_are_not() -> None:
    assert width("sigma", 3) == Fraction(3)  # type: ignore[arg-type]
    for value in (1.5, float("nan"), "3/2"):
        with pytest.raises(ParameterError, match="rational"):
            width("sigma", value)  # type: ignore[arg-type]


def test_sizes() -> None:
    for size in (0, 1, 2**16 - 1, 2**16, 2**16 + 1):
        assert discrete_laplace(Source(seed=1), scale=Fraction(1), size=size).shape == (size,)
        assert discrete_gaussian(Source(seed=1), sigma=Fraction(1), size=size).shape == (size,)
        assert rounded_gaussian(Source(seed=1), sigma=Fraction(1), size=size).dtype == "int64"
    with pytest.raises(ParameterError, match="size"):
        discrete_gaussian(Source(seed=1), sigma=Fraction(1), size=-1)

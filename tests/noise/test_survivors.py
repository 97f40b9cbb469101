"""Laws that drawn faults asked for: each lived until its law was written (docs/mutation.md)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import pytest

from holdfast._ranges import MOST_DRAWS
from holdfast.errors import ParameterError
from holdfast.noise import discrete_gaussian, discrete_laplace
from holdfast.noise._source import Source


@pytest.mark.parametrize(
    "draw",
    [partial(discrete_laplace, scale=Fraction(2)), partial(discrete_gaussian, sigma=Fraction(2))],
    ids=["laplace", "gaussian"],
)
def test_more_draws_than_there_may_be_are_refused_at_once(draw: Callable[..., Any]) -> None:
    for size in (MOST_DRAWS + 1, 2**62, -1):
        with pytest.raises(ParameterError, match="size"):
            draw(Source(seed=1), size=size)

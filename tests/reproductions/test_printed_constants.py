"""The printed noise solves the printed equation, and is half of what a doubled sensitivity asks for."""

from __future__ import annotations

import math

import pytest
from studies.reproductions.printed_constants import printed_noise_std


@pytest.mark.parametrize(("passes", "count"), [(1, 100), (10, 50)])
def test_the_printed_deviation_solves_the_printed_equation(passes: int, count: int) -> None:
    epsilon, delta = 1.0, 1e-6
    deviation = printed_noise_std(epsilon=epsilon, delta=delta, passes=passes, count=count)
    steps, delta_1 = passes * count, delta / (passes + 1)
    epsilon_2 = math.sqrt(2 * math.log(1.25 / delta_1)) / deviation
    assert epsilon_2 < 1.0, "the minimum is not reached here"
    epsilon_1 = 2 * epsilon_2 / count
    total = (
        steps * epsilon_1 * math.expm1(epsilon_1) + math.sqrt(2 * steps * math.log(1 / delta_1)) * epsilon_1
    )
    assert total == pytest.approx(epsilon)


def test_the_second_epsilon_is_at_most_one() -> None:
    deviation = printed_noise_std(epsilon=1.0, delta=1e-6, passes=1, count=1000)
    assert deviation == pytest.approx(math.sqrt(2 * math.log(1.25 / 5e-7)))


def test_it_grows_with_the_sensitivity() -> None:
    printed = printed_noise_std(epsilon=1.0, delta=1e-6, passes=1, count=1000)
    doubled = printed_noise_std(epsilon=1.0, delta=1e-6, passes=1, count=1000, sensitivity=2.0)
    assert doubled == pytest.approx(2 * printed)

"""Noise constants as they were printed, for comparison with what holds; nothing private is made with them."""

from __future__ import annotations

import math


def printed_noise_std(
    *, epsilon: float, delta: float, passes: int, count: int, sensitivity: float = 1.0
) -> float:
    """The deviation that Wu 2016 prints for algorithm 3 (Bassily, Smith and Thakurta 2014), with iota = `sensitivity`.

    eps_1 solves T eps_1 (e^eps_1 - 1) + sqrt(2 T ln(1/delta_1)) eps_1 = epsilon with delta_1 = delta / (k + 1);
    eps_2 = min(1, m eps_1 / 2); sigma^2 = 2 ln(1.25 / delta_1) / eps_2^2.

    >>> halves = [printed_noise_std(epsilon=1.0, delta=1e-6, passes=1, count=1000, sensitivity=s) for s in (1, 2)]
    >>> round(halves[1] / halves[0], 12)
    2.0
    """
    steps, delta_1 = passes * count, delta / (passes + 1)
    low, high = 0.0, epsilon
    for _ in range(200):
        middle = 0.5 * (low + high)
        total = steps * middle * math.expm1(middle) + math.sqrt(2 * steps * math.log(1 / delta_1)) * middle
        low, high = (middle, high) if total <= epsilon else (low, middle)
    epsilon_2 = min(1.0, count * low / 2)
    return sensitivity * math.sqrt(2 * math.log(1.25 / delta_1)) / epsilon_2

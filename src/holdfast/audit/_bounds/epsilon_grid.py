"""A lower bound on epsilon from a family of tests: climb a fixed grid of epsilons until one is not rejected.

Let there be a test of each epsilon. The bound is the largest epsilon such that it and every smaller one is rejected.
The largest rejected epsilon by itself is no valid bound where a smaller one is not rejected. A test that is valid at
one epsilon is valid at every smaller one. So if the truth lies between two epsilons of the grid, the bound exceeds it
only if the upper one is rejected, which has probability at most beta. Climbing a grid that was fixed in advance
therefore loses one step of the grid and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable

FINE_STEP, STEP_RATIO, FINE_RUNGS = 0.001, 1.005, 200
"""The grid has steps of 0.001 up to 0.2, which is rung 200, then steps of half a percent."""
LAST_RUNG = 1100
"""The last index of the grid, near epsilon 17.8; no audit of fewer than 10^8 guesses gets there."""


def rung(index: int) -> float:
    """The epsilon at an index of the grid.

    >>> rung(0), rung(200), round(rung(800), 3)
    (0.0, 0.2, 3.987)
    """
    return (
        FINE_STEP * index
        if index <= FINE_RUNGS
        else FINE_STEP * FINE_RUNGS * STEP_RATIO ** (index - FINE_RUNGS)
    )


def last_epsilon(holds: Callable[[float], bool]) -> int:
    """The last index at which a monotone condition (true, then false) holds; -1 if it never does."""
    low, high = -1, LAST_RUNG + 1
    while high - low > 1:
        middle = (low + high) // 2
        if holds(rung(middle)):
            low = middle
        else:
            high = middle
    return low


def climb(is_rejected: Callable[[float], bool], *, start: int = 0) -> float:
    """The largest epsilon of the grid such that it and every smaller one is rejected; 0 if the first is not.

    Epsilons below the index `start` are known to be rejected by a simpler argument.

    >>> climb(lambda epsilon: epsilon < 0.0015 or epsilon > 3.0)
    0.001
    """
    index = start
    while index <= LAST_RUNG and is_rejected(rung(index)):
        index += 1
    return rung(max(index - 1, 0))

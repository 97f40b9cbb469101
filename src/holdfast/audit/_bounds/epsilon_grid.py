"""A lower bound on epsilon from a family of tests: climb a fixed grid of epsilons until one is not rejected.

A family of tests, one for each epsilon, makes a lower bound only through "every epsilon up to here is
rejected"; the largest rejected epsilon alone controls nothing when the rejections are not nested. The
nulls are nested, so a test that is valid at one epsilon of the grid is valid at everything below it: if the
truth lies between two of them, a bound above the truth needs the upper one to be rejected, which has probability
at most beta. Hence climbing a grid that was fixed in advance loses one step and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable

FINE_STEP, STEP_RATIO, FINE_RUNGS = 0.001, 1.005, 200
"""The grid has steps of 0.001 up to 0.2, which is rung 200, then steps of half a percent."""
LAST_RUNG = 1100
"""The last index, near epsilon 17.8; no audit of fewer than 10^8 guesses gets there."""


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
    """The largest epsilon such that it and every one below are rejected; 0 if the first is not.

    Those below the index `start` are known to be rejected by a simpler argument.

    >>> climb(lambda epsilon: epsilon < 0.0015 or epsilon > 3.0)
    0.001
    """
    index = start
    while index <= LAST_RUNG and is_rejected(rung(index)):
        index += 1
    return rung(max(index - 1, 0))

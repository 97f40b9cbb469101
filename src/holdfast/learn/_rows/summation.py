"""How far a sum over rows may be from the exact one: sums of blocks, by one thread, so that a bound holds."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from holdfast.data._table import CHUNK_ROWS

UNIT_ROUNDOFF = 2.0**-53
BLOCK = 2_048
"""Rows that are summed at once: few enough to stay in a processor's cache; a fixed number."""


def rounding_of_sum(count: int) -> float:
    """A bound on the rounding error of a blocked sum, relative to the sum of absolute values (Higham 2002).

    Chunks of a stream may be shorter than a block: at worst one of 64 rows each.

    >>> rounding_of_sum(10**6) < 1e-11
    True
    """
    return 2.0 * UNIT_ROUNDOFF * (BLOCK + count / 64 + 65.0)


def summation_error(count: int) -> float:
    """How far a sum of that many products may be from the exact one, relative to the sum of their sizes.

    One chunk of at most `CHUNK_ROWS` rows is summed at once, then chunks of at least 1024 rows are added up;
    the last one may be shorter. The 16 covers the products' own rounding.

    >>> summation_error(1) < 1e-14 < summation_error(10**6) < 1e-10
    True
    """
    return 2.0 * UNIT_ROUNDOFF * min(count + 16, CHUNK_ROWS + count / 1024 + 16)


def one_thread() -> AbstractContextManager[Any]:
    """Within it, BLAS runs in the calling thread; what was set before is set again afterwards.

    Passes over rows are bound by memory, and threads only wait for each other: on a busy machine two made a fit ten
    times slower. With one, the order of a sum does not depend on how many cores a machine has.
    """
    limited: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limited


@cache
def _controller() -> Any:
    # Comes with scikit-learn. Looking for the loaded libraries takes longer than a fit's own bookkeeping: once.
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()

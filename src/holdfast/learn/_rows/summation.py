"""Bounds on the rounding error of sums over rows, and the one thread that they are computed in."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from holdfast.data._table import CHUNK_ROWS

UNIT_ROUNDOFF = 2.0**-53
BLOCK = 2_048
"""Rows that are summed at once: few enough to stay in a processor's cache. Bounds on rounding errors use this
number."""


def rounding_of_sum(count: int) -> float:
    """A bound on the rounding error of a blocked sum, relative to the sum of absolute values (Higham 2002).

    Chunks of a stream may be shorter than a block; the bound allows for chunks of 64 rows.

    >>> rounding_of_sum(10**6) < 1e-11
    True
    """
    return 2.0 * UNIT_ROUNDOFF * (BLOCK + count / 64 + 65.0)


def summation_error(count: int) -> float:
    """A bound on the rounding error of a sum of so many products, relative to the sum of their absolute values.

    A chunk has at most `CHUNK_ROWS` rows and, except for the last, at least 1024. Each is summed at once, and then
    their sums are added. The 16 covers the rounding of the products themselves.

    >>> summation_error(1) < 1e-14 < summation_error(10**6) < 1e-10
    True
    """
    return 2.0 * UNIT_ROUNDOFF * min(count + 16, CHUNK_ROWS + count / 1024 + 16)


def one_thread() -> AbstractContextManager[Any]:
    """A context in which BLAS uses the calling thread only.

    Passes over rows are limited by memory, and several threads wait for each other: on a busy machine, two threads made
    a fit ten times slower. With one thread, the order of a sum does not depend on the machine's number of cores.
    """
    context: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return context


@cache
def _controller() -> Any:
    # threadpoolctl comes with scikit-learn. It searches for loaded libraries, which is slow, so this is done once.
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()

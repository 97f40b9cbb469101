"""One thread for matrix products: passes over rows are bound by memory, and threads only wait for each other.

On a busy machine two BLAS threads made a fit ten times slower, spinning. And with one thread the order of a sum
does not depend on how many cores a machine has.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any


def one_thread() -> AbstractContextManager[Any]:
    """Within it, BLAS runs in the calling thread; what was set before is set again afterwards."""
    limited: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limited


@cache
def _controller() -> Any:
    # Comes with scikit-learn. Looking for the loaded libraries takes longer than a fit's own bookkeeping: once.
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()

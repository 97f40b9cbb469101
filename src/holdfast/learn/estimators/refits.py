"""Who fits the same rows again without an account pays again, and is told so.

A cross-validation clones its estimator and fits overlapping parts of the data, often scaled anew for each part.
So two things are noticed: a caller in scikit-learn's model selection, and rows that this process has fitted
before, of which it remembers, in memory only, a small sketch.
"""

from __future__ import annotations

import sys
import warnings
from collections import deque
from typing import Any
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import BudgetWarning

SKETCH = 32
"""Hashes kept of each fit: the smallest, so that overlapping parts keep mostly the same ones (min-hash)."""
REMEMBERED = 256
"""Fits remembered."""
MESSAGE = (
    "the same rows are fitted several times without an account: every fit spends its epsilon again, a "
    "cross-validation or grid search once per fit, and the promise of one release covers one fit only; pass "
    "account=... to fit, which keeps the sum"
)


def sketch(rows: NDArray[np.float64], labels: NDArray[np.float64]) -> frozenset[int]:
    """The smallest hashes of the rows: of one column of numbers in which nearly all rows differ.

    >>> rows, labels = np.arange(400.0).reshape(100, 4), np.arange(100.0)
    >>> len(sketch(rows, labels) & sketch(rows[10:], labels[10:])) > SKETCH // 2
    True
    """
    weights = np.cos(1.0 + np.arange(rows.shape[1]) ** 1.5)
    # Single precision: the last digits of a matrix product depend on the place of the row.
    bits = (
        np.ascontiguousarray(rows @ weights + 3.7 * labels, dtype=np.float32)
        .view(np.uint32)
        .astype(np.uint64)
    )
    hashes = bits * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(16)
    most = min(8 * SKETCH, hashes.size)  # equal rows have equal hashes: look at some more than are kept
    smallest = np.unique(np.partition(hashes, most - 1)[:most])
    return frozenset(smallest[:SKETCH].tolist())


class Refits:
    """What this process has fitted without an account."""

    def __init__(self) -> None:
        self._sketches: deque[frozenset[int]] = deque(maxlen=REMEMBERED)
        self._tables: WeakSet[Any] = WeakSet()

    def rows(self, rows: NDArray[np.float64], labels: NDArray[np.float64]) -> bool:
        """Whether half of these rows, as far as the sketch can tell, were fitted before; remembers them."""
        new = sketch(rows, labels)
        seen = any(2 * len(new & old) >= len(new) for old in self._sketches if old)
        self._sketches.append(new)
        return seen

    def table(self, table: Any) -> bool:
        """Whether this table was fitted before; remembers it."""
        seen = table in self._tables
        self._tables.add(table)
        return seen


REFITS = Refits()


def inside_model_selection() -> bool:
    """Whether a cross-validation or a search of scikit-learn is calling."""
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
        if str(frame.f_globals.get("__name__", "")).startswith("sklearn.model_selection"):
            return True
    return False


def warn_refit(seen: bool, *, stacklevel: int = 3) -> None:
    """Say it once in each place."""
    if seen:
        warnings.warn(MESSAGE, BudgetWarning, stacklevel=stacklevel)

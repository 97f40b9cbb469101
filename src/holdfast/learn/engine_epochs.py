"""Epochs over examples that stay where they are: permutation SGD run by the engine, beside the rows.

Where an engine can do it (`table.can("engine_epochs")`), the kernel of `holdfast.kernel` runs there over rows in one
secret order that every pass keeps (soundness, section 1, order (i)); what comes back has no noise in it yet, and the
method that asked adds it, here as everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.data.order import Order
from holdfast.kernel import SgdOptions
from holdfast.noise.source import Source

Floats = NDArray[np.float64]
Epochs = Callable[..., Floats]
"""(options, *, source, passes, records) -> the result before noise."""


def engine_epochs(examples: Any) -> Epochs | None:
    """How the examples' engine runs a whole course, or None where rows are read instead."""
    table, rows = getattr(examples, "table", None), getattr(examples, "labelled", None)
    if table is None or rows is None or not table.can("engine_epochs"):
        return None
    return partial(_run, table, rows)


def _run(table: Any, rows: Any, options: SgdOptions, *, source: Source, passes: int, records: int) -> Floats:
    made: Floats = table.epochs(rows, options, order=Order.shuffled(source), passes=passes, records=records)
    return made

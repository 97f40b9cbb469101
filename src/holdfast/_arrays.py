"""Array types, defined once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
"""Numbers."""
Codes = NDArray[np.int64]
"""Whole numbers: codes of categories, counts of rows, places in another array."""
Bools = NDArray[np.bool_]
"""Marks: which rows, columns or cells."""

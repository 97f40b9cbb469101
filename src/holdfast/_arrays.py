"""The array types of annotations, defined once for all rooms."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
"""Real numbers, as doubles."""
Codes = NDArray[np.int64]
"""Whole numbers: codes of categories, counts of rows, indices of another array."""
Bools = NDArray[np.bool_]
"""A mask of rows, columns or cells."""

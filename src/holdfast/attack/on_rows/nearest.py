"""Nearest neighbour: a record close to a released row is called a member (Chen et al. 2020).

Kept because such distances are what is usually reported, under names such as "distance to closest record". They
measure little: see `WARNING`.
"""

from __future__ import annotations

import numpy as np

from holdfast.attack.distances import nearest_distance
from holdfast.attack.rows_attack import Floats, RowsAttack, RowsCase

WARNING = (
    "distances to the nearest row measure little: they see copies, not what counts or a density give away, and they "
    "call members whoever lives where many people do; a low figure is no evidence of privacy"
)


def nearest_row(case: RowsCase) -> Floats:
    """Minus the distance to the nearest released row."""
    return np.asarray(-nearest_distance(case.records.numbers, case.rows.numbers))


ATTACK = RowsAttack(name="nearest_row", score=nearest_row, paper="CYZF20", note=WARNING)

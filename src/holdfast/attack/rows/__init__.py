"""Attacks that see released rows only. ROWS_ATTACKS: all that holdfast knows."""

from __future__ import annotations

from holdfast.attack.rows import distance_based, marginal_ratio
from holdfast.attack.rows.released_rows import RowsAttack

ROWS_ATTACKS: tuple[RowsAttack, ...] = (
    distance_based.DENSITY_RATIO,
    marginal_ratio.ATTACK,
    distance_based.NEAREST_ROW,
)

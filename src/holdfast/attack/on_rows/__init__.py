"""ROWS_ATTACKS: every attack that sees released rows only, one file each."""

from __future__ import annotations

from holdfast.attack.on_rows import density_ratio, marginal_ratio, nearest
from holdfast.attack.rows_attack import RowsAttack

ROWS_ATTACKS: tuple[RowsAttack, ...] = (density_ratio.ATTACK, marginal_ratio.ATTACK, nearest.ATTACK)

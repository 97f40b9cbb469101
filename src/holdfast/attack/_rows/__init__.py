"""Attacks that see released rows only. ROWS_ATTACKS: holdfast's own. REGISTRY: those of installed packages, too."""

from __future__ import annotations

from holdfast._extensions import Registry
from holdfast.attack._rows import distance_based, marginal_ratio
from holdfast.attack._rows.released_rows import RowsAttack

ROWS_ATTACKS: tuple[RowsAttack, ...] = (
    distance_based.DENSITY_RATIO,
    marginal_ratio.ATTACK,
    distance_based.NEAREST_ROW,
)
REGISTRY = Registry(
    group="holdfast.rows_attacks",
    noun="attack",
    own=ROWS_ATTACKS,
    kind=RowsAttack,
    calls=("score",),
    states=("paper",),
    promise="sees no answers",
)

"""Attacks on models. ATTACKS: every membership attack that holdfast knows."""

from __future__ import annotations

from holdfast.attack.models import lira, metric_based, neural, quantile, rmia
from holdfast.attack.models.attack import Attack

ATTACKS: tuple[Attack, ...] = (
    metric_based.CORRECTNESS,
    metric_based.LOSS,
    metric_based.CONFIDENCE,
    metric_based.ENTROPY,
    metric_based.MODIFIED_ENTROPY,
    quantile.ATTACK,
    neural.BLACK_BOX,
    neural.WHITE_BOX,
    lira.OFFLINE,
    lira.ONLINE,
    rmia.OFFLINE,
    rmia.ONLINE,
)

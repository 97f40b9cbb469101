"""Attacks on models. ATTACKS: holdfast's own membership attacks. REGISTRY: those of installed packages, too."""

from __future__ import annotations

from holdfast._extensions import Registry
from holdfast.attack._models import lira, metric_based, neural, quantile, rmia
from holdfast.attack._models.attack import Attack

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
REGISTRY = Registry(
    group="holdfast.attacks",
    noun="attack",
    own=ATTACKS,
    kind=Attack,
    calls=("score",),
    states=("paper", "tasks"),
    promise="sees no answers",
)

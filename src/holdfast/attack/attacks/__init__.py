"""ATTACKS: every membership attack, one file each."""

from __future__ import annotations

from holdfast.attack.attack import Attack
from holdfast.attack.attacks import (
    confidence,
    correctness,
    entropy,
    lira,
    loss,
    modified_entropy,
    neural_black_box,
    neural_white_box,
    quantile,
    rmia,
)

ATTACKS: tuple[Attack, ...] = (
    correctness.ATTACK,
    loss.ATTACK,
    confidence.ATTACK,
    entropy.ATTACK,
    modified_entropy.ATTACK,
    quantile.ATTACK,
    neural_black_box.ATTACK,
    neural_white_box.ATTACK,
    lira.OFFLINE,
    lira.ONLINE,
    rmia.OFFLINE,
    rmia.ONLINE,
)

"""All attacks, one file for each family; to add one, write its file and list it in ATTACKS."""

from __future__ import annotations

from holdfast.attack._attack import Attack
from holdfast.attack._attacks import (
    conditional_rows,
    distance_based,
    fredrikson,
    inference,
    linear_weights,
    linkability,
    lira,
    marginal_ratio,
    mehnaz,
    metric_based,
    neural,
    quantile,
    rmia,
    singling_out,
)

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
    distance_based.DENSITY_RATIO,
    marginal_ratio.ATTACK,
    distance_based.NEAREST_ROW,
    fredrikson.BAYES,
    fredrikson.FREDRIKSON,
    fredrikson.STACKED,
    mehnaz.CSMIA,
    mehnaz.LOMIA,
    linear_weights.ATTACK,
    conditional_rows.ROWS_AND_OWN,
    conditional_rows.ROWS_CONDITIONAL,
    conditional_rows.CLOSEST_ROW,
    singling_out.ATTACK,
    linkability.ATTACK,
    inference.ATTACK,
)
"""Holdfast's own attacks, in the order in which reports show them.

Headline figures about an attribute are those of the first attack that can be made: the order is fixed here, so that the
attack is never chosen by its success.
"""

"""Attacks on an attribute: a column of a person guessed from the others. ATTRIBUTE_ATTACKS: all that holdfast knows."""

from __future__ import annotations

from holdfast._extensions import Registry
from holdfast.attack._attributes import conditional_rows, fredrikson, linear_weights, mehnaz
from holdfast.attack._attributes.case import AttributeAttack

ATTRIBUTE_ATTACKS: tuple[AttributeAttack, ...] = (
    fredrikson.BAYES,
    fredrikson.FREDRIKSON,
    fredrikson.STACKED,
    mehnaz.CSMIA,
    mehnaz.LOMIA,
    linear_weights.LINEAR_WEIGHTS,
    conditional_rows.ROWS_AND_OWN,
    conditional_rows.ROWS_CONDITIONAL,
    conditional_rows.CLOSEST_ROW,
)
"""The first that can be made is the one that figures are told of; fixed here, never chosen by its success."""
REGISTRY = Registry(
    group="holdfast.attribute_attacks",
    noun="attack",
    own=ATTRIBUTE_ATTACKS,
    kind=AttributeAttack,
    calls=("score",),
    states=("paper", "tasks"),
    promise="sees no answers",
)

"""How far the probability of the record's class is above that of any other (Salem et al. 2019)."""

from __future__ import annotations

import numpy as np

from holdfast._arrays import Floats
from holdfast.attack._attack import Attack
from holdfast.attack._models.model_case import ModelCase


def margin(case: ModelCase) -> Floats:
    """The probability of the record's own class, less the largest of the others."""
    probabilities = case.target.probabilities(case.records)
    own = case.target.label_columns(case.records)
    rows = np.arange(len(own))
    mine = probabilities[rows, own]
    others = probabilities.copy()
    others[rows, own] = -np.inf
    return np.asarray(mine - others.max(axis=1))


MARGIN = Attack(
    name="margin",
    kind="model",
    guess=margin,
    paper="SZHBFB19",
    knows=("scores",),
    tasks=("classification",),
)

"""Members are those on whom a classifier decides by a wide margin, if it decides right."""

from __future__ import annotations

import numpy as np

from holdfast.attack import Attack, ModelCase


def margin(case: ModelCase) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The probability of the record's own label less that of the strongest other one; no answers are seen."""
    probabilities = np.array(case.target.probabilities(case.records))
    rows, own = np.arange(case.records.count), case.target.label_columns(case.records)
    mine = probabilities[rows, own]
    probabilities[rows, own] = -np.inf
    return np.asarray(mine - probabilities.max(axis=1), dtype=np.float64)


ATTACK = Attack(
    name="margin",
    kind="model",
    guess=margin,
    paper="none",
    knows=("scores",),
    tasks=("classification",),
)

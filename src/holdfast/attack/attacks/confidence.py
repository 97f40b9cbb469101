"""Confidence: the model is surer of itself on members, whatever their label (seed 000, section 2.3)."""

from __future__ import annotations

import numpy as np

from holdfast.attack.attack import Attack, Case, Floats


def confidence(case: Case) -> Floats:
    """The largest probability."""
    return np.asarray(case.target.probabilities(case.records).max(axis=1))


ATTACK = Attack(name="confidence", score=confidence, paper="SZHBFB19", tasks=("classification",))

"""Entropy: the outputs of members are concentrated (seed 000, section 2.3 and Algorithm 6; Salem et al. 2019)."""

from __future__ import annotations

import numpy as np

from holdfast.attack.attack import Attack, Case, Floats


def entropy(case: Case) -> Floats:
    """Minus the entropy of the output: members have a lower one (000's introduction says higher)."""
    p = np.clip(case.target.probabilities(case.records), 0.0, 1.0)
    return np.asarray(np.sum(p * np.log(np.where(p > 0.0, p, 1.0)), axis=1))


ATTACK = Attack(name="entropy", score=entropy, paper="SZHBFB19", tasks=("classification",))

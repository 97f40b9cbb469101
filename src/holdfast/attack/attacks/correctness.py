"""Correctness: members are predicted right (seed 000, section 2.3; the gap attack of Yeom et al. 2018)."""

from __future__ import annotations

import numpy as np

from holdfast.attack.attack import Attack, Case, Floats


def correctness(case: Case) -> Floats:
    """1 where the model's decision is the record's label, else 0; needs decisions only."""
    chosen = case.target.probabilities(case.records).argmax(axis=1)
    return np.asarray(chosen == case.target.own(case.records), dtype=np.float64)


ATTACK = Attack(
    name="correctness", score=correctness, paper="YGFJ18", tasks=("classification",), outputs="labels"
)

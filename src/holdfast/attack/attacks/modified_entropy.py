"""Modified entropy: concentrated outputs count against membership where they are wrong (Song and Mittal 2021)."""

from __future__ import annotations

import numpy as np

from holdfast.attack.attack import Attack, Case, Floats

SMALLEST = 1e-30


def modified_entropy(case: Case) -> Floats:
    """(1 - p_y) log p_y + sum over other classes of p_i log(1 - p_i)."""
    p = np.clip(case.target.probabilities(case.records), 0.0, 1.0)
    rows, own = np.arange(case.records.count), case.target.own(case.records)
    others = np.array(p)
    others[rows, own] = 0.0
    # 1 - p_y as the sum of the others: exact where p_y is close to 1. Logarithms of 0 stay finite.
    rest, mine = others.sum(axis=1), np.maximum(p[rows, own], SMALLEST)
    wrong = others * np.log(np.maximum(1.0 - others, SMALLEST))
    return np.asarray(rest * np.log(mine) + wrong.sum(axis=1))


ATTACK = Attack(name="modified_entropy", score=modified_entropy, paper="SM21", tasks=("classification",))

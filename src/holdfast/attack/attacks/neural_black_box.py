"""Neural, black box: a network learns on shadow models what outputs members have (seed 000, section 2.2.2).

The shadow attack of Shokri et al. 2017. It sees the output vector and the label; classes are told apart by rank only,
so that few shadow models teach it about all of them.
"""

from __future__ import annotations

import numpy as np

from holdfast.attack.attack import Attack, Case, Floats
from holdfast.attack.attack_network import learned_scores
from holdfast.attack.records import Records
from holdfast.attack.signals import finite
from holdfast.attack.targets import LARGEST, Target

RANKS = 5
"""Of the sorted output, the largest entries."""


def outputs_seen(target: Target, records: Records) -> Floats:
    """Log-odds and loss of the own label, rightness and the largest log-probabilities; or residual and output."""
    if target.task == "regression":
        residual = target.residuals(records)
        size = np.log(np.abs(residual) + 1e-12)
        return np.column_stack([residual, size, records.labels.astype(np.float64) - residual])
    p, own = target.probabilities(records), target.own(records)
    odds = finite(target.log_odds(records), largest=LARGEST)
    ranked = np.log(np.clip(np.sort(p, axis=1)[:, ::-1][:, :RANKS], np.exp(-LARGEST), 1.0))
    return np.column_stack([odds, np.logaddexp(0.0, -odds), p.argmax(axis=1) == own, ranked])


def neural_black_box(case: Case) -> Floats:
    """The attack network's log-odds of membership, from outputs."""
    return learned_scores(case.models().lessons[NAME], outputs_seen(case.target, case.records))


NAME = "neural_black_box"
ATTACK = Attack(name=NAME, score=neural_black_box, paper="SSSS17", needs=("references",), view=outputs_seen)

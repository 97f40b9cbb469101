"""Loss: members have a low one (seed 000, section 2.3 and Algorithm 5; Yeom et al. 2018)."""

from __future__ import annotations

import numpy as np

from holdfast.attack.attack import Attack, Case, Floats
from holdfast.attack.signals import finite


def loss(case: Case) -> Floats:
    """Minus the logarithmic loss of a classifier, minus the squared error of a regression."""
    signal = case.target.signal(case.records)
    if case.target.task == "regression":
        return -np.square(signal)
    # log p = -log(1 + e^-odds); seed 000 section 4.2 prints the sign the other way round (soundness, section 14).
    return -np.logaddexp(0.0, -finite(signal))


ATTACK = Attack(name="loss", score=loss, paper="YGFJ18")

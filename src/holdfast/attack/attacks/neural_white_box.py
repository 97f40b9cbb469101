"""Neural, white box: the same with the model's inside (seed 000, section 2.2.3; Nasr, Shokri and Houmansadr 2019).

Besides outputs and loss, of every layer: what it computes, and the gradient of the loss in its weights. A gradient is
the outer product of two vectors, whose sorted sizes and whose length stand for it: the units of two networks have no
common order, and its entries are as many as the weights.
"""

from __future__ import annotations

import numpy as np

from holdfast.attack.attack import Attack, Case, Floats
from holdfast.attack.attack_network import learned_scores
from holdfast.attack.attacks.neural_black_box import outputs_seen
from holdfast.attack.layers import Passed, passed
from holdfast.attack.records import Records
from holdfast.attack.targets import Target

QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Of the units of a layer, where there are more."""
SMALLEST = 1e-12


def inside_seen(target: Target, records: Records) -> Floats:
    """The outputs, then of each layer activations, slopes and the length of the gradient."""
    layers = [_layer(layer) for layer in passed(target, records)]
    return np.column_stack([outputs_seen(target, records), *layers])


def _layer(layer: Passed) -> Floats:
    lengths = [np.linalg.norm(layer.entered, axis=1), layer.gradient_norms()]
    return np.column_stack(
        [
            _spread(layer.left),
            np.log(_spread(np.abs(layer.slopes)) + SMALLEST),
            np.log(np.column_stack(lengths) + SMALLEST),
        ]
    )


def _spread(units: Floats) -> Floats:
    """Sorted, or where there are many some quantiles: the same number of columns for every record."""
    if units.shape[1] <= len(QUANTILES):
        return np.sort(units, axis=1)
    return np.quantile(units, QUANTILES, axis=1).T


def neural_white_box(case: Case) -> Floats:
    """The attack network's log-odds of membership, from outputs, activations and gradients."""
    return learned_scores(case.models().lessons[NAME], inside_seen(case.target, case.records))


NAME = "neural_white_box"
ATTACK = Attack(
    name=NAME,
    score=neural_white_box,
    paper="NSH19",
    needs=("references",),
    outputs="inside",
    view=inside_seen,
)

"""A network learns on shadow models what members look like: from outputs, or from the model's inside as well.

Black box (Shokri et al. 2017): it sees the output vector and the label; classes are told apart by rank only, so that
few shadow models teach it about all of them. White box (Nasr, Shokri and Houmansadr 2019): besides, of every layer,
what it computes and the gradient of the loss in its weights. A gradient is the outer product of two vectors, whose
sorted sizes and whose length stand for it: the units of two networks have no common order, and its entries are as
many as the weights.
"""

from __future__ import annotations

import warnings

import numpy as np

from holdfast._arrays import Floats
from holdfast.attack._attack import Attack
from holdfast.attack._models.layers import Passed, passed
from holdfast.attack._models.model_case import ModelCase
from holdfast.attack._models.shadow import Lessons
from holdfast.attack._models.target import LARGEST_LOG_ODDS, Target, finite
from holdfast.attack._records import Records
from holdfast.learn._rows.summation import one_thread

RANKS = 5
"""So many of the largest log-probabilities are seen."""
QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Seen of the units of a layer, where it has more units than this."""
SMALLEST_PROBABILITY = 1e-12
HIDDEN, EPOCHS, BATCH, RATE, DECAY = 32, 30, 128, 3e-3, 1e-3
FARTHEST_FEATURE = 6.0
"""Standardised features are cut here: nothing that was not seen in a lesson speaks louder than what was."""
BLACK_BOX_NAME = "neural_black_box"
WHITE_BOX_NAME = "neural_white_box"


# Black box.
def outputs_seen(target: Target, records: Records) -> Floats:
    """Log-odds and loss of the own label, rightness and the largest log-probabilities; or residual and output."""
    if target.task == "regression":
        residual = target.residuals(records)
        size = np.log(np.abs(residual) + 1e-12)
        return np.column_stack([residual, size, records.labels.astype(np.float64) - residual])
    p, own = target.probabilities(records), target.own(records)
    odds = finite(target.log_odds(records), largest=LARGEST_LOG_ODDS)
    ranked = np.log(np.clip(np.sort(p, axis=1)[:, ::-1][:, :RANKS], np.exp(-LARGEST_LOG_ODDS), 1.0))
    return np.column_stack([odds, np.logaddexp(0.0, -odds), p.argmax(axis=1) == own, ranked])


def neural_black_box(case: ModelCase) -> Floats:
    """The attack network's log-odds of membership, from outputs."""
    return learned_scores(case.models().lessons[BLACK_BOX_NAME], outputs_seen(case.target, case.records))


BLACK_BOX = Attack(
    name=BLACK_BOX_NAME,
    kind="model",
    guess=neural_black_box,
    paper="SSSS17",
    knows=("scores", "references"),
    view=outputs_seen,
)


# White box.
def inside_seen(target: Target, records: Records) -> Floats:
    """The outputs, then of each layer activations, slopes and the length of the gradient."""
    layers = [_layer(layer) for layer in passed(target, records)]
    return np.column_stack([outputs_seen(target, records), *layers])


def _layer(layer: Passed) -> Floats:
    lengths = [np.linalg.norm(layer.entered, axis=1), layer.gradient_norms()]
    return np.column_stack(
        [
            _spread(layer.left),
            np.log(_spread(np.abs(layer.slopes)) + SMALLEST_PROBABILITY),
            np.log(np.column_stack(lengths) + SMALLEST_PROBABILITY),
        ]
    )


def _spread(units: Floats) -> Floats:
    """Sorted, or where there are many some quantiles: the same number of columns for every record."""
    if units.shape[1] <= len(QUANTILES):
        return np.sort(units, axis=1)
    return np.quantile(units, QUANTILES, axis=1).T


def neural_white_box(case: ModelCase) -> Floats:
    """The attack network's log-odds of membership, from outputs, activations and gradients."""
    return learned_scores(case.models().lessons[WHITE_BOX_NAME], inside_seen(case.target, case.records))


WHITE_BOX = Attack(
    name=WHITE_BOX_NAME,
    kind="model",
    guess=neural_white_box,
    paper="NSH19",
    knows=("weights", "references"),
    view=inside_seen,
)


# The attack network.
def learned_scores(lessons: Lessons, features: Floats) -> Floats:
    """Log-odds of membership from one hidden layer of 32 units, trained on the lessons; the same every time."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier

    known = np.asarray(lessons.features, dtype=np.float64)
    centre, spread = known.mean(axis=0), known.std(axis=0)
    scale = np.where(spread > 1e-9, spread, np.inf)  # what never changed says nothing

    def standard(values: Floats) -> Floats:
        return np.asarray(np.clip((values - centre) / scale, -FARTHEST_FEATURE, FARTHEST_FEATURE))

    network = MLPClassifier(
        hidden_layer_sizes=(HIDDEN,),
        max_iter=EPOCHS,
        batch_size=min(BATCH, len(known)),
        learning_rate_init=RATE,
        alpha=DECAY,
        random_state=0,
    )
    with warnings.catch_warnings(), one_thread():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a few epochs are meant to be few
        network.fit(standard(known), lessons.included)
    hidden = np.maximum(standard(features) @ network.coefs_[0] + network.intercepts_[0], 0.0)
    return np.asarray((hidden @ network.coefs_[1] + network.intercepts_[1])[:, 0])

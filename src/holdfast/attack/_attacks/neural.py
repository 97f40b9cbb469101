"""Neural membership attacks: a small network learns on shadow models to tell members from others.

Black box (Shokri et al. 2017): its features are the output vector, sorted, and the label; sorting treats all classes
alike, so that few shadow models are enough. White box (Nasr, Shokri and Houmansadr 2019): its features are, besides,
the activations of every layer and the gradient of the loss in its weights. A gradient is the outer product of two
vectors and is represented by their sorted entries and its length: the units of two networks have no common order, and
a gradient has as many entries as there are weights.
"""

from __future__ import annotations

import warnings

import numpy as np

from holdfast._arrays import Floats
from holdfast.attack._attack import Attack
from holdfast.attack._models.layers import LayerPass, layer_passes
from holdfast.attack._models.model_case import ModelCase
from holdfast.attack._models.shadow import Lessons
from holdfast.attack._models.target import LARGEST_LOG_ODDS, Target, finite_signals
from holdfast.attack._records import Records
from holdfast.learn._rows.summation import one_thread

RANKS = 5
"""This many of the largest log-probabilities are features."""
QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The quantiles over a layer's units that are features, where it has more units than these."""
SMALLEST_PROBABILITY = 1e-12
HIDDEN_UNITS, EPOCHS, BATCH_SIZE, LEARNING_RATE, WEIGHT_DECAY = 32, 30, 128, 3e-3, 1e-3
FARTHEST_FEATURE = 6.0
"""Standardised features are cut here, so that values far outside the training features have no larger effect."""
BLACK_BOX_NAME = "neural_black_box"
WHITE_BOX_NAME = "neural_white_box"


# Black box.
def outputs_seen(target: Target, records: Records) -> Floats:
    """Log-odds and loss of the own label, rightness and the largest log-probabilities; or residual and output."""
    if target.task == "regression":
        residual = target.residuals(records)
        size = np.log(np.abs(residual) + 1e-12)
        return np.column_stack([residual, size, records.labels.astype(np.float64) - residual])
    p, own = target.probabilities(records), target.label_columns(records)
    odds = finite_signals(target.log_odds(records), largest=LARGEST_LOG_ODDS)
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
    layers = [_layer_features(layer) for layer in layer_passes(target, records)]
    return np.column_stack([outputs_seen(target, records), *layers])


def _layer_features(layer: LayerPass) -> Floats:
    lengths = [np.linalg.norm(layer.inputs, axis=1), layer.gradient_norms()]
    return np.column_stack(
        [
            _unit_quantiles(layer.outputs),
            np.log(_unit_quantiles(np.abs(layer.slopes)) + SMALLEST_PROBABILITY),
            np.log(np.column_stack(lengths) + SMALLEST_PROBABILITY),
        ]
    )


def _unit_quantiles(units: Floats) -> Floats:
    """Each record's units sorted, or where there are many their quantiles: as many columns for every record."""
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
    scale = np.where(spread > 1e-9, spread, np.inf)  # a constant feature has no effect

    def standardise(values: Floats) -> Floats:
        return np.asarray(np.clip((values - centre) / scale, -FARTHEST_FEATURE, FARTHEST_FEATURE))

    network = MLPClassifier(
        hidden_layer_sizes=(HIDDEN_UNITS,),
        max_iter=EPOCHS,
        batch_size=min(BATCH_SIZE, len(known)),
        learning_rate_init=LEARNING_RATE,
        alpha=WEIGHT_DECAY,
        random_state=0,
    )
    with warnings.catch_warnings(), one_thread():
        warnings.simplefilter("ignore", ConvergenceWarning)  # it is stopped early on purpose
        network.fit(standardise(known), lessons.included)
    hidden = np.maximum(standardise(features) @ network.coefs_[0] + network.intercepts_[0], 0.0)
    return np.asarray((hidden @ network.coefs_[1] + network.intercepts_[1])[:, 0])

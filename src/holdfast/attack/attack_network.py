"""The attack network of seed 000, section 2.2: from what is seen of a model on a record to "it was trained on this"."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from holdfast.attack.shadow import Lessons
from holdfast.learn.threads import one_thread

Floats = NDArray[np.float64]
HIDDEN, EPOCHS, BATCH, RATE, DECAY = 32, 30, 128, 3e-3, 1e-3
FAR = 6.0
"""Standardised features are cut here: nothing that was not seen in a lesson speaks louder than what was."""


def learned_scores(lessons: Lessons, features: Floats) -> Floats:
    """Log-odds of membership from one hidden layer of 32 units, trained on the lessons; the same every time."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier

    known = np.asarray(lessons.features, dtype=np.float64)
    centre, spread = known.mean(axis=0), known.std(axis=0)
    scale = np.where(spread > 1e-9, spread, np.inf)  # what never changed says nothing

    def standard(values: Floats) -> Floats:
        return np.asarray(np.clip((values - centre) / scale, -FAR, FAR))

    network = MLPClassifier(
        hidden_layer_sizes=(HIDDEN,), max_iter=EPOCHS, batch_size=min(BATCH, len(known)), learning_rate_init=RATE,
        alpha=DECAY, random_state=0,
    )  # fmt: skip
    with warnings.catch_warnings(), one_thread():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a few epochs are meant to be few
        network.fit(standard(known), lessons.included)
    hidden = np.maximum(standard(features) @ network.coefs_[0] + network.intercepts_[0], 0.0)
    return np.asarray((hidden @ network.coefs_[1] + network.intercepts_[1])[:, 0])

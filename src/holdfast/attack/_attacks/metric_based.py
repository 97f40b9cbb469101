"""Membership attacks that score a record by one number of the model's output: no training, no reference models.

A model tends to predict its members correctly (correctness: the gap attack of Yeom et al. 2018), with a low loss (Yeom
et al. 2018), and with high confidence (confidence, entropy: Salem et al. 2019). Modified entropy counts a confident but
wrong output against membership (Song and Mittal 2021).
"""

from __future__ import annotations

import numpy as np

from holdfast._arrays import Floats
from holdfast.attack._attack import Attack
from holdfast.attack._models.model_case import ModelCase
from holdfast.attack._models.target import finite_signals

SMALLEST_PROBABILITY = 1e-30
"""Probabilities below it count as this, so that their logarithms are finite."""


def correctness(case: ModelCase) -> Floats:
    """1 where the model's decision is the record's label, else 0."""
    chosen = case.target.probabilities(case.records).argmax(axis=1)
    return np.asarray(chosen == case.target.label_columns(case.records), dtype=np.float64)


CORRECTNESS = Attack(
    name="correctness",
    kind="model",
    guess=correctness,
    paper="YGFJ18",
    knows=("answers",),
    tasks=("classification",),
)


def loss(case: ModelCase) -> Floats:
    """Minus the logarithmic loss of a classifier, minus the squared error of a regression."""
    signal = case.target.signal(case.records)
    if case.target.task == "regression":
        return -np.square(signal)
    # log p = -log(1 + e^-odds).
    return -np.logaddexp(0.0, -finite_signals(signal))


LOSS = Attack(name="loss", kind="model", guess=loss, paper="YGFJ18", knows=("scores",))


def confidence(case: ModelCase) -> Floats:
    """The largest probability, whatever the record's label."""
    return np.asarray(case.target.probabilities(case.records).max(axis=1))


CONFIDENCE = Attack(
    name="confidence",
    kind="model",
    guess=confidence,
    knows=("scores",),
    paper="SZHBFB19",
    tasks=("classification",),
)


def entropy(case: ModelCase) -> Floats:
    """Minus the entropy of the output: members have a lower one."""
    p = np.clip(case.target.probabilities(case.records), 0.0, 1.0)
    return np.asarray(np.sum(p * np.log(np.where(p > 0.0, p, 1.0)), axis=1))


ENTROPY = Attack(
    name="entropy",
    kind="model",
    guess=entropy,
    knows=("scores",),
    paper="SZHBFB19",
    tasks=("classification",),
)


def modified_entropy(case: ModelCase) -> Floats:
    """Entropy against which being surely wrong counts: (1 - p_y) log p_y + the sum of p_i log(1 - p_i) over others."""
    p = np.clip(case.target.probabilities(case.records), 0.0, 1.0)
    rows, label_columns = np.arange(case.records.count), case.target.label_columns(case.records)
    p_others = np.array(p)
    p_others[rows, label_columns] = 0.0
    # 1 - p_y as the sum of the others: exact where p_y is close to 1. Logarithms of 0 stay finite.
    p_other_sum, p_own = p_others.sum(axis=1), np.maximum(p[rows, label_columns], SMALLEST_PROBABILITY)
    wrong = p_others * np.log(np.maximum(1.0 - p_others, SMALLEST_PROBABILITY))
    return np.asarray(p_other_sum * np.log(p_own) + wrong.sum(axis=1))


MODIFIED_ENTROPY = Attack(
    name="modified_entropy",
    kind="model",
    guess=modified_entropy,
    knows=("scores",),
    paper="SM21",
    tasks=("classification",),
)

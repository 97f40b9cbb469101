"""RMIA: whether the target raises a record's likelihood more than other records' (Zarifzadeh, Liu and Shokri 2024).

ratio(x) = p(x | target) / p(x), with p(x) the average over reference models; the score is the share of other
records z with ratio(x) >= gamma ratio(z). Strong already with a few reference models.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast.attack._attack import Attack
from holdfast.attack._models.model_case import ModelCase

GAMMA = 2.0
"""gamma of the paper: by what factor one ratio must exceed another."""
OFFLINE_SLOPE = 0.3
"""`a` of the paper: models without the record say p_out, and p(x) is taken as ((1 + a) p_out + 1 - a) / 2."""
SMALLEST_PROBABILITY = 1e-12


def rmia(case: ModelCase) -> Floats:
    """The score with p(x) averaged over models that were trained on the record and models that were not."""
    models = case.models()
    inside, outside = (
        _average(case, models.signals, chosen) for chosen in (models.included, ~models.included)
    )
    return _score(case, 0.5 * (inside + outside))


def rmia_offline(case: ModelCase) -> Floats:
    """The same from models that were not trained on the record only."""
    models = case.models()
    outside = _average(case, models.signals, ~models.included)
    return _score(case, 0.5 * ((1.0 + OFFLINE_SLOPE) * outside + (1.0 - OFFLINE_SLOPE)))


def _score(case: ModelCase, average: Floats) -> Floats:
    """The share of other records that this one dominates; ties are broken by the ratio itself.

    The score grows with the ratio, so at a high gamma many records would share the highest score, and low
    false-alarm rates would have no threshold.
    """
    likelihood = _likelihood(case, case.target.signal(case.records), case.models().signals)
    ratio = likelihood / np.maximum(average, SMALLEST_PROBABILITY)
    dominated = np.searchsorted(np.sort(ratio), ratio / GAMMA, side="right")
    return (dominated + ratio / (1.0 + ratio)) / (ratio.size + 1)


def _average(case: ModelCase, signals: NDArray[np.float32], chosen: NDArray[np.bool_]) -> Floats:
    likelihood = _likelihood(case, signals, signals)
    return np.asarray(np.sum(likelihood, axis=0, where=chosen) / np.maximum(chosen.sum(axis=0), 1))


def _likelihood(case: ModelCase, signals: NDArray[np.floating], reference: NDArray[np.floating]) -> Floats:
    """The probability of the own label; for a regression, a normal density with the references' spread."""
    if case.target.task == "classification":
        return np.asarray(0.5 * (1.0 + np.tanh(0.5 * np.asarray(signals, np.float64))))
    spread = float(np.mean(np.square(np.asarray(reference, np.float64)))) + 1e-300
    return np.asarray(np.exp(-0.5 * np.square(np.asarray(signals, np.float64)) / spread))


ONLINE = Attack(name="rmia", kind="model", guess=rmia, paper="ZLS24", knows=("scores", "references"))
OFFLINE = Attack(
    name="rmia_offline", kind="model", guess=rmia_offline, paper="ZLS24", knows=("scores", "references")
)

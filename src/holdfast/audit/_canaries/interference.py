"""Interference: how much a canary's score varies without any noise, in units of the canary's own effect.

Other canaries, and the rows around them, change a canary's score. Where they change it so much that canaries could not
be told apart even without noise, the audit can never refute anything. Interference is measured with coins of its own,
never the audit's: on the real training without noise, where the auditor gives one; else on the sum of all rows, which
for labelled records is a model's first gradient step from zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from holdfast.audit._bounds.signal import POWER_SEED
from holdfast.audit._canaries.planting import PlantedRecords, PlantedRows, Planting
from holdfast.privacy._adjacency import Adjacency


def interference(
    planting: Planting, noiseless: Callable[[Any], Any] | None, *, single: bool = False
) -> float | None:
    """The standard deviation of scores around a canary's effect; None where it is not known.

    With a single canary and many trainings nothing else changes between them: the interference is 0 if the canary
    raises the score at all, and infinite if it does not.
    """
    if noiseless is None:
        if not isinstance(planting, PlantedRows | PlantedRecords):
            return None
        return 0.0 if single else _interference_in_sum(planting)
    if single:
        out, inside = (
            float(planting.scores(noiseless(planting.data(np.array([coin]))))[0]) for coin in (False, True)
        )
        return 0.0 if inside > out else math.inf
    coins = _coins(planting.count)
    scores = planting.scores(noiseless(planting.data(coins)))
    return stray_ratio(scores, coins, effect=float(scores[coins].mean() - scores[~coins].mean()))


def stray_ratio(scores: Any, coins: Any, *, effect: float) -> float:
    """The standard deviation of scores from which the canaries' effect is subtracted, as a multiple of that effect.

    >>> stray_ratio(np.array([1.0, 0.0, 1.0, 0.0]), np.array([True, False, True, False]), effect=1.0)
    0.0
    """
    values = np.asarray(scores, float)
    if not effect > 1e-12 * float(np.max(np.abs(values), initial=0.0)):
        return math.inf
    return float(np.std(values - effect * np.asarray(coins))) / effect


def _interference_in_sum(planting: PlantedRows | PlantedRecords) -> float:
    """The interference where the release is the sum of all rows, each with the sign of its label if it has one."""
    coins = _coins(planting.count)
    if isinstance(planting, PlantedRows):
        total = planting.data(coins).sum(axis=0)
    else:
        features, labels = planting.data(coins)
        total = np.where(labels == np.asarray(planting.classes[1]).astype(labels.dtype), 1.0, -1.0) @ features
    effect = planting.canaries.row_norm**2 * (2.0 if planting.adjacency is Adjacency.replace else 1.0)
    return stray_ratio(planting.canaries.project(total), coins, effect=effect)


def _coins(count: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Public coins for the measurement: half of the canaries, at random."""
    return np.random.default_rng(POWER_SEED).permutation(count) < (count + 1) // 2

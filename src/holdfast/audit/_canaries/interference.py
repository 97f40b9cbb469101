"""Interference: how far a canary's score strays without any noise, in units of the canary's own effect.

An audit that could not tell its canaries apart even without noise cannot fail, whatever the mechanism does. Other
canaries stray into a score, and so do the rows around them. It is measured with coins of its own, never the audit's, on
the real training without noise where the auditor hands it over; else on the sum of all rows, which for labelled
records is a model's first step from zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from holdfast.audit._bounds.signal import SEED
from holdfast.audit._canaries.planting import PlantedRecords, PlantedRows, Planting
from holdfast.privacy._adjacency import Adjacency


def interference(
    planting: Planting, noiseless: Callable[[Any], Any] | None, *, single: bool = False
) -> float | None:
    """The standard deviation of scores around a canary's effect; None where nothing can be said.

    With a single canary and many trainings nothing else changes between them: the score strays by nothing if the
    canary shows at all, and is worth nothing if it does not.
    """
    if noiseless is None:
        return (
            (0.0 if single else _in_a_sum(planting))
            if isinstance(planting, PlantedRows | PlantedRecords)
            else None
        )
    if single:
        out, inside = (
            float(planting.scores(noiseless(planting.data(np.array([coin]))))[0]) for coin in (False, True)
        )
        return 0.0 if inside > out else math.inf
    coins = _coins(planting.count)
    scores = planting.scores(noiseless(planting.data(coins)))
    return strays(scores, coins, effect=float(scores[coins].mean() - scores[~coins].mean()))


def strays(scores: Any, coins: Any, *, effect: float) -> float:
    """The spread of what is left of the scores when the canaries' own effect is taken away, relative to it.

    >>> strays(np.array([1.0, 0.0, 1.0, 0.0]), np.array([True, False, True, False]), effect=1.0)
    0.0
    """
    values = np.asarray(scores, float)
    if not effect > 1e-12 * float(np.max(np.abs(values), initial=0.0)):
        return math.inf
    return float(np.std(values - effect * np.asarray(coins))) / effect


def _in_a_sum(planting: PlantedRows | PlantedRecords) -> float:
    """On the sum of all rows; of labelled records each pulls with its label."""
    coins = _coins(planting.count)
    if isinstance(planting, PlantedRows):
        total = planting.data(coins).sum(axis=0)
    else:
        features, labels = planting.data(coins)
        total = np.where(labels == np.asarray(planting.classes[1]).astype(labels.dtype), 1.0, -1.0) @ features
    effect = planting.canaries.row_norm**2 * (2.0 if planting.adjacency is Adjacency.replace else 1.0)
    return strays(planting.canaries.project(total), coins, effect=effect)


def _coins(count: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Public coins for the measurement: half of the canaries, at random."""
    return np.random.default_rng(SEED).permutation(count) < (count + 1) // 2

"""LiRA: a likelihood ratio for each record, from reference models with and without it (Carlini et al. 2022).

Online: the signal of the target (log-odds of the record's own label, or the residual) is compared with a normal law
fitted to the reference models that were trained on the record, and one fitted to those that were not. Offline: with the
latter only. A few models say little about one record, so its estimates are shrunk towards those of all records: its
variances towards the pooled ones (the paper switches from pooled to own at 64 models; here the weight changes
gradually), and the change of its signal by being trained on towards that of records at the same level.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast.attack._attack import Attack
from holdfast.attack._models.model_case import ModelCase
from holdfast.attack._models.target import finite_signals, largest_finite
from holdfast.errors import require

POOLED_MODELS = 8.0
"""The pooled variance counts like so many models of the record's own."""
SMALLEST_VARIANCE_SHARE = 1e-10
"""Variances are at least this share of the square of the largest signal: reference models may all say the same."""


def lira(case: ModelCase) -> Floats:
    """log N(signal; mean_in, variance_in) - log N(signal; mean_out, variance_out)."""
    signal, signals, included = _prepared_signals(case)
    (inside, variance_in), (outside, variance_out) = moments(signals, included), moments(signals, ~included)
    level = 0.5 * (inside + outside)
    noise = variance_in / included.sum(axis=0) + variance_out / (~included).sum(axis=0)
    half = 0.5 * shrunk_shifts(inside - outside, level, noise)
    return _log_normal(signal, level + half, variance_in) - _log_normal(signal, level - half, variance_out)


def lira_offline(case: ModelCase) -> Floats:
    """How far the signal is above the models that did not have the record, in standard deviations.

    A regression's residual has no high side: its likelihood ratio is taken against a model that fits exactly.
    """
    signal, signals, included = _prepared_signals(case)
    mean, variance = moments(signals, ~included)
    if case.target.task == "regression":
        return _log_normal(signal, np.zeros_like(mean), variance) - _log_normal(signal, mean, variance)
    return (signal - mean) / np.sqrt(variance)


def moments(signals: Floats, chosen: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Mean and variance of each record's signal over the chosen models; the variance is shrunk to the pooled one."""
    counts = chosen.sum(axis=0)
    require(
        bool(counts.min() >= 2),
        "models",
        chosen.shape[0],
        "4 or more, so that each record is in and out twice",
    )
    mean = np.sum(signals, axis=0, where=chosen) / counts
    squares = np.sum(np.square(signals - mean), axis=0, where=chosen)
    pooled = float(squares.sum() / (counts - 1).sum())
    variance = (squares + POOLED_MODELS * pooled) / (counts - 1 + POOLED_MODELS)
    return mean, np.maximum(variance, SMALLEST_VARIANCE_SHARE * float(np.square(signals).max()) + 1e-12)


def shrunk_shifts(shift: Floats, level: Floats, noise: Floats) -> Floats:
    """The change of each record's signal by being trained on, shrunk towards the usual one (empirical Bayes).

    A line through all records (shift against level) gives the usual shift; of a record's deviation from it the share
    stays that noise does not explain.

    >>> shrunk_shifts(np.array([1.0, 1.0, 1.0]), np.array([0.0, 1.0, 2.0]), np.ones(3)).round(6).tolist()
    [1.0, 1.0, 1.0]
    """
    line = np.column_stack([np.ones_like(level), level])
    weights = 1.0 / np.sqrt(noise)
    usual = line @ np.linalg.lstsq(line * weights[:, None], shift * weights, rcond=None)[0]
    excess = max(0.0, float(np.mean(np.square(shift - usual) / noise)) - 1.0)
    return np.asarray(usual + excess / (1.0 + excess) * (shift - usual))


def _prepared_signals(case: ModelCase) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """The target's signals and the references', finite by the same rule."""
    models, signal = case.models(), case.target.signal(case.records)
    if case.target.task == "regression":
        return signal, np.asarray(models.signals, np.float64), models.included
    largest = largest_finite(models.signals)
    return (
        finite_signals(signal, largest=largest),
        finite_signals(models.signals, largest=largest),
        models.included,
    )


def _log_normal(value: Floats, mean: Floats, variance: Floats) -> Floats:
    return np.asarray(-0.5 * np.square(value - mean) / variance - 0.5 * np.log(variance))


ONLINE = Attack(name="lira", kind="model", guess=lira, paper="CCNSTT22", knows=("scores", "references"))
OFFLINE = Attack(
    name="lira_offline", kind="model", guess=lira_offline, paper="CCNSTT22", knows=("scores", "references")
)

"""Distances between synthetic and real rows, and how well a model can tell them apart. These are no privacy measures.

A synthetic row may be near a real one by chance, and a distant one may still depend on somebody's secret. Privacy is
shown by the proof and tested by attacks (`holdfast attack`). These numbers find copied rows, which are a fault of a
generator, and measure how realistic rows are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast.data._schema import Numeric
from holdfast.synth._evaluation.compared_rows import ComparedRows
from holdfast.synth._evaluation.features import linear_features, quiet_fit, tree_features

WARNING = (
    "Distances are no privacy measure: rows far from everybody may still give somebody away, and near ones may be "
    "near by chance. The promise is the proof's; attacks and audits try it."
)
MOST_PROBES, MOST_REFERENCE, CHUNK_ROWS = 1_000, 10_000, 250
"""The most rows whose distances are computed, the most rows they are compared with, and how many at a time."""
MOST_CLASSIFIED_ROWS, LEAST_CLASSIFIED_ROWS = 10_000, 40
"""The most and the fewest rows of each kind on which models learn to tell real from synthetic rows."""


@dataclass(frozen=True, kw_only=True)
class ClosestRecords:
    """Distances of rows to their closest real row: the median, in [0, 1], and the share of rows equal to a real one.

    The fields `fresh_...` are the same for real rows that are not among these: held-out rows, or the other half.
    """

    median: float
    fresh_median: float
    copies: float
    fresh_copies: float
    asked: int
    reference: int
    holdout: bool
    """Whether the fresh rows were held out from the release."""
    nearer_to_members: float | None = None
    """With a holdout: the share of synthetic rows that are nearer to a row of the release than to a held-out one.
    0.5 means that nothing was learnt about single rows."""
    nearer_error: float | None = None


def closest_records(
    real: ComparedRows, synthetic: ComparedRows, holdout: ComparedRows | None = None
) -> ClosestRecords:
    """Distances of synthetic rows, and of other real rows, to the same real reference rows."""
    coins = np.random.default_rng(0)
    shuffled = real.take(coins.permutation(len(real.codes)))
    if holdout is None:
        half = len(shuffled.codes) // 2
        reference, fresh = shuffled.take(np.arange(half)), shuffled.take(np.arange(half, len(shuffled.codes)))
    else:
        size = min(len(shuffled.codes), len(holdout.codes))
        reference = shuffled.take(np.arange(size))
        fresh = holdout.take(coins.permutation(len(holdout.codes))[:size])
    probes = synthetic.take(coins.permutation(len(synthetic.codes)))
    compared = reference.take(np.arange(min(MOST_REFERENCE, len(reference.codes))))
    probed = probes.take(np.arange(min(MOST_PROBES, len(probes.codes))))
    synthetic_distances = closest(probed, compared)
    fresh_distances = closest(fresh.take(np.arange(min(MOST_PROBES, len(fresh.codes)))), compared)
    nearer, error = None, None
    if holdout is not None:
        held_out = fresh.take(np.arange(min(len(compared.codes), len(fresh.codes))))
        other_distances = closest(probed, held_out)
        wins = np.where(synthetic_distances == other_distances, 0.5, synthetic_distances < other_distances)
        nearer, error = float(wins.mean()), float(wins.std(ddof=1) / math.sqrt(len(wins)))
    return ClosestRecords(
        median=float(np.median(synthetic_distances)),
        fresh_median=float(np.median(fresh_distances)),
        copies=copies(probes, reference),
        fresh_copies=copies(fresh, reference),
        asked=len(probed.codes),
        reference=len(compared.codes),
        holdout=holdout is not None,
        nearer_to_members=nearer,
        nearer_error=error,
    )


def closest(rows: ComparedRows, reference: ComparedRows) -> Floats:
    """For each row the smallest distance to a reference row (Gower 1971).

    A distance is the mean over columns of 0 or 1 for categories, and of the difference over the range for numbers.
    """
    numeric = [place for place, name in enumerate(rows.names) if isinstance(rows.schema[name], Numeric)]
    others = [place for place in range(len(rows.names)) if place not in numeric]
    ours, theirs = (_unit_points(table, numeric) for table in (rows, reference))
    distances = np.empty(len(rows.codes))
    for start in range(0, len(distances), CHUNK_ROWS):
        part = slice(start, start + CHUNK_ROWS)
        total = np.zeros((len(distances[part]), len(reference.codes)), dtype=np.float32)
        for place in range(len(numeric)):
            total += np.abs(ours[part, place, None] - theirs[None, :, place])
        for place in others:
            total += rows.codes[part, place, None] != reference.codes[None, :, place]
        distances[part] = total.min(axis=1) / len(rows.names)
    return distances


def _unit_points(rows: ComparedRows, numeric: list[int]) -> NDArray[np.float32]:
    points = np.zeros((len(rows.codes), len(numeric)), dtype=np.float32)
    for at, place in enumerate(numeric):
        column = rows.schema[rows.names[place]]
        assert isinstance(column, Numeric)
        scaled = (rows.values[:, place] - column.low) / (column.high - column.low)
        points[:, at] = np.where(np.isnan(scaled), 2.0, scaled)  # missing: 1 or more from every number
    return points


def copies(rows: ComparedRows, reference: ComparedRows) -> float:
    """The share of rows that equal some row of the reference in every declared cell."""
    known = {row.tobytes() for row in np.ascontiguousarray(reference.codes)}
    return float(np.mean([row.tobytes() in known for row in np.ascontiguousarray(rows.codes)]))


@dataclass(frozen=True, kw_only=True)
class ToldApart:
    """How well models tell real rows from synthetic ones (propensity scores; Snoke et al. 2018).

    `auc` is that of boosted trees on test rows: 0.5 is guessing. `pmse` is that of a logistic regression on its
    training rows, and `pmse_ratio` compares it with equal distributions: 1 is as good as real rows.
    """

    auc: float
    auc_error: float
    pmse: float
    pmse_ratio: float
    rows: int


def train_discriminators(real: ComparedRows, synthetic: ComparedRows) -> ToldApart | None:
    """Train both models on as many real as synthetic rows; None where there are too few."""
    size = min(len(real.codes), len(synthetic.codes), MOST_CLASSIFIED_ROWS)
    if size < LEAST_CLASSIFIED_ROWS:
        return None
    coins = np.random.default_rng(0)
    ours, theirs = (rows.take(coins.permutation(len(rows.codes))[:size]) for rows in (real, synthetic))
    pmse, ratio = _pmse(ours, theirs)
    auc, error = _auc(ours, theirs)
    return ToldApart(auc=auc, auc_error=error, pmse=pmse, pmse_ratio=ratio, rows=size)


def _pmse(real: ComparedRows, synthetic: ComparedRows) -> tuple[float, float]:
    """The mean of (p - 1/2)^2, and its ratio to (k - 1) (1 - c)^2 c / N, its mean for equal distributions (c = 1/2)."""
    from sklearn.linear_model import LogisticRegression

    features = np.concatenate([linear_features(table, table.names) for table in (real, synthetic)])
    labels = np.repeat([0, 1], len(real.codes))
    with quiet_fit():
        model = LogisticRegression(C=100.0, max_iter=100, tol=1e-3).fit(features, labels)
    error = float(np.mean((model.predict_proba(features)[:, 1] - 0.5) ** 2))
    parameters = np.linalg.matrix_rank(_moments(features)) - 1
    expected = float(max(parameters, 1)) / (8.0 * len(labels))
    return error, error / expected


def _moments(features: NDArray[np.float32]) -> Floats:
    whole = np.concatenate([features, np.ones((len(features), 1), np.float32)], axis=1).astype(np.float64)
    return np.asarray(whole.T @ whole)


def _auc(real: ComparedRows, synthetic: ComparedRows) -> tuple[float, float]:
    from sklearn.ensemble import HistGradientBoostingClassifier

    (ours, marks), (theirs, _) = tree_features(real, real.names), tree_features(synthetic, synthetic.names)
    half = len(ours) // 2
    features, labels = np.concatenate([ours[:half], theirs[:half]]), np.repeat([0, 1], half)
    with quiet_fit():
        model = HistGradientBoostingClassifier(
            max_iter=30, max_leaf_nodes=15, early_stopping=False, categorical_features=marks, random_state=0
        ).fit(features, labels)
        scores = [model.predict_proba(side[half:])[:, 1] for side in (ours, theirs)]
    return auc_with_error(scores[0], scores[1])


def auc_with_error(negatives: Floats, positives: Floats) -> tuple[float, float]:
    """P(positive above negative), ties halved, with its standard error (DeLong et al. 1988).

    >>> auc_with_error(np.array([0.0, 1.0]), np.array([1.0, 2.0]))[0]
    0.875
    """
    low, high = np.sort(negatives), np.sort(positives)
    above = (np.searchsorted(low, positives, "left") + np.searchsorted(low, positives, "right")) / (
        2 * len(low)
    )
    below = 1 - (np.searchsorted(high, negatives, "left") + np.searchsorted(high, negatives, "right")) / (
        2 * len(high)
    )
    error = math.sqrt(above.var(ddof=1) / len(above) + below.var(ddof=1) / len(below))
    return float(above.mean()), error

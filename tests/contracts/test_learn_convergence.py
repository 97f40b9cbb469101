"""Finding L3, as a class: with more rows at the same epsilon, every method's default comes nearer to no privacy.

Every entry of LEARNERS, with and without delta, for every loss that it takes: how far the accuracy, or R^2, of released
weights on the very rows that they were fitted to is behind the fit without privacy, at n, 4n and 16n rows.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest

from holdfast._arrays import Floats
from holdfast.learn import PrivateLinearRegression, PrivateLinearSVC, PrivateLogisticRegression
from holdfast.learn._catalogue import LEARNERS
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import HuberHinge, Logistic, Softmax, Squared
from holdfast.learn.methods.method import Learner

COLUMNS, ROWS, SEEDS = 5, 2_000, 3
RADIUS = 5.0
"""Of the ball, where one is needed: wide enough for the weights that made the labels, in L1 too."""
LOSSES: dict[str, Any] = {
    "logistic": Logistic(),
    "huber": HuberHinge(),
    "squared": Squared(target_bound=1.0, prediction_bound=math.sqrt(2.0) * RADIUS),
    "softmax": Softmax(classes=3),
}
FREE = ("adassp", "functional", "ridge")
"""Least squares without a ball."""
FEWER = ("dp_sgd", "frank_wolfe", "gibbs")
"""Their steps grow with the rows: a quarter of them is enough to see what they do."""
NEAR, MARGIN = 0.1, 0.05
"""Of what there is to learn: below the first more rows need not show, and chance may make up the second."""

pytestmark = [
    pytest.mark.filterwarnings(f"ignore::holdfast.errors.{name}")
    for name in ("AssumptionWarning", "BudgetWarning", "NotPrivateWarning")
]


@cache
def _rows(loss: str, count: int) -> tuple[Floats, Floats]:
    """Rows of norm at most 1 that point in all directions alike, and labels that a linear model half explains."""
    random = np.random.default_rng(11)
    x = random.normal(size=(count, COLUMNS)) / math.sqrt(COLUMNS)
    x /= np.maximum(1.0, np.linalg.norm(x, axis=1))[:, None]
    scores = x @ np.array([2.0, -1.5, 1.0, 0.5, 0.0]) + 0.2
    if loss == "squared":
        return x, np.clip(0.4 * scores + 0.2 * random.normal(size=count), -1.0, 1.0)
    noisy = scores + random.logistic(size=count) / 2.0
    return x, (noisy > 0).astype(float) + (noisy > 1.0) * (loss == "softmax")


def _estimator(loss: str, **told: Any) -> Any:
    if loss == "squared":
        return PrivateLinearRegression(target_bounds=(-1, 1), **told)
    if loss == "huber":
        return PrivateLinearSVC(classes=[0, 1], **told)
    return PrivateLogisticRegression(classes=[0, 1] if loss == "logistic" else [0, 1, 2], **told)


def _told(method: Learner, loss: str) -> dict[str, Any]:
    ball = method.name in ("bst14", "frank_wolfe") or (loss == "squared" and method.name not in FREE)
    adjacency = "replace" if "replace" in method.adjacencies else "zero_out"
    return {"adjacency": adjacency} | ({"radius": RADIUS} if ball else {})


@cache
def _ends(loss: str, count: int) -> tuple[float, float]:
    """The score of the majority, or of the mean, and of the fit without privacy."""
    rows, labels = _rows(loss, count)
    best = _estimator("logistic" if loss == "huber" else loss, epsilon=math.inf).fit(rows, labels)
    nothing = 0.0 if loss == "squared" else float(np.max(np.unique(labels, return_counts=True)[1]) / count)
    return nothing, float(best.score(rows, labels))


CASES = [
    pytest.param(method, loss, delta, id=f"{method.name}-{loss}-{'approximate' if delta else 'pure'}")
    for method in LEARNERS
    for loss in LOSSES
    for delta in (1e-6, 0.0)
    if method.takes(Problem(loss=LOSSES[loss], dimension=COLUMNS))
    and (not method.losses or loss in method.losses)
    and (method.pure or delta)
    # Without delta an exact draw is all that gibbs has, and its rejections grow with the rows: refused before spending.
    and (method.name != "gibbs" or delta)
]


@pytest.mark.share(each="method")
@pytest.mark.parametrize(("method", "loss", "delta"), CASES)
def test_more_rows_bring_the_default_nearer_to_no_privacy(method: Learner, loss: str, delta: float) -> None:
    told = _told(method, loss)
    missing, least = [], ROWS // 4 if method.name in FEWER else ROWS
    for count in (least, 4 * least, 16 * least):
        rows, labels = _rows(loss, count)
        nothing, best = _ends(loss, count)
        scores = [
            _estimator(loss, epsilon=1.0, delta=delta, method=method.name, random_state=seed, **told)
            .fit(rows, labels)
            .score(rows, labels)
            for seed in range(SEEDS)
        ]
        missing.append((best - float(np.mean(scores))) / (best - nothing))
    told_so = f"missing of what there is to learn: {', '.join(f'{share:.3f}' for share in missing)}"
    assert missing[1] <= max(missing[0] + MARGIN, NEAR), told_so
    assert missing[2] <= max(missing[1] + MARGIN, NEAR), told_so
    assert missing[2] <= max(0.5 * missing[0], NEAR), told_so

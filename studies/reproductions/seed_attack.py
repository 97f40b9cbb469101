"""What the reproductions of Micali 2022, chapter 4, share: its data, its two learners with sound noise, its attacks.

Both learners promise (epsilon, delta) for a record that is blanked out (`zero_out`). A non-member is a member replaced
by somebody else, so in front of an attacker the promise counts twice: `allowed` is the accuracy it leaves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from holdfast.attack import ModelCase, Records, Target
from holdfast.attack._attacks.metric_based import entropy, loss
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Logistic, Softmax, Squared
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.learn.classics.dp_sgd import DpSgdOptions, dp_sgd, plan_for
from holdfast.learn.classics.frank_wolfe import frank_wolfe
from holdfast.learn.methods.softmax import multiclass
from holdfast.privacy import Account, ApproxDP
from holdfast.privacy._adjacency import Adjacency

Floats = NDArray[np.float64]
Kind = Literal["lasso", "logistic", "multinomial"]
SGD, FW, PLAIN = "DP-SGD", "DP-FW", "without privacy"
DELTA, RADIUS, RATE, STEPS = 1e-6, 10.0, 0.1, 100
WEIGHTS = 5.0
"""|w*|_1 of the lasso's true weights, and C of its ball, as in the thesis."""
CLASSES: dict[Kind, int] = {"lasso": 1, "logistic": 2, "multinomial": 3}


@dataclass(frozen=True, kw_only=True, eq=False)
class Pool:
    """N members and N others from one law; the constant column is among the features, rows have norm at most 1."""

    kind: Kind
    members: Records
    others: Records

    @property
    def records(self) -> Records:
        """Members first."""
        return self.members.join(self.others)

    @property
    def dimension(self) -> int:
        """With the constant."""
        return int(self.members.features.shape[1])


def pool(kind: Kind, count: int, columns: int, *, side: float, generator: np.random.Generator) -> Pool:
    """Fresh data: a linear model with noise, or uniform unit boxes that share an interval `side` on each axis."""
    if kind == "lasso":
        rows = generator.uniform(-1.0, 1.0, (2 * count, columns))
        signs = np.where(np.arange(columns + 1) % 2 == 0, 1.0, -1.0) * WEIGHTS / (columns + 1)
        rows = np.column_stack([np.ones(2 * count), rows]) / math.sqrt(columns + 1)
        labels: NDArray[Any] = np.clip(rows @ signs + 0.1 * generator.normal(size=2 * count), -1.0, 1.0)
    else:
        classes = CLASSES[kind]
        labels = generator.integers(0, classes, 2 * count)
        centre = (1.0 - side) * (labels - (classes - 1) / 2.0)
        drawn = generator.uniform(-0.5, 0.5, (2 * count, columns)) + centre[:, None]
        if classes > 2:  # three boxes in a row would leave the middle one no best direction
            drawn[:, 1::2] = generator.uniform(-0.5, 0.5, drawn[:, 1::2].shape)
            drawn[:, 1::2] += ((1.0 - side) * np.where(labels == 1, 1.0, -0.5))[:, None]
        largest = 0.5 + (1.0 - side) * max((classes - 1) / 2.0, 1.0 if classes > 2 else 0.0)
        rows = np.column_stack([np.ones(2 * count), drawn / largest]) / math.sqrt(columns + 1)
    first, second = np.arange(count), np.arange(count, 2 * count)
    whole = Records(features=rows, labels=labels)
    return Pool(kind=kind, members=whole.take(first), others=whole.take(second))


# Learners.


def train(data: Pool, learner: str, epsilon: float, seed: int, *, steps: int | None = None) -> Floats:
    """Weights: (d,) of one output, (K, d) of several."""
    rows, labels = data.members.features, data.members.labels
    if learner == PLAIN:
        return _plain(data.kind, rows, labels)
    signs = labels if data.kind != "logistic" else 2 * labels - 1
    examples = ArrayExamples(
        features=rows,
        labels=np.asarray(signs, dtype=np.float64),
        adjacency=Adjacency.zero_out,
        public_count=len(labels),
    )
    fit = _frank_wolfe if learner == FW else _descent
    return fit(data.kind, examples, epsilon, seed, steps)


def _plain(kind: Kind, rows: Floats, labels: NDArray[Any]) -> Floats:
    """Least squares, or maximum likelihood with hardly a penalty."""
    if kind == "lasso":
        return np.asarray(np.linalg.lstsq(rows, labels, rcond=None)[0])
    from sklearn.linear_model import LogisticRegression

    # The constant is a column of the rows.
    fitted = LogisticRegression(C=1e3, fit_intercept=False, max_iter=3000, tol=1e-6).fit(rows, labels)
    return np.asarray(fitted.coef_ if kind == "multinomial" else fitted.coef_[0])


def _problem(kind: Kind, dimension: int, radius: float) -> Problem:
    made: Any = {
        "lasso": Squared(target_bound=1.0),
        "logistic": Logistic(),
        "multinomial": Softmax(classes=3),
    }[kind]
    return Problem(loss=made, dimension=dimension, radius=radius)


def _frank_wolfe(kind: Kind, examples: ArrayExamples, epsilon: float, seed: int, steps: int | None) -> Floats:
    account = Account(ApproxDP(epsilon, DELTA), adjacency="zero_out", currency="zcdp", seed=seed)
    fit = frank_wolfe(
        examples,
        _problem(kind, examples.dimension, math.inf),
        account=account,
        steps=steps,
        l1_radius=WEIGHTS if kind == "lasso" else 3.0 * RADIUS,
        arithmetic="idealised",
        feature_bound=1.0 / math.sqrt(examples.dimension),
    )
    return fit.weights


@cache
def _plan(kind: Kind, count: int, dimension: int, epsilon: float) -> Any:
    return plan_for(
        _problem(kind, dimension, RADIUS),
        ApproxDP(epsilon, DELTA),
        count=count,
        adjacency="zero_out",
        options=DpSgdOptions(rate=RATE, steps=STEPS, clip=1.0),
        arithmetic="idealised",
    )


def _descent(kind: Kind, examples: ArrayExamples, epsilon: float, seed: int, steps: int | None) -> Floats:
    """DP-SGD on Poisson batches; for several classes noisy descent on all rows."""
    problem, limit = _problem(kind, examples.dimension, RADIUS), ApproxDP(epsilon, DELTA)
    if kind == "multinomial":
        account = Account(limit, adjacency="zero_out", currency="gdp", seed=seed)
        return multiclass(
            examples,
            problem,
            account=account,
            engine="noisy_gd",
            preconditioner="none",
            arithmetic="idealised",
        ).weights
    plan = _plan(kind, examples.public_count, examples.dimension, epsilon)
    noise = float(plan[0][0].sigma) / (RATE * examples.public_count)
    step = min(8.0, RADIUS / (math.sqrt(examples.dimension * STEPS) * noise))
    account = Account(limit, adjacency="zero_out", plan=plan, seed=seed)
    options = DpSgdOptions(step=step, clip=1.0)
    return dp_sgd(examples, problem, account=account, options=options, arithmetic="idealised").weights


# Attacks.


def scores(data: Pool, weights: Floats, records: Records) -> Floats:
    """Larger for members: minus the loss of a regression, minus the entropy of a classifier."""
    if data.kind == "lasso":
        return loss(ModelCase(target=Target.of(lambda rows: rows @ weights), records=records))
    classes = list(range(CLASSES[data.kind]))
    matrix = weights if weights.ndim == 2 else np.vstack([np.zeros_like(weights), weights])

    def probabilities(rows: Floats) -> Floats:
        z = rows @ matrix.T
        return np.asarray(np.exp(z - np.logaddexp.reduce(z, axis=1)[:, None]))

    return entropy(ModelCase(target=Target.of(probabilities, classes=classes), records=records))


def success(data: Pool, weights: Floats) -> float:
    """How good the model is for people it has not seen: share classified rightly, or of the variance explained."""
    rows, labels = data.others.features, data.others.labels
    if data.kind == "lasso":
        return 1.0 - float(np.mean(np.square(labels - rows @ weights)) / np.var(labels))
    z = rows @ weights.T
    chosen = z.argmax(axis=1) if weights.ndim == 2 else (z > 0).astype(int)
    return float(np.mean(chosen == labels))


def allowed(epsilon: float, delta: float = DELTA) -> float:
    """The balanced accuracy that the promise, counted twice, allows any attack (soundness, sections 0 and 14)."""
    twice, either = math.exp(2.0 * epsilon), (1.0 + math.exp(epsilon)) * delta
    return (twice + min(1.0, either)) / (1.0 + twice)

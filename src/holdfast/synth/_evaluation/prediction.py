"""Predictions: models trained on synthetic rows against models trained on real rows, both tested on real rows.

The real rows are split in two halves. Models learn from one half, or from as many synthetic rows, and are tested on the
other half. The synthetic rows were made from both halves, so they depend on the test rows, through noise; the real
training rows do not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast.data._schema import Numeric
from holdfast.errors import require
from holdfast.synth._evaluation.compared_rows import ComparedRows
from holdfast.synth._evaluation.features import linear_features, quiet_fit, tree_features

MOST_TRAINED, MOST_TESTED = 20_000, 20_000
LEAST_ROWS = 40


@dataclass(frozen=True, kw_only=True)
class MeanScore:
    """A mean over test rows and its standard error: accuracy of a class, R2 of a number."""

    value: float
    error: float


@dataclass(frozen=True, kw_only=True)
class ModelScores:
    """One kind of model, trained twice and tested on the same rows."""

    model: str
    on_real: MeanScore
    on_synthetic: MeanScore
    gap: MeanScore
    """The score lost by training on synthetic rows; its standard error is that of the differences row by row."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Predictions:
    """The scores of every kind of model, and of a constant prediction: the commonest class, or the mean."""

    target: str
    measure: str
    models: tuple[ModelScores, ...]
    baseline: MeanScore
    trained: int
    tested: int
    without_target: tuple[int, int]
    """How many rows of the real and of the synthetic sample have no target; they are not used."""
    test_rows: ComparedRows = field(repr=False)
    gains: Mapping[str, tuple[Floats, Floats]] = field(repr=False)
    """For each model its scores on each test row, trained on real and on synthetic rows. About single people."""

    def inside(self, chosen: NDArray[np.bool_]) -> tuple[float, float]:
        """The best model's scores on some test rows: trained on real and on synthetic rows."""
        if not chosen.any():
            return math.nan, math.nan
        best = max(self.models, key=lambda model: model.on_real.value).model
        real, synthetic = self.gains[best]
        return float(real[chosen].mean()), float(synthetic[chosen].mean())


def predictions(real: ComparedRows, synthetic: ComparedRows, target: str) -> Predictions:
    """Accuracy where the target is a category, R2 where it is a number, over the rows that have a target."""
    require(target in real.names, "target", target, f"one of the columns {list(real.names)}")
    require(len(real.names) > 1, "target", target, "a column beside others that predict it")
    all_rows = len(real.codes), len(synthetic.codes)
    real, synthetic = real.with_target(target), synthetic.with_target(target)
    for name, rows in (("real", len(real.codes)), ("synthetic", len(synthetic.codes))):
        require(
            rows >= LEAST_ROWS,
            f"{name} rows with a value of {target!r}",
            rows,
            f">= {LEAST_ROWS}",
            "leave target out",
        )
    coins = np.random.default_rng(0)
    order = coins.permutation(len(real.codes))
    half = len(order) // 2
    size = min(half, len(synthetic.codes), MOST_TRAINED)
    train, test = real.take(order[:size]), real.take(order[half:][:MOST_TESTED])
    rows_of_synthetic = synthetic.take(coins.permutation(len(synthetic.codes))[:size])
    task = _Numbers(target) if isinstance(real.schema[target], Numeric) else _Classes(target)
    truth = task.truth(test)
    gains, models = {}, []
    for name, fit in task.models().items():
        with quiet_fit():
            ours, theirs = (task.gains(truth, train, fit(rows, test)) for rows in (train, rows_of_synthetic))
        gains[name] = (ours, theirs)
        models.append(
            ModelScores(
                model=name, on_real=_score(ours), on_synthetic=_score(theirs), gap=_score(ours - theirs)
            )
        )
    return Predictions(
        target=target,
        measure=task.measure,
        models=tuple(models),
        trained=size,
        tested=len(truth),
        test_rows=test,
        without_target=(all_rows[0] - len(real.codes), all_rows[1] - len(synthetic.codes)),
        baseline=_score(task.gains(truth, train, task.constant(train, len(truth)))),
        gains=gains,
    )


def _score(gains: Floats) -> MeanScore:
    return MeanScore(value=float(gains.mean()), error=float(gains.std(ddof=1) / math.sqrt(len(gains))))


Fit = Callable[[ComparedRows, ComparedRows], NDArray[Any]]
"""A function of training rows and test rows that returns predictions for the test rows."""


@dataclass(frozen=True)
class _Classes:
    target: str
    measure = "accuracy"

    def truth(self, rows: ComparedRows) -> NDArray[Any]:
        return rows.code(self.target)

    def constant(self, train: ComparedRows, rows: int) -> NDArray[Any]:
        return np.full(rows, np.bincount(self.truth(train)).argmax())

    def gains(self, truth: NDArray[Any], train: ComparedRows, predicted: NDArray[Any]) -> Floats:
        return np.asarray(predicted == truth, dtype=np.float64)

    def models(self) -> dict[str, Fit]:
        return {
            "logistic regression": self._logistic,
            "naive Bayes": self._bayes,
            "boosted trees": self._trees,
        }

    def _others(self, rows: ComparedRows) -> list[str]:
        return [name for name in rows.names if name != self.target]

    def _predict_labels(self, model: Any, features: Any, labels: NDArray[Any], test: Any) -> NDArray[Any]:
        if len(np.unique(labels)) == 1:  # nothing to tell apart
            return np.full(len(test), labels[0])
        return np.asarray(model.fit(features, labels).predict(test))

    def _logistic(self, train: ComparedRows, test: ComparedRows) -> NDArray[Any]:
        from sklearn.linear_model import LogisticRegression

        columns = self._others(train)
        features, test_features = linear_features(train, columns), linear_features(test, columns)
        return self._predict_labels(
            LogisticRegression(max_iter=60, tol=1e-3), features, self.truth(train), test_features
        )

    def _bayes(self, train: ComparedRows, test: ComparedRows) -> NDArray[Any]:
        """On the declared cells: (n_yc + 1) / (n_y + cells) for each column."""
        columns, labels = self._others(train), self.truth(train)
        classes, label = np.unique(labels, return_inverse=True)
        score = np.log(np.bincount(label) / len(label))[None, :].repeat(len(test.codes), axis=0)
        for name in columns:
            cells = train.schema[name].cells
            counts = np.ones((cells, len(classes)))
            np.add.at(counts, (train.code(name), label), 1.0)
            score += np.log(counts / counts.sum(axis=0))[test.code(name)]
        return np.asarray(classes[score.argmax(axis=1)])

    def _trees(self, train: ComparedRows, test: ComparedRows) -> NDArray[Any]:
        from sklearn.ensemble import HistGradientBoostingClassifier

        columns = self._others(train)
        features, marks = tree_features(train, columns)
        model = HistGradientBoostingClassifier(
            max_iter=40, max_leaf_nodes=15, early_stopping=False, categorical_features=marks, random_state=0
        )
        return self._predict_labels(model, features, self.truth(train), tree_features(test, columns)[0])


@dataclass(frozen=True)
class _Numbers(_Classes):
    measure = "R2"

    def truth(self, rows: ComparedRows) -> NDArray[Any]:
        return rows.values[:, rows.names.index(self.target)]

    def constant(self, train: ComparedRows, rows: int) -> NDArray[Any]:
        return np.full(rows, self.truth(train).mean())

    def gains(self, truth: NDArray[Any], train: ComparedRows, predicted: NDArray[Any]) -> Floats:
        """1 - squared error over the variance of the test rows: the mean over all rows is R2."""
        spread = float(truth.var())
        return 1.0 - (truth - predicted) ** 2 / spread if spread > 0 else np.zeros(len(truth))

    def models(self) -> dict[str, Fit]:
        return {"ridge regression": self._ridge, "boosted trees": self._boosting}

    def _ridge(self, train: ComparedRows, test: ComparedRows) -> NDArray[Any]:
        from sklearn.linear_model import Ridge

        columns = self._others(train)
        features, test_features = linear_features(train, columns), linear_features(test, columns)
        return np.asarray(Ridge(alpha=1.0).fit(features, self.truth(train)).predict(test_features))

    def _boosting(self, train: ComparedRows, test: ComparedRows) -> NDArray[Any]:
        from sklearn.ensemble import HistGradientBoostingRegressor

        columns = self._others(train)
        features, marks = tree_features(train, columns)
        model = HistGradientBoostingRegressor(
            max_iter=40, max_leaf_nodes=15, early_stopping=False, categorical_features=marks, random_state=0
        )
        return np.asarray(model.fit(features, self.truth(train)).predict(tree_features(test, columns)[0]))

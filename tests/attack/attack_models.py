"""Models for attacks to practise on: one that learns its data by heart, one that learns nothing, and a quick one."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator


class ByHeart(BaseEstimator):  # type: ignore[misc]
    """Knows the label of every record it was trained on, and is lukewarm about all others."""

    def fit(self, X: Any, y: Any) -> Self:
        self.classes_ = np.unique(np.asarray(y))
        self.seen_ = {
            row.tobytes(): label for row, label in zip(np.asarray(X), np.asarray(y).tolist(), strict=True)
        }
        return self

    def predict_proba(self, X: Any) -> Any:
        made = np.empty((len(X), self.classes_.size))
        for place, row in enumerate(np.asarray(X)):
            label = self.seen_.get(row.tobytes())
            sure = 0.94 + 0.03 * np.tanh(row[0]) if label is not None else 0.4 + 0.1 * np.tanh(row[0])
            made[place] = (1.0 - sure) / (self.classes_.size - 1)
            made[place, int(np.flatnonzero(self.classes_ == label)[0]) if label is not None else 0] = sure
        return made

    def predict(self, X: Any) -> Any:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class NumbersByHeart(BaseEstimator):  # type: ignore[misc]
    """The same for numbers: nearly exact on what it has seen, the mean elsewhere."""

    def fit(self, X: Any, y: Any) -> Self:
        self.mean_ = float(np.mean(y))
        self.seen_ = {row.tobytes(): float(label) for row, label in zip(np.asarray(X), y, strict=True)}
        return self

    def predict(self, X: Any) -> Any:
        return np.array([self.seen_.get(row.tobytes(), self.mean_) + 1e-3 * row[0] for row in np.asarray(X)])


class Quick(BaseEstimator):  # type: ignore[misc]
    """Ridge regression on labels 0 and 1 as a classifier: a fit takes less than a millisecond."""

    def __init__(self, penalty: float = 1.0) -> None:
        self.penalty = penalty

    def fit(self, X: Any, y: Any) -> Self:
        self.classes_ = np.array([0, 1])
        gram = X.T @ X + self.penalty * np.eye(X.shape[1])
        self.weights_ = np.linalg.solve(gram, X.T @ (2.0 * np.asarray(y) - 1.0))
        return self

    def predict_proba(self, X: Any) -> Any:
        p = 1.0 / (1.0 + np.exp(-2.0 * (X @ self.weights_)))
        return np.column_stack([1.0 - p, p])


class QuickNumbers(Quick):
    """The same for numbers."""

    def fit(self, X: Any, y: Any) -> Self:
        super().fit(X, (np.asarray(y) + 1.0) / 2.0)
        del self.classes_
        return self

    predict_proba = property()

    def predict(self, X: Any) -> Any:
        return X @ self.weights_


def transparent(task: str, *, penalty: float) -> Any:
    """A linear model with weights to look at; with many columns and hardly a penalty it learns by heart."""
    from sklearn.linear_model import LogisticRegression, Ridge

    return LogisticRegression(C=1.0 / penalty, max_iter=1000) if task == "classification" else Ridge(penalty)


def people(count: int, *, seed: int, columns: int = 5, classes: int = 2) -> tuple[Any, Any]:
    """Records with labels that are half guesswork."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=(count, columns))
    if classes == 2:
        return rows, (rows[:, 0] + random.normal(size=count) > 0).astype(int)
    return rows, random.integers(0, classes, size=count)

"""The additive classifier and regressor: shape functions of single columns and of pairs, as scikit-learn estimators."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from holdfast._arguments import Seed, checked
from holdfast._arrays import Floats
from holdfast._assumption import Assumption
from holdfast.data._schema import Categorical, Numeric
from holdfast.errors import ParameterError, require
from holdfast.learn._estimators.additive_estimator import PrivateAdditiveEstimator
from holdfast.learn._estimators.classifiers import ClassFace, log_probabilities
from holdfast.learn._estimators.paid_score import PaidScore
from holdfast.learn._estimators.regressors import BOUNDS_ASSUMED, DEFAULT_BOUNDS
from holdfast.learn._parameters import ADDITIVE, with_parameters
from holdfast.learn._problem.problem import LabelCoding, NumberLabels
from holdfast.learn._rows.declared_bounds import Bounds
from holdfast.privacy._adjacency import Adjacency


@checked
@with_parameters(ADDITIVE)
class PrivateAdditiveClassifier(ClassFace, PrivateAdditiveEstimator):
    """A sum of shape functions of single columns and of pairs, with a privacy promise; two classes or several.

    Formal guarantees
    -----------------
    * Neighbours: by `adjacency`; they differ in one row of an array, or in one privacy unit of a `Table`.
    * Privacy: mu-Gaussian DP, and so (epsilon, delta)-differential privacy: composed Gaussian mechanisms on
      histograms and on gradients that are clipped record by record (soundness, section 24).
    * Public: all parameters, the schema of a `Table`, and the number of rows except under "add_remove".
    * Assumed: `classes`, `bounds` and `monotone` were declared without looking at the data, and nothing that learned
      from the rows came before. What was read from the data instead is among `release_.guarantee.assumptions`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.tile([[0.2], [0.5], [0.8]], (3000, 1))
    >>> model = PrivateAdditiveClassifier(epsilon=2.0, bounds=(0, 1), classes=["no", "yes"])
    >>> y = np.where(abs(X[:, 0] - 0.5) < 0.1, "yes", "no")
    >>> model.fit(X, y).predict([[0.2], [0.5], [0.8]]).tolist()
    ['no', 'yes', 'no']
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float | None = None,
        *,
        bounds: Bounds | None = None,
        classes: Sequence[Any] | None = None,
        interactions: bool = True,
        monotone: Mapping[str, int] | None = None,
        adjacency: Adjacency | str | None = None,
        n_public: int | None = None,
        random_state: Seed | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.classes = classes
        self.interactions = interactions
        self.monotone = monotone
        self.adjacency = adjacency
        self.n_public = n_public
        self.random_state = random_state

    def _loss(self, coding: Any) -> tuple[Any, int]:
        return ("logistic", 1) if coding.binary else ("softmax", len(coding.classes))

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class, one column for each of `classes_`, for each row of `X`."""
        return np.asarray(np.exp(log_probabilities(self._scores(X))))


@checked
@with_parameters(ADDITIVE)
class PrivateAdditiveRegressor(PaidScore, RegressorMixin, PrivateAdditiveEstimator):  # type: ignore[misc]
    """A sum of shape functions for numbers, with a privacy promise.

    Formal guarantees
    -----------------
    * Neighbours: by `adjacency`; they differ in one row of an array, or in one privacy unit of a `Table`.
    * Privacy: mu-Gaussian DP, and so (epsilon, delta)-differential privacy: composed Gaussian mechanisms on
      histograms and on gradients that are clipped record by record (soundness, section 24).
    * Public: all parameters, the schema of a `Table`, and the number of rows except under "add_remove".
    * Assumed: `target_bounds`, `bounds` and `monotone` were declared without looking at the data, and nothing that
      learned from the rows came before. Defaults that stood in for them are among `release_.guarantee.assumptions`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.tile([[0.2], [0.5], [0.8]], (3000, 1))
    >>> model = PrivateAdditiveRegressor(epsilon=4.0, bounds=(0, 1), target_bounds=(0, 10))
    >>> model = model.fit(X, np.where(abs(X[:, 0] - 0.5) < 0.1, 8.0, 2.0))
    >>> bool(abs(model.predict([[0.5]])[0] - 8) < 1)
    True
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float | None = None,
        *,
        bounds: Bounds | None = None,
        target_bounds: tuple[float, float] | None = None,
        interactions: bool = True,
        monotone: Mapping[str, int] | None = None,
        adjacency: Adjacency | str | None = None,
        n_public: int | None = None,
        random_state: Seed | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.target_bounds = target_bounds
        self.interactions = interactions
        self.monotone = monotone
        self.adjacency = adjacency
        self.n_public = n_public
        self.random_state = random_state

    def _label_coding(self, y: Any) -> tuple[LabelCoding, tuple[Assumption, ...]]:
        assumed = () if self.target_bounds is not None else (BOUNDS_ASSUMED,)
        bounds = DEFAULT_BOUNDS if self.target_bounds is None else self.target_bounds
        require(np.shape(bounds) == (2,), "target_bounds", bounds, "two numbers (low, high)")
        low, high = (float(bound) for bound in bounds)
        require(math.isfinite(low) and math.isfinite(high), "target_bounds", bounds, "finite")
        return NumberLabels(low=low, high=high, centred=True), assumed

    def _column_coding(self, column: Numeric | Categorical) -> LabelCoding:
        if self.target_bounds is not None:
            return self._label_coding(None)[0]
        if not isinstance(column, Numeric):
            raise ParameterError(f"target must be a numeric column for a regression, got {column.name!r}")
        return NumberLabels(low=column.low, high=column.high, centred=True)

    def _loss(self, coding: Any) -> tuple[Any, int]:
        return "squared", 1

    def _unit(self, coding: Any) -> tuple[float, float]:
        return coding.scale, coding.centre

    def predict(self, X: Any) -> Floats:
        """The predicted number for each row of `X`."""
        return np.asarray(self._scores(X)[:, 0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags

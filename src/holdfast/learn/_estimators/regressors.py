"""The linear regressors: least squares, ridge, lasso and Huber's robust regression."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from holdfast._arguments import Seed, checked
from holdfast._arrays import Floats
from holdfast._assumption import BOUNDS_BY_DEFAULT, Assumption
from holdfast.data._schema import Categorical, Numeric
from holdfast.errors import ParameterError
from holdfast.learn._estimators.estimator import PrivateLinearEstimator
from holdfast.learn._estimators.linear_model import LinearModel
from holdfast.learn._estimators.paid_score import PaidScore
from holdfast.learn._parameters import (
    LINEAR,
    NOT_NEGATIVE,
    POSITIVE,
    WITHIN_BALL,
    Parameter,
    with_parameters,
)
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import HuberRegression, Squared
from holdfast.learn._problem.problem import LabelCoding, NumberLabels
from holdfast.learn._rows.declared_bounds import Bounds
from holdfast.learn.methods.method import Learner
from holdfast.privacy._adjacency import Adjacency

DEFAULT_BOUNDS = (-1.0, 1.0)
"""The bounds of targets where none are declared."""
BOUNDS_ASSUMED = Assumption(
    kind=BOUNDS_BY_DEFAULT,
    subject="target_bounds",
    text="target_bounds was not declared: targets are clipped to the default [-1, 1]",
)
LASSO_ADVICE = (
    "PrivateLasso pays where columns are many, few of them matter and a small radius is known; elsewhere "
    "PrivateLinearRegression is more accurate at the same epsilon"
)
OWN_PENALTY = Parameter("float", "lambda in mean loss + (lambda / 2) |w|^2.", NOT_NEGATIVE)
L1_RADIUS = Parameter(
    "float, optional",
    "Of the L1 ball, in units of the target per unit of the features; None lets predictions reach twice the half range "
    "of the target.",
    WITHIN_BALL.optional(),
)
WIDTH_PARAMETER = Parameter(
    "float",
    "Where the loss becomes linear, in units of half the distance between the target's bounds.",
    POSITIVE,
)
LARGEST_LASSO_PREDICTION = 2.0
"""The default radius of the lasso lets predictions reach this many times the half range of the target."""


@checked
class PrivateLinearRegressor(PaidScore, RegressorMixin, PrivateLinearEstimator):  # type: ignore[misc]
    """The base class of the linear regressors: targets are clipped to public bounds and scaled to [-1, 1]."""

    target_bounds: tuple[float, float] | None

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float | None = None,
        *,
        method: str | Learner = "auto",
        options: Mapping[str, Any] | None = None,
        row_norm: float | None = None,
        bounds: Bounds | None = None,
        target_bounds: tuple[float, float] | None = None,
        fit_intercept: bool = True,
        penalty: float | None = None,
        radius: float | None = None,
        adjacency: Adjacency | str | None = None,
        n_public: int | None = None,
        arithmetic: str | None = None,
        random_state: Seed | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.method = method
        self.options = options
        self.row_norm = row_norm
        self.bounds = bounds
        self.target_bounds = target_bounds
        self.fit_intercept = fit_intercept
        self.penalty = penalty
        self.radius = radius
        self.adjacency = adjacency
        self.n_public = n_public
        self.arithmetic = arithmetic
        self.random_state = random_state

    def _label_coding(self, y: Any) -> tuple[LabelCoding, tuple[Assumption, ...]]:
        low, high = self._target_range()
        assumed = () if self.target_bounds is not None else (BOUNDS_ASSUMED,)
        return NumberLabels(low=low, high=high, centred=bool(self.fit_intercept)), assumed

    def _target_range(self) -> tuple[float, float]:
        """The declared bounds of the target, or the default ones."""
        bounds = DEFAULT_BOUNDS if self.target_bounds is None else self.target_bounds
        try:
            low, high = (float(bound) for bound in bounds)
        except (TypeError, ValueError):
            raise ParameterError(
                f"target_bounds must be two numbers (low, high), got target_bounds={bounds!r}"
            ) from None
        return low, high

    def _column_coding(self, column: Numeric | Categorical) -> LabelCoding:
        if self.target_bounds is not None:
            return self._label_coding(None)[0]
        if not isinstance(column, Numeric):
            raise ParameterError(f"target must be a numeric column for a regression, got {column.name!r}")
        return NumberLabels(low=column.low, high=column.high, centred=bool(self.fit_intercept))

    def _label_unit(self, coding: Any) -> tuple[float, float]:
        return coding.scale, coding.centre

    def _loss(self, coding: Any, *, prediction_bound: float) -> Any:
        return Squared(target_bound=1.0, prediction_bound=prediction_bound)

    def _set_model(self, model: LinearModel) -> None:
        super()._set_model(model)
        self.coef_, self.intercept_ = model.coef[0], float(model.intercept[0])

    def predict(self, X: Any) -> Floats:
        """The predicted number for each row of `X`; rows are clipped as they were in training."""
        return np.asarray(self._scores(X)[:, 0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags


@checked
@with_parameters(LINEAR)
class PrivateLinearRegression(PrivateLinearRegressor):
    """Least squares with a privacy promise.

    Methods that follow gradients need a radius.

    Formal guarantees
    -----------------
    * Neighbours: by `adjacency`; they differ in one row of an array, or in one privacy unit of a `Table`.
    * Privacy: (epsilon, delta)-differential privacy, pure where `delta=0`, by the theorem of the method that was
      used, which `release_.guarantee.theorem` names.
    * Public: all parameters, the schema of a `Table`, and the number of rows except under "add_remove".
    * Assumed: `target_bounds` and `bounds` were declared without looking at the data, and nothing that learned from
      the rows came before. Defaults that stood in for them are among `release_.guarantee.assumptions`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.tile([[0.5], [-0.5], [0.1]], (2000, 1))
    >>> model = PrivateLinearRegression(epsilon=4.0, target_bounds=(0, 20)).fit(X, 10 + 6 * X[:, 0])
    >>> bool(abs(model.predict([[0.5]])[0] - 13) < 1)
    True
    """

    intervals_by = "ssp"


@checked
@with_parameters(LINEAR | {"penalty": OWN_PENALTY})
class PrivateRidge(PrivateLinearRegressor):
    """Ridge regression with a privacy promise: mean squared loss / 2 + (penalty / 2) |w|^2.

    In scikit-learn's terms alpha = n penalty; the intercept is not penalised.

    Formal guarantees
    -----------------
    * Neighbours: by `adjacency`; they differ in one row of an array, or in one privacy unit of a `Table`.
    * Privacy: (epsilon, delta)-differential privacy, pure where `delta=0`, by the theorem of the method that was
      used, which `release_.guarantee.theorem` names.
    * Public: all parameters, the schema of a `Table`, and the number of rows except under "add_remove".
    * Assumed: `target_bounds` and `bounds` were declared without looking at the data, and nothing that learned from
      the rows came before. Defaults that stood in for them are among `release_.guarantee.assumptions`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.tile([[0.5], [-0.5], [0.1]], (2000, 1))
    >>> model = PrivateRidge(epsilon=4.0, penalty=0.01, target_bounds=(0, 20)).fit(X, 10 + 5 * X[:, 0])
    >>> bool(abs(model.predict([[0.0]])[0] - 10) < 1)
    True
    """

    intervals_by = "ssp"

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float | None = None,
        *,
        method: str | Learner = "auto",
        options: Mapping[str, Any] | None = None,
        row_norm: float | None = None,
        bounds: Bounds | None = None,
        target_bounds: tuple[float, float] | None = None,
        fit_intercept: bool = True,
        penalty: float = 0.01,
        radius: float | None = None,
        adjacency: Adjacency | str | None = None,
        n_public: int | None = None,
        arithmetic: str | None = None,
        random_state: Seed | None = None,
    ) -> None:
        super().__init__(
            epsilon,
            delta,
            method=method,
            options=options,
            row_norm=row_norm,
            bounds=bounds,
            target_bounds=target_bounds,
            fit_intercept=fit_intercept,
            penalty=penalty,
            radius=radius,
            adjacency=adjacency,
            n_public=n_public,
            arithmetic=arithmetic,
            random_state=random_state,
        )


@checked
@with_parameters(LINEAR | {"penalty": OWN_PENALTY, "radius": L1_RADIUS})
class PrivateLasso(PrivateLinearRegressor):
    """Least squares over the L1 ball |w|_1 <= radius, the constrained lasso, with a privacy promise.

    It is for many columns of which few matter, many rows, and a radius known to be small: its error grows with ln d,
    but also with the radius. On ordinary tables it is worse than the mean of the target where `PrivateLinearRegression`
    is useful (R2 of -0.35 against 0.46 on Warfarin at epsilon 1), and `summary` says so.

    Formal guarantees
    -----------------
    * Neighbours: by `adjacency`; they differ in one row of an array, or in one privacy unit of a `Table`.
    * Privacy: (epsilon, delta)-differential privacy, pure where `delta=0`, of Frank and Wolfe's method with private
      choices of a corner (Talwar, Thakurta and Zhang 2015; soundness, section 8).
    * Public: all parameters, the schema of a `Table`, and the number of rows except under "add_remove".
    * Assumed: `target_bounds` and `bounds` were declared without looking at the data, and nothing that learned from
      the rows came before. Defaults that stood in for them are among `release_.guarantee.assumptions`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.tile([[0.5, 0.0], [-0.5, 0.1], [0.1, 0.0]], (2000, 1))
    >>> model = PrivateLasso(epsilon=4.0, target_bounds=(0, 20), radius=10.0).fit(X, 10 + 6 * X[:, 0])
    >>> bool(abs(model.coef_).sum() <= 10.0 + 1e-9)
    True
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float | None = None,
        *,
        method: str | Learner = "auto",
        options: Mapping[str, Any] | None = None,
        row_norm: float | None = None,
        bounds: Bounds | None = None,
        target_bounds: tuple[float, float] | None = None,
        fit_intercept: bool = True,
        penalty: float = 0.0,
        radius: float | None = None,
        adjacency: Adjacency | str | None = None,
        n_public: int | None = None,
        arithmetic: str | None = None,
        random_state: Seed | None = None,
    ) -> None:
        super().__init__(
            epsilon,
            delta,
            method=method,
            options=options,
            row_norm=row_norm,
            bounds=bounds,
            target_bounds=target_bounds,
            fit_intercept=fit_intercept,
            penalty=penalty,
            radius=radius,
            adjacency=adjacency,
            n_public=n_public,
            arithmetic=arithmetic,
            random_state=random_state,
        )

    _l1 = True

    def summary(self) -> str:
        """The summary of a linear estimator, and advice on when to take another."""
        return f"{super().summary()}\n{LASSO_ADVICE}"

    def _only_method(self) -> str | None:
        return "frank_wolfe"

    def _default_radius(self, row_norm: float) -> float:
        return LARGEST_LASSO_PREDICTION / row_norm


@checked
@with_parameters(LINEAR | {"width": WIDTH_PARAMETER})
class PrivateHuberRegression(PrivateLinearRegressor):
    """Huber's regression with a privacy promise: squares near the line, absolute errors far from it.

    Its slope is bounded for all weights, so that methods which need a bounded gradient need no radius.

    Formal guarantees
    -----------------
    * Neighbours: by `adjacency`; they differ in one row of an array, or in one privacy unit of a `Table`.
    * Privacy: (epsilon, delta)-differential privacy, pure where `delta=0`, by the theorem of the method that was
      used, which `release_.guarantee.theorem` names.
    * Public: all parameters, the schema of a `Table`, and the number of rows except under "add_remove".
    * Assumed: `target_bounds` and `bounds` were declared without looking at the data, and nothing that learned from
      the rows came before. Defaults that stood in for them are among `release_.guarantee.assumptions`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.tile([[0.5], [-0.5], [0.1]], (2000, 1))
    >>> model = PrivateHuberRegression(epsilon=4.0, target_bounds=(0, 20), method="gibbs").fit(X, 10 + 6 * X[:, 0])
    >>> bool(abs(model.predict([[0.5]])[0] - 13) < 1)
    True
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float | None = None,
        *,
        method: str | Learner = "auto",
        options: Mapping[str, Any] | None = None,
        row_norm: float | None = None,
        bounds: Bounds | None = None,
        target_bounds: tuple[float, float] | None = None,
        width: float = 0.5,
        fit_intercept: bool = True,
        penalty: float | None = None,
        radius: float | None = None,
        adjacency: Adjacency | str | None = None,
        n_public: int | None = None,
        arithmetic: str | None = None,
        random_state: Seed | None = None,
    ) -> None:
        super().__init__(
            epsilon,
            delta,
            method=method,
            options=options,
            row_norm=row_norm,
            bounds=bounds,
            target_bounds=target_bounds,
            fit_intercept=fit_intercept,
            penalty=penalty,
            radius=radius,
            adjacency=adjacency,
            n_public=n_public,
            arithmetic=arithmetic,
            random_state=random_state,
        )
        self.width = width

    def _loss(self, coding: Any, *, prediction_bound: float) -> Any:
        return HuberRegression(width=self.width)

    def _wants_penalty(self, problem: Problem, *, pure: bool) -> bool:
        return pure

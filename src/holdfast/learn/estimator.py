"""What the five estimators share: declared bounds in, one release out. Everything private is in the methods.

The order of things in `fit`: parameters are checked, rows are clipped and labels coded, what had to be read from
the data becomes an assumption, and only then an account is opened and a method spends it.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from holdfast.data.columns import Categorical, Numeric
from holdfast.data.encode import Encoder, clip_rows
from holdfast.data.schema import Schema
from holdfast.data.table import Table
from holdfast.errors import AssumptionWarning, NotPrivateWarning, ParameterError, require
from holdfast.learn.design import design_norm, intercept_value, with_intercept
from holdfast.learn.examples import ArrayExamples, Examples
from holdfast.learn.exact import exact_weights
from holdfast.learn.linear_model import LinearModel
from holdfast.learn.method import Fit, Method
from holdfast.learn.opening import Budget, default_penalty, find_method, plain_parameters
from holdfast.learn.problem import Problem
from holdfast.learn.refits import REFITS, warn_refit
from holdfast.learn.table_examples import TableExamples
from holdfast.learn.target import Target
from holdfast.privacy.account import Account
from holdfast.privacy.adjacency import Adjacency, resolve_adjacency
from holdfast.release import Release

Floats = NDArray[np.float64]
COUNT_READ = "the number of rows was read from the data and is treated as public"
REFUSED = {
    "sample_weight": "a weight multiplies the sensitivity by the largest weight, for which no public bound is "
    "declared; repeat or leave out rows by a public rule instead",
    "class_weight": "balanced weights are computed from the private labels; shift intercept_ afterwards instead",
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Prepared:
    """Clipped and labelled rows, and what reading them assumed."""

    examples: Examples
    coding: Any
    assumptions: tuple[str, ...] = ()
    feature_names: tuple[str, ...] | None = None
    encoder: Encoder | None = None
    refitted: bool = False


class PrivateLinearEstimator(BaseEstimator):
    """A linear model fitted under a declared row norm and a budget; subclasses add their loss and targets."""

    def fit(
        self, X: Any, y: Any = None, account: Account | None = None, target: str | None = None, **refused: Any
    ) -> Self:
        """Fit rows X and labels y, or a holdfast `Table` and the name of its target column.

        With `account` the fit spends all that remains in it, and `epsilon` and `delta` are not used.
        """
        for name in refused:
            reason = REFUSED.get(name, "fit takes X, y, account and target")
            raise ParameterError(f"{name} must not be given to fit, got {name}=...; {reason}")
        budget = self._budget(account)
        prepared = self._of_table(X, target, account) if isinstance(X, Table) else self._of_arrays(X, y, account)
        problem = self._problem(prepared.examples.dimension, prepared.coding)
        if math.isinf(budget.epsilon):
            fit = self._without_privacy(prepared, problem)
            self.release_ = None
        else:
            budget.check_delta(prepared.examples.public_count)
            warn_refit(prepared.refitted and account is None)
            fit = self._spend(prepared, problem, budget, account)
        return self

    # What subclasses say.

    def _targets(self, y: Any) -> tuple[Target, tuple[str, ...]]:
        raise NotImplementedError

    def _column(self, column: Numeric | Categorical) -> Target:
        raise NotImplementedError

    def _problem(self, dimension: int, coding: Any) -> Problem:
        raise NotImplementedError

    def _rule(self, *, pure: bool) -> str:
        raise NotImplementedError

    def _options(self, method: Method, problem: Problem) -> dict[str, Any]:
        return {}

    def _keep(self, coding: Any, weights: Floats) -> tuple[Floats, Floats, float]:
        """coef, intercept and the unit of the labels."""
        raise NotImplementedError

    # Parameters.

    def _budget(self, account: Account | None) -> Budget:
        require(
            isinstance(self.fit_intercept, bool | np.bool_), "fit_intercept", self.fit_intercept, "True or False"
        )
        norm = self.row_norm
        require(0 < norm < math.inf, "row_norm", norm, "> 0 and finite")
        require(self.penalty is None or 0 <= self.penalty < math.inf, "penalty", self.penalty, ">= 0 and finite")
        require(self.radius is None or 0 < self.radius, "radius", self.radius, "> 0, or None")
        if self.method != "auto":
            find_method(self.method)
        if account is not None and self.random_state is not None:
            raise ParameterError(
                "random_state must be None with an account, which draws the noise; open the account with a seed"
            )
        return Budget.of(epsilon=self.epsilon, delta=self.delta, account=account)

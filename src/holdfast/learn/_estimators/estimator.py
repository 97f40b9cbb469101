"""What linear estimators share: declared bounds in, one release out. Everything private is in the methods.

The order of things in `fit`: parameters are checked, rows are clipped and labels coded, what had to be read from
the data becomes an assumption, and only then an account is opened and a method spends it.
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Mapping
from contextlib import closing
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from holdfast._arguments import checked
from holdfast._arrays import Floats
from holdfast._assumption import Assumption
from holdfast._caution import warn
from holdfast.data._schema import Categorical, Numeric, Schema
from holdfast.data._table import Table
from holdfast.errors import (
    AssumptionWarning,
    FormatError,
    NotPrivateWarning,
    ParameterError,
    require,
)
from holdfast.learn._catalogue import LEARNERS
from holdfast.learn._choice import LearnerChoice, author_assumptions, choose_learner, find_learner, package_of
from holdfast.learn._estimators.exact import exact_weights
from holdfast.learn._estimators.intervals import WithIntervals, stored_score
from holdfast.learn._estimators.linear_model import LinearModel
from holdfast.learn._inference.public_design import PublicDesign
from holdfast.learn._parameters import Constraint, check_parameters
from holdfast.learn._problem import Problem
from holdfast.learn._problem.problem import LabelCoding
from holdfast.learn._rows.counted_rows import CountedRows
from holdfast.learn._rows.declared_bounds import Bounds
from holdfast.learn._rows.design import design, design_norm, intercept_value
from holdfast.learn._rows.input_matrix import input_matrix, names_of_matrix
from holdfast.learn._rows.numbers_only import numbers_only
from holdfast.learn._rows.payment import PaidFit, limit_to_spend
from holdfast.learn._rows.prepare import PreparedRows, prepare_arrays, prepare_table, require_labels
from holdfast.learn.methods.method import Fit, Learner, PublicFacts
from holdfast.privacy._account import Account
from holdfast.privacy._account.request import (
    limit_of,
    open_account,
    require_small_delta,
    require_something_left,
    seed_of,
)
from holdfast.privacy._adjacency import Adjacency, resolve_adjacency
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.release import Provenance, Release
from holdfast.release._release import plain_parameters
from holdfast.release._usefulness import announce

GAUSSIAN_QUANTILE = 1.959964
LAPLACE_QUANTILE = 2.118335
"""How many standard deviations of the noise hold 95 % of it: ln(20) / sqrt(2) for Laplace noise."""
REFUSED = {
    "sample_weight": "a weight multiplies the sensitivity by the largest weight, for which no public bound is "
    "declared; repeat or leave out rows by a public rule instead",
    "class_weight": "balanced weights are computed from the private labels; shift intercept_ afterwards instead",
}


@checked
class PrivateLinearEstimator(PaidFit, WithIntervals, BaseEstimator):  # type: ignore[misc]
    """A linear model under a declared row norm and a budget; a subclass says its loss, targets and rule."""

    epsilon: float
    delta: float | None
    method: str | Learner
    options: Mapping[str, Any] | None
    row_norm: float | None
    bounds: Bounds | None
    fit_intercept: bool
    penalty: float | None
    radius: float | None
    adjacency: Adjacency | str | None
    n_public: int | None
    arithmetic: str | None
    random_state: Any
    model_: LinearModel
    counted_: CountedRows | None
    coef_: Any
    intercept_: Any
    release_: Release[Any] | None
    _constraints: ClassVar[Mapping[str, Constraint]] = {}

    def fit(
        self, X: Any, y: Any = None, account: Account | None = None, target: str | None = None, **refused: Any
    ) -> Self:
        """Fit rows and labels, or a table, and leave the promise in `release_`.

        Parameters
        ----------
        X : array-like, sparse matrix or Table
            Rows, or a holdfast `Table`.
        y : array-like, optional
            Labels, one for each row; not for a `Table`.
        account : Account, optional
            Pays for the fit, which spends all that remains in it; `epsilon` and `delta` are not used then.
        target : str, optional
            The name of the column to predict, where X is a `Table`.
        **refused
            Nothing: what scikit-learn's estimators take besides, such as `sample_weight`, is refused with the reason.

        Returns
        -------
        self
            The fitted estimator.
        """
        for name in refused:
            reason = REFUSED.get(name, "fit takes X, y, account and target")
            raise ParameterError(f"{name} must not be given to fit, got {name}=...; {reason}")
        self._check_parameters(account)
        prepared = self._prepare(X, y, target, account)
        with closing(prepared.examples):  # a copy of rows, where one was made, is gone with the fit
            problem = self._problem(prepared)
            if account is None and self.epsilon == math.inf:
                fit = self._without_privacy(prepared, problem)
                self._learn(prepared, fit)
                self.release_, self.method_ = None, "exact"
                return self
            chosen_by = self._assumptions_without_account(X) if account is None else ()
            if account is not None:
                account = self._share_of(account, X)
            self._spend(prepared, problem, account, chosen_by)
        return self

    # What a subclass says.

    def _targets(self, y: Any) -> tuple[LabelCoding, tuple[Assumption, ...]]:
        """How labels are coded, and what had to be read from them."""
        raise NotImplementedError

    def _column(self, column: Numeric | Categorical) -> LabelCoding:
        """The same for a declared column."""
        raise NotImplementedError

    def _loss(self, coding: Any, *, prediction_bound: float) -> Any:
        """The loss."""
        raise NotImplementedError

    def _only(self) -> str | None:
        """The one method of this estimator, where there is no choice."""
        return None

    def _wants_penalty(self, problem: Problem, *, pure: bool) -> bool:
        """Whether method='auto' is told of a penalty where none is given; methods that need one always are."""
        return False

    def _label_unit(self, coding: Any) -> tuple[float, float]:
        """The unit and the origin of the numbers that the loss sees."""
        return 1.0, 0.0

    def _link(self, coding: Any) -> str | None:
        """What turns scores into probabilities, where it is not the softmax of all."""
        return None

    def _default_radius(self, row_norm: float) -> float:
        return math.inf

    _l1 = False

    # Steps.

    def _check_parameters(self, account: Account | None) -> None:
        check_parameters(self)
        if self.method != "auto":
            find_learner(self.method)
        if account is None:
            # epsilon = inf is a fit without privacy; delta is checked all the same.
            limit_of(1.0 if self.epsilon == math.inf else self.epsilon, self.delta)
        elif self.random_state is not None:
            raise ParameterError(
                "random_state must be None with an account, which draws the noise; open the account with a seed"
            )

    def _prepare(self, X: Any, y: Any, target: str | None, account: Account | None) -> PreparedRows:
        settings: dict[str, Any] = {
            "row_norm": None if self.row_norm is None else float(self.row_norm),
            "fit_intercept": bool(self.fit_intercept),
            "intervals": self._wants_intervals(),
        }
        if isinstance(X, Table):
            require(y is None, "y", "...", "None where a Table is fitted", "name its column: target=...")
            require(
                self.bounds is None,
                "bounds",
                self.bounds,
                "None where a Table is fitted, whose schema has them",
            )
            resolve_adjacency(self.adjacency, X.adjacency)
            prepared = prepare_table(
                X,
                target,
                coding=self._column,
                n_public=self.n_public,
                **settings,
                limit=limit_to_spend(self.epsilon, self.delta, account, count=X.n_public),
            )
            self.n_features_in_ = len(prepared.columns or ())
            self.__dict__.pop("feature_names_in_", None)
        else:
            require_labels(X, y, target)
            with numbers_only(X, y):
                X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
                prepared = prepare_arrays(
                    X,
                    self._targets(y),
                    y,
                    n_public=self.n_public,
                    **settings,
                    adjacency=resolve_adjacency(
                        self.adjacency, None if account is None else account.adjacency
                    ),
                    names=getattr(self, "feature_names_in_", None),
                    bounds=self.bounds,
                )
        for assumption in prepared.warned_assumptions:
            warn(assumption.text, AssumptionWarning)
        return prepared

    def _problem(self, prepared: PreparedRows) -> Problem:
        unit, _ = self._label_unit(prepared.coding)
        radius = self._default_radius(prepared.row_norm) if self.radius is None else self.radius / unit
        norm = design_norm(prepared.row_norm, fit_intercept=self.fit_intercept)
        return Problem(
            loss=self._loss(prepared.coding, prediction_bound=norm * radius),
            dimension=prepared.examples.dimension,
            penalty=self.penalty or 0.0,
            radius=radius,
            row_norm=norm,
            constant=intercept_value(prepared.row_norm, fit_intercept=self.fit_intercept),
            active=None if prepared.columns is None else len(prepared.columns) + self.fit_intercept,
        )

    def _without_privacy(self, prepared: PreparedRows, problem: Problem) -> Fit:
        warn("epsilon=inf: this fit is not private", NotPrivateWarning)
        parts = list(prepared.examples.chunks())
        features, labels = (np.concatenate(part) for part in zip(*parts, strict=True))
        return Fit(weights=exact_weights(features, labels, problem, l1=self._l1), theorem="none")

    def _spend(
        self,
        prepared: PreparedRows,
        problem: Problem,
        account: Account | None,
        chosen_by: tuple[Assumption, ...],
    ) -> None:
        examples = prepared.examples
        limit = (
            limit_of(self.epsilon, self.delta, count=examples.public_count)
            if account is None
            else account.limit
        )
        require_small_delta(limit, examples.public_count)
        left = limit if account is None else account.remaining()
        method, problem, choice = self._decide(prepared, problem, left)
        if account is None:
            account = open_account(
                limit,
                method,
                adjacency=examples.adjacency,
                unit=examples.unit,
                seed=seed_of(self.random_state),
            )
        require_something_left(account)
        facts = self._facts(prepared, problem, account.remaining())
        useless = announce(method.prospects(facts))
        fit = method.fit(examples, problem, account=account, **self._method_options(choice))
        quantile = GAUSSIAN_QUANTILE if left.as_pure() is None else LAPLACE_QUANTILE
        model = self._learn(
            prepared, fit, quantile=quantile, choice=None if choice is None else choice.summary()
        )
        self.method_, self.count_ = method.name, examples.public_count
        self._record_payer(account)
        self.release_ = Release.paid_by(
            account,
            model.value(),
            Provenance(
                method=method.name,
                estimator=type(self).__name__,
                package=package_of(method),
                parameters=plain_parameters(
                    {"penalty": problem.penalty, "radius": problem.radius, "row_norm": prepared.row_norm}
                    | dict(fit.parameters)
                    | ({} if prepared.levels is None else {"levels": prepared.levels})
                    | prepared.parameters
                ),
                schema_hash=prepared.schema_hash,
            ),
            assumptions=(*prepared.assumptions, *fit.assumptions, *author_assumptions(method), *chosen_by),
            theorem=fit.theorem,
            prospects=useless,
        )

    def _facts(self, prepared: PreparedRows, problem: Problem, left: PrivacyCurve) -> PublicFacts:
        """All that is public of the fit, within what is left."""
        examples = prepared.examples
        return PublicFacts(
            problem=problem,
            count=examples.public_count,
            limit=left,
            adjacency=examples.adjacency,
            max_rows=examples.unit.max_rows,
            count_is_public=prepared.count_is_public,
            noun=examples.unit.noun,
        )

    def _decide(
        self, prepared: PreparedRows, problem: Problem, left: PrivacyCurve
    ) -> tuple[Learner, Problem, LearnerChoice | None]:
        """The method, the problem with its penalty, and why; from public quantities only."""
        only = self._only()
        requested = only if self.method == "auto" else self.method
        named = None if requested is None else find_learner(requested)
        if named is not None and not (named.name == only if only else named.takes(problem)):
            fitting = [only] if only else [method.name for method in LEARNERS if method.takes(problem)]
            raise ParameterError(
                f"method must be 'auto' or {' or '.join(map(repr, fitting))} here, got method={named.name!r}"
            )
        facts = self._facts(prepared, problem, left)
        wants = self._wants_penalty(problem, pure=facts.pure)
        if self.penalty is None and (wants or (named and named.needs_penalty(problem))):
            # Where 'auto' wants one, it will be noise on a minimiser.
            penalty = (named or find_learner("output")).default_penalty(facts)
            facts = dataclasses.replace(facts, problem=dataclasses.replace(problem, penalty=penalty))
        if named is not None:
            return named, facts.problem, None
        choice = choose_learner(
            facts.problem, count=facts.count, limit=left, adjacency=facts.adjacency, max_rows=facts.max_rows
        )
        return choice.learner, facts.problem, choice

    def _method_options(self, choice: LearnerChoice | None) -> dict[str, Any]:
        """The options of the method: those of `auto`, `arithmetic`, and `options`, which have the last word."""
        options = {} if choice is None else dict(choice.options)
        options |= {} if self.arithmetic is None else {"arithmetic": self.arithmetic}
        return options | dict(self.options or {})

    def _learn(
        self, prepared: PreparedRows, fit: Fit, *, quantile: float | None = None, choice: str | None = None
    ) -> LinearModel:
        """Weights in the user's units, as attributes and as a model."""
        unit, origin = self._label_unit(prepared.coding)
        constant = intercept_value(prepared.row_norm, fit_intercept=self.fit_intercept)
        weights = unit * np.atleast_2d(fit.weights)
        coef = weights[:, :-1] if constant else weights
        intercept = origin + constant * weights[:, -1] if constant else np.full(len(weights), origin)
        std = fit.noise_std
        model = LinearModel(
            model=type(self).__name__,
            coef=coef,
            intercept=intercept,
            row_norm=prepared.row_norm,
            classes=prepared.coding.names,
            feature_names=prepared.feature_names,
            noise_std=None if std is None else unit * std,
            intercept_noise_std=None
            if std is None or not constant
            else unit * math.hypot(constant * std, fit.centre_noise_std),
            noise_quantile=None if std is None else quantile,
            schema=prepared.schema,
            columns=prepared.columns,
            reference=prepared.reference or None,
            choice=choice,
            link=self._link(prepared.coding),
            inference=None
            if fit.score is None
            else stored_score(
                fit.score,
                unit=unit,
                origin=origin,
                constant=constant,
                row_norm=prepared.row_norm,
                longest_row=prepared.longest_row,
            ),
        )
        self._set_model(model)
        self.counted_ = prepared.counted
        return model

    def _set_model(self, model: LinearModel) -> None:
        self.model_ = model
        self.coef_, self.intercept_ = model.coef, model.intercept
        self.encoder_ = None
        if model.schema is not None and model.columns is not None:
            design = PublicDesign(
                schema=Schema.from_dict(model.schema), columns=model.columns, reference=model.reference or ()
            )
            self.encoder_ = design.encoder(model.row_norm)

    @property
    def _of_a_matrix(self) -> bool:
        """Whether the schema is that of declared bounds: that of a table has a target, too."""
        return self.model_.schema is not None and self.model_.columns == tuple(
            Schema.from_dict(self.model_.schema).names
        )

    # Using it.

    def _scores(self, X: Any) -> Floats:
        """One row of scores per row of X; rows are clipped as they were in training."""
        check_is_fitted(self, "model_")
        if self.encoder_ is not None:
            # A matrix has no rule for what is missing or no number, a table's schema has.
            rows = self.encoder_.transform(input_matrix(self, X) if self._of_a_matrix else X)
        else:
            X = input_matrix(self, X, accept_sparse="csr")
            rows = design(X, row_norm=self.model_.row_norm, constant=0.0)
        return np.asarray(rows @ self.model_.coef.T + self.model_.intercept)

    def summary(self) -> str:
        """Coefficients with the privacy noise in them, intervals or why not, the promise, and why this method.

        The interval beside a coefficient holds, with 95 % confidence for each alone, what the same fit would have given
        without noise: privacy noise only. Those of `conf_int` below, where there are any, cover sampling error too.
        """
        from holdfast.learn._estimators.recommend import advice
        from holdfast.learn._estimators.schema_lines import fact_lines, level_lines, schema_lines

        check_is_fitted(self, "model_")
        head = f"{type(self).__name__} by method {self.method_!r}; rows are clipped to norm {self.model_.row_norm:g}"
        first = () if self.release_ is None else self.release_.first_lines
        promise = "NOT PRIVATE: epsilon=inf" if self.release_ is None else self.release_.description()
        levels = level_lines(self.model_.schema, self.release_)
        rows = None if self.counted_ is None else self.counted_.count
        last = (levels, self.model_.choice, advice(self.model_, self.release_, getattr(self, "count_", rows)))
        lines = [
            *first,
            head,
            *fact_lines(self.model_.classes, self.counted_),
            *schema_lines(self.model_.schema),
        ]
        return "\n".join(
            [*lines, self.model_.table(), self._interval_summary(), promise, *filter(None, last)]
        )

    def to_json(self) -> str:
        """Plain JSON: weights, the rule that uses them and what is promised; needs no holdfast to read."""
        check_is_fitted(self, "model_")
        promise = None if self.release_ is None else self.release_.guarantee.to_json()
        private = self.release_ is not None and self.release_.private
        return self.model_.to_json(guarantee=promise, private=private)

    @classmethod
    def from_release(cls, release: Release[Any]) -> Self:
        """A fitted estimator from a release, ready to predict."""
        model = LinearModel.of_value(release.value)
        if model.model != cls.__name__:
            raise FormatError(f"the release holds a {model.model}, not a {cls.__name__}; use load_model")
        estimator = cls(row_norm=model.row_norm)
        estimator.n_features_in_ = model.coef.shape[1] if model.columns is None else len(model.columns)
        if model.feature_names is not None and model.columns is None:
            estimator.feature_names_in_ = np.array(model.feature_names, dtype=object)
        estimator._set_model(model)
        names = (
            names_of_matrix(model.columns) if model.columns is not None and estimator._of_a_matrix else None
        )
        if names is not None:
            estimator.feature_names_in_ = names
        estimator.counted_ = CountedRows.of_parameters(release.provenance.parameters, release.guarantee.unit)
        estimator.release_, estimator.method_ = release, release.provenance.method
        return estimator

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The same from a file that `release_.save(path)` wrote."""
        return cls.from_release(Release.load(path))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.input_tags.sparse = True
        return tags

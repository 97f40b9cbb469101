"""The base class of the linear estimators: it prepares rows, lets a method fit them, and keeps the release.

`fit` first checks parameters, then clips rows and codes labels. What had to be read from the data becomes an
assumption. Only then an account is opened, from which a method pays. Everything that adds noise is in the methods.
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
from holdfast.data._encode import Encoder
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
"""How many standard deviations on both sides hold 95 % of the noise; for Laplace noise ln(20) / sqrt(2)."""
REFUSED = {
    "sample_weight": "a weight multiplies the sensitivity by the largest weight, for which no public bound is "
    "declared; repeat or leave out rows by a public rule instead",
    "class_weight": "balanced weights are computed from the private labels; shift intercept_ afterwards instead",
}


@checked
class PrivateLinearEstimator(PaidFit, WithIntervals, BaseEstimator):  # type: ignore[misc]
    """A linear model that is fitted with a declared row norm and a budget; subclasses define loss and targets."""

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
    count_: int | None = None
    """The public number of rows or users."""
    encoder_: Encoder | None = None
    """From a table to the features of the model; None for a model of plain arrays."""
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
        with closing(prepared.examples):  # deletes the copy of the rows, if one was written
            problem = self._problem(prepared)
            if account is None and self.epsilon == math.inf:
                fit = self._exact_fit(prepared, problem)
                self._store_fit(prepared, fit)
                self.release_, self.method_ = None, "exact"
                return self
            repeat_assumed = self._assumptions_without_account(X) if account is None else ()
            if account is not None:
                account = self._share_of(account, X)
            self._fit_with_account(prepared, problem, account, repeat_assumed)
        return self

    # What a subclass defines.

    def _label_coding(self, y: Any) -> tuple[LabelCoding, tuple[Assumption, ...]]:
        """The coding of the labels of an array, and what is assumed because it was not declared."""
        raise NotImplementedError

    def _column_coding(self, column: Numeric | Categorical) -> LabelCoding:
        """The coding of the labels in a declared column."""
        raise NotImplementedError

    def _loss(self, coding: Any, *, prediction_bound: float) -> Any:
        """The loss of coded labels; `prediction_bound` is the largest prediction that the radius allows."""
        raise NotImplementedError

    def _only_method(self) -> str | None:
        """The name of the only method that fits this estimator; None where there is a choice."""
        return None

    def _wants_penalty(self, problem: Problem, *, pure: bool) -> bool:
        """Whether method='auto' has a default penalty; methods that need a penalty always have one."""
        return False

    def _label_unit(self, coding: Any) -> tuple[float, float]:
        """The unit and the origin of the labels that the loss sees, in the user's units."""
        return 1.0, 0.0

    def _link(self, coding: Any) -> str | None:
        """The function that turns scores into probabilities, where it is not the softmax of all scores."""
        return None

    def _default_radius(self, row_norm: float) -> float:
        """The radius where none is given."""
        return math.inf

    _l1 = False
    """Whether the radius is that of the L1 ball."""

    # The steps of `fit`.

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
        """Clipped rows and coded labels of what was given to `fit`; warns of what was not declared."""
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
                coding=self._column_coding,
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
                    self._label_coding(y),
                    y,
                    n_public=self.n_public,
                    **settings,
                    adjacency=resolve_adjacency(
                        self.adjacency, None if account is None else account.adjacency
                    ),
                    names=vars(self).get("feature_names_in_"),  # scikit-learn sets it, for frames
                    bounds=self.bounds,
                )
        for assumption in prepared.warned_assumptions:
            warn(assumption.text, AssumptionWarning)
        return prepared

    def _problem(self, prepared: PreparedRows) -> Problem:
        """What a method minimises."""
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

    def _exact_fit(self, prepared: PreparedRows, problem: Problem) -> Fit:
        """The exact minimiser, for epsilon = inf. NOT PRIVATE."""
        warn("epsilon=inf: this fit is not private", NotPrivateWarning)
        parts = list(prepared.examples.chunks())
        features, labels = (np.concatenate(part) for part in zip(*parts, strict=True))
        return Fit(weights=exact_weights(features, labels, problem, l1=self._l1), theorem="none")

    def _fit_with_account(
        self,
        prepared: PreparedRows,
        problem: Problem,
        account: Account | None,
        repeat_assumed: tuple[Assumption, ...],
    ) -> None:
        """Choose a method, let it spend what remains in the account (a new one by default), and keep its release."""
        examples = prepared.examples
        limit = (
            limit_of(self.epsilon, self.delta, count=examples.public_count)
            if account is None
            else account.limit
        )
        require_small_delta(limit, examples.public_count)
        remaining = limit if account is None else account.remaining()
        method, problem, choice = self._choose_method(prepared, problem, remaining)
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
        prospects = announce(method.prospects(facts))
        fit = method.fit(examples, problem, account=account, **self._method_options(choice))
        quantile = GAUSSIAN_QUANTILE if remaining.as_pure() is None else LAPLACE_QUANTILE
        model = self._store_fit(
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
            assumptions=(
                *prepared.assumptions,
                *fit.assumptions,
                *author_assumptions(method),
                *repeat_assumed,
            ),
            theorem=fit.theorem,
            prospects=prospects,
        )

    def _facts(self, prepared: PreparedRows, problem: Problem, remaining: PrivacyCurve) -> PublicFacts:
        """The public facts of the fit, by which methods are chosen; `remaining` is the budget."""
        examples = prepared.examples
        return PublicFacts(
            problem=problem,
            count=examples.public_count,
            limit=remaining,
            adjacency=examples.adjacency,
            max_rows=examples.unit.max_rows,
            count_is_public=prepared.count_is_public,
            noun=examples.unit.noun,
        )

    def _choose_method(
        self, prepared: PreparedRows, problem: Problem, remaining: PrivacyCurve
    ) -> tuple[Learner, Problem, LearnerChoice | None]:
        """The method, the problem with its penalty, and why 'auto' chose it; from public facts only."""
        only_method = self._only_method()
        name = only_method if self.method == "auto" else self.method
        requested = None if name is None else find_learner(name)
        if requested is not None:
            fits = requested.name == only_method if only_method else requested.takes(problem)
            if not fits:
                fitting = [method.name for method in LEARNERS if method.takes(problem)]
                options = " or ".join(map(repr, [only_method] if only_method else fitting))
                raise ParameterError(
                    f"method must be 'auto' or {options} here, got method={requested.name!r}"
                )
        facts = self._facts(prepared, problem, remaining)
        wants_penalty = self._wants_penalty(problem, pure=facts.pure)
        if self.penalty is None and (wants_penalty or (requested and requested.needs_penalty(problem))):
            # Where 'auto' has a default penalty, the method will be one that adds noise to a minimiser.
            penalty = (requested or find_learner("output")).default_penalty(facts)
            facts = dataclasses.replace(facts, problem=dataclasses.replace(problem, penalty=penalty))
        if requested is not None:
            return requested, facts.problem, None
        choice = choose_learner(
            facts.problem,
            count=facts.count,
            limit=remaining,
            adjacency=facts.adjacency,
            max_rows=facts.max_rows,
        )
        return choice.learner, facts.problem, choice

    def _method_options(self, choice: LearnerChoice | None) -> dict[str, Any]:
        """The options of the method: those of 'auto', over which `arithmetic` and then `options` have precedence."""
        options = {} if choice is None else dict(choice.options)
        options |= {} if self.arithmetic is None else {"arithmetic": self.arithmetic}
        return options | dict(self.options or {})

    def _store_fit(
        self, prepared: PreparedRows, fit: Fit, *, quantile: float | None = None, choice: str | None = None
    ) -> LinearModel:
        """Keep the fitted weights in the user's units, as a model and as attributes of the estimator."""
        unit, origin = self._label_unit(prepared.coding)
        constant = intercept_value(prepared.row_norm, fit_intercept=self.fit_intercept)
        weights = unit * np.atleast_2d(fit.weights)
        coef = weights[:, :-1] if constant else weights
        intercept = origin + constant * weights[:, -1] if constant else np.full(len(weights), origin)
        noise_std = fit.noise_std
        intercept_noise_std = None
        if noise_std is not None and constant:
            intercept_noise_std = unit * math.hypot(constant * noise_std, fit.centre_noise_std)
        model = LinearModel(
            model=type(self).__name__,
            coef=coef,
            intercept=intercept,
            row_norm=prepared.row_norm,
            classes=prepared.coding.names,
            feature_names=prepared.feature_names,
            noise_std=None if noise_std is None else unit * noise_std,
            intercept_noise_std=intercept_noise_std,
            noise_quantile=None if noise_std is None else quantile,
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
        self.count_ = prepared.counted.count
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
    def _fitted_on_matrix(self) -> bool:
        """Whether the model's schema only holds the declared bounds of a matrix; that of a table has a target too."""
        return self.model_.schema is not None and self.model_.columns == tuple(
            Schema.from_dict(self.model_.schema).names
        )

    # What a fitted estimator does.

    def _scores(self, X: Any) -> Floats:
        """The scores of each row of X, which is clipped as rows were in training."""
        check_is_fitted(self, "model_")
        if self.encoder_ is not None:
            # A table's schema says what to do with missing values and texts; a matrix must have none.
            rows = self.encoder_.transform(input_matrix(self, X) if self._fitted_on_matrix else X)
        else:
            X = input_matrix(self, X, accept_sparse="csr")
            rows = design(X, row_norm=self.model_.row_norm, constant=0.0)
        return np.asarray(rows @ self.model_.coef.T + self.model_.intercept)

    def summary(self) -> str:
        """Coefficients with their privacy noise, intervals or why there are none, the promise, and why this method.

        The interval beside a coefficient is about privacy noise only: with 95 % confidence for each by itself, it holds
        what the same fit would have given without noise. Those of `conf_int` below, where there are any, cover sampling
        error too.
        """
        from holdfast.learn._estimators.recommend import additive_advice
        from holdfast.learn._estimators.schema_lines import fact_lines, level_lines, schema_lines

        check_is_fitted(self, "model_")
        head = f"{type(self).__name__} by method {self.method_!r}; rows are clipped to norm {self.model_.row_norm:g}"
        optional_lines = (
            level_lines(self.model_.schema, self.release_),
            self.model_.choice,
            additive_advice(self.model_, self.release_, self.count_),
        )
        lines = [
            *(() if self.release_ is None else self.release_.first_lines),
            head,
            *fact_lines(self.model_.classes, self.counted_),
            *schema_lines(self.model_.schema),
            self.model_.table(),
            self._interval_summary(),
            "NOT PRIVATE: epsilon=inf" if self.release_ is None else self.release_.description(),
            *filter(None, optional_lines),
        ]
        return "\n".join(lines)

    def to_json(self) -> str:
        """Plain JSON: weights, the rule that uses them and what is promised; needs no holdfast to read."""
        check_is_fitted(self, "model_")
        guarantee = None if self.release_ is None else self.release_.guarantee.to_json()
        private = self.release_ is not None and self.release_.private
        return self.model_.to_json(guarantee=guarantee, private=private)

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
            names_of_matrix(model.columns)
            if model.columns is not None and estimator._fitted_on_matrix
            else None
        )
        if names is not None:
            estimator.feature_names_in_ = names
        estimator.counted_ = CountedRows.of_parameters(release.provenance.parameters, release.guarantee.unit)
        estimator.count_ = None if estimator.counted_ is None else estimator.counted_.count
        estimator.release_, estimator.method_ = release, release.provenance.method
        return estimator

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """A fitted estimator from a file that `release_.save(path)` wrote."""
        return cls.from_release(Release.load(path))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.input_tags.sparse = True
        return tags

"""The base class of the additive estimators: it fits declared columns and releases shape functions."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from holdfast._arguments import checked
from holdfast._arrays import Floats
from holdfast._assumption import Assumption
from holdfast._caution import warn
from holdfast.data._batch import Batch
from holdfast.data._encode import Encoder
from holdfast.data._schema import Categorical, Numeric
from holdfast.data._table import Table
from holdfast.errors import (
    AssumptionWarning,
    FormatError,
    NoIntervals,
    ParameterError,
    ProbabilityWarning,
    require,
)
from holdfast.learn._additive.cell_rows import batches_of_matrix
from holdfast.learn._additive.model import AdditiveModel
from holdfast.learn._additive.phases import THEOREM, AdditiveFit, fit_additive
from holdfast.learn._additive.prepare import AdditiveInput, additive_arrays, additive_table
from holdfast.learn._additive.shapes import NO_BANDS, explain_rows, isotonic, plot_shapes, shape_table
from holdfast.learn._estimators.estimator import REFUSED
from holdfast.learn._estimators.rare_classes import RareClass
from holdfast.learn._parameters import Constraint, check_parameters
from holdfast.learn._problem.problem import LabelCoding
from holdfast.learn._rows.counted_rows import CountedRows
from holdfast.learn._rows.declared_bounds import Bounds
from holdfast.learn._rows.input_matrix import input_matrix, names_of_matrix
from holdfast.learn._rows.numbers_only import numbers_only
from holdfast.learn._rows.payment import PaidFit, limit_to_spend
from holdfast.learn._rows.prepare import require_labels
from holdfast.privacy._account import Account
from holdfast.privacy._account.request import (
    admit,
    limit_of,
    open_account,
    require_small_delta,
    require_something_left,
    seed_of,
)
from holdfast.privacy._adjacency import Adjacency, resolve_adjacency
from holdfast.release import Provenance, Release
from holdfast.release._release import plain_parameters
from holdfast.release._usefulness import announce, influence


@dataclass(frozen=True)
class AdditivePayment:
    """What an account is told about the additive fit, which is no `Learner`."""

    name: str = "additive"
    pure: bool = False
    instead_of_pure: str = "use delta > 0, or a linear model, which works without"
    currency: str = "gdp"
    adjacencies: tuple[str, ...] = ("replace", "zero_out", "add_remove")
    single_rows: str = ""


PAYMENT = AdditivePayment()


@checked
class PrivateAdditiveEstimator(PaidFit, BaseEstimator):  # type: ignore[misc]
    """The base class of the additive classifier and regressor."""

    epsilon: float
    delta: float | None
    bounds: Bounds | None
    interactions: bool
    monotone: Mapping[str, int] | None
    adjacency: Adjacency | str | None
    n_public: int | None
    random_state: Any
    model_: AdditiveModel
    counted_: CountedRows | None
    release_: Release[Any]
    _constraints: ClassVar[Mapping[str, Constraint]] = {}

    def fit(
        self, X: Any, y: Any = None, account: Account | None = None, target: str | None = None, **refused: Any
    ) -> Self:
        """Fit a table, or rows and labels, and leave the promise in `release_`.

        Parameters
        ----------
        X : array-like or Table
            A holdfast `Table`, or rows within `bounds`.
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
        self._check_arguments(account, refused)
        data = self._prepare(X, y, target, account)
        directions = self._directions(data)
        for assumption in data.undeclared:
            warn(assumption.text, AssumptionWarning)
        account, repeat_assumed = self._account_to_charge(data, account, X)
        loss, outputs = self._loss(data.coding)
        units = data.rows.public_count if data.count_is_public else None
        prospects = announce([influence(account.remaining(), units, noun=data.rows.unit.noun)])
        with closing(data.rows):
            fit = fit_additive(
                data.rows,
                loss=loss,
                outputs=outputs,
                account=account,
                interactions=bool(self.interactions),
                unpaired=frozenset(data.columns.index(name) for name in directions),
            )
        self._set_model(self._model(data, fit, directions))
        self.counted_ = data.counted
        self._record_payer(account)
        self.release_ = Release.paid_by(
            account,
            self.model_.value(),
            self._provenance(data, fit),
            assumptions=(*data.undeclared, *data.declared, *repeat_assumed),
            theorem=THEOREM,
            prospects=prospects,
        )
        if warning := self._rare_class_warning():
            warn(warning, ProbabilityWarning)
        return self

    def _check_arguments(self, account: Account | None, refused: Mapping[str, Any]) -> None:
        """Refuse what can be refused before any row is read."""
        for name in refused:
            reason = REFUSED.get(name, "fit takes X, y, account and target")
            raise ParameterError(f"{name} must not be given to fit, got {name}=...; {reason}")
        check_parameters(self)
        if account is not None and self.random_state is not None:
            raise ParameterError(
                "random_state must be None with an account, which draws the noise; open the account with a seed"
            )
        limit_of(self.epsilon, self.delta)

    def _account_to_charge(
        self, data: AdditiveInput, account: Account | None, X: Any
    ) -> tuple[Account, tuple[Assumption, ...]]:
        """The account that pays for the fit, a new one where none was given, and what a new one assumes of others."""
        assumptions: tuple[Assumption, ...] = ()
        count = data.rows.public_count
        limit = limit_of(self.epsilon, self.delta, count=count) if account is None else account.limit
        require_small_delta(limit, count)
        if account is None:
            account = open_account(
                limit,
                PAYMENT,
                adjacency=data.rows.adjacency,
                unit=data.rows.unit,
                seed=seed_of(self.random_state),
            )
            assumptions = self._assumptions_without_account(X)
        else:
            account = self._share_of(account, X)
        admit(data.rows, account, PAYMENT)
        if account.remaining().as_pure() is not None:
            raise ParameterError(
                "an additive model needs delta > 0, and the account has none left; use delta > 0"
            )
        require_something_left(account)
        return account, assumptions

    def _provenance(self, data: AdditiveInput, fit: AdditiveFit) -> Provenance:
        """What the release says about how it was computed."""
        levels = {} if data.levels is None else {"levels": data.levels}
        return Provenance(
            method="additive",
            estimator=type(self).__name__,
            parameters=plain_parameters(
                dict(fit.parameters) | levels | data.counted.parameters | data.coding.parameters
            ),
            schema_hash=None if data.from_arrays else data.schema.hash(),
        )

    def _rare_class_warning(self) -> str:
        """Why the probabilities of this model cannot be trusted; empty where they can, and for numbers."""
        rare_class = RareClass.of_release(self.release_)
        return "" if rare_class is None else rare_class.warning()

    # What the classifier and the regressor define.

    def _label_coding(self, y: Any) -> tuple[LabelCoding, tuple[Assumption, ...]]:
        """The coding of the labels of an array, and what is assumed because it was not declared."""
        raise NotImplementedError

    def _column_coding(self, column: Numeric | Categorical) -> LabelCoding:
        """The coding of the labels in a declared column."""
        raise NotImplementedError

    def _loss(self, coding: Any) -> tuple[Any, int]:
        """The loss and the number of scores."""
        raise NotImplementedError

    def _unit(self, coding: Any) -> tuple[float, float]:
        """The unit and the origin of predicted numbers, in which scores are stored."""
        return 1.0, 0.0

    # The steps of `fit`.

    def _prepare(self, X: Any, y: Any, target: str | None, account: Account | None) -> AdditiveInput:
        """The rows, labels and schema of what was given to `fit`."""
        if isinstance(X, Table):
            require(y is None, "y", "...", "None where a Table is fitted", "name its column: target=...")
            require(
                self.bounds is None,
                "bounds",
                self.bounds,
                "None where a Table is fitted",
                "its schema has them",
            )
            resolve_adjacency(self.adjacency, X.adjacency)
            limit = limit_to_spend(self.epsilon, self.delta, account, count=X.n_public)
            data = additive_table(X, target, coding=self._column_coding, n_public=self.n_public, limit=limit)
            self.n_features_in_ = len(data.columns)
            self.__dict__.pop("feature_names_in_", None)
            return data
        require_labels(X, y, target)
        with numbers_only(X, y):
            X, y = validate_data(self, X, y, dtype=np.float64)
            return additive_arrays(
                X,
                self._label_coding(y),
                y,
                names=self._feature_names() or tuple(f"x{place}" for place in range(X.shape[1])),
                bounds=self.bounds,
                n_public=self.n_public,
                adjacency=resolve_adjacency(self.adjacency, None if account is None else account.adjacency),
            )

    def _feature_names(self) -> tuple[str, ...]:
        """The names of the columns of a frame; empty for an array, to which scikit-learn gives no names."""
        return tuple(str(name) for name in vars(self).get("feature_names_in_", ()))

    def _directions(self, data: AdditiveInput) -> dict[str, int]:
        """The columns declared monotone, with +1 (rising) or -1 (falling)."""
        directions = dict(self.monotone or {})
        for name, direction in directions.items():
            known = name in data.columns
            require(known, "monotone", name, f"columns among {', '.join(data.columns[:20])}")
            numeric = isinstance(data.schema[name], Numeric)
            require(numeric, "monotone", name, "numeric columns; categories have no order")
            require(direction in (-1, 1), "monotone", direction, "+1 (rising) or -1 (falling)")
        if directions and self._loss(data.coding)[1] > 1:
            raise ParameterError(
                "monotone must be None with several classes, whose scores have no one direction"
            )
        return {name: int(direction) for name, direction in directions.items()}

    # The model.

    def _model(self, data: AdditiveInput, fit: AdditiveFit, directions: Mapping[str, int]) -> AdditiveModel:
        """The fitted shapes in the units of the target, monotone where that is declared."""
        unit, origin = self._unit(data.coding)
        shapes = [unit * shape for shape in fit.shapes]
        for name, direction in directions.items():
            place = data.columns.index(name)
            numbers = len(data.rows.cells[place].middles)
            line_shape = shapes[place][:numbers, 0]
            shapes[place][:numbers, 0] = isotonic(line_shape, fit.shares[place][:numbers], direction)
        cells = sum(len(shape) for shape in shapes)
        outputs = fit.constant.size
        return AdditiveModel(
            model=type(self).__name__,
            schema=data.schema.to_dict(),
            columns=data.columns,
            constant=origin + unit * fit.constant,
            shapes=np.concatenate(shapes),
            pairs=fit.pairs,
            pair_levels=fit.pair_levels,
            pair_shapes=np.concatenate([np.zeros((0, outputs)), *(unit * part for part in fit.pair_shapes)]),
            levels=np.concatenate(fit.levels).astype(np.int64)
            if fit.levels
            else np.zeros(cells, dtype=np.int64),
            shares=np.concatenate(fit.shares),
            classes=data.coding.names,
            from_arrays=data.from_arrays,
            monotone=dict(directions) or None,
            grid=fit.grid,
        )

    def _set_model(self, model: AdditiveModel) -> None:
        self.model_ = model

    def _batch(self, X: Any) -> Batch:
        """The rows to predict, encoded by the model's schema."""
        check_is_fitted(self, "model_")
        model = self.model_
        if not model.from_arrays:
            if isinstance(X, Batch):
                return X
            return Encoder(model.declared_schema, model.columns, intercept=False, row_norm=None).read(X)
        X = input_matrix(self, X)
        parts = [batch for batch, _ in batches_of_matrix(model.declared_schema, X, np.zeros(len(X)))]
        values = {name: np.concatenate([part.values[name] for part in parts]) for name in model.columns}
        return Batch(schema=model.declared_schema, values=values, rows=len(X))

    def _scores(self, X: Any) -> Floats:
        batch = self._batch(X)  # refuses an estimator that is not fitted
        return self.model_.scores(batch)

    # What people read of the model.

    def explain(self, X: Any, *, output: int = 0) -> list[dict[str, float]]:
        """For each row, what every column and pair adds to its score, with the constant: they sum to the score.

        Parameters
        ----------
        X : array-like or Table rows
            Rows as for `predict`.
        output : int
            With several classes, the place of the class in `classes_`.

        Returns
        -------
        list of dict
            For each row the contributions, by the name of the column or pair.
        """
        return explain_rows(self.model_, self._batch(X), output=output)

    def plot(self, *, most: int = 12, pairs: int = 3, output: int = 0) -> Any:
        """The most important shape functions and, as heat maps, pairs; needs the extra `plot`.

        Parameters
        ----------
        most : int
            How many shape functions are drawn at most.
        pairs : int
            How many pairs are drawn at most.
        output : int
            With several classes, the place of the class in `classes_`.

        Returns
        -------
        matplotlib.figure.Figure
            One panel for each of them.
        """
        check_is_fitted(self, "model_")
        return plot_shapes(self.model_, most=most, pairs=pairs, output=output)

    def bands(self) -> Any:
        """Always refused with `NoIntervals`: no bands that were tried covered the true shapes in replications."""
        check_is_fitted(self, "model_")
        raise NoIntervals(NO_BANDS)

    def summary(self) -> str:
        """Shapes by how much they move the score, and what the release promises."""
        check_is_fitted(self, "model_")
        model = self.model_
        head = (
            f"{type(self).__name__}: {len(model.columns)} shape functions and {len(model.pairs)} pairs, "
            "by the spread of what each adds to the score"
        )
        from holdfast.learn._estimators.recommend import rare_class_advice
        from holdfast.learn._estimators.schema_lines import fact_lines, level_lines, schema_lines

        parts = (
            *self.release_.first_lines,
            head,
            self._rare_class_warning(),
            *schema_lines(model.schema),
            *fact_lines(model.classes, self.counted_),
            shape_table(model),
            level_lines(model.schema, self.release_),
            rare_class_advice(model.constant) if model.classes is not None else "",
            self.release_.description(),
        )
        return "\n".join(part for part in parts if part)

    def to_json(self) -> str:
        """Plain JSON: cells, shapes, the rule that uses them and what is promised; needs no holdfast to read."""
        check_is_fitted(self, "model_")
        guarantee = self.release_.guarantee.to_json()
        return self.model_.to_json(guarantee=guarantee, private=self.release_.private)

    @classmethod
    def from_release(cls, release: Release[Any]) -> Self:
        """A fitted estimator from a release, ready to predict."""
        model = AdditiveModel.of_value(release.value)
        if model.model != cls.__name__:
            raise FormatError(f"the release holds a {model.model}, not a {cls.__name__}; use load_model")
        estimator = cls()
        estimator.n_features_in_ = len(model.columns)
        estimator._set_model(model)
        names = names_of_matrix(model.columns) if model.from_arrays else None
        if names is not None:
            estimator.feature_names_in_ = names
        estimator.counted_ = CountedRows.of_parameters(release.provenance.parameters, release.guarantee.unit)
        estimator.release_ = release
        return estimator

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """A fitted estimator from a file that `release_.save(path)` wrote."""
        return cls.from_release(Release.load(path))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags

"""Candidates that are fitted as a whole: pipelines, and estimators that prepare rows in different ways.

A search works with examples; here an example is the index of a row, from 1 on. Training and scoring look the rows up,
so that parts, accounts, the choice and its proof are the same as in every search. Index 0 is no row: a rehearsal only
has such examples, and gets rows that are generated from what is declared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from holdfast._arrays import Floats
from holdfast._assumption import Assumption
from holdfast.data._encode import Encoder
from holdfast.data._engines import open_table
from holdfast.data._order import Order
from holdfast.data._schema import Categorical, Numeric, Schema
from holdfast.data._table import Table
from holdfast.errors import ParameterError, require
from holdfast.learn._estimators.additive_estimator import PrivateAdditiveEstimator
from holdfast.learn._estimators.classifiers import LABELS_READ
from holdfast.learn._estimators.estimator import PrivateLinearEstimator
from holdfast.learn._estimators.paid_score import row_scores
from holdfast.learn._estimators.pipeline import require_storable
from holdfast.learn._rows.counted_rows import CountedRows
from holdfast.learn._rows.examples import ArrayExamples, Examples
from holdfast.learn._rows.payment import own_copy
from holdfast.learn._rows.public_count import count_of_array
from holdfast.learn._steps.step import PrivateStep
from holdfast.learn._tuning.candidates import Candidate
from holdfast.learn.methods.method import Fit
from holdfast.privacy._account import Account
from holdfast.privacy._account.unpaid_steps import require_paid_steps
from holdfast.privacy._adjacency import PrivacyUnit, resolve_adjacency

FIXED_PARAMETERS = ("epsilon", "delta", "random_state", "adjacency", "n_public", "classes")
"""Parameters that all candidates share: the promise, its neighbours, and the classes."""
MODELS = (PrivateLinearEstimator, PrivateAdditiveEstimator)


def model_of(candidate: Any) -> Any:
    """The estimator itself, or the last step of a Pipeline."""
    return candidate.steps[-1][1] if isinstance(getattr(candidate, "steps", None), list) else candidate


def require_searchable(candidate: Any) -> None:
    """Refuse a step that learns from rows without paying, or that no file of a release holds."""
    model = model_of(candidate)
    if not isinstance(model, MODELS):
        raise ParameterError(
            f"estimator must be one of holdfast's, or a Pipeline that ends in one, got {type(model).__name__}"
        )
    require_paid_steps(candidate)
    for name, step in getattr(candidate, "steps", [])[:-1]:
        require_storable(name, step)


@dataclass(kw_only=True, eq=False)
class WholeModels:
    """Rows by their indices, and the models that were fitted to parts of them."""

    base: Any
    """The estimator without a candidate's settings; it defines the unit of errors."""
    features: Any
    labels: Any
    examples: Examples
    counted: CountedRows
    absent: NDArray[np.bool_] | None = None
    """Which rows of a table have no label: no model learns from them, and none is scored by them."""
    table: Table | None = None
    target: str = ""
    read: tuple[Assumption, ...] = ()
    fitted: list[Any] = field(default_factory=list)

    @classmethod
    def of(cls, base: Any, X: Any, y: Any, target: str | None, account: Account | None) -> WholeModels:
        """From rows X and labels y, or from a table and the name of its target."""
        model = model_of(base)
        features: Any
        read: tuple[Assumption, ...]
        absent = None
        if isinstance(X, Table):
            require(y is None and base is model, "X", "a Table", "rows X and labels y for a Pipeline")
            if target is None:
                raise ParameterError("target must be the name of a column where a Table is fitted, got None")
            if X.unit.column is not None:
                raise ParameterError(
                    "X must protect single rows to search more than method, options, penalty and radius, got a Table "
                    f"of {X.unit.summary()}; search those, or a table with one row for each {X.unit.column} and no unit"
                )
            features, labels, absent = _read_table(X, target, model._column_coding(X.schema[target]))
            count, read = X.public_count()
            counted = CountedRows.of_table(X, target, None if read else count)
            adjacency, unit = X.adjacency, X.unit
        else:
            require(target is None, "target", target, "None where y is given", "give y, or a holdfast Table")
            features, labels, unit = X if hasattr(X, "shape") else np.asarray(X), np.asarray(y), PrivacyUnit()
            require(
                labels.ndim == 1 and labels.size == features.shape[0],
                "y",
                labels.shape,
                f"one label for each of {features.shape[0]} rows",
            )
            adjacency = resolve_adjacency(model.adjacency, None if account is None else account.adjacency)
            count, read = count_of_array(labels.size, model.n_public, adjacency)
            counted = CountedRows(count=None if read else count, unit="rows")
            if hasattr(model, "classes") and model.classes is None:
                base, read = own_copy(base), (*read, LABELS_READ)
                model_of(base).set_params(classes=np.unique(labels).tolist())
        examples = ArrayExamples(
            features=np.arange(1.0, len(labels) + 1.0)[:, None],
            labels=np.zeros(len(labels)),
            adjacency=adjacency,
            public_count=count,
            unit=unit,
        )
        return cls(
            base=base,
            features=features,
            labels=labels,
            examples=examples,
            read=tuple(read),
            counted=counted,
            absent=absent,
            table=X if isinstance(X, Table) else None,
            target=target or "",
        )

    def candidate(self, setting: Mapping[str, Any], *, epsilon: float, delta: float | None) -> Candidate:
        """A setting, put into the estimator. Its accounts are not its own epsilon, which is only checked."""
        model = own_copy(self.base).set_params(**setting)
        require_searchable(model)
        paying = [model] if not hasattr(model, "steps") else [step for _, step in model.steps]
        for step in paying:
            if isinstance(step, (*MODELS, PrivateStep)):
                step.set_params(epsilon=epsilon, delta=delta, random_state=None)
        if isinstance(model_of(model), PrivateLinearEstimator):
            model_of(model)._check_parameters(None)
        name = ", ".join(f"{key}={value}" for key, value in setting.items()) or "as it is"
        return Candidate(name=name, train=lambda examples, account: self._train(model, examples, account))

    def model(self, fit: Fit) -> Any:
        """The fitted model that a `Fit` stands for."""
        return self.fitted[int(fit.weights[0])]

    # `Score`: the error of each row, in [0, 1].

    bound = 1.0

    def rows(self, weights: Floats, features: Floats, labels: Floats) -> Floats:
        """Of the model that the weights stand for, on the rows at these places."""
        if not len(features):
            return np.zeros(0)
        X, y = self._rows(features)
        errors = 1.0 - row_scores(self.fitted[int(weights[0])], X, y, unit=self._unit())
        places = features[:, 0].astype(np.intp) - 1
        # A row without a label has error 0 under every model: within [0, 1], as the sensitivity of the choice wants it.
        return (
            errors if self.absent is None or places.min() < 0 else np.where(self.absent[places], 0.0, errors)
        )

    # Rows.

    def _unit(self) -> Any:
        model = model_of(self.base)
        if hasattr(model, "classes"):
            return None
        return (
            model._label_coding(None)[0]
            if self.table is None
            else model._column_coding(self.table.schema[self.target])
        )

    def _train(self, model: Any, examples: Examples, account: Account) -> Fit:
        """Fit a copy on the rows at these places; the `Fit` holds its number."""
        places = np.concatenate([np.zeros((0, 1)), *(part for part, _ in examples.chunks())])
        fitted, (X, y) = own_copy(model), self._rows(places)
        steps = fitted.steps if hasattr(fitted, "steps") else [("", fitted)]
        for _, step in steps:
            if not examples.adjacency.count_is_public and hasattr(step, "n_public"):
                step.set_params(n_public=examples.public_count)
        if self.table is not None:
            part = open_table(
                {**X, self.target: y},
                self.table.schema,
                adjacency=examples.adjacency,
                n_public=None if examples.adjacency.count_is_public else examples.public_count,
            )
            fitted.fit(part, target=self.target, account=account)
        else:
            paid = [name for name, step in steps if isinstance(step, (*MODELS, PrivateStep))]
            fitted.fit(X, y, **{f"{name}__account" if name else "account": account for name in paid})
        self.fitted.append(fitted)
        release = model_of(fitted).release_
        return Fit(
            weights=np.array([len(self.fitted) - 1.0]),
            theorem=release.guarantee.theorem,
            parameters=release.provenance.parameters,
            assumptions=release.guarantee.assumptions,
        )

    def _rows(self, places: Floats) -> tuple[Any, Any]:
        indices = places[:, 0].astype(np.intp) - 1
        if len(indices) and indices.min() < 0:
            return self._declared_rows(len(indices))
        if self.table is not None:
            return {name: values[indices] for name, values in self.features.items()}, self.labels[indices]
        arrow = hasattr(self.features, "column_names")
        part = self.features.take(indices) if arrow else _safe_indexing(self.features, indices)
        return part, self.labels[indices]

    def _declared_rows(self, rows: int) -> tuple[Any, Any]:
        """`rows` rows and labels, generated from declared values."""
        arrow = hasattr(self.features, "column_names")
        names = self.features.column_names if arrow else getattr(self.features, "columns", None)
        if self.table is not None:
            X: Any = _declared_rows(self.table.schema, list(self.features), rows)
        elif names is None:
            X = np.zeros((rows, self.features.shape[1]))
        else:
            schema = next(
                (step.schema for _, step in getattr(self.base, "steps", []) if type(step) is Encoder), None
            )
            values = _declared_rows(schema, list(names), rows)
            X = type(self.features).from_pydict(values) if arrow else type(self.features)(values)
        model = model_of(self.base)
        if self.table is not None:
            return X, np.resize(np.unique(self._labels_of_table()), rows)
        classes = getattr(model, "classes", None)
        return X, np.zeros(rows) if classes is None else np.resize(np.asarray(classes), rows)

    def _labels_of_table(self) -> NDArray[Any]:
        """Some labels that the schema declares."""
        assert self.table is not None
        coding = model_of(self.base)._column_coding(self.table.schema[self.target])
        return np.asarray(coding.classes if hasattr(coding, "classes") else [coding.low, coding.high])


def _declared_rows(schema: Schema | None, names: Sequence[str], rows: int) -> dict[str, Any]:
    """`rows` equal rows of declared values."""
    columns = {}
    for name in names:
        column = schema[name] if schema is not None and name in schema.names else None
        value = 0.0 if column is None else column.labels[0] if isinstance(column, Categorical) else column.low
        columns[name] = np.full(rows, value)
    return columns


def _read_table(
    table: Table, target: str, coding: Any
) -> tuple[dict[str, Any], NDArray[Any], NDArray[np.bool_] | None]:
    """The rows of a table as plain values, its labels as the model predicts them, and which rows have none."""
    columns = [table.schema[name] for name in table.schema.names]
    for column in columns:
        if type(column) not in (Numeric, Categorical):
            raise ParameterError(
                f"column {column.name!r} must be numeric or categorical to search more than method, options, penalty "
                f"and radius on a Table, got a {column.kind} column; give rows X and labels y"
            )
    batches = list(table.batches(table.schema.names, order=Order.irrelevant()))
    features: dict[str, Any] = {}
    for column in columns:
        values = np.concatenate([batch.values[column.name] for batch in batches])
        missing = [batch.missing.get(column.name) for batch in batches]
        if isinstance(column, Categorical):
            values = np.asarray(column.labels, dtype=object)[values]
        elif any(mask is not None for mask in missing):
            values = np.where(
                np.concatenate([np.asarray(mask, dtype=bool) for mask in missing]), np.nan, values
            )
        features[column.name] = values
    labels = features.pop(target)
    coded = np.concatenate([coding.encode_column(batch, target) for batch in batches])
    absent = ~np.isfinite(coded)
    if hasattr(coding, "classes"):
        labels = coding.classes[coding.places[np.concatenate([batch.codes(target) for batch in batches])]]
    if not absent.any():
        return features, labels, None
    known: NDArray[Any] = labels.astype(object)
    known[absent] = None
    return features, known, absent

"""Held-out rows of the owner's table, and what fits on the others are worth there. Every score is exact: internal."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.data._encode import with_value
from holdfast.data._schema import Numeric, Schema
from holdfast.data._schema.columns import Categorical
from holdfast.errors import AssumptionWarning, BudgetWarning, NotPrivateWarning, ParameterError, require
from holdfast.learn._estimators import ADDITIVE

Columns = Mapping[str, NDArray[Any]]
Scores = dict[str, float]
"""By the names of `measures_of`; NaN where held-out rows cannot tell, as the AUC of a single class."""


def measures_of(column: Numeric | Categorical) -> tuple[str, ...]:
    """What a model of this column is measured by; the first leads, and more of it is better.

    >>> measures_of(Categorical("ill", ["no", "yes"]))
    ('accuracy', 'AUC', 'log loss')
    """
    return (
        ("accuracy", "AUC", "log loss") if column.kind == "categorical" else ("R2", "root mean squared error")
    )


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """A share of the rows held out; where users are protected, a share of the users, each with all their rows."""

    train: Columns
    test: Columns
    labels: NDArray[Any]
    schema: Schema
    target: str

    @classmethod
    def of(cls, columns: Any, schema: Schema, target: str, *, holdout: float, seed: int = 0) -> HeldOut:
        """Split by a seed; rows without a target are left out of both parts.

        Parameters
        ----------
        columns
            Arrays by the names of columns, a data frame or an Arrow table.
        schema
            What is declared about them. An identifier that is not the unit's may be absent.
        target
            The column to predict.
        holdout
            The share that is held out, in (0, 1).
        seed
            Of the split.
        """
        schema.require_confirmed()
        require(0 < holdout < 1, "holdout", holdout, "in (0, 1)")
        require(target in schema.names, "target", target, f"one of the columns {list(schema.names)}")
        rows, used_schema = _declared_columns(columns, schema)
        has_target = with_value(schema[target], rows[target])
        rows = {name: values[has_target] for name, values in rows.items()}
        user = used_schema.confirmed_unit.column
        units, unit_of_row = np.unique(rows[user], return_inverse=True) if user else (rows[target], None)
        order = np.random.default_rng(seed).permutation(len(units))
        require(
            order.size >= 2, "rows" if unit_of_row is None else "users", int(order.size), ">= 2 with a target"
        )
        is_held_unit = np.zeros(order.size, dtype=bool)
        is_held_unit[order[: max(1, int(holdout * order.size))]] = True
        is_held = is_held_unit if unit_of_row is None else is_held_unit[unit_of_row]
        if used_schema.n_public is not None:
            used_schema = replace(used_schema, n_public=int(order.size - is_held_unit.sum()))
        train, test = ({name: values[mask] for name, values in rows.items()} for mask in (~is_held, is_held))
        return cls(train=train, test=test, labels=np.asarray(test[target]), schema=used_schema, target=target)

    @property
    def measures(self) -> tuple[str, ...]:
        """What is measured; the first leads."""
        return measures_of(self.schema[self.target])

    def scores(self, method: str, *, epsilon: float, delta: float, seed: int) -> Scores:
        """Of one fit with seeded noise; of the linear model without privacy where epsilon is infinite.

        Parameters
        ----------
        method
            The name of a method of linear models, or `additive`.
        epsilon, delta
            The promise.
        seed
            Of the noise.
        """
        from scipy.linalg import LinAlgWarning
        from sklearn.exceptions import ConvergenceWarning

        from holdfast.data._engines import open_table
        from holdfast.learn._estimators import estimator_of

        with warnings.catch_warnings():
            for category in (
                AssumptionWarning,
                BudgetWarning,
                NotPrivateWarning,
                ConvergenceWarning,
                LinAlgWarning,
            ):
                warnings.simplefilter("ignore", category)
            table = open_table(self.train, self.schema)
            estimator_options: dict[str, Any] = (
                {"model": ADDITIVE} if method == ADDITIVE else {"model": None, "method": method}
            )
            model = estimator_of(
                self.schema,
                self.target,
                epsilon=epsilon,
                delta=delta,
                adjacency=table.adjacency,
                random_state=seed,
                **estimator_options,
            ).fit(table, target=self.target)
            return self._scores_of(model)

    def _scores_of(self, model: Any) -> Scores:
        features = {name: values for name, values in self.test.items() if name != self.target}
        column = self.schema[self.target]
        if isinstance(column, Numeric):
            return _number_scores(np.asarray(self.labels, float), np.asarray(model.predict(features), float))
        from holdfast.data._encode import cells_of

        # As cells: a label may be the text "1" in a file and the number 1 in a frame.
        cells = cells_of(column, np.asarray(model.classes_))
        probabilities = np.full((len(self.labels), column.cells), 0.0)
        probabilities[:, cells] = model.predict_proba(features)
        accurate = cells_of(column, model.predict(features)) == cells_of(column, self.labels)
        return {"accuracy": float(np.mean(accurate))} | _probability_scores(
            cells_of(column, self.labels), probabilities
        )

    def constant(self) -> Scores:
        """Of the model without features: the shares of the classes, or the mean, among the rows to train on."""
        column = self.schema[self.target]
        if isinstance(column, Numeric):
            mean = float(np.mean(np.asarray(self.train[self.target], float)))
            return _number_scores(np.asarray(self.labels, float), np.full(len(self.labels), mean))
        from holdfast.data._encode import cells_of

        counts = np.bincount(cells_of(column, self.train[self.target]), minlength=column.cells)
        labels = cells_of(column, self.labels)
        probabilities = np.tile(counts / counts.sum(), (len(labels), 1))
        return {"accuracy": float(np.mean(labels == int(np.argmax(counts))))} | _probability_scores(
            labels, probabilities
        )


def constant_name(column: Numeric | Categorical) -> str:
    """What the model without features is called."""
    return "majority class" if column.kind == "categorical" else "mean of the rows"


def _declared_columns(columns: Any, schema: Schema) -> tuple[dict[str, NDArray[Any]], Schema]:
    """The declared columns that are there, and the schema of these: an identifier that nothing needs may be absent."""
    if isinstance(columns, Mapping):
        names, arrays = list(columns), columns
    else:
        names = list(getattr(columns, "column_names", None) or columns.columns)
        arrays = {name: columns[name].to_numpy() for name in names if name in schema}
    needed_names = [name for name in (*schema.names, schema.confirmed_unit.column) if name is not None]
    absent = [name for name in needed_names if name not in names]
    if absent:
        raise ParameterError(f"data must hold the schema's columns, {', '.join(absent)} are not there")
    used_schema = replace(
        schema, columns=[column for column in schema.columns if column.name in needed_names]
    )
    return {column.name: np.asarray(arrays[column.name]) for column in used_schema.columns}, used_schema


def _number_scores(labels: NDArray[np.float64], predicted: NDArray[np.float64]) -> Scores:
    squares = float(np.mean((labels - predicted) ** 2))
    spread = float(np.var(labels))
    return {
        "R2": 1.0 - squares / spread if spread > 0 else math.nan,
        "root mean squared error": math.sqrt(squares),
    }


def _probability_scores(labels: NDArray[np.int64], probabilities: NDArray[np.float64]) -> Scores:
    """The AUC (the mean over classes, each against the others, where there are several) and the mean log loss."""
    from sklearn.metrics import roc_auc_score

    classes = range(probabilities.shape[1]) if probabilities.shape[1] > 2 else (probabilities.shape[1] - 1,)
    aucs = [
        float(roc_auc_score(labels == cell, probabilities[:, cell]))
        for cell in classes
        if 0 < int(np.sum(labels == cell)) < len(labels)
    ]
    label_probabilities = np.clip(probabilities[np.arange(len(labels)), labels], 1e-15, 1.0)
    return {
        "AUC": float(np.mean(aucs)) if aucs else math.nan,
        "log loss": float(-np.mean(np.log(label_probabilities))),
    }

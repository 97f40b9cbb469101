"""Target: any model as an attacker sees it, records in and probabilities or predictions out.

Estimators, callables and saved releases become targets by one of a few adapters. The attacks model a target's `signal`
about a record: the log-odds of its own label, or a residual. `finite_signals` makes infinite log-odds comparable.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import checked
from holdfast._arrays import Floats
from holdfast._ranges import as_labels
from holdfast.attack._attack import Task
from holdfast.attack._models.answers import (
    ADAPTERS,
    answers_as_numbers,
    probabilities_of_logits,
    require_number_answers,
)
from holdfast.attack._models.fitted import (
    columns_read,
    encoder_of,
    is_pipeline,
    reads_table,
    release_of,
    released_model,
)
from holdfast.attack._records import Records
from holdfast.data._arrow_columns import arrow_column
from holdfast.data._batch import encode_batch
from holdfast.data._encode import with_value
from holdfast.data._engines import rows_of_source
from holdfast.data._engines.files import numeric_column
from holdfast.data._schema import Categorical, Numeric, Schema
from holdfast.data._storage_kinds import Kind, kind_of
from holdfast.errors import DataError, ParameterError, require, withholding
from holdfast.privacy._guarantee import Guarantee

_PROBABILITY_SLACK = 1e-3
"""How far single-precision probabilities may be from summing to 1."""
LARGEST_LOG_ODDS = 30.0
"""Log-odds are cut here: beyond it a double's probability is 0 or 1 anyway."""


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class Target:
    """A model under attack, as its attacker sees it: records in, probabilities or predicted numbers out.

    Parameters
    ----------
    outputs : callable
        From features to probabilities, one column per class, or to predicted numbers.
    task : {'classification', 'regression'}
        What the model predicts.
    classes : tuple
        The labels, in the order of the columns of probabilities; empty for a regression.
    model : object, optional
        The model itself, for attacks that look inside.
    guarantee : Guarantee, optional
        What the model's release promises.
    labels_only : bool
        Whether the probabilities are 0 and 1, made from decisions.
    prepare : callable, optional
        What is made of records before the model is asked, where it takes something else than their columns.

    Examples
    --------
    >>> target = Target.of(lambda X: X[:, 0], classes=["no", "yes"])
    >>> target.task, target.outputs(np.array([[0.25]])).tolist()
    ('classification', [[0.75, 0.25]])
    """

    outputs: Callable[[Any], Floats]
    task: Task
    classes: tuple[Any, ...] = ()
    model: Any = None
    guarantee: Guarantee | None = None
    labels_only: bool = False
    prepare: Callable[[Any], Any] | None = None

    @classmethod
    def of(
        cls,
        model: Any,
        *,
        classes: Sequence[Any] | None = None,
        task: Task | None = None,
        prepare: Callable[[Any], Any] | None = None,
    ) -> Target:
        """The target of an estimator, a callable, a release, or the path of a saved release.

        Parameters
        ----------
        model : object
            The model. A module of PyTorch is a callable that is handed tensors; tensors are welcome wherever arrays
            are.
        classes : sequence, optional
            The labels of a callable that gives probabilities: one column per class in this order, or one number per
            row, the probability of the second of two. A callable without `classes` is a regression.
        task : {'classification', 'regression'}, optional
            What the model predicts, where it does not say so itself.
        prepare : callable, optional
            Makes of records what the model takes.

        Returns
        -------
        Target
            The model as an attacker sees it.

        Examples
        --------
        >>> target = Target.of(lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), classes=["no", "yes"])
        >>> target.log_odds(Records(features=np.array([[0.5], [1.0]]), labels=np.array(["no", "yes"])))
        array([ 0., inf])
        """
        if isinstance(model, Target):
            own = classes is None and task is None
            require(own, "classes", "...", "None, as task, with a Target: it says what it predicts")
            return model if prepare is None else model.preparing(prepare)
        fitted, guarantee = _model_and_guarantee(model)
        for fits, adapt in ADAPTERS:
            if fits(fitted):
                outputs, task, names, labels_only = adapt(fitted, classes, task)
                target = cls(
                    outputs=outputs,
                    task=task,
                    classes=names,
                    model=fitted,
                    guarantee=guarantee,
                    labels_only=labels_only,
                )
                return target if prepare is None else target.preparing(prepare)
        raise ParameterError(
            f"model must predict: an estimator, a callable, a Release or a path, got {type(model).__name__}"
        )

    @classmethod
    def of_logits(cls, model: Any, *, classes: Sequence[Any]) -> Target:
        """The target of a callable or a PyTorch module that gives logits: their softmax stands for probabilities.

        One number per row is the logit of the second of two classes. Hand it to an attack in place of the model.

        >>> target = Target.of_logits(lambda X: 2.0 * X[:, 0], classes=["no", "yes"])
        >>> people = Records(features=np.array([[0.5], [1.0]]), labels=np.array(["no", "yes"]))
        >>> target.log_odds(people).round(6).tolist()
        [-1.0, 2.0]
        """
        plain = cls.of(model)
        require(
            plain.task == "regression",
            "model",
            type(model).__name__,
            "a callable or a module that gives logits",
        )
        names = tuple(as_labels("classes", classes).tolist())
        require(
            len(names) >= 2 and len(set(names)) == len(names), "classes", names, "two or more, all different"
        )

        def outputs(features: Any) -> Floats:
            scores = answers_as_numbers(plain.outputs(features))
            require_number_answers(scores)
            return probabilities_of_logits(scores)

        return replace(plain, outputs=outputs, task="classification", classes=names)

    def preparing(self, prepare: Callable[[Any], Any]) -> Target:
        """This model, asked about what the function `prepare` makes of records.

        >>> target = Target.of(lambda X: X[:, 0]).preparing(lambda X: 2.0 * X)
        >>> target.outputs(np.array([[1.0]])).tolist()
        [2.0]
        """
        outputs, earlier = self.outputs, self.prepare

        def prepare_both(features: Any) -> Any:
            inputs = prepare(features)
            return inputs if earlier is None else earlier(inputs)

        return replace(self, outputs=lambda features: outputs(prepare(features)), prepare=prepare_both)

    def with_class_order(self, names: Sequence[Any]) -> Target:
        """This classifier with its columns in the order of `names`; a class that it has never seen has probability 0.

        >>> target = Target.of(lambda X: np.tile([0.9, 0.1], (len(X), 1)), classes=["b", "c"])
        >>> wide = target.with_class_order(["a", "b", "c"])
        >>> wide.probabilities(Records(features=np.zeros((1, 1)), labels=np.array(["a"]))).tolist()
        [[0.0, 0.9, 0.1]]
        """
        names = tuple(as_labels("names", names).tolist())
        order = (*names, *(name for name in self.classes if name not in names))
        if self.task != "classification" or order == self.classes:
            return self
        places = [order.index(name) for name in self.classes]

        def outputs(features: Any) -> Floats:
            known = np.asarray(self.outputs(features), dtype=np.float64)
            wide = np.zeros((known.shape[0], len(order)))
            wide[:, places] = known
            return wide

        return replace(self, outputs=outputs, classes=order)

    def probabilities(self, records: Records) -> Floats:
        """The probability of each class for each of the `records`, one row per record."""
        values = answers_as_numbers(self.outputs(records.features))
        require(
            values.shape == (records.count, len(self.classes)),
            "the model's answer",
            values.shape,
            f"of the shape {(records.count, len(self.classes))}: one probability for each row and class",
            f"its classes are {_class_list(self.classes)}",
        )
        require_number_answers(values)
        require(
            bool(np.all((values >= -_PROBABILITY_SLACK) & (values <= 1.0 + _PROBABILITY_SLACK)))
            and bool(np.all(np.abs(values.sum(axis=1) - 1.0) <= _PROBABILITY_SLACK)),
            "the model's answer",
            "numbers outside [0, 1], or rows that do not sum to 1",
            "probabilities",
            "of logits the softmax is: attack Target.of_logits(model, classes=...)",
        )
        return np.clip(values, 0.0, 1.0)

    def label_columns(self, records: Records) -> NDArray[np.intp]:
        """The column of the own label of each of the `records`."""
        places = {name: place for place, name in enumerate(self.classes)}
        try:
            return np.array([places[name] for name in records.labels.tolist()], dtype=np.intp)
        except (KeyError, TypeError):
            labels_are_texts = records.labels.dtype.kind in "US"
            classes_are_texts = all(isinstance(name, str) for name in self.classes)
            why = (
                ""
                if labels_are_texts == classes_are_texts
                else f"; y holds {_texts_or_numbers(labels_are_texts)}, the classes are "
                f"{_texts_or_numbers(classes_are_texts)}"
            )
            raise DataError(
                f"y holds a label that the model does not know: its classes are {_class_list(self.classes)}{why}"
            ) from None

    def log_odds(self, records: Records) -> Floats:
        """log p/(1 - p) for the probability p of the own label of each of the `records`; infinite where p is 0 or 1.

        1 - p is the sum of the other columns, which is exact where p is close to 1 (Carlini et al. 2022).
        """
        values, own = self.probabilities(records), self.label_columns(records)
        rows = np.arange(records.count)
        p = values[rows, own]
        other_classes = np.array(values)
        other_classes[rows, own] = 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            odds = np.where(p > 0.0, np.log(p) - np.log(other_classes.sum(axis=1)), -np.inf)
        return np.where(np.isinf(odds), odds, np.clip(odds, -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS))

    def matrix(self, records: Records) -> Floats:
        """The features of the `records` as numbers: through the encoder of a model that was fitted on a table."""
        encoder = encoder_of(self.model)
        inputs = records.features if self.prepare is None else self.prepare(records.features)
        features = inputs if encoder is None else encoder.transform(inputs)
        return np.asarray(features.toarray() if hasattr(features, "toarray") else features, dtype=np.float64)

    def residuals(self, records: Records) -> Floats:
        """The residual of a regression for each of the `records`: y minus prediction."""
        predicted = answers_as_numbers(self.outputs(records.features))
        require(
            predicted.shape == (records.count,),
            "the model's answer",
            predicted.shape,
            "one number per row",
            "name the labels with classes= if it gives probabilities",
        )
        require_number_answers(predicted)
        with withholding(
            "NumPy", "read the labels y as numbers; name them with classes= if they are classes"
        ):
            labels = records.labels.astype(np.float64)
        require(bool(np.all(np.isfinite(labels))), "y", "...", "finite")
        return np.asarray(labels - predicted)

    def signal(self, records: Records) -> Floats:
        """For each of the `records` the number that likelihood attacks model: log-odds, or the residual."""
        return self.log_odds(records) if self.task == "classification" else self.residuals(records)


def read_records(source: Path | str, *, label: str, target: Target) -> Records:
    """The records of a file, or of a table of a database: the columns that the model reads, or all but the label.

    Rows without a label are left out, as in a fit. A model that was fitted to a table also knows which label the schema
    declares for missing ones.
    """
    table = rows_of_source(source)
    columns = columns_read(target.model) or tuple(name for name in table.column_names if name != label)
    missing = [name for name in (label, *columns) if name not in table.column_names]
    if missing:
        named = "the table of the URL" if "://" in str(source) else Path(source).name
        raise DataError(f"{named} lacks the columns {', '.join(missing)}")
    declared = _declared_column(target.model, label)
    known = _has_value(table.column(label)) if declared is None else with_value(declared, table.column(label))
    if not known.any():
        raise DataError(
            f"the column {label!r} must hold the model's classes or numbers, and no row of it does: there is nobody to "
            "attack"
        )
    left_out, table = int((~known).sum()), table.filter(known)
    values = table.column(label)
    labels = (
        _labels_as_declared(declared, values)
        if declared is not None
        else numeric_column(values, label)
        if target.task == "regression"
        else _class_labels(values, label, target.classes)
    )
    chosen = table.select(list(columns))
    if reads_table(target.model):
        return Records(features=chosen, labels=labels, left_out=left_out)
    rows = np.column_stack([numeric_column(chosen.column(name), name) for name in columns])
    return Records(features=rows, labels=labels, left_out=left_out)


def _declared_column(model: Any, label: str) -> Numeric | Categorical | None:
    """The column that the schema of a fitted model declares for its target, if it has one."""
    released = released_model(model)
    if released is None or released.schema is None:
        return None
    schema = Schema.from_dict(dict(released.schema))
    return schema[label] if label in schema.names else None


def _has_value(values: Any) -> NDArray[np.bool_]:
    """Which values are neither null nor NaN."""
    import pyarrow.compute as pc

    missing = pc.is_null(values, nan_is_null=True)
    return ~np.asarray(missing.to_numpy(zero_copy_only=False), dtype=np.bool_)


def _labels_as_declared(column: Numeric | Categorical, values: Any) -> Any:
    """Labels as the model's schema codes them: its classes, or numbers clipped to their bounds."""
    arrow_values = arrow_column(values)
    batch = encode_batch(Schema([column]), {column.name: arrow_values}, len(arrow_values))
    if isinstance(column, Numeric):
        return np.asarray(batch.values[column.name], dtype=np.float64)
    return np.asarray(column.values)[batch.codes(column.name)]


def _class_labels(values: Any, label: str, classes: Sequence[Any]) -> Any:
    """Labels of the type of the model's classes: texts, truth values or numbers; a CSV file has texts for all."""
    texts = all(isinstance(name, str) for name in classes)
    if texts or kind_of(values.type) is not Kind.text:
        return np.array([str(value) if texts else value for value in values.to_pylist()])
    if all(isinstance(name, bool | np.bool_) for name in classes):
        lowered = [str(value).strip().lower() for value in values.to_pylist()]
        if not set(lowered) <= {"true", "false"}:
            raise DataError(
                f"the column {label!r} must hold the model's classes: texts 'true' and 'false', in any case"
            )
        return np.array([text == "true" for text in lowered])
    return np.array(numeric_column(values, label).tolist())


# Infinite signals become finite, so that a normal law can describe them.
def finite_signals(signals: NDArray[np.floating], *, largest: float | None = None) -> Floats:
    """Signals cut at a step, log 2, beyond the largest finite one.

    A forest of 100 trees answers 0.99 or 1: log-odds of 4.6 or infinity. Twice the odds of its largest finite answer
    are those that half a vote against would give.

    >>> finite_signals(np.array([0.5, -np.inf])).round(3).tolist()
    [0.5, -1.193]
    """
    values = np.asarray(signals, dtype=np.float64)
    edge = (largest_finite(values) if largest is None else largest) + math.log(2.0)
    return np.clip(values, -edge, edge)


def largest_finite(signals: NDArray[np.floating]) -> float:
    """The largest finite absolute log-odds; 0 if there is none."""
    sizes = np.abs(signals[np.isfinite(signals)])
    return float(min(sizes.max(initial=0.0), LARGEST_LOG_ODDS))


def _class_list(names: Sequence[Any]) -> str:
    shown = ", ".join(repr(name) for name in names[:6])
    return shown + (", ..." if len(names) > 6 else "")


def _texts_or_numbers(texts: bool) -> str:
    return "texts" if texts else "numbers"


def _model_and_guarantee(model: Any) -> tuple[Any, Guarantee | None]:
    """A saved release as an estimator, with its promise; anything else as it is."""
    if isinstance(model, str | os.PathLike):
        from holdfast.release import Release

        return _model_and_guarantee(Release.load(Path(model)))
    if hasattr(model, "provenance") and hasattr(model, "guarantee"):
        from holdfast.learn._estimators import model_of_release

        return model_of_release(model), model.guarantee
    release = release_of(model)
    if is_pipeline(model):
        from holdfast.learn._estimators.pipeline import pipeline_release

        with suppress(ParameterError):  # a foreign step learned from the rows, so there is no guarantee
            release = pipeline_release(model)
    return model, None if release is None else release.guarantee

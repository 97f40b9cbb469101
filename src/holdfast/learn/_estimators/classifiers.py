"""The linear classifiers: logistic regression and the linear support vector machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from holdfast._arguments import Seed, checked
from holdfast._arrays import Floats
from holdfast._assumption import READ_FROM_DATA, Assumption
from holdfast.data._schema import Categorical, Numeric
from holdfast.learn._estimators.estimator import PrivateLinearEstimator
from holdfast.learn._estimators.paid_score import PaidScore
from holdfast.learn._parameters import LINEAR, Parameter, one_of, with_parameters
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Hinge, HuberHinge, Logistic, OneVsAll, Softmax
from holdfast.learn._problem.problem import ClassLabels, LabelCoding
from holdfast.learn._rows.declared_bounds import Bounds
from holdfast.learn.methods.method import Learner
from holdfast.learn.methods.softmax_objective import covers
from holdfast.privacy._adjacency import Adjacency

SVM_LOSSES: Mapping[str, Any] = {"huber": HuberHinge(), "hinge": Hinge()}
"""The losses of a support vector machine, by the parameter `loss`."""
LOSS_PARAMETER = Parameter(
    '{"huber", "hinge"}',
    '"huber", a hinge smoothed around its corner, or the plain "hinge", for methods that need no smoothness (`output` '
    "among them). With `epsilon=math.inf` the hinge is never smoothed.",
    one_of(*SVM_LOSSES),
)
MULTI_CLASS_PARAMETER = Parameter(
    '{"multinomial", "one_vs_all"}',
    'Of several classes: "multinomial", one softmax model, or "one_vs_all", a model of each class against the rest. '
    "Every row is in all K of those, so they share the budget and never have it in parallel: their noise is that of K "
    "releases, sqrt(K / 2) times the softmax's. For two classes both are one model.",
    one_of("multinomial", "one_vs_all"),
)
LABELS_READ = Assumption(
    kind=READ_FROM_DATA,
    subject="classes",
    voids=True,
    text="the set of labels was read from the data and is treated as public; declare classes",
)


@checked
class ClassFace(PaidScore, ClassifierMixin):  # type: ignore[misc]
    """The base class of all classifiers, linear and additive: coded labels, and classes predicted from scores."""

    classes: Sequence[Any] | None
    _scores: Callable[[Any], Floats]

    def _label_coding(self, y: Any) -> tuple[LabelCoding, tuple[Assumption, ...]]:
        if self.classes is None:
            check_classification_targets(y)
        assumed = () if self.classes is not None else (LABELS_READ,)
        coding = ClassLabels(classes=np.unique(y if self.classes is None else np.asarray(self.classes)))
        return coding, assumed

    def _column_coding(self, column: Numeric | Categorical) -> LabelCoding:
        return ClassLabels.of_column(column, self.classes)

    def _set_model(self, model: Any) -> None:
        super()._set_model(model)
        self.classes_ = np.asarray(model.classes)

    def decision_function(self, X: Any) -> Floats:
        """The scores of the rows of `X`: above 0 for the second of two classes; of several, one column each."""
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The predicted class of each row of `X`."""
        scores = self.decision_function(X)
        places = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[places])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


def log_probabilities(scores: Floats) -> Floats:
    """The logarithm of the softmax of the scores; a single score is that of the second of two classes."""
    if scores.shape[1] == 1:
        scores = np.hstack([np.zeros_like(scores), scores])
    return np.asarray(scores - np.logaddexp.reduce(scores, axis=1)[:, None])


@checked
class PrivateLinearClassifier(ClassFace, PrivateLinearEstimator):
    """The base class of the linear classifiers."""

    classes: Sequence[Any] | None

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float | None = None,
        *,
        method: str | Learner = "auto",
        options: Mapping[str, Any] | None = None,
        row_norm: float | None = None,
        bounds: Bounds | None = None,
        classes: Sequence[Any] | None = None,
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
        self.classes = classes
        self.fit_intercept = fit_intercept
        self.penalty = penalty
        self.radius = radius
        self.adjacency = adjacency
        self.n_public = n_public
        self.arithmetic = arithmetic
        self.random_state = random_state


@checked
@with_parameters(LINEAR | {"multi_class": MULTI_CLASS_PARAMETER})
class PrivateLogisticRegression(PrivateLinearClassifier):
    """Logistic regression with a privacy promise about its rows; several classes are one softmax model, or one each.

    `sample_weight` and `class_weight` are refused: weights multiply the sensitivity, and balanced ones are
    computed from private labels.

    Formal guarantees
    -----------------
    * Neighbours: by `adjacency`; they differ in one row of an array, or in one privacy unit of a `Table`.
    * Privacy: (epsilon, delta)-differential privacy, pure where `delta=0`, by the theorem of the method that was
      used, which `release_.guarantee.theorem` names. Several classes share one budget (soundness, section 2).
    * Public: all parameters, the schema of a `Table`, and the number of rows except under "add_remove".
    * Assumed: `classes` and `bounds` were declared without looking at the data, and nothing that learned from the
      rows came before. What was read from the data instead is among `release_.guarantee.assumptions`.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.tile([[0.6, 0.1], [-0.5, 0.2]], (4000, 1)), np.tile(["ill", "well"], 4000)
    >>> model = PrivateLogisticRegression(epsilon=1.0, delta=1e-6, classes=["ill", "well"]).fit(X, y)
    >>> model.predict([[0.7, 0.1], [-0.6, 0.2]]).tolist()
    ['ill', 'well']
    >>> model.release_.guarantee.adjacency.value, model.release_.private
    ('replace', True)
    """

    intervals_by = "newton"

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float | None = None,
        *,
        method: str | Learner = "auto",
        options: Mapping[str, Any] | None = None,
        row_norm: float | None = None,
        bounds: Bounds | None = None,
        classes: Sequence[Any] | None = None,
        multi_class: str = "multinomial",
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
            classes=classes,
            fit_intercept=fit_intercept,
            penalty=penalty,
            radius=radius,
            adjacency=adjacency,
            n_public=n_public,
            arithmetic=arithmetic,
            random_state=random_state,
        )
        self.multi_class = multi_class

    def _loss(self, coding: Any, *, prediction_bound: float) -> Any:
        if coding.binary:
            return Logistic()
        loss = Softmax if self.multi_class == "multinomial" else OneVsAll
        return loss(classes=len(coding.classes))

    def _link(self, coding: Any) -> str | None:
        return "sigmoid" if self.multi_class == "one_vs_all" and not coding.binary else None

    def _wants_penalty(self, problem: Problem, *, pure: bool) -> bool:
        return pure and problem.outputs == "several" and not covers(problem)

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class, one column for each of `classes_`, for each row of `X`."""
        return np.asarray(np.exp(self.predict_log_proba(X)))

    def predict_log_proba(self, X: Any) -> Floats:
        """The logarithm of each class's probability for each row of `X`.

        The probabilities are the softmax of the scores, or each model's own probability over the sum of all.
        """
        scores = self._scores(X)
        logits = scores if self.model_.link is None else -np.logaddexp(0.0, -scores)
        return log_probabilities(logits)


@checked
@with_parameters(LINEAR | {"loss": LOSS_PARAMETER})
class PrivateLinearSVC(PrivateLinearClassifier):
    """A linear support vector machine with a privacy promise; for several classes, one of each against the rest.

    Formal guarantees
    -----------------
    * Neighbours: by `adjacency`; they differ in one row of an array, or in one privacy unit of a `Table`.
    * Privacy: (epsilon, delta)-differential privacy, pure where `delta=0`, by the theorem of the method that was
      used, which `release_.guarantee.theorem` names. Several classes share one budget (soundness, section 2).
    * Public: all parameters, the schema of a `Table`, and the number of rows except under "add_remove".
    * Assumed: `classes` and `bounds` were declared without looking at the data, and nothing that learned from the
      rows came before. What was read from the data instead is among `release_.guarantee.assumptions`.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.tile([[0.7, 0.2], [-0.6, 0.1]], (4000, 1)), np.tile([1, 0], 4000)
    >>> model = PrivateLinearSVC(epsilon=2.0, classes=[0, 1], adjacency="zero_out").fit(X, y)
    >>> model.predict([[0.7, 0.2], [-0.6, 0.1]]).tolist()
    [1, 0]
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float | None = None,
        *,
        loss: str = "huber",
        method: str | Learner = "auto",
        options: Mapping[str, Any] | None = None,
        row_norm: float | None = None,
        bounds: Bounds | None = None,
        classes: Sequence[Any] | None = None,
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
            classes=classes,
            fit_intercept=fit_intercept,
            penalty=penalty,
            radius=radius,
            adjacency=adjacency,
            n_public=n_public,
            arithmetic=arithmetic,
            random_state=random_state,
        )
        self.loss = loss

    def _loss(self, coding: Any, *, prediction_bound: float) -> Any:
        loss = SVM_LOSSES[self.loss]
        return loss if coding.binary else OneVsAll(classes=len(coding.classes), binary=loss)

    def _wants_penalty(self, problem: Problem, *, pure: bool) -> bool:
        return pure

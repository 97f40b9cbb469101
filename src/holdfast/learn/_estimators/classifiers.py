"""Classifiers: logistic regression and the linear support vector machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from holdfast._arguments import Seed, checked
from holdfast._assumption import READ_FROM_DATA, Assumption
from holdfast.data._schema import Categorical, Numeric
from holdfast.errors import require
from holdfast.learn._estimators.estimator import PrivateLinearEstimator
from holdfast.learn._estimators.paid_score import PaidScore
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Hinge, HuberHinge, Logistic, OneVsAll, Softmax
from holdfast.learn._problem.problem import ClassLabels, LabelCoding
from holdfast.learn._rows.prepare import Bounds
from holdfast.learn.methods.method import Learner
from holdfast.learn.methods.softmax_objective import covers
from holdfast.privacy._adjacency import Adjacency

LOSSES: Mapping[str, Any] = {"huber": HuberHinge(), "hinge": Hinge()}
"""Of a support vector machine."""
MULTI_CLASS = ("multinomial", "one_vs_all")
"""What logistic regression makes of several classes."""
LABELS_READ = Assumption(
    kind=READ_FROM_DATA,
    subject="classes",
    voids=True,
    text="the set of labels was read from the data and is treated as public; declare classes",
)


@checked
class ClassFace(PaidScore, ClassifierMixin):  # type: ignore[misc]
    """What classifiers share, whatever their model: labels in, scores to decisions out."""

    classes: Sequence[Any] | None
    _scores: Callable[[Any], NDArray[np.float64]]

    def _targets(self, y: Any) -> tuple[LabelCoding, tuple[Assumption, ...]]:
        if self.classes is None:
            check_classification_targets(y)
        read = () if self.classes is not None else (LABELS_READ,)
        coding = ClassLabels(classes=np.unique(y if self.classes is None else np.asarray(self.classes)))
        return coding, read

    def _column(self, column: Numeric | Categorical) -> LabelCoding:
        return ClassLabels.of_column(column, self.classes)

    def _take(self, model: Any) -> None:
        super()._take(model)
        self.classes_ = np.asarray(model.classes)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores: above 0 for the second class; with several classes, one column each."""
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row."""
        scores = self.decision_function(X)
        chosen = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[chosen])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


def log_probabilities(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of each class, from its score; one score is that of the second of two."""
    if scores.shape[1] == 1:
        scores = np.hstack([np.zeros_like(scores), scores])
    return np.asarray(scores - np.logaddexp.reduce(scores, axis=1)[:, None])


@checked
class PrivateLinearClassifier(ClassFace, PrivateLinearEstimator):
    """What both classifiers share: classes, decisions and labels."""

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
class PrivateLogisticRegression(PrivateLinearClassifier):
    """Logistic regression with a privacy promise about its rows; several classes are one softmax model, or one each.

    Parameters
    ----------
    epsilon, delta : the promise, for one fit. `delta=0` asks for pure privacy; `epsilon=math.inf` fits without
        any, by scikit-learn's solver. Ignored where `fit` is given an account.
    method : a name in `holdfast.learn.LEARNERS`, a `Learner` of your own, or `"auto"`: chosen from public quantities.
    options : what the method is told beyond that, by name, as `{"steps": 20}`; what it takes is
        `[option.summary() for option in method.options]`. They are public: choose them without looking at the data.
    row_norm : rows are clipped to this Euclidean norm, in training and in prediction. Choose it without
        looking at the data; how many rows are clipped is private and never shown. By default 1; where a method for
        intervals is asked for and columns are declared, the norm that no declared row exceeds.
    bounds : of the columns of an array, declared from public knowledge: one pair (low, high) for all, one each, or by
        name. Columns are brought to [-1, 1] before rows are clipped, so that their units do not matter. A table's
        schema has them.
    classes : the set of labels, if it is public. If not given it is read from the data, which becomes an
        assumption of the promise, with a warning.
    multi_class : of several classes: `"multinomial"`, one softmax model, or `"one_vs_all"`, a model of each class
        against the rest. Every row is in all K of those, so they share the budget and never have it in parallel: their
        noise is that of K releases, sqrt(K / 2) times the softmax's. For two classes both are one model.
    fit_intercept : adds a constant column, which counts in the norm and in the penalty.
    penalty : lambda in mean loss + (lambda / 2) |w|^2. None: 0, or a public rule where the method needs one.
    radius : weights are confined to this Euclidean norm; None for no bound.
    adjacency : `"replace"` (default), `"zero_out"` or `"add_remove"`.
    n_public : the public number of rows, needed under `add_remove`; else read from the data, as an assumption.
    arithmetic : `"strict"` or `"idealised"`; None for the method's own choice.
    random_state : None for secure noise. A seed makes the run repeatable and not private, and the release says so.

    `sample_weight` and `class_weight` are refused: weights multiply the sensitivity, and balanced ones are
    computed from private labels.

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

    def _check_parameters(self, account: Any) -> None:
        super()._check_parameters(account)
        known = ", ".join(map(repr, MULTI_CLASS))
        require(self.multi_class in MULTI_CLASS, "multi_class", self.multi_class, f"one of {known}")

    def _loss(self, coding: Any, *, prediction_bound: float) -> Any:
        if coding.binary:
            return Logistic()
        several = Softmax if self.multi_class == "multinomial" else OneVsAll
        return several(classes=len(coding.classes))

    def _link(self, coding: Any) -> str | None:
        return "sigmoid" if self.multi_class == "one_vs_all" and not coding.binary else None

    def _wants_penalty(self, problem: Problem, *, pure: bool) -> bool:
        return pure and problem.outputs == "several" and not covers(problem)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class, as the model sees it."""
        return np.asarray(np.exp(self.predict_log_proba(X)))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Its logarithm: of the softmax of the scores, or of each model's own probability over the sum of all."""
        scores = self._scores(X)
        own = scores if self.model_.link is None else -np.logaddexp(0.0, -scores)
        return log_probabilities(own)


@checked
class PrivateLinearSVC(PrivateLinearClassifier):
    """A linear support vector machine with a privacy promise; for several classes, one of each against the rest.

    The parameters are those of `PrivateLogisticRegression`, and `loss`: "huber", a hinge smoothed around its corner, or
    the plain "hinge", for methods that need no smoothness (`output` among them). With `epsilon=math.inf` the hinge is
    never smoothed.

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

    def _check_parameters(self, account: Any) -> None:
        super()._check_parameters(account)
        require(self.loss in LOSSES, "loss", self.loss, f"one of {', '.join(map(repr, LOSSES))}")

    def _loss(self, coding: Any, *, prediction_bound: float) -> Any:
        one = LOSSES[self.loss]
        return one if coding.binary else OneVsAll(classes=len(coding.classes), binary=one)

    def _wants_penalty(self, problem: Problem, *, pure: bool) -> bool:
        return pure

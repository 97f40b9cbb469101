"""The six estimators by their names, and a saved model ready to predict."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from holdfast.errors import FormatError, ParameterError
from holdfast.learn.estimators.classifiers import PrivateLinearSVC, PrivateLogisticRegression
from holdfast.learn.estimators.estimator import PrivateLinearEstimator
from holdfast.learn.estimators.linear_model import LinearModel
from holdfast.learn.estimators.regressors import (
    PrivateHuberRegression,
    PrivateLasso,
    PrivateLinearRegression,
    PrivateRidge,
)
from holdfast.release import Release

if TYPE_CHECKING:
    from holdfast.data.schema import Schema

MODELS = {
    "logistic": "PrivateLogisticRegression",
    "svm": "PrivateLinearSVC",
    "linear": "PrivateLinearRegression",
    "ridge": "PrivateRidge",
    "lasso": "PrivateLasso",
    "huber": "PrivateHuberRegression",
}
ESTIMATORS: tuple[type[PrivateLinearEstimator], ...] = (
    PrivateHuberRegression,
    PrivateLasso,
    PrivateLinearRegression,
    PrivateLinearSVC,
    PrivateLogisticRegression,
    PrivateRidge,
)
"""Every estimator."""


def load_model(path: str | os.PathLike[str]) -> Any:
    """The estimator that `release_.save(path)` wrote, whichever it is; `FormatError` for another file."""
    release = Release.load(path)
    name = LinearModel.of_value(release.value).model
    for estimator in ESTIMATORS:
        if estimator.__name__ == name:
            return estimator.from_release(release)
    raise FormatError("the release holds a model of a kind that this version does not know")


def estimator_of(
    schema: Schema, target: str, model: str | None, *, penalty: float | None = None, **settings: Any
) -> Any:
    """The estimator of this name in MODELS; by default logistic for classes and ridge for numbers."""
    chosen = model or ("logistic" if schema[target].kind == "categorical" else "ridge")
    if chosen not in MODELS:
        raise ParameterError(f"model must be one of {', '.join(sorted(MODELS))}, got model={chosen!r}")
    own = {} if penalty is None else {"penalty": penalty}
    (kind,) = (one for one in ESTIMATORS if one.__name__ == MODELS[chosen])
    return kind(**settings, **own)

"""The five estimators by their names, and a saved model ready to predict."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from holdfast.errors import FormatError
from holdfast.learn.estimators.classifiers import PrivateLinearSVC, PrivateLogisticRegression
from holdfast.learn.estimators.estimator import PrivateLinearEstimator
from holdfast.learn.estimators.linear_model import LinearModel
from holdfast.learn.estimators.regressors import PrivateLasso, PrivateLinearRegression, PrivateRidge
from holdfast.release import Release

if TYPE_CHECKING:
    pass

MODELS = {
    "logistic": "PrivateLogisticRegression",
    "svm": "PrivateLinearSVC",
    "linear": "PrivateLinearRegression",
    "ridge": "PrivateRidge",
    "lasso": "PrivateLasso",
}
ESTIMATORS: tuple[type[PrivateLinearEstimator], ...] = (
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

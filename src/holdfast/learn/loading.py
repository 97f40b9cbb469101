"""A saved model, ready to predict."""

from __future__ import annotations

import os
from typing import Any

from holdfast.errors import FormatError
from holdfast.learn.classifiers import PrivateLinearSVC, PrivateLogisticRegression
from holdfast.learn.estimator import PrivateLinearEstimator
from holdfast.learn.linear_model import LinearModel
from holdfast.learn.regressors import PrivateLasso, PrivateLinearRegression, PrivateRidge
from holdfast.release import Release

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

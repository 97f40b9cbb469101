"""The estimators by their names, and a saved model ready to predict."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from holdfast._arguments import checked
from holdfast.errors import FormatError, ParameterError
from holdfast.learn._additive.model import AdditiveModel, holds_additive
from holdfast.learn._estimators.additive import PrivateAdditiveClassifier, PrivateAdditiveRegressor
from holdfast.learn._estimators.classifiers import PrivateLinearSVC, PrivateLogisticRegression
from holdfast.learn._estimators.linear_model import LinearModel
from holdfast.learn._estimators.regressors import (
    PrivateHuberRegression,
    PrivateLasso,
    PrivateLinearRegression,
    PrivateRidge,
)
from holdfast.release import Release

if TYPE_CHECKING:
    from holdfast.data._schema import Schema

MODELS = {
    "logistic": "PrivateLogisticRegression",
    "svm": "PrivateLinearSVC",
    "linear": "PrivateLinearRegression",
    "ridge": "PrivateRidge",
    "lasso": "PrivateLasso",
    "huber": "PrivateHuberRegression",
    "additive": "PrivateAdditiveClassifier",
}
ADDITIVE = "additive"
"""The model whose estimator depends on the target: a classifier or a regressor."""
ESTIMATORS: tuple[type[Any], ...] = (
    PrivateAdditiveClassifier,
    PrivateAdditiveRegressor,
    PrivateHuberRegression,
    PrivateLasso,
    PrivateLinearRegression,
    PrivateLinearSVC,
    PrivateLogisticRegression,
    PrivateRidge,
)
"""All estimators that a release may name."""


@checked
def load_model(path: str | os.PathLike[str]) -> Any:
    """The estimator that `release_.save(path)` wrote, whichever it is.

    Parameters
    ----------
    path : str or path-like
        The file. One that holds anything but a model of holdfast's, or a Pipeline that ends in one, is refused with
        `FormatError`.

    Returns
    -------
    estimator
        A fitted estimator, or a Pipeline, that is ready to predict.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from holdfast.learn import PrivateLogisticRegression
    >>> X, y = np.tile([[0.6, 0.1], [-0.5, 0.2]], (500, 1)), np.tile([1, 0], 500)
    >>> model = PrivateLogisticRegression(epsilon=2.0, delta=1e-6, classes=[0, 1]).fit(X, y)
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "model.holdfast"
    ...     model.release_.save(path)
    ...     loaded = load_model(path)
    >>> bool((loaded.predict(X) == model.predict(X)).all())
    True
    """
    release = Release.load(path)
    return model_of_release(release)


def model_of_release(release: Release[Any]) -> Any:
    """The estimator that a release holds, or the Pipeline that ends in one."""
    from holdfast.learn._estimators.pipeline import holds_pipeline, pipeline_of_release

    if holds_pipeline(release.value):
        return pipeline_of_release(release, model_of_release)
    kind = AdditiveModel if holds_additive(release.value) else LinearModel
    name = kind.of_value(release.value).model
    estimator = estimator_named(name)
    if estimator is None:
        raise FormatError("the release holds a model of a kind that this version does not know")
    return estimator.from_release(release)


def estimator_named(name: str) -> type[Any] | None:
    """The class of the estimator with this name; None where holdfast has none."""
    return next((estimator for estimator in ESTIMATORS if estimator.__name__ == name), None)


def estimator_of(
    schema: Schema, target: str, model: str | None, *, penalty: float | None = None, **settings: Any
) -> Any:
    """A new estimator by the name of a `model` in MODELS; by default logistic for classes, linear for numbers."""
    model = model or ("logistic" if schema[target].kind == "categorical" else "linear")
    if model not in MODELS:
        raise ParameterError(f"model must be one of {', '.join(sorted(MODELS))}, got model={model!r}")
    if model == ADDITIVE:
        return _additive_estimator(schema, target, penalty=penalty, **settings)
    kind = estimator_named(MODELS[model])
    assert kind is not None
    return kind(**settings) if penalty is None else kind(**settings, penalty=penalty)


def _additive_estimator(schema: Schema, target: str, *, penalty: float | None, **settings: Any) -> Any:
    """A new additive estimator; the settings that only linear models have must be left at their defaults."""
    for name, default in {"method": "auto", "row_norm": None, "radius": None}.items():
        value = settings.pop(name, default)
        if value != default:
            raise ParameterError(f"{name} must not be given for model='additive', got {name}={value!r}")
    if penalty is not None:
        raise ParameterError(f"penalty must not be given for model='additive', got penalty={penalty}")
    kind = PrivateAdditiveClassifier if schema[target].kind == "categorical" else PrivateAdditiveRegressor
    return kind(**settings)

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
"""For classes or numbers, as the target is."""
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
"""Every estimator."""


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
    """The estimator of that name; None where holdfast has none."""
    return next((estimator for estimator in ESTIMATORS if estimator.__name__ == name), None)


def estimator_of(
    schema: Schema, target: str, model: str | None, *, penalty: float | None = None, **settings: Any
) -> Any:
    """The estimator of this name in MODELS; by default logistic for classes, linear for numbers."""
    chosen = model or ("logistic" if schema[target].kind == "categorical" else "linear")
    if chosen not in MODELS:
        raise ParameterError(f"model must be one of {', '.join(sorted(MODELS))}, got model={chosen!r}")
    if chosen == ADDITIVE:
        return _additive(schema, target, penalty=penalty, **settings)
    own = {} if penalty is None else {"penalty": penalty}
    kind = estimator_named(MODELS[chosen])
    assert kind is not None
    return kind(**settings, **own)


def _additive(schema: Schema, target: str, *, penalty: float | None, **settings: Any) -> Any:
    """Linear models' settings must be left as they are: shapes have none of them."""
    for name, default in {"method": "auto", "row_norm": None, "radius": None}.items():
        given = settings.pop(name, default)
        if given != default:
            raise ParameterError(f"{name} must not be given for model='additive', got {name}={given!r}")
    if penalty is not None:
        raise ParameterError(f"penalty must not be given for model='additive', got penalty={penalty}")
    kind = PrivateAdditiveClassifier if schema[target].kind == "categorical" else PrivateAdditiveRegressor
    return kind(**settings)

"""Private learning: methods with proofs, behind scikit-learn's faces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.lazy import exported

if TYPE_CHECKING:
    from holdfast.learn.classifiers import PrivateLinearSVC as PrivateLinearSVC
    from holdfast.learn.classifiers import PrivateLogisticRegression as PrivateLogisticRegression
    from holdfast.learn.loading import load_model as load_model
    from holdfast.learn.methods import METHODS as METHODS
    from holdfast.learn.regressors import PrivateLasso as PrivateLasso
    from holdfast.learn.regressors import PrivateLinearRegression as PrivateLinearRegression
    from holdfast.learn.regressors import PrivateRidge as PrivateRidge
    from holdfast.learn.search import PrivateSearch as PrivateSearch

_HOMES = {
    "classifiers": ("PrivateLinearSVC", "PrivateLogisticRegression"),
    "loading": ("load_model",),
    "methods": ("METHODS",),
    "regressors": ("PrivateLasso", "PrivateLinearRegression", "PrivateRidge"),
    "search": ("PrivateSearch",),
}
__all__, __getattr__, __dir__ = exported(__name__, _HOMES)

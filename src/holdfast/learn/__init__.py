"""Private learning: methods with proofs, behind scikit-learn's faces."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

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
_HOME = {name: module for module, names in _HOMES.items() for name in names}
__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'holdfast.learn' has no attribute {name!r}")
    value = getattr(import_module(f"holdfast.learn.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__

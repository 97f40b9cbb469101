"""Stateless transformers of scikit-learn as a file holds them: a name and plain parameters, no code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.kernel_approximation import AdditiveChi2Sampler
from sklearn.preprocessing import Binarizer, FunctionTransformer, Normalizer

from holdfast.errors import FormatError

FORMAT = "holdfast-stateless/1"
KINDS: Mapping[str, type[Any]] = {
    kind.__name__: kind for kind in (AdditiveChi2Sampler, Binarizer, FunctionTransformer, Normalizer)
}
"""Those that are stored; others of scikit-learn take texts or images."""


def stateless_value(step: Any) -> dict[str, Any] | None:
    """What a file holds of the transformer; None where it is another one, or a parameter is code.

    >>> stateless_value(FunctionTransformer(np.log1p))["parameters"]
    {'func': 'log1p'}
    >>> stateless_value(FunctionTransformer(lambda rows: rows - rows.mean(axis=0)))
    """
    kind = type(step)
    if KINDS.get(kind.__name__) is not kind:
        return None
    usual = kind().get_params()
    parameters = {
        name: value for name, value in step.get_params().items() if not _same(value, usual.get(name))
    }
    func = parameters.get("func")
    if func is not None:
        if not (isinstance(func, np.ufunc) and _function(func.__name__) is func):
            return None
        parameters["func"] = func.__name__
    if not all(isinstance(value, bool | int | float | str) for value in parameters.values()):
        return None
    return {"format": FORMAT, "kind": kind.__name__, "parameters": parameters}


def stateless_step(value: Mapping[str, Any]) -> Any:
    """The transformer that `stateless_value` described."""
    kind, parameters = KINDS.get(value["kind"]), dict(value["parameters"])
    if kind is None:
        raise FormatError("a stored pipeline has a stateless step that this version does not know")
    if "func" in parameters:
        parameters["func"] = _function(parameters["func"])
        if parameters["func"] is None:
            raise FormatError(
                "a stored pipeline applies a function that is none of NumPy's on single numbers"
            )
    return kind(**parameters)


def _function(name: Any) -> np.ufunc | None:
    """NumPy's function of this name on single numbers; None where there is none."""
    function = getattr(np, name, None) if isinstance(name, str) and name.isidentifier() else None
    return function if isinstance(function, np.ufunc) and function.signature is None else None


def _same(value: Any, usual: Any) -> bool:
    return type(value) is type(usual) and bool(value == usual)

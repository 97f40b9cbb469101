"""Adapters from estimators, callables and PyTorch modules to functions that return arrays of numbers.

A model is given arrays, or tensors where it needs them; what it returns (arrays and tensors of any library) becomes an
array of doubles, or is refused with an error that names the way out.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from holdfast._arrays import Floats
from holdfast.attack._attack import Task
from holdfast.errors import HoldfastError, ParameterError, require


def answers_as_numbers(values: Any) -> Floats:
    """Numbers as an array of doubles, from an array or a tensor of any library; `ParameterError` for anything else.

    >>> answers_as_numbers([0.5, 1]).tolist()
    [0.5, 1.0]
    """
    for step in ("detach", "cpu"):  # a tensor that remembers gradients, or lies on a device
        values = getattr(values, step)() if callable(getattr(values, step, None)) else values
    values = values.toarray() if hasattr(values, "toarray") else values
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, RuntimeError):
        texts = getattr(getattr(values, "dtype", None), "kind", "") in ("U", "S", "T")
        received = "texts" if texts else type(values).__name__
        raise ParameterError(
            f"the model must take and give arrays of numbers, got {received}"
            + ("; if these are decisions, hand over an object with predict and classes_" if texts else "")
        ) from None


def require_number_answers(values: Floats) -> None:
    """Refuse NaN and infinity: an attack would take them for no opinion."""
    bad = int(values.size - np.isfinite(values).sum())
    require(
        bad == 0,
        "the model's answer",
        f"{bad} of {values.size} numbers are NaN or infinite",
        "finite",
        "look at what the model does with these rows",
    )


def ask(model: Callable[[Any], Any], features: Any) -> Any:
    """The model's answer about rows; where it takes tensors and PyTorch is loaded, it is called with tensors.

    >>> ask(lambda X: X[:, 0] + 1.0, np.zeros((2, 1))).tolist()
    [1.0, 1.0]
    """
    try:
        return model(features)
    except (HoldfastError, MemoryError):
        raise
    except Exception as error:
        failure = error
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(failure, TypeError | AttributeError | RuntimeError | ValueError):
        try:
            tensor = torch.as_tensor(answers_as_numbers(features), dtype=torch.get_default_dtype())
            with torch.no_grad():
                return model(tensor)
        except Exception:  # it is no function of tensors: what it said of arrays counts
            pass
    hint = "; X holds NaN: fill them in, or leave these rows out" if _holds_nan(features) else ""
    raise ParameterError(
        f"the model must answer about the rows of X as they are given, and failed ({type(failure).__name__}){hint}"
    ) from failure


def _holds_nan(features: Any) -> bool:
    try:
        return bool(np.isnan(np.asarray(features, dtype=np.float64)).any())
    except (TypeError, ValueError):
        return False


# Adapters: from a model to its outputs.
AdaptedModel = tuple[Callable[[Any], Floats], Task, tuple[Any, ...], bool]
"""Outputs, task, classes, and whether decisions are all that is shown."""


def _names(model: Any) -> tuple[Any, ...]:
    return tuple(np.asarray(model.classes_).tolist())


def _probability_adapter(model: Any, classes: Sequence[Any] | None, task: Task | None) -> AdaptedModel:
    return (lambda features: ask(model.predict_proba, features)), "classification", _names(model), False


def _score_adapter(model: Any, classes: Sequence[Any] | None, task: Task | None) -> AdaptedModel:
    """A classifier with scores only: their softmax stands for probabilities."""

    def outputs(features: Any) -> Floats:
        return probabilities_of_logits(answers_as_numbers(ask(model.decision_function, features)))

    return outputs, "classification", _names(model), False


def probabilities_of_logits(scores: Floats) -> Floats:
    """Probabilities of logits, one column per class; one number per row is the logit of the second of two.

    >>> probabilities_of_logits(np.array([0.0])).tolist()
    [[0.5, 0.5]]
    """
    wide = np.column_stack([np.zeros_like(scores), scores]) if scores.ndim == 1 else scores
    return np.asarray(np.exp(wide - np.logaddexp.reduce(wide, axis=1)[:, None]))


def _decision_adapter(model: Any, classes: Sequence[Any] | None, task: Task | None) -> AdaptedModel:
    """A classifier that shows decisions only."""
    names = np.asarray(model.classes_)
    return (
        lambda features: (np.asarray(ask(model.predict, features))[:, None] == names[None, :]).astype(
            np.float64
        ),
        "classification",
        _names(model),
        True,
    )


def _prediction_adapter(model: Any, classes: Sequence[Any] | None, task: Task | None) -> AdaptedModel:
    """An object with `predict` and no classes of its own: numbers, or probabilities where the classes are named."""

    def outputs(features: Any) -> Floats:
        values = answers_as_numbers(ask(model.predict, features))
        return values.reshape(-1) if values.size == len(values) else values

    return (
        (outputs, "regression", (), False)
        if classes is None
        else _callable_adapter(model.predict, classes, task)
    )


def _callable_adapter(model: Any, classes: Sequence[Any] | None, task: Task | None) -> AdaptedModel:
    if classes is None:
        require(task != "classification", "classes", None, "the labels, in the order of the columns")
        return (lambda features: answers_as_numbers(ask(model, features))), "regression", (), False
    names = tuple(np.asarray(classes).tolist())
    require(len(names) >= 2 and len(set(names)) == len(names), "classes", names, "two or more, all different")

    def outputs(features: Any) -> Floats:
        values = answers_as_numbers(ask(model, features))
        if len(names) == 2 and values.size == len(values):
            values = values.reshape(-1)
            return np.column_stack([1.0 - values, values])
        return values

    return outputs, "classification", names, False


def _module_adapter(model: Any, classes: Sequence[Any] | None, task: Task | None) -> AdaptedModel:
    """A PyTorch module: tensors in, in evaluation mode and without gradients, arrays out."""

    def module_outputs(features: Any) -> Floats:
        import torch

        weights = next(iter(model.parameters()), torch.zeros(0))
        training = model.training
        model.eval()
        try:
            with torch.no_grad():
                tensor = torch.as_tensor(
                    answers_as_numbers(features), dtype=weights.dtype, device=weights.device
                )
                answer = answers_as_numbers(model(tensor))
        finally:
            model.train(training)
        return answer.reshape(-1) if classes is None and answer.shape == (len(answer), 1) else answer

    return _callable_adapter(module_outputs, classes, task)


def _is_module(model: Any) -> bool:
    torch = any(base.__module__.partition(".")[0] == "torch" for base in type(model).__mro__)
    return torch and hasattr(model, "parameters")


def _has(*names: str) -> Callable[[Any], bool]:
    return lambda model: all(hasattr(model, name) for name in names)


ADAPTERS: tuple[tuple[Callable[[Any], bool], Callable[..., AdaptedModel]], ...] = (
    (_has("predict_proba", "classes_"), _probability_adapter),
    (_has("decision_function", "classes_"), _score_adapter),
    (_has("predict", "classes_"), _decision_adapter),
    (_has("predict"), _prediction_adapter),
    (_is_module, _module_adapter),
    (callable, _callable_adapter),
)
"""The first whose test a model passes is taken."""

"""Steps of a pipeline that read rows without paying; they are found before anything is spent, and refused by name.

A step is fitted to the same rows as the model after it. What it learns from them, such as a mean or a choice of
columns, is in every prediction of the pipeline, so it must be paid for or be known without the rows. Three kinds of
steps are allowed: those that pay (`payment = "paid"` on their class), those that learn only public facts (`payment =
"public"`), and those that scikit-learn's tags call stateless (`requires_fit` is false).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from holdfast._assumption import Assumption
from holdfast.errors import ParameterError

PAID, PUBLIC = "paid", "public"
"""The values of a class's attribute `payment`: its fit pays for what it reads, or it reads nothing private."""
STEPS = "steps before the fit"
"""The kind of an assumption about the steps that rows went through before the fit."""
WAY_OUT = (
    "a step must be holdfast's PrivateScaler or PrivatePCA, which pay for what they read, Encoder or RandomProjection, "
    "which read nothing, a stateless one such as Normalizer, or of a class that declares payment = 'public'; what "
    "another one learned from the rows was not paid for, and the promise would not hold. Nothing was charged"
)
_NO_STEPS = (None, "passthrough", "drop")
_ROW_MULTIPLIERS = ("PatchExtractor",)
"""Stateless transformers of scikit-learn that make several rows out of one."""


def require_paid_steps(estimator: Any, parameter: str = "estimator") -> tuple[Assumption, ...]:
    """The assumptions about the steps of an estimator; a step that reads rows and does not pay is refused.

    The check looks into a Pipeline, a ColumnTransformer and a FeatureUnion, as deep as they are nested. The last step
    of a pipeline is the model, which pays.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import Normalizer, StandardScaler
    >>> from holdfast.learn import PrivateRidge
    >>> require_paid_steps(make_pipeline(Normalizer(), PrivateRidge()))
    ()
    >>> require_paid_steps(make_pipeline(StandardScaler(), PrivateRidge()))
    Traceback (most recent call last):
    holdfast.errors.ParameterError: step 'standardscaler' is a StandardScaler, which learns from the rows...
    """
    model = estimator.steps[-1][1] if isinstance(getattr(estimator, "steps", None), list) else estimator
    if _payment(model) != PAID:
        raise ParameterError(
            f"{parameter} must be one of holdfast's, or a Pipeline that ends in one, got {type(model).__name__}"
        )
    assumptions = [
        assumed for path, step in steps_before(estimator) if (assumed := _step_assumption(path, step))
    ]
    return tuple(assumptions)


def steps_before(estimator: Any) -> Iterator[tuple[str, Any]]:
    """Every step before the model, with its path, such as 'columns.scale'; nested parts are listed one by one."""
    for name, step in (getattr(estimator, "steps", None) or [])[:-1]:
        yield from _single_steps(str(name), step)


def _single_steps(path: str, step: Any) -> Iterator[tuple[str, Any]]:
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import FeatureUnion, Pipeline

    parts: list[tuple[str, Any]] = []
    if type(step) is ColumnTransformer:
        for name, part, columns in step.transformers:
            if callable(columns):
                raise ParameterError(
                    f"step {path!r} chooses the columns of {name!r} by a function of the rows; name them. Nothing was "
                    "charged"
                )
            parts.append((name, part))
        parts.append(("remainder", step.remainder))
    elif type(step) is FeatureUnion:
        parts = list(step.transformer_list)
    elif type(step) is Pipeline:
        parts = list(step.steps)
    else:
        yield path, step
        return
    for name, part in parts:
        yield from _single_steps(f"{path}.{name}", part)


def _payment(step: Any) -> str:
    """The payment that the class of a step declares; empty if it declares none."""
    declared = getattr(type(step), "payment", "")
    return declared if isinstance(declared, str) else ""


def _step_assumption(path: str, step: Any) -> Assumption | None:
    """The assumption about a step, None if there is none; a step that reads rows without paying is refused."""
    if any(step is no_step or (isinstance(step, str) and step == no_step) for no_step in _NO_STEPS):
        return None
    kind = type(step)
    if _payment(step) in (PAID, PUBLIC):
        if kind.__module__.startswith("holdfast."):
            return None
        return Assumption(
            kind=STEPS,
            subject=path,
            voids=True,
            text=f"step {path!r} ({kind.__name__}) pays for what it learns or learns nothing, as its class says",
        )
    if isinstance(step, type) or not _is_stateless(step):
        raise ParameterError(
            f"step {path!r} is a {kind.__name__}, which learns from the rows that it is fitted to; {WAY_OUT}"
        )
    if kind.__name__ in _ROW_MULTIPLIERS:
        raise ParameterError(
            f"step {path!r} is a {kind.__name__}, which makes several rows of one: no more is known of whose rows they "
            "are; make them before, as a Table with a privacy unit. Nothing was charged"
        )
    if kind.__module__.startswith("sklearn.") and _treats_rows_alone(step):
        return None
    return Assumption(
        kind=STEPS,
        subject=path,
        voids=True,
        text=f"step {path!r} ({kind.__name__}) treats each row by itself, whatever the others are",
    )


def _is_stateless(step: Any) -> bool:
    """Whether scikit-learn's tags say that the step does not need a fit."""
    from sklearn.utils import get_tags

    try:
        return not get_tags(step).requires_fit
    except (AttributeError, TypeError, ValueError):  # it has no tags
        return False


def _treats_rows_alone(step: Any) -> bool:
    """Whether a stateless transformer of scikit-learn treats each row alone; a user's own function may not."""
    from sklearn.preprocessing import FunctionTransformer

    if not isinstance(step, FunctionTransformer):
        return True
    func = step.func
    # One of NumPy's own functions of single numbers, such as log1p.
    is_elementwise = (
        isinstance(func, np.ufunc) and func.signature is None and getattr(np, func.__name__, None) is func
    )
    return func is None or (is_elementwise and not step.kw_args)

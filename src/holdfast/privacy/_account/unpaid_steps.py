"""Steps that would read rows without paying: found by their declarations before anything is spent, and refused by name.

A step of a pipeline is fitted to the same rows as the model after it. What it learns there, a mean or a choice of
columns, is in every prediction of the pipeline, so it must be paid for or be known without the rows. Three kinds of
steps are: those that pay (`payment = "paid"` on their class), those that learn nothing but public things
(`payment = "public"`), and those that scikit-learn's tags call stateless (`requires_fit` is false).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from holdfast._assumption import Assumption
from holdfast.errors import ParameterError

PAID, PUBLIC = "paid", "public"
"""What a class says by its attribute `payment`: that its fit pays for what it reads, or reads nothing private."""
STEPS = "steps before the fit"
"""The kind of what is assumed of the steps that rows went through."""
WAY_OUT = (
    "a step must be holdfast's PrivateScaler or PrivatePCA, which pay for what they read, Encoder or RandomProjection, "
    "which read nothing, a stateless one such as Normalizer, or of a class that declares payment = 'public'; what "
    "another one learned from the rows was not paid for, and the promise would not hold. Nothing was charged"
)
_ABSENT = (None, "passthrough", "drop")
_SEVERAL_ROWS_OF_ONE = ("PatchExtractor",)
"""Stateless transformers of scikit-learn that make several rows of one."""


def require_paid_steps(estimator: Any, parameter: str = "estimator") -> tuple[Assumption, ...]:
    """Refuse an estimator of which one step reads rows and does not pay; what is assumed of the others comes back.

    Looks into a Pipeline, a ColumnTransformer and a FeatureUnion, as deep as they are nested. The last step of a
    pipeline is the model, which pays.

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
    """Every step before the model by its path, such as 'columns.scale'; those of nested parts one by one."""
    for name, step in (getattr(estimator, "steps", None) or [])[:-1]:
        yield from _leaves(str(name), step)


def _leaves(path: str, step: Any) -> Iterator[tuple[str, Any]]:
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
        yield from _leaves(f"{path}.{name}", part)


def _payment(step: Any) -> str:
    """What the class of a step declares of its payment; empty where it declares nothing."""
    declared = getattr(type(step), "payment", "")
    return declared if isinstance(declared, str) else ""


def _step_assumption(path: str, step: Any) -> Assumption | None:
    """What one step rests on, None for nothing; refused where it reads rows and nothing pays for that."""
    if any(step is absent or (isinstance(step, str) and step == absent) for absent in _ABSENT):
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
    if kind.__name__ in _SEVERAL_ROWS_OF_ONE:
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
    """Whether scikit-learn's tags say that there is nothing to fit."""
    from sklearn.utils import get_tags

    try:
        return not get_tags(step).requires_fit
    except (AttributeError, TypeError, ValueError):  # it has no tags
        return False


def _treats_rows_alone(step: Any) -> bool:
    """Of a stateless transformer of scikit-learn: a function of the caller's may look at all rows at once."""
    from sklearn.preprocessing import FunctionTransformer

    if not isinstance(step, FunctionTransformer):
        return True
    func = step.func
    # One of NumPy's own functions of single numbers, such as log1p.
    of_numbers = (
        isinstance(func, np.ufunc) and func.signature is None and getattr(np, func.__name__, None) is func
    )
    return func is None or (of_numbers and not step.kw_args)

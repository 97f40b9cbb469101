"""What is known of a fitted model beside its answers: its first step, the columns that it reads, and its own model.

Estimators of holdfast keep their released model, their encoder and their release. Models of other libraries have none
of these, whatever their attributes are called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.data._encode import Encoder
from holdfast.data._schema import Schema

if TYPE_CHECKING:
    from holdfast.learn._additive.model import AdditiveModel
    from holdfast.learn._estimators.linear_model import LinearModel
    from holdfast.release import Release


def first_step(model: Any) -> Any:
    """The object that takes the rows: the first step of a Pipeline, or the model itself."""
    return model.steps[0][1] if is_pipeline(model) else model


def is_pipeline(model: Any) -> bool:
    """Whether a model has steps as a scikit-learn Pipeline has them."""
    return hasattr(model, "steps") and isinstance(model.steps, list)


def released_model(model: Any) -> LinearModel | AdditiveModel | None:
    """The released model of a fitted estimator of holdfast's; None for any other model."""
    from holdfast.learn._rows.payment import PaidFit

    released: LinearModel | AdditiveModel | None = model.fitted_model if isinstance(model, PaidFit) else None
    return released


def linear_model(model: Any) -> LinearModel | None:
    """The released model of a fitted linear estimator of holdfast's; None for any other model."""
    from holdfast.learn._estimators.linear_model import LinearModel

    released = released_model(model)
    return released if isinstance(released, LinearModel) else None


def release_of(model: Any) -> Release[Any] | None:
    """The release of an estimator that holdfast fitted with privacy; None for any other model."""
    from holdfast.learn._rows.payment import PaidFit

    return model.fitted_release if isinstance(model, PaidFit) else None


def encoder_of(model: Any) -> Encoder | None:
    """The encoder of a linear estimator of holdfast's that was fitted to a table; None for any other model."""
    from holdfast.learn._estimators.estimator import PrivateLinearEstimator

    return model.encoder_ if isinstance(model, PrivateLinearEstimator) else None


def schema_of(model: Any) -> Schema | None:
    """The schema of the rows that a fitted model was trained on, or that its first step encodes by; if it has one."""
    released = released_model(model)
    if released is not None and released.schema is not None:
        return Schema.from_dict(dict(released.schema))
    first = first_step(model)
    return first.schema if isinstance(first, Encoder) else None


def columns_read(model: Any) -> tuple[str, ...]:
    """The columns that a fitted model or Pipeline reads, as far as it says; otherwise empty."""
    first = first_step(model)
    if isinstance(first, Encoder):
        return first.columns_
    released, linear = released_model(first), linear_model(first)
    if released is not None and released.columns:
        return tuple(map(str, released.columns))
    if linear is not None and linear.feature_names:
        return tuple(map(str, linear.feature_names))
    return tuple(map(str, first.feature_names_in_)) if hasattr(first, "feature_names_in_") else ()


def reads_table(model: Any) -> bool:
    """Whether a model takes columns by their names, texts among them, and not a matrix of numbers."""
    first = first_step(model)
    released = released_model(first)
    return isinstance(first, Encoder) or (released is not None and released.columns is not None)

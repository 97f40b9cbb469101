"""A fitted scikit-learn Pipeline as one release: its steps and its model, with one guarantee for all of them.

A step that learned from rows without paying for it (scikit-learn's own scalers, imputers, selections) would make the
guarantee false, so such a pipeline is refused, by the name of the step.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import reduce
from typing import Any

from holdfast._arguments import checked
from holdfast._assumption import distinct
from holdfast.data._encode import Encoder
from holdfast.data._schema import Schema
from holdfast.errors import FormatError, ParameterError
from holdfast.learn._rows.payment import PaidFit, payer_of
from holdfast.learn._steps.pca import PrivatePCA
from holdfast.learn._steps.projection import RandomProjection
from holdfast.learn._steps.scaler import PrivateScaler
from holdfast.learn._steps.stateless import FORMAT as STATELESS
from holdfast.learn._steps.stateless import stateless_step, stateless_value
from holdfast.learn._steps.step import PrivateStep
from holdfast.privacy._account.unpaid_steps import require_paid_steps
from holdfast.privacy._guarantee import Guarantee
from holdfast.release import Release
from holdfast.release._release import Provenance

FORMAT = "holdfast-pipeline/1"
ENCODER_FORMAT, PROJECTION_FORMAT = "holdfast-encoder/1", "holdfast-projection/1"
PRIVATE_STEPS: tuple[type[PrivateStep], ...] = (PrivateScaler, PrivatePCA)


@checked
def pipeline_release(pipeline: Any) -> Release[Any]:
    """One release of a fitted Pipeline: `save` it, and `load_model` gives the Pipeline back.

    Where one account paid for all, the promise is its limit; else what each part promised is composed.

    Parameters
    ----------
    pipeline : sklearn.pipeline.Pipeline
        Fitted. Every step before the model must be one that pays (`PrivateScaler`, `PrivatePCA`), that reads nothing
        (`Encoder`, `RandomProjection`), or that is stateless by scikit-learn's tags and made of plain parameters
        (`Normalizer`, `FunctionTransformer(np.log1p)`); any other is refused by its name.

    Returns
    -------
    Release
        Of all steps together, with one guarantee.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from holdfast.learn import PrivateLogisticRegression, RandomProjection
    >>> X, y = np.tile([[0.6, 0.1], [-0.5, 0.2]], (500, 1)), np.tile([1, 0], 500)
    >>> model = PrivateLogisticRegression(epsilon=2.0, delta=1e-6, classes=[0, 1])
    >>> release = pipeline_release(make_pipeline(RandomProjection(2), model).fit(X, y))
    >>> release.value["names"]
    ['randomprojection', 'privatelogisticregression']
    """
    steps = getattr(pipeline, "steps", None)
    if not isinstance(steps, list) or not steps:
        raise ParameterError(f"pipeline must be a scikit-learn Pipeline, got a {type(pipeline).__name__}")
    (*steps_before, (model_name, model)) = steps
    model_release = model.fitted_release if isinstance(model, PaidFit) else None
    if model_release is None:
        raise ParameterError(
            f"the last step, {model_name!r}, must be a fitted private estimator of holdfast's"
        )
    active_steps = [(name, step) for name, step in steps_before if step is not None and step != "passthrough"]
    step_assumptions = require_paid_steps(pipeline, "pipeline")
    values = [_step_value(name, step) for name, step in active_steps]
    paid_parts = [step for _, step in active_steps if isinstance(step, PrivateStep)] + [model]
    guarantee, provenance = _common_promise(paid_parts)
    assumptions = distinct(
        (
            *(assumption for part in paid_parts for assumption in part.release_.guarantee.assumptions),
            *step_assumptions,
        )
    )
    names = [name for name, _ in active_steps] + [model_name]
    release: Release[Any] = Release(
        value={"format": FORMAT, "names": names, "steps": [*values, model_release.value]},
        guarantee=guarantee.assuming(*assumptions),
        provenance=dataclasses.replace(provenance, steps=tuple(names)),
        certificates=model_release.certificates,
        prospects=tuple(
            dict.fromkeys(prospect for part in paid_parts for prospect in part.release_.prospects)
        ),
    )
    account = model._payer
    if provenance.head and account is not None:
        # The ledger knows the release of the model; it must also know that of the pipeline, which is published.
        release.close_in(account)
    return release


def pipeline_of_release(release: Release[Any], models: Any) -> Any:
    """The fitted Pipeline that a release holds; `models` makes the last step of a release."""
    from sklearn.pipeline import Pipeline

    value = release.value
    try:
        names, steps = list(value["names"]), list(value["steps"])
        fitted_steps = [_step_of_value(stored, release) for stored in steps[:-1]]
        fitted_steps.append(models(dataclasses.replace(release, value=steps[-1])))
        return Pipeline(list(zip(names, fitted_steps, strict=True)))
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise FormatError("a stored pipeline lacks a step or has one of the wrong kind") from error


def holds_pipeline(value: Any) -> bool:
    """Whether a release's value is a pipeline."""
    return isinstance(value, Mapping) and value.get("format") == FORMAT


def require_storable(name: str, step: Any) -> None:
    """Refuse a step that the file of a release cannot hold, however public it is."""
    if step is None or step == "passthrough" or isinstance(step, PrivateStep):
        return
    if type(step) in (Encoder, RandomProjection) or stateless_value(step) is not None:
        return
    raise ParameterError(
        f"step {name!r} is a {type(step).__name__}, which reads nothing private but cannot be written down without its "
        "code: a release holds PrivateScaler, PrivatePCA, Encoder, RandomProjection, and stateless transformers of "
        "scikit-learn whose parameters are plain; do what it does before, and hand over its result"
    )


def _step_value(name: str, step: Any) -> dict[str, Any]:
    """A step in the plain values that a release stores."""
    if isinstance(step, PrivateStep):
        if step.fitted_release is None:
            raise ParameterError(f"step {name!r} must be fitted")
        return dict(step.release_.value)
    if type(step) is Encoder:
        return {
            "format": ENCODER_FORMAT,
            "schema": step.schema.to_dict(),
            "columns": None if step.columns is None else list(step.columns),
            "scale": step.scale,
            "intercept": step.intercept,
            "row_norm": step.row_norm,
        }
    if type(step) is RandomProjection:
        return {
            "format": PROJECTION_FORMAT,
            "components": step.components,
            "seed": step.seed,
            "columns": int(step.n_features_in_),
        }
    require_storable(name, step)
    value = stateless_value(step)
    assert value is not None  # other steps were refused
    return value


def _step_of_value(value: Any, release: Release[Any]) -> Any:
    """The step that `_step_value` stored."""
    import numpy as np

    kind = value["format"]
    if kind == ENCODER_FORMAT:
        settings = {key: value[key] for key in ("columns", "scale", "intercept", "row_norm")}
        return Encoder(Schema.from_dict(value["schema"]), **settings).fit()
    if kind == PROJECTION_FORMAT:
        projection = RandomProjection(value["components"], seed=value["seed"])
        return projection.fit(np.zeros((1, int(value["columns"]))))
    if kind == STATELESS:
        return stateless_step(value)
    for private in PRIVATE_STEPS:
        if kind == private.FORMAT:
            return private.from_release(dataclasses.replace(release, value=value))
    raise FormatError("a stored pipeline has a step of a kind that this version does not know")


def _common_promise(paid_parts: list[Any]) -> tuple[Guarantee, Provenance]:
    """The guarantee of all private steps and the model: that of their common account, or the composition of several."""
    model = paid_parts[-1].release_
    if len({payer_of(part) for part in paid_parts}) == 1 and payer_of(paid_parts[0]) is not None:
        # The model was fitted last, so its release lists every charge of the account, those of the steps among them.
        return model.guarantee, model.provenance
    if len(paid_parts) == 1:
        return model.guarantee, model.provenance
    if any(part.release_.provenance.head for part in paid_parts):
        raise ParameterError(
            "the steps of this pipeline were paid from several accounts, of which one is in a ledger; fit them with "
            "one account in one process, so that one account of the ledger tells all"
        )
    guarantee = reduce(Guarantee.compose, (part.release_.guarantee for part in paid_parts))
    strict = all(part.release_.provenance.arithmetic == "strict" for part in paid_parts)
    seeded = any(part.release_.provenance.noise == "seeded" for part in paid_parts)
    return guarantee, dataclasses.replace(
        model.provenance,
        arithmetic="strict" if strict else "idealised",
        noise="seeded" if seeded else "secure",
    )

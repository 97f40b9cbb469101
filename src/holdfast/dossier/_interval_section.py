"""Coefficients with intervals as a section of the record: sampling and privacy noise, from the released model alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from holdfast.dossier._section import Section
from holdfast.errors import FormatError, NoIntervals

INTERVAL_LEVEL = 0.95


@dataclass(frozen=True, kw_only=True)
class InferredWeight(Section):
    """One coefficient, and how far its interval reaches to both sides; None where none was issued."""

    name: str
    weight: float
    reach: float | None
    low: float | None
    high: float | None
    p: float | None


@dataclass(frozen=True, kw_only=True)
class InferredUtility(Section):
    """A linear model whose release says how far sampling and noise may have moved it, or why it does not."""

    kind: Literal["inferred"] = "inferred"
    what: str
    predicts: tuple[str, ...]
    level: float
    rests_on: str
    refused: str
    rows: tuple[InferredWeight, ...]
    left_out: int


def inferred_utility(value: Mapping[str, Any], *, most_rows: int) -> InferredUtility:
    """A model that stores its score: every coefficient with its interval, or the words of the refusal."""
    from holdfast.learn._estimators.linear_model import LinearModel
    from holdfast.learn._inference.coefficients import coefficient_intervals

    model = LinearModel.of_value(value)
    inference = model.inference or {}
    names = model.names[: len(inference["scales"])]
    refusal, rests_on, intervals = "", "", None
    try:
        intervals = coefficient_intervals(inference, names=names, level=INTERVAL_LEVEL)
        rests_on = intervals.rests_on
    except NoIntervals as error:
        refusal = str(error)
    weights = np.append(model.coef[0], model.intercept)[: len(names)]
    estimates = weights if intervals is None else intervals.estimate
    if not np.isfinite(estimates).all():
        raise FormatError("a released weight is not a finite number; such a model has no page")
    order = sorted(range(len(names)), key=lambda place: -abs(estimates[place]))[:most_rows]
    rows = tuple(
        InferredWeight(
            name=names[place],
            weight=_five_digits(estimates[place]),
            reach=None
            if intervals is None
            else _five_digits((intervals.high[place] - intervals.low[place]) / 2),
            low=None if intervals is None else _five_digits(intervals.low[place]),
            high=None if intervals is None else _five_digits(intervals.high[place]),
            p=None if intervals is None else float(f"{intervals.p_value[place]:.2g}"),
        )
        for place in order
    )
    return InferredUtility(
        what=f"a linear model ({model.model}) with {len(names)} numbers",
        predicts=tuple(str(name) for name in model.classes or ()),
        level=INTERVAL_LEVEL,
        rests_on=rests_on,
        refused=refusal,
        rows=rows,
        left_out=len(names) - len(rows),
    )


def _five_digits(value: float) -> float:
    return float(f"{value:.5g}")

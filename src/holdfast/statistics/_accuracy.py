"""Accuracy in, epsilon out: the least epsilon by which every interval is as narrow as was asked.

Widths are planned from public facts: the law of the noise, and for ratios and quantiles a number of rows that is public
or guessed. Nothing is read, and nothing is spent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from holdfast._arguments import checked
from holdfast.errors import ParameterError, require
from holdfast.privacy._account.request import limit_of
from holdfast.statistics._plan import AnswerPlan
from holdfast.statistics._questions.grouping import Asked
from holdfast.statistics._table_facts import TableFacts

LEAST_EPSILON, MOST_EPSILON = 1e-4, 64.0
_PRECISION = 1e-3


@checked
@dataclass(frozen=True)
class Width:
    """How far the ends of an interval may be from its middle, and for how many rows that is planned.

    Parameters
    ----------
    size : float or str
        In the units of the answer, or a text such as "2%": a share of the value.
    rows : int, optional
        A public or guessed number of rows, on which the widths of means and quantiles depend; by default the public
        number of units.

    Examples
    --------
    >>> Width("2%", rows=10_000).reach(50.0), Width(0.5).reach(50.0)
    (1.0, 0.5)
    """

    size: float | str
    rows: int | None = None

    def __post_init__(self) -> None:
        if isinstance(self.size, str):
            number = self.size.strip().removesuffix("%")
            known = self.size.strip().endswith("%") and number.replace(".", "", 1).isdigit()
            require(known, "within", self.size, 'a number, or a text such as "2%"')
        else:
            require(0 < self.size < math.inf, "within", self.size, "> 0 and finite")
        require(self.rows is None or self.rows >= 1, "rows", self.rows, ">= 1")

    def reach(self, value: float) -> float:
        """How far the ends may be from a `value`."""
        if isinstance(self.size, str):
            return value * float(self.size.strip().removesuffix("%")) / 100
        return float(self.size)


@dataclass(frozen=True, kw_only=True)
class PlannedWidth:
    """Of one column the largest half of an interval that is to be expected, and that of the population's."""

    name: str
    half: float
    value: float
    population_half: float | None


def planned_widths(plan: AnswerPlan, *, rows: float, confidence: float) -> tuple[PlannedWidth, ...]:
    """For each column of the answer, from public facts and a number of rows that is public or guessed."""
    widths = []
    for step in plan.steps:
        typical = step.measurement.typical(step.share, plan.facts, rows)
        for place in step.questions:
            for estimate in plan.asked[place].question.estimates(typical, plan.facts, confidence):
                beyond = None
                if estimate.population_low is not None and estimate.population_high is not None:
                    beyond = float(np.max(estimate.population_high - estimate.population_low)) / 2
                widths.append(
                    PlannedWidth(
                        name=estimate.name,
                        half=float(np.max(estimate.high - estimate.low)) / 2,
                        value=float(np.nanmin(np.abs(estimate.value))) if estimate.value.size else 0.0,
                        population_half=beyond,
                    )
                )
    return tuple(widths)


def least_epsilon(
    asked: Sequence[Asked],
    facts: TableFacts,
    width: Width,
    *,
    delta: float | None,
    confidence: float,
) -> float:
    """The least epsilon by which every interval is narrow enough, rounded up by a thousandth.

    Refused where no epsilon up to 64 is enough.
    """
    rows = width.rows or facts.n_public
    if rows is None:
        raise ParameterError(
            "rows must be given with within where the number of units is private: widths of means depend on it; "
            "a guess will do, as in answer(..., within=Width(0.02, rows=10_000))"
        )

    def excess(epsilon: float) -> tuple[float, PlannedWidth]:
        plan = AnswerPlan.of(asked, facts, limit_of(epsilon, delta, count=facts.n_public))
        worst = [
            (planned.half / (width.reach(planned.value) or math.inf), planned)
            for planned in planned_widths(plan, rows=rows, confidence=confidence)
        ]
        return max(worst, key=lambda pair: pair[0])

    over, widest = excess(MOST_EPSILON)
    if over > 1:
        raise ParameterError(
            f"within must be wider: at epsilon {MOST_EPSILON:g} the interval of {widest.name} still reaches "
            f"{widest.half:.4g} to each side"
        )
    low, high = math.log(LEAST_EPSILON), math.log(MOST_EPSILON)
    if excess(LEAST_EPSILON)[0] <= 1:
        return LEAST_EPSILON
    while high - low > _PRECISION:
        middle = (low + high) / 2
        low, high = (low, middle) if excess(math.exp(middle))[0] <= 1 else (middle, high)
    return float(f"{math.exp(high) * (1 + _PRECISION):.6g}")

"""`explain`: what each question will cost and how wide its interval will be, before anything is spent or read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast._arguments import checked
from holdfast.data._schema import Schema
from holdfast.data._table import Table
from holdfast.errors import require
from holdfast.privacy._account.request import limit_of, require_small_delta
from holdfast.privacy._adjacency import Adjacency, resolve_adjacency
from holdfast.privacy._wording import confidence_text
from holdfast.statistics._plan import AnswerPlan
from holdfast.statistics._questions.grouping import Grouping, asked_of
from holdfast.statistics._questions.question import TableQuestion
from holdfast.statistics._table_facts import TableFacts

_NOT_FORETOLD = "no width is foretold where ranks, or a bound on the rows of a person, are chosen privately"
GROUP_SIZES = (100, 1_000, 10_000)
"""For groups of so many rows widths are foretold."""


@dataclass(frozen=True, kw_only=True)
class QuestionForecast:
    """What is known about one question before it is asked. Public.

    Attributes
    ----------
    name : str
        Its column in the answer.
    keys : tuple of str
        The columns by which rows are grouped.
    groups : int
        How many rows the answer has.
    noise : float
        The standard deviation of the noise in a count of rows of the measurement that answers it.
    half_widths : mapping of int to float
        By the number of rows in a group: half of the width of the interval, for numbers in the middle of their bounds;
        empty where it cannot be foretold.
    """

    name: str
    keys: tuple[str, ...]
    groups: int
    noise: float
    half_widths: Mapping[int, float]


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """What a list of questions will cost, and how wide its intervals will be.

    Parameters
    ----------
    plan : AnswerPlan
        The measurements and their shares.
    forecasts : tuple of QuestionForecast
        One for each question.
    confidence : float
        Of the intervals.

    Examples
    --------
    >>> from holdfast.data import Numeric, Schema
    >>> from holdfast.statistics import Mean, explain
    >>> explain(Schema([Numeric("age", 0, 100)]), [Mean("age")], epsilon=1.0).forecasts[0].name
    'mean_age'
    """

    plan: AnswerPlan
    forecasts: tuple[QuestionForecast, ...]
    confidence: float

    def summary(self) -> str:
        """A line for each question."""
        sizes = ", ".join(f"{size:,}" for size in GROUP_SIZES)
        lines = [
            f"{self.plan.limit!r} would be spent on {len(self.plan.steps)} measurements; nothing was read or spent",
            f"half widths of intervals with confidence {confidence_text(self.confidence)}, noise only, in groups of "
            f"{sizes} rows in the middle of their bounds:",
        ]
        for forecast in self.forecasts:
            by = f" by {', '.join(forecast.keys)} ({forecast.groups:,} groups)" if forecast.keys else ""
            widths = ", ".join(f"{width:,.4g}" for width in forecast.half_widths.values())
            lines.append(
                f"  {forecast.name}{by}: {widths or _NOT_FORETOLD}; noise of {forecast.noise:,.4g} rows"
            )
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "limit": repr(self.plan.limit),
            "confidence": self.confidence,
            "measurements": self.plan.to_json(),
            "questions": [
                {
                    "name": forecast.name,
                    "keys": list(forecast.keys),
                    "groups": forecast.groups,
                    "noise": forecast.noise,
                    "half_widths": {str(size): width for size, width in forecast.half_widths.items()},
                }
                for forecast in self.forecasts
            ],
        }


@checked
def explain(
    source: Schema | Table,
    questions: Sequence[TableQuestion | Grouping],
    *,
    epsilon: float = 1.0,
    delta: float | None = None,
    adjacency: Adjacency | str | None = None,
    confidence: float = 0.95,
) -> Explanation:
    """What questions will cost, and how wide their intervals will be; nothing is read, nothing is spent.

    Parameters
    ----------
    source : Schema or Table
        What is public about the rows.
    questions : sequence of TableQuestion or Grouping
        As `answer` takes them.
    epsilon : float
        The promise, together with `delta`.
    delta : float, optional
        As in `answer`.
    adjacency : Adjacency or str, optional
        The neighbour relation; by default that of the schema, else 'replace'.
    confidence : float
        Of each interval, in (0.5, 1).

    Returns
    -------
    Explanation
        The plan, and for each question its noise and the widths of its interval.

    Examples
    --------
    >>> from holdfast.data import Categorical, Schema
    >>> from holdfast.statistics import Count, by, explain
    >>> schema = Schema([Categorical("ward", ["a", "b"])], adjacency="add_remove")
    >>> forecast = explain(schema, [by("ward", Count())], epsilon=1.0, delta=0.0).forecasts[0]
    >>> forecast.groups, round(forecast.noise, 2), round(forecast.half_widths[100], 1)
    (2, 1.41, 3.0)
    """
    require(0.5 < confidence < 1, "confidence", confidence, "in (0.5, 1)")
    facts = _public_facts(source, adjacency)
    limit = limit_of(epsilon, delta, count=facts.n_public)
    require_small_delta(limit, facts.n_public)
    plan = AnswerPlan.of(asked_of(questions, facts), facts, limit)
    return Explanation(plan=plan, forecasts=_forecasts(plan, confidence), confidence=confidence)


def _public_facts(source: Schema | Table, adjacency: Adjacency | str | None) -> TableFacts:
    if isinstance(source, Table):
        resolve_adjacency(adjacency, source.adjacency)
        return TableFacts.of(source)
    chosen = resolve_adjacency(adjacency, source.adjacency)
    return TableFacts(schema=source, adjacency=chosen, unit=source.confirmed_unit)


def _forecasts(plan: AnswerPlan, confidence: float) -> tuple[QuestionForecast, ...]:
    forecasts: dict[int, QuestionForecast] = {}
    for step in plan.steps:
        for place in step.questions:
            asked = plan.asked[place]
            widths: dict[int, float] = {}
            groups = 1
            for key in asked.keys:
                groups *= key.cells(plan.facts.schema)
            for size in GROUP_SIZES:
                example = step.measurement.example(step.share, plan.facts, size)
                if example is not None:
                    estimate = asked.question.estimates(example, plan.facts, confidence)[0]
                    widths[size] = float(np.max(estimate.high - estimate.low)) / 2.0
            forecasts[place] = QuestionForecast(
                name=asked.question.title,
                keys=tuple(name for key in asked.keys for name in key.columns),
                groups=groups,
                noise=step.deviation(plan.facts),
                half_widths=widths,
            )
    return tuple(forecasts[place] for place in sorted(forecasts))

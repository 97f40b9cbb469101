"""AnswerPlan: what will be measured, with which share of the budget; it follows from public facts alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.errors import ParameterError
from holdfast.privacy._account import Account
from holdfast.privacy._account.currency import ConcentratedCurrency, GaussianCurrency
from holdfast.privacy._account.currency import Currency as Counting
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.statistics._measures.measure import Measure
from holdfast.statistics._questions.grouping import Asked
from holdfast.statistics._shares import Currency, Share
from holdfast.statistics._table_facts import TableFacts


@dataclass(frozen=True, kw_only=True)
class PlannedMeasure:
    """One measurement, its share, and the questions that it answers, by their places in the list."""

    measurement: Measure
    share: Share
    questions: tuple[int, ...]

    def deviation(self, facts: TableFacts) -> float:
        """The noise in a count of rows."""
        return self.measurement.deviation(self.share, facts)


@dataclass(frozen=True, kw_only=True)
class AnswerPlan:
    """The steps that answer a list of questions within a budget."""

    facts: TableFacts
    asked: tuple[Asked, ...]
    steps: tuple[PlannedMeasure, ...]
    limit: PrivacyCurve
    """What all steps together cost at most."""
    currency: Currency

    @classmethod
    def of(cls, asked: Sequence[Asked], facts: TableFacts, limit: PrivacyCurve) -> AnswerPlan:
        """The plan for a budget: pure shares or shares of normal noise, whichever has the smaller noise.

        A limit with a delta is kept by pure noise as well, and then nothing of the delta is used.
        """
        groups = demands(asked, facts)
        plans = [
            plan
            for currency, budget in _budgets(limit)
            if (plan := _planned(asked, groups, facts, budget, currency)) is not None
        ]
        if not plans:
            raise ParameterError(f"no noise for these questions fits into {limit!r}; use a larger budget")
        return min(plans, key=lambda plan: plan.largest_deviation)

    @classmethod
    def paid_by(cls, asked: Sequence[Asked], facts: TableFacts, account: Account) -> AnswerPlan:
        """The plan that spends what is left in an account, in its own currency."""
        currency = account.currency.name
        if currency not in ("pure", "basic", "zcdp", "gdp"):
            raise ParameterError(
                f"account must count in 'pure', 'basic', 'zcdp' or 'gdp' to pay for statistics, got one of {currency!r}"
            )
        left = account.remaining()
        amounts = account.currency.amounts(left)
        assert amounts is not None
        own: Currency = "pure" if currency in ("pure", "basic") else "zcdp" if currency == "zcdp" else "gdp"
        plan = _planned(asked, demands(asked, facts), facts, Share(own, amounts[0]), own)
        if plan is None:
            raise ParameterError(
                f"some of these questions cannot be paid by an account that counts in {currency!r}"
            )
        return plan

    @property
    def largest_deviation(self) -> float:
        """The largest noise in a count of rows, over all steps, each over its weight."""
        return max(step.deviation(self.facts) * _weight(self.asked, step.questions) for step in self.steps)

    def summary(self) -> str:
        """A line for each step."""
        lines = [f"{len(self.steps)} measurements within {self.limit!r}, counted as {self.currency}"]
        for step in self.steps:
            titles = ", ".join(self.asked[place].question.title for place in step.questions)
            lines.append(
                f"  {step.measurement.label}: answers {titles}; noise of {step.deviation(self.facts):.4g} in a count"
            )
        return "\n".join(lines)

    def to_json(self) -> list[dict[str, Any]]:
        """Plain data: the label, the share and the questions of each step."""
        return [
            {
                "measurement": step.measurement.label,
                "currency": step.share.currency,
                "share": float(step.share.amount),
                "questions": [self.asked[place].question.describe() for place in step.questions],
            }
            for step in self.steps
        ]


_CURRENCIES: dict[Currency, Counting] = {"gdp": GaussianCurrency(), "zcdp": ConcentratedCurrency()}
Demands = list[tuple[Measure, list[int]]]


def demands(asked: Sequence[Asked], facts: TableFacts) -> Demands:
    """The measurements that answer all questions, merged where one release serves several, and checked."""
    measurements: Demands = []
    for place, entry in enumerate(asked):
        wanted = entry.question.demand(entry.keys, facts)
        wanted.check(facts)
        for at, (measurement, places) in enumerate(measurements):
            merged = measurement.merged(wanted, facts)
            if merged is not None:
                measurements[at] = (merged, [*places, place])
                break
        else:
            measurements.append((wanted, [place]))
    return measurements


def _budgets(limit: PrivacyCurve) -> list[tuple[Currency, Share]]:
    """The limit as a share of each currency that it can be counted in."""
    point = limit.as_approximate()
    pure = limit.as_pure()
    budgets: list[tuple[Currency, Share]] = []
    if pure is not None:
        budgets.append(("pure", Share("pure", pure)))
    elif point is not None:
        budgets.append(("pure", Share("pure", point[0])))
    if pure is None:
        for name, currency in _CURRENCIES.items():
            amounts = currency.translate(limit)
            if amounts is not None:
                budgets.append((name, Share(name, amounts[0])))
    return budgets


def _planned(
    asked: Sequence[Asked], measurements: Demands, facts: TableFacts, budget: Share, currency: Currency
) -> AnswerPlan | None:
    """The measurements with shares by which weights times noise are the same everywhere."""
    if not all(currency in measurement.currencies() for measurement, _ in measurements):
        return None
    power = 1.0 if currency == "pure" else 2.0
    wanted = []
    for measurement, places in measurements:
        noise = measurement.deviation(budget, facts)
        wanted.append((noise * _weight(asked, places)) ** power)
    shares = budget.parts(wanted)
    steps = tuple(
        PlannedMeasure(measurement=measurement, share=share, questions=tuple(places))
        for (measurement, places), share in zip(measurements, shares, strict=True)
    )
    return AnswerPlan(facts=facts, asked=tuple(asked), steps=steps, limit=budget.curve, currency=currency)


def _weight(asked: Sequence[Asked], places: Sequence[int]) -> float:
    """The largest weight among these questions."""
    return max(asked[place].question.weight for place in places)

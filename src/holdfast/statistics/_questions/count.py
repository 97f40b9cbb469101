"""Count and DistinctUnits: how many rows, how many units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from holdfast._arguments import checked
from holdfast.data._group_sums import Key
from holdfast.statistics._measures.moments import Bound, NoisyMoments, RowMoments
from holdfast.statistics._questions.question import Estimate, TableQuestion, weighing_clause
from holdfast.statistics._table_facts import TableFacts


@checked
@dataclass(frozen=True, kw_only=True)
class Count(TableQuestion):
    """The number of rows in each group.

    Where a unit owns several rows, all of them count, weighed down to `bound` rows in all groups together.

    Parameters
    ----------
    where : Condition, optional
        Which rows are counted; by default all.
    name : str, optional
        What the column is called; by default "count".
    bound : float or 'auto', optional
        Where a unit owns several rows: how many of them it may count in all, a public number; by default chosen
        privately, and said with the noisy number of units that own more.
    weight : float
        How much narrower than others its interval is to be.

    Examples
    --------
    >>> Count().title
    'count'
    """

    @property
    def title(self) -> str:
        """The name, or count."""
        return self.name or "count"

    def demand(self, keys: tuple[Key, ...], facts: TableFacts) -> RowMoments:
        """The numbers of rows."""
        return RowMoments(keys=keys, where=self.where, bound=_bound(self.bound, facts))

    def estimates(self, noisy: NoisyMoments, facts: TableFacts, confidence: float) -> tuple[Estimate, ...]:
        """The noisy number, plus and minus the quantile of its noise."""
        return (
            counted(self.title, noisy, 1.0 - confidence, "rows" + weighing_clause(facts, noisy, self.bound)),
        )


@checked
@dataclass(frozen=True, kw_only=True)
class DistinctUnits(TableQuestion):
    """The number of units (people) that have rows in each group; a unit counts once in a group, however many it has.

    Parameters
    ----------
    where : Condition, optional
        Which rows count; by default all.
    name : str, optional
        What the column is called; by default "units".
    bound : float or 'auto', optional
        In how many groups one unit may count in all; by default chosen privately, and 1 where there is one group.
    weight : float
        How much narrower than others its interval is to be.

    Examples
    --------
    >>> DistinctUnits().title
    'units'
    """

    @property
    def title(self) -> str:
        """The name, or units."""
        return self.name or "units"

    def demand(self, keys: tuple[Key, ...], facts: TableFacts) -> RowMoments:
        """One for each unit and group."""
        bound = _bound(self.bound if keys or self.bound is not None else 1, facts)
        return RowMoments(keys=keys, where=self.where, bound=bound, once=facts.users)

    def estimates(self, noisy: NoisyMoments, facts: TableFacts, confidence: float) -> tuple[Estimate, ...]:
        """The noisy number, plus and minus the quantile of its noise."""
        about = (
            "units"
            if len(noisy.shape) == 0
            else "units" + weighing_clause(facts, noisy, self.bound, "groups")
        )
        return (counted(self.title, noisy, 1.0 - confidence, about),)


def _bound(bound: Bound | None, facts: TableFacts) -> Bound | None:
    """Chosen privately where nothing is said; none where a unit is a row."""
    return (bound or "auto") if facts.users else None


def counted(title: str, noisy: NoisyMoments, failure: float, about: str) -> Estimate:
    """The number of rows of each group, from any basis that counts them."""
    weights = noisy.basis.rows
    assert weights is not None
    value = noisy.total(weights)
    if noisy.basis.whole == 1 and noisy.scale == 1.0:
        value = np.rint(value)  # normal noise is on a finer grid
    reach = noisy.reach(np.array([weights]), failure)
    if noisy.basis.whole == 1 and noisy.scale == 1.0 and noisy.law.family == "laplace":
        reach = np.floor(reach)  # value and noise are whole
    return Estimate(name=title, value=value, low=value - reach, high=value + reach, about=about)

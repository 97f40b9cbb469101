"""Count: how many rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from holdfast._arguments import checked
from holdfast.data._group_sums import Key
from holdfast.statistics._measures.moments import NoisyMoments, RowMoments
from holdfast.statistics._questions.question import Estimate, TableQuestion
from holdfast.statistics._table_facts import TableFacts


@checked
@dataclass(frozen=True, kw_only=True)
class Count(TableQuestion):
    """The number of rows in each group.

    Where a unit owns several rows, all of them count, weighed down to `bound` rows in all groups together; by default
    the `max_rows` that the schema declares.

    Parameters
    ----------
    where : Condition, optional
        Which rows are counted; by default all.
    name : str, optional
        What the column is called; by default "count".
    bound : int, optional
        Where a unit owns several rows: how many of them it may count in all, a public number.
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
        bound = (self.bound or facts.unit.max_rows) if facts.users else None
        return RowMoments(keys=keys, where=self.where, bound=bound)

    def estimates(self, noisy: NoisyMoments, facts: TableFacts, confidence: float) -> tuple[Estimate, ...]:
        """The noisy number, plus and minus the quantile of its noise."""
        value = noisy.total(noisy.basis.rows)
        reach = noisy.reach(np.array([noisy.basis.rows]), 1.0 - confidence)
        about = "rows" + weighing_clause(facts, self.bound)
        return (Estimate(name=self.title, value=value, low=value - reach, high=value + reach, about=about),)


def weighing_clause(facts: TableFacts, bound: int | None) -> str:
    """A clause about weights, where a unit owns several rows."""
    if not facts.users:
        return ""
    rows = bound or facts.unit.max_rows
    return f", those of one {facts.unit.column} weighed down to {rows} in all"

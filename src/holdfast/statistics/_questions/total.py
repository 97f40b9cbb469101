"""Sum: of a declared number, clipped to its bounds."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from holdfast._arguments import checked
from holdfast.data._group_sums import Key
from holdfast.data._schema import Numeric
from holdfast.errors import require
from holdfast.statistics._measures.moments import NoisyMoments, RowMoments
from holdfast.statistics._questions.question import Estimate, TableQuestion, weighing_clause
from holdfast.statistics._table_facts import TableFacts


@checked
@dataclass(frozen=True)
class Sum(TableQuestion):
    """The sum of a number in each group, over the rows that have one; numbers are clipped to the declared bounds.

    Parameters
    ----------
    column : str
        A declared number.
    where : Condition, optional
        Which rows take part; by default all.
    name : str, optional
        What the column is called; by default "sum_" and the column.
    bound : float or 'auto', optional
        Where a unit owns several rows: to how much in all its contribution is weighed down, in the column's units (in
        rows where its numbers may be negative); by default chosen privately.
    weight : float
        How much narrower than others its interval is to be.

    Examples
    --------
    >>> Sum("cost").title
    'sum_cost'
    """

    column: str = field(kw_only=False)

    @property
    def title(self) -> str:
        """The name, or sum_ and the column."""
        return self.name or f"sum_{self.column}"

    def demand(self, keys: tuple[Key, ...], facts: TableFacts) -> RowMoments:
        """The sum alone where no number is negative, else a basis of degree one."""
        alone = declared_number(facts, self.column).low >= 0
        bound = (self.bound or "auto") if facts.users else None
        return RowMoments(keys=keys, column=self.column, degree=1, alone=alone, where=self.where, bound=bound)

    def estimates(self, noisy: NoisyMoments, facts: TableFacts, confidence: float) -> tuple[Estimate, ...]:
        """The noisy sum, plus and minus the quantile of its noise."""
        column, basis = declared_number(facts, self.column), noisy.basis
        width = column.high - column.low
        if basis.amount is not None:
            steps = basis.whole - basis.forms[0][1]
            weights = np.array(basis.amount) * (width / steps)
            noun = f"rows of {column.high:g}"
        else:
            assert basis.first is not None
            assert basis.present is not None
            weights = column.low * np.array(basis.present) + width * np.array(basis.first)
            noun = "rows"
        value = noisy.total(tuple(weights.tolist()))
        reach = noisy.reach(weights[None, :], 1.0 - confidence)
        about = f"sum of {self.column} clipped to [{column.low:g}, {column.high:g}]"
        about += weighing_clause(facts, noisy, self.bound, noun)
        return (Estimate(name=self.title, value=value, low=value - reach, high=value + reach, about=about),)


def declared_number(facts: TableFacts, name: str) -> Numeric:
    """The declaration of a number; refused for a category."""
    column = facts.schema[name]
    require(isinstance(column, Numeric), "column", name, "a number of the schema")
    assert isinstance(column, Numeric)
    return column

"""Histogram and Contingency: numbers of rows in all cells of one or more columns, and a consistent view of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from holdfast._arguments import checked
from holdfast._arrays import Floats
from holdfast.data._conditions import Condition
from holdfast.data._group_sums import CellKey, Key
from holdfast.errors import require
from holdfast.statistics._measures.moments import Bound, NoisyMoments, RowMoments
from holdfast.statistics._questions.count import counted
from holdfast.statistics._questions.question import Estimate, TableQuestion, weighing_clause
from holdfast.statistics._table_facts import TableFacts


@checked
@dataclass(frozen=True, init=False)
class Histogram(TableQuestion):
    """The number of rows in every declared cell of some columns, in each group.

    Two columns of counts: as they were measured, unclamped, of which sums over many cells stay good; and a consistent
    view, whole and not negative, that adds up to the noisy total of each group.

    Parameters
    ----------
    *columns : str
        One or more columns of the schema; with several, their contingency table.
    where : Condition, optional
        Which rows are counted; by default all.
    name : str, optional
        What the column is called; by default "count".
    bound : float or 'auto', optional
        Where a unit owns several rows: how many of them it may count in all; by default chosen privately.
    weight : float
        How much narrower than others its intervals are to be.

    Examples
    --------
    >>> Histogram("age").columns
    ('age',)
    """

    columns: tuple[str, ...] = ()

    def __init__(
        self,
        *columns: str,
        where: Condition | None = None,
        name: str | None = None,
        bound: Bound | None = None,
        weight: float = 1.0,
    ) -> None:
        fields = {"columns": columns, "where": where, "name": name, "bound": bound, "weight": weight}
        for field, value in fields.items():
            object.__setattr__(self, field, value)
        require(len(columns) > 0, "columns", columns, "at least one column")
        require(len(set(columns)) == len(columns), "columns", columns, "different columns")
        self.__post_init__()

    @property
    def title(self) -> str:
        """The name, or count."""
        return self.name or "count"

    def own_keys(self, facts: TableFacts) -> tuple[Key, ...]:
        """The cells of its columns."""
        for name in self.columns:
            facts.schema[name]
        return tuple(CellKey(name) for name in self.columns)

    def demand(self, keys: tuple[Key, ...], facts: TableFacts) -> RowMoments:
        """The numbers of rows."""
        return RowMoments(keys=keys, where=self.where, bound=(self.bound or "auto") if facts.users else None)

    def estimates(self, noisy: NoisyMoments, facts: TableFacts, confidence: float) -> tuple[Estimate, ...]:
        """As measured, and consistent."""
        measured = counted(
            self.title, noisy, 1.0 - confidence, "rows" + weighing_clause(facts, noisy, self.bound)
        )
        cells = int(np.prod(noisy.shape[len(noisy.shape) - len(self.columns) :]))
        consistent = np.concatenate([consistent_counts(group) for group in measured.value.reshape(-1, cells)])
        return (
            measured,
            Estimate(
                name=f"{self.title}_consistent",
                value=consistent,
                low=np.maximum(measured.low, 0.0),
                high=np.maximum(measured.high, 0.0),
                about="the same, whole and not negative, with the sum of its group",
            ),
        )


class Contingency(Histogram):
    """The contingency table of two or more columns: `Histogram` of all of them together.

    Parameters
    ----------
    *columns : str
        Columns of the schema.
    where : Condition, optional
        Which rows are counted; by default all.
    name : str, optional
        What the column is called; by default "count".
    bound : float or 'auto', optional
        Where a unit owns several rows: how many of them it may count in all; by default chosen privately.
    weight : float
        How much narrower than others its intervals are to be.

    Examples
    --------
    >>> Contingency("sex", "ill").columns
    ('sex', 'ill')
    """


def consistent_counts(counts: Floats) -> Floats:
    """The nearest non-negative numbers with the (non-negative) total of these, rounded to whole ones of that total.

    >>> consistent_counts(np.array([3.0, -2.0, 5.0])).tolist()
    [2.0, 0.0, 4.0]
    """
    total = max(0.0, float(np.rint(counts.sum())))
    ordered = np.sort(counts)[::-1]
    excess = (np.cumsum(ordered) - total) / np.arange(1, len(counts) + 1)
    last = int(np.flatnonzero(ordered > excess).max(initial=0))
    nearest = np.maximum(counts - excess[last], 0.0)
    whole = np.floor(nearest + 1e-9)
    rest = round(total - float(whole.sum()))
    order = np.argsort(-(nearest - whole), kind="stable")
    whole[order[: max(rest, 0)]] += 1.0
    return np.asarray(whole)

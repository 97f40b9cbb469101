"""TableQuestion: what is asked of a table. Public, frozen, and written before anything is read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from holdfast._arrays import Floats
from holdfast.data._conditions import Condition
from holdfast.data._group_sums import Key
from holdfast.errors import require
from holdfast.statistics._measures.measure import Measure
from holdfast.statistics._measures.moments import Bound, NoisyMoments
from holdfast.statistics._table_facts import TableFacts


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimate:
    """One column of the answer: a number for each group, and its interval.

    `low` and `high` are for the table's own value, clipped as the schema says: they cover noise only. NaN in `value`
    means that nothing was learnt; an interval is then as wide as what is possible.
    """

    name: str
    value: Floats
    low: Floats
    high: Floats
    about: str
    """What is estimated, in words."""
    population_low: Floats | None = None
    population_high: Floats | None = None
    """The interval of the population's value, of which the units are independent draws; None where none is given."""


@dataclass(frozen=True, kw_only=True)
class TableQuestion(ABC):
    """What is asked, of which rows, and how noisy sums become an answer with an interval.

    Parameters
    ----------
    where : Condition, optional
        Which rows take part; by default all.
    name : str, optional
        What its columns are called; by default the statistic and the column.
    bound : float or 'auto', optional
        Where a unit owns several rows: how much of it may count in all. 'auto' chooses privately.
    weight : float
        How much narrower than others its interval is to be.
    """

    where: Condition | None = None
    name: str | None = None
    bound: Bound | None = None
    weight: float = 1.0

    def __post_init__(self) -> None:
        require(0 < self.weight < float("inf"), "weight", self.weight, "> 0 and finite")
        require(self.name is None or bool(self.name), "name", self.name, "a non-empty text")
        known = (
            self.bound is None
            or self.bound == "auto"
            or (isinstance(self.bound, int | float) and self.bound > 0)
        )
        require(known, "bound", self.bound, "'auto' or a number above 0")

    @property
    @abstractmethod
    def title(self) -> str:
        """The name of its column in the answer."""

    def own_keys(self, facts: TableFacts) -> tuple[Key, ...]:
        """Keys that it adds to those of its groups, such as the cells of a histogram; `facts` are public."""
        return ()

    @abstractmethod
    def demand(self, keys: tuple[Key, ...], facts: TableFacts) -> Measure:
        """What has to be measured for it, of rows grouped by these `keys`, where `facts` are public about the table."""

    @abstractmethod
    def estimates(self, noisy: Any, facts: TableFacts, confidence: float) -> tuple[Estimate, ...]:
        """The answer for each group with intervals of this `confidence`, from public numbers alone.

        `noisy` is what its measurement gave, or one that serves it as well, and `facts` are public about the table.
        """

    def describe(self) -> str:
        """In words."""
        return self.title + ("" if self.where is None else f" where {self.where.describe()}")


def weighing_clause(facts: TableFacts, noisy: NoisyMoments, bound: Bound | None, noun: str = "rows") -> str:
    """A clause about weights, where a unit owns several rows."""
    if not facts.users:
        return ""
    unit, chosen = facts.unit.column, noisy.chosen
    if chosen is None:
        return f", those of one {unit} weighed down to {bound:g} {noun} in all"
    most = chosen.limit / noisy.basis.whole
    return (
        f", those of one {unit} weighed down to {most:.4g} {noun} in all, a bound that was chosen privately and that "
        f"about {max(chosen.units_above, 0.0):.0f} of them exceed (noise of {chosen.noise:.2g})"
    )

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
    whole: bool = False
    """Whether it is a whole number."""


@dataclass(frozen=True, kw_only=True)
class TableQuestion(ABC):
    """What is asked, of which rows, and how noisy sums become an answer with an interval.

    Parameters
    ----------
    where : Condition, optional
        Which rows take part; by default all.
    name : str, optional
        What its columns are called; by default the statistic and the column.
    bound : int, optional
        Where a unit owns several rows: to how many rows its contribution is weighed down.
    weight : float
        How much narrower than others its interval is to be.
    """

    where: Condition | None = None
    name: str | None = None
    bound: int | None = None
    weight: float = 1.0

    def __post_init__(self) -> None:
        require(0 < self.weight < float("inf"), "weight", self.weight, "> 0 and finite")
        require(self.name is None or bool(self.name), "name", self.name, "a non-empty text")
        require(self.bound is None or self.bound >= 1, "bound", self.bound, ">= 1")

    @property
    @abstractmethod
    def title(self) -> str:
        """The name of its column in the answer."""

    @abstractmethod
    def demand(self, keys: tuple[Key, ...], facts: TableFacts) -> Measure:
        """What has to be measured for it, of rows grouped by these keys."""

    @abstractmethod
    def estimates(self, noisy: Any, facts: TableFacts, confidence: float) -> tuple[Estimate, ...]:
        """The answer for each group, from what its measurement (or one that serves it as well) gave."""

    def describe(self) -> str:
        """In words."""
        return self.title + ("" if self.where is None else f" where {self.where.describe()}")

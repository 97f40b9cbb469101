"""Mean, Variance and Proportion: ratios of noisy sums."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from holdfast._arguments import checked
from holdfast._arrays import Floats
from holdfast.data._conditions import Condition
from holdfast.data._group_sums import Key, TruthKey
from holdfast.statistics._intervals import ratio_interval, variance_interval
from holdfast.statistics._measures.moments import Bound, NoisyMoments, RowMoments
from holdfast.statistics._questions.question import Estimate, TableQuestion, weighing_clause
from holdfast.statistics._questions.total import declared_number
from holdfast.statistics._table_facts import TableFacts


@checked
@dataclass(frozen=True)
class Mean(TableQuestion):
    """The mean of a number in each group, over the rows that have one.

    Numbers are clipped to the declared bounds. A row whose number is missing is left out, unless the schema declares a
    number for it. Where a unit owns several rows, they are weighed down to `bound` rows in all; by default to one, so
    that every unit has at most the weight of one row.

    Parameters
    ----------
    column : str
        A declared number.
    where : Condition, optional
        Which rows take part; by default all.
    name : str, optional
        What the column is called; by default "mean_" and the column.
    bound : float or 'auto', optional
        Where a unit owns several rows: to how many rows its own are weighed down; by default 1.
    weight : float
        How much narrower than others its interval is to be.

    Examples
    --------
    >>> Mean("cost").title
    'mean_cost'
    """

    column: str = field(kw_only=False)

    @property
    def title(self) -> str:
        """The name, or mean_ and the column."""
        return self.name or f"mean_{self.column}"

    def demand(self, keys: tuple[Key, ...], facts: TableFacts) -> RowMoments:
        """A basis of degree one."""
        bound = (self.bound or 1) if facts.users else None
        return RowMoments(keys=keys, column=self.column, degree=1, where=self.where, bound=bound)

    def estimates(self, noisy: NoisyMoments, facts: TableFacts, confidence: float) -> tuple[Estimate, ...]:
        """The ratio of noisy sums, and all means that the noise (and a sample) could have moved to them."""
        column, basis = declared_number(facts, self.column), noisy.basis
        assert basis.first is not None
        assert basis.present is not None
        about = f"mean of {self.column} clipped to [{column.low:g}, {column.high:g}]"
        about += weighing_clause(facts, noisy, self.bound or 1)
        ratio = share_of(
            self.title,
            noisy,
            np.array(basis.first),
            np.array(basis.present),
            1.0 - confidence,
            about,
            sampled=rows_of_unit(noisy, facts, self.bound or 1),
        )
        return (scaled(ratio, column.low, column.high - column.low),)


@checked
@dataclass(frozen=True)
class Variance(TableQuestion):
    """The variance of a number in each group, over the rows that have one; numbers are clipped to the declared bounds.

    Asked beside `Count()` and `Mean` of the same column it costs nothing more than they do.

    Parameters
    ----------
    column : str
        A declared number.
    where : Condition, optional
        Which rows take part; by default all.
    name : str, optional
        What the column is called; by default "variance_" and the column.
    bound : float or 'auto', optional
        Where a unit owns several rows: to how many rows its own are weighed down; by default 1.
    weight : float
        How much narrower than others its interval is to be.

    Examples
    --------
    >>> Variance("cost").title
    'variance_cost'
    """

    column: str = field(kw_only=False)

    @property
    def title(self) -> str:
        """The name, or variance_ and the column."""
        return self.name or f"variance_{self.column}"

    def demand(self, keys: tuple[Key, ...], facts: TableFacts) -> RowMoments:
        """A basis of degree two."""
        bound = (self.bound or 1) if facts.users else None
        return RowMoments(keys=keys, column=self.column, degree=2, where=self.where, bound=bound)

    def estimates(self, noisy: NoisyMoments, facts: TableFacts, confidence: float) -> tuple[Estimate, ...]:
        """Of noisy sums, and all variances that the noise could have moved to them."""
        column, basis = declared_number(facts, self.column), noisy.basis
        assert basis.first is not None
        assert basis.second is not None
        assert basis.present is not None
        n, s1, s2 = (noisy.total(weights) for weights in (basis.present, basis.first, basis.second))
        safe = np.where(n > 0, n, 1.0)
        value = np.where(n > 0, np.clip(s2 / safe - np.clip(s1 / safe, 0.0, 1.0) ** 2, 0.0, 0.25), np.nan)
        low, high = variance_interval(noisy, 1.0 - confidence)
        about = f"variance of {self.column} clipped to [{column.low:g}, {column.high:g}]"
        about += weighing_clause(facts, noisy, self.bound or 1)
        square = (column.high - column.low) ** 2
        return (
            Estimate(
                name=self.title, value=square * value, low=square * low, high=square * high, about=about
            ),
        )


@checked
@dataclass(frozen=True)
class Proportion(TableQuestion):
    """The share of rows of which a condition is true, among those of which it is true or false.

    Parameters
    ----------
    of : Condition
        What the share is of, as in `column("age") >= 65`.
    name : str
        What the column is called.
    where : Condition, optional
        Which rows take part; by default all.
    bound : float or 'auto', optional
        Where a unit owns several rows: to how many rows its own are weighed down; by default 1.
    weight : float
        How much narrower than others its interval is to be.

    Examples
    --------
    >>> from holdfast.statistics import column
    >>> Proportion(column("age") >= 65, name="old").title
    'old'
    """

    of: Condition = field(kw_only=False)

    @property
    def title(self) -> str:
        """The name, or proportion."""
        return self.name or "proportion"

    def demand(self, keys: tuple[Key, ...], facts: TableFacts) -> RowMoments:
        """The numbers of rows of which it is false, true and unknown: disjoint, so they cost what one number does."""
        self.of.check(facts.schema)
        bound = (self.bound or 1) if facts.users else None
        return RowMoments(keys=(*keys, TruthKey(self.of)), where=self.where, bound=bound)

    def estimates(self, noisy: NoisyMoments, facts: TableFacts, confidence: float) -> tuple[Estimate, ...]:
        """A ratio of noisy numbers, and all shares that the noise (and a sample) could have moved to them."""
        unit = 1.0 / noisy.basis.whole
        counts = replace(noisy, sums=noisy.sums.reshape(-1, 3), basis=replace(noisy.basis, rows=None))
        about = f"share of rows with {self.of.describe()}" + weighing_clause(facts, noisy, self.bound or 1)
        part, whole = np.array([0.0, unit, 0.0]), np.array([unit, unit, 0.0])
        sampled = rows_of_unit(noisy, facts, self.bound or 1)
        return (share_of(self.title, counts, part, whole, 1.0 - confidence, about, sampled=sampled),)


def rows_of_unit(noisy: NoisyMoments, facts: TableFacts, bound: Bound) -> float:
    """The most rows that one unit counts: by that the units are fewer than the rows."""
    if not facts.users:
        return 1.0
    return noisy.chosen.limit / noisy.basis.whole if noisy.chosen is not None else float(bound)


def share_of(
    title: str,
    noisy: NoisyMoments,
    part: Floats,
    whole: Floats,
    failure: float,
    about: str,
    *,
    sampled: float,
) -> Estimate:
    """A ratio in [0, 1] with both intervals."""
    total, count = noisy.total(tuple(part.tolist())), noisy.total(tuple(whole.tolist()))
    value = np.where(count > 0, np.clip(total / np.where(count > 0, count, 1.0), 0.0, 1.0), np.nan)
    low, high = ratio_interval(noisy, part, whole, failure)
    variance = None
    if noisy.basis.second is not None:  # the released one, and what noise may have taken from it
        safe = np.maximum(count, 1.0)
        slack = noisy.reach(np.array([noisy.basis.second]), failure) / safe
        variance = np.clip(noisy.total(noisy.basis.second) / safe - value**2 + slack, 0.0, 0.25)
    population_low, population_high = ratio_interval(
        noisy, part, whole, failure, sampled=max(1.0, sampled), variance=variance
    )
    return Estimate(
        name=title,
        value=value,
        low=low,
        high=high,
        about=about,
        population_low=population_low,
        population_high=population_high,
    )


def scaled(estimate: Estimate, low: float, width: float) -> Estimate:
    """From [0, 1] to the column's units."""
    fields = ("value", "low", "high", "population_low", "population_high")
    return replace(estimate, **{name: low + width * getattr(estimate, name) for name in fields})

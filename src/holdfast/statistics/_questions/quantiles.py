"""Quantiles, Median, Minimum and Maximum: numbers of a public grid, by ranks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from holdfast._arguments import checked
from holdfast._arrays import Codes
from holdfast.data._group_sums import Key
from holdfast.errors import require
from holdfast.statistics._measures.measure import Measure
from holdfast.statistics._measures.ranks import GridCounts, GridTree, NoisyTree, RankChoices, rational
from holdfast.statistics._questions.question import Estimate, TableQuestion
from holdfast.statistics._questions.total import declared_number
from holdfast.statistics._table_facts import TableFacts


@checked
@dataclass(frozen=True)
class Quantiles(TableQuestion):
    """Some quantiles of a number in each group: values of a public grid, ties included.

    The grid has every whole number between the bounds of an integer column, else a thousand steps. Where a unit owns
    several rows, these share the weight of `bound` rows; by default of one.

    Parameters
    ----------
    column : str
        A declared number.
    quantiles : sequence of float
        Which, in [0, 1].
    interval : bool
        Whether each gets an interval, which takes a tree of counts. Without, a few quantiles have smaller errors.
    steps : int, optional
        How many steps the grid has.
    where : Condition, optional
        Which rows take part; by default all.
    name : str, optional
        What the columns begin with; by default "quantile_" and the column.
    bound : int, optional
        Where a unit owns several rows: to how many rows its own are weighed down.
    weight : float
        How much narrower than others its intervals are to be.

    Examples
    --------
    >>> Quantiles("age", [0.25, 0.5, 0.75]).title
    'quantile_age'
    """

    column: str = field(kw_only=False)
    quantiles: Sequence[float] = field(default=(0.5,), kw_only=False)
    interval: bool = True
    steps: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "quantiles", tuple(float(alpha) for alpha in self.quantiles))
        inside = bool(self.quantiles) and all(0 <= alpha <= 1 for alpha in self.quantiles)
        require(inside, "quantiles", self.quantiles, "one or more numbers in [0, 1]")
        whole = self.bound is None or (isinstance(self.bound, int | float) and float(self.bound).is_integer())
        require(whole, "bound", self.bound, "a whole number of rows")

    @property
    def title(self) -> str:
        """The name, or quantile_ and the column."""
        return self.name or f"quantile_{self.column}"

    def column_title(self, alpha: float) -> str:
        """The name of the column of the `alpha` quantile."""
        return f"{self.title}_{alpha:g}"

    def demand(self, keys: tuple[Key, ...], facts: TableFacts) -> Measure:
        """A tree of counts, or choices on the grid."""
        declared_number(facts, self.column)
        bound = int(self.bound or 1) if facts.users and self.bound != "auto" else 1
        grid = GridCounts(keys=keys, column=self.column, where=self.where, bound=bound, steps=self.steps)
        if self.interval:
            return GridTree(grid=grid)
        return RankChoices(grid=grid, quantiles=tuple(rational(alpha) for alpha in self.quantiles))

    def estimates(self, noisy: Any, facts: TableFacts, confidence: float) -> tuple[Estimate, ...]:
        """The values at the places that were chosen, or where noisy ranks are nearest."""
        grid = GridCounts(column=self.column, steps=self.steps)
        values = grid.values(facts)
        about = f"quantile of {self.column} on a grid of {len(values)} values"
        if isinstance(noisy, NoisyTree):
            return tuple(
                self._of_tree(noisy, alpha, values, (1.0 - confidence), f"{alpha:g} {about}")
                for alpha in self.quantiles
            )
        chosen: dict[Fraction, Codes] = noisy
        estimates = []
        for alpha in self.quantiles:
            value = values[chosen[rational(alpha)]]
            low, high = np.full(len(value), values[0]), np.full(len(value), values[-1])
            about_it = f"{alpha:g} {about}; chosen without an interval"
            estimates.append(
                Estimate(name=self.column_title(alpha), value=value, low=low, high=high, about=about_it)
            )
        return tuple(estimates)

    def _of_tree(self, tree: NoisyTree, alpha: float, values: Any, failure: float, about: str) -> Estimate:
        upto = tree.ranks(alpha)
        below = np.concatenate([-alpha * tree.count[:, None], upto[:, :-1]], axis=1)
        miss = np.maximum(np.maximum(below, -upto), 0.0)
        learnt = tree.count > 0
        value = np.where(learnt, values[miss.argmin(axis=1)], np.nan)
        band = tree.band(alpha, failure)
        low, high = _ends(below, upto, np.full((len(upto), 1), band), values)
        most = np.maximum(tree.count + tree.count_reach(failure / 4.0), 0.0)
        sampling = np.sqrt(0.5 * most * math.log(4.0 / failure))
        wide = tree.band(alpha, failure / 2.0) + sampling[:, None]
        population_low, population_high = _ends(below, upto, wide, values)
        return Estimate(
            name=self.column_title(alpha),
            value=value,
            low=low,
            high=high,
            about=about,
            population_low=population_low,
            population_high=population_high,
        )


def _ends(below: Any, upto: Any, band: Any, values: Any) -> tuple[Any, Any]:
    """The least and the largest place where ranks are within a band; the whole grid where none is."""
    inside = (below <= band) & (upto >= -band)
    some = inside.any(axis=1)
    low = np.where(some, values[inside.argmax(axis=1)], values[0])
    high = np.where(some, values[len(values) - 1 - inside[:, ::-1].argmax(axis=1)], values[-1])
    return low, high


def Median(column: str, **options: Any) -> Quantiles:
    """The middle of a number: `Quantiles(column, [0.5])`, called "median_" and the column.

    Parameters
    ----------
    column : str
        A declared number.
    **options
        As of `Quantiles`.

    Returns
    -------
    Quantiles
        The question.

    Examples
    --------
    >>> Median("age").title
    'median_age'
    """
    return single_quantile(column, 0.5, "median", **options)


def Minimum(column: str, **options: Any) -> Quantiles:
    """The least number: the 0 quantile on the grid.

    Any value that no number lies below is as good a 0 quantile, so this is a lower bound rather than the least number.

    Parameters
    ----------
    column : str
        A declared number.
    **options
        As of `Quantiles`.

    Returns
    -------
    Quantiles
        The question.

    Examples
    --------
    >>> Minimum("age").title
    'minimum_age'
    """
    return single_quantile(column, 0.0, "minimum", **options)


def Maximum(column: str, **options: Any) -> Quantiles:
    """The largest number: the quantile of 1 on the grid, an upper bound rather than the largest number.

    Parameters
    ----------
    column : str
        A declared number.
    **options
        As of `Quantiles`.

    Returns
    -------
    Quantiles
        The question.

    Examples
    --------
    >>> Maximum("age").title
    'maximum_age'
    """
    return single_quantile(column, 1.0, "maximum", **options)


@dataclass(frozen=True)
class _SingleQuantile(Quantiles):
    """One quantile, whose column has no number in its name."""

    def column_title(self, alpha: float) -> str:
        """The name alone."""
        return self.title


def single_quantile(column: str, alpha: float, what: str = "", **options: Any) -> Quantiles:
    """The `alpha` quantile alone, under a name without its number, such as "quantile_0.9_cost"."""
    name = f"{what or f'quantile_{alpha:g}'}_{column}"
    return _SingleQuantile(column, (alpha,), **{"name": name, **options})

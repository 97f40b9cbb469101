"""Mean: of a declared number, clipped to its bounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import checked
from holdfast._arrays import Floats
from holdfast.data._group_sums import Key
from holdfast.data._schema import Numeric
from holdfast.statistics._measures.moments import NoisyMoments, RowMoments
from holdfast.statistics._questions.question import Estimate, TableQuestion
from holdfast.statistics._table_facts import TableFacts

_CANDIDATES = 512
_HALVINGS = 40


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
    bound : int, optional
        Where a unit owns several rows: to how many rows its own are weighed down.
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
        """The ratio of noisy sums, and all means that the noise could have moved to them."""
        column = facts.schema[self.column]
        assert isinstance(column, Numeric)
        assert noisy.basis.first is not None
        count, total = noisy.total(noisy.basis.present), noisy.total(noisy.basis.first)
        value = np.where(count > 0, np.clip(total / np.where(count > 0, count, 1.0), 0.0, 1.0), np.nan)
        low, high = mean_interval(noisy, 1.0 - confidence)
        width = column.high - column.low
        about = f"mean of {self.column} clipped to [{column.low:g}, {column.high:g}]"
        return (
            Estimate(
                name=self.title,
                value=column.low + width * value,
                low=column.low + width * low,
                high=column.low + width * high,
                about=about,
            ),
        )


def mean_interval(noisy: NoisyMoments, failure: float) -> tuple[Floats, Floats]:
    """The least and the largest m in [0, 1] that the noise could have moved to these sums.

    m is accepted where |sum p - m count| is within the quantile of the noise in it (Fieller; soundness, section 25):
    exact whatever the table is. Where no m is accepted, or the sums tell nothing, the interval is [0, 1].
    """
    basis = noisy.basis
    assert basis.first is not None
    first, present = np.array(basis.first), np.array(basis.present)
    grid = np.linspace(0.0, 1.0, _CANDIDATES + 1)
    reach = noisy.reach(first[None, :] - grid[:, None] * present[None, :], failure)
    total, count = noisy.total(basis.first), noisy.total(basis.present)
    centre = np.clip(np.where(count > 0, total / np.where(count > 0, count, 1.0), 0.5), 0.0, 1.0)

    def accepted(m: Floats, group: Any) -> NDArray[np.bool_]:
        return np.asarray(np.abs(total[group] - m * count[group]) <= np.interp(m, grid, reach))

    groups = np.arange(len(total))
    on_grid = accepted(grid[None, :], groups[:, None])
    inner = accepted(centre, groups)
    least = np.where(on_grid.any(axis=1), grid[on_grid.argmax(axis=1)], 1.0)
    most = np.where(on_grid.any(axis=1), grid[_CANDIDATES - on_grid[:, ::-1].argmax(axis=1)], 0.0)
    least, most = (
        np.where(inner, np.minimum(least, centre), least),
        np.where(inner, np.maximum(most, centre), most),
    )
    empty = ~(inner | on_grid.any(axis=1))
    # Between the last accepted point and the next one on the grid, which is not: halve until nothing is between them.
    step = 1.0 / _CANDIDATES
    low = _border(accepted, groups, least, np.maximum(least - step, 0.0))
    high = _border(accepted, groups, most, np.minimum(most + step, 1.0))
    return np.where(empty, 0.0, low), np.where(empty, 1.0, high)


def _border(
    accepted: Callable[[Floats, Any], NDArray[np.bool_]], groups: Any, inside: Floats, outside: Floats
) -> Floats:
    """Where acceptance ends between two points; the outer one where it does not."""
    ends = accepted(outside, groups)
    edge = outside.copy()
    for _ in range(_HALVINGS):
        middle = 0.5 * (inside + outside)
        inner = accepted(middle, groups)
        inside, outside = np.where(inner, middle, inside), np.where(inner, outside, middle)
    return np.where(ends, edge, outside)

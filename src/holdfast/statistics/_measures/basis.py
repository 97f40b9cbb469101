"""Bases: whole-number sums of a row that add up to one, so that several statistics cost what a count costs.

With p = j / steps in [0, 1] of a row's number, the sums of (1-p, p) give count and mean, those of (1-p)^2, 2p(1-p), p^2
give count, mean and variance: each row adds non-negative numbers that sum to exactly one (Bernstein polynomials), so
their L1 sensitivity is that of a count. Rows without a number have a sum of their own where the number of all rows is
asked, too. For normal noise the middle of three sums is multiplied by 1.87 <= sqrt(7/2): then no row is longer than
one in L2, at any p.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from holdfast._arrays import Floats
from holdfast.data._group_sums import Form
from holdfast.statistics._noise_law import Family

MIDDLE_FACTOR = (187, 100)
"""Of the middle one of three sums under normal noise: its square is at most 3.5 (design of statistics, section 2)."""
STEPS_OF_DEGREE = {0: 1, 1: 2**20, 2: 2**12}
"""How many steps there are at most between the bounds of a number, by the degree of the basis."""


@dataclass(frozen=True, kw_only=True)
class Basis:
    """The forms of a row, how large they can be together, and how statistics follow from their sums."""

    forms: tuple[Form, ...]
    whole: int
    """What one row's forms add up to: the L1 norm of a row, and a bound on its L2 norm."""
    rows: tuple[float, ...] | None
    """Weights of the sums that give the number of rows; of those with a number; of sum p; of sum p^2."""
    present: tuple[float, ...] | None
    first: tuple[float, ...] | None = None
    second: tuple[float, ...] | None = None
    amount: tuple[float, ...] | None = None
    """The weights that give the sum of the numbers in steps, where it is a sum of its own."""

    @property
    def leading(self) -> tuple[float, ...]:
        """The weights of the statistic by whose noise plans compare: the number of rows, or the sum over a row's."""
        if self.rows is not None:
            return self.rows
        assert self.amount is not None
        return tuple(weight / self.whole for weight in self.amount)

    def total(self, weights: tuple[float, ...], sums: Floats) -> Floats:
        """A statistic of each group from its (noisy) sums."""
        return np.asarray(sums @ np.array(weights))


@lru_cache(maxsize=256)
def basis(*, degree: int, steps: int, missing: bool, family: Family) -> Basis:
    """The basis of this degree in 0, 1, 2, with a sum for rows that have no number or without one.

    >>> basis(degree=1, steps=4, missing=False, family="laplace").forms
    ((0, 4, -1, 0), (0, 0, 1, 0))
    """
    if degree == 0:
        return Basis(forms=((1, 1, 0, 0),), whole=1, rows=(1.0,), present=(1.0,))
    if degree == 1:
        whole = steps
        forms: list[Form] = [(0, steps, -1, 0), (0, 0, 1, 0)]
        present, first = [1 / whole, 1 / whole], [0.0, 1 / whole]
        second: list[float] | None = None
    else:
        over, under = MIDDLE_FACTOR if family == "gaussian" else (1, 1)
        square = steps * steps
        whole = under * square
        forms = [
            (0, under * square, -2 * under * steps, under),
            (0, 0, 2 * over * steps, -2 * over),
            (0, 0, 0, under),
        ]
        end, middle = 1 / whole, 1 / (over * square)
        present, first, second = [end, middle, end], [0.0, middle / 2, end], [0.0, 0.0, end]
    rows = list(present)
    if missing:
        forms.append((whole, 0, 0, 0))
        rows.append(1 / whole)
        present, first = [*present, 0.0], [*first, 0.0]
        second = None if second is None else [*second, 0.0]
    return Basis(
        forms=tuple(forms),
        whole=whole,
        rows=tuple(rows),
        present=tuple(present),
        first=tuple(first),
        second=None if second is None else tuple(second),
    )


@lru_cache(maxsize=256)
def total_basis(*, offset: int, steps: int) -> Basis:
    """The sum of a number alone, in steps from 0: smaller noise for that one than from a basis that counts, too.

    >>> total_basis(offset=3, steps=4).forms, total_basis(offset=3, steps=4).whole
    (((0, 3, 1, 0),), 7)
    """
    return Basis(forms=((0, offset, 1, 0),), whole=offset + steps, rows=None, present=None, amount=(1.0,))

"""RowMoments: numbers of rows, and sums of a number and its square, by groups of declared cells."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import numpy as np

from holdfast._arrays import Floats
from holdfast.data._conditions import Condition
from holdfast.data._group_sums import Amount, GroupSums, Key, Weighing
from holdfast.data._schema import Numeric
from holdfast.data._table import Table
from holdfast.errors import ParameterError, require
from holdfast.privacy._adjacency import Adjacency
from holdfast.statistics._measures.basis import STEPS_OF_DEGREE, Basis, basis
from holdfast.statistics._measures.measure import Measure, Purse
from holdfast.statistics._noise_law import Family, NoiseLaw
from holdfast.statistics._shares import CountNoise, Share, deviation
from holdfast.statistics._table_facts import TableFacts

MOST_GROUPS = 2**24
"""More groups, declared keys multiplied, are refused."""
USER_BITS = 10
"""A user's weighed contribution is a whole number of 2^-10 rows."""


@dataclass(frozen=True, kw_only=True, eq=False)
class NoisyMoments:
    """The noisy sums of each group, the basis they are in, and the law of the noise in each. Public."""

    sums: Floats
    """Groups by sums."""
    basis: Basis
    law: NoiseLaw
    shape: tuple[int, ...]
    """The cells of each key."""
    scale: float = 1.0
    """What a sum is divided by: 2^bits where units are weighed."""

    def total(self, weights: tuple[float, ...]) -> Floats:
        """A statistic of each group."""
        return self.basis.total(weights, self.sums) / self.scale

    def reach(self, weights: Floats, failure: float) -> Floats:
        """How far noise moves weighted sums of the sums, except with this probability."""
        return self.law.reach(weights, failure) / self.scale


@dataclass(frozen=True, kw_only=True)
class RowMoments(Measure):
    """The sums of a basis of a column's number, by groups; of degree 0, the numbers of rows.

    Sensitivity: a unit's whole contribution, all groups and forms together, has L1 (L2) norm at most that of one row,
    or of `bound` rows where units own several and are weighed. Its entries are not negative. Under `add_remove` and
    `zero_out` that is how far a unit moves the sums; under `replace` twice that in L1 and sqrt(2) times that in L2,
    but for a single number, which moves by that at most.
    """

    keys: tuple[Key, ...] = ()
    column: str | None = None
    degree: int = 0
    missing: bool = False
    where: Condition | None = None
    bound: int | None = None

    @property
    def label(self) -> str:
        """Column, groups, rows."""
        what = "rows" if self.column is None else f"moments of {self.column}"
        by = "".join(f" by {name}" for key in self.keys for name in key.columns)
        return f"{what}{by}{'' if self.where is None else f' where {self.where.describe()}'}"

    def merged(self, other: Measure, facts: TableFacts) -> Measure | None:
        """Rows are counted along with a column's moments; of two degrees the higher one serves both."""
        if not isinstance(other, RowMoments):
            return None
        if (self.keys, self.where, self.bound) != (other.keys, other.where, other.bound):
            return None
        if self.column is not None and other.column is not None and self.column != other.column:
            return None
        first, second = (self, other) if self.column is not None else (other, self)
        rows = first.missing or second.missing or (first.column is not None and second.column is None)
        missing = rows and first.column is not None and not _number(facts, first.column).declares_null
        return replace(first, degree=max(first.degree, second.degree), missing=missing)

    def check(self, facts: TableFacts) -> None:
        """Declared columns, and not too many groups."""
        if self.column is not None:
            column = facts.schema[self.column]
            numeric = isinstance(column, Numeric)
            require(numeric, "column", self.column, "a number of the schema")
        if self.where is not None:
            self.where.check(facts.schema)
        groups = math.prod(key.cells(facts.schema) for key in self.keys)
        require(groups <= MOST_GROUPS, "groups", groups, f"<= {MOST_GROUPS}", "declare fewer cells")
        if self.bound is not None:
            require(1 <= self.bound <= 2**20, "bound", self.bound, "a whole number from 1 to 2**20")
        elif facts.users:
            raise ParameterError("bound must be a number of rows where a unit owns several, got None")

    # Sizes, all public.

    def steps(self, facts: TableFacts) -> int:
        """How many steps there are between the bounds of the number."""
        if self.column is None:
            return 1
        column, most = _number(facts, self.column), STEPS_OF_DEGREE[self.degree]
        width = column.high - column.low
        return int(width) if column.integer and width <= most else most

    def of_family(self, family: Family, facts: TableFacts) -> Basis:
        """The basis for noise of this family."""
        return basis(degree=self.degree, steps=self.steps(facts), missing=self.missing, family=family)

    def weighing(self, chosen: Basis, norm: Literal[1, 2], facts: TableFacts) -> Weighing | None:
        """How units are weighed; None where each owns one row."""
        if not facts.users or self.bound is None:
            return None
        limit = self.bound * chosen.whole
        return Weighing(norm=norm, limit=limit, bits=min(USER_BITS, 62 - limit.bit_length()))

    def sensitivity(self, chosen: Basis, norm: Literal[1, 2], facts: TableFacts) -> Fraction:
        """How far one unit moves the sums in this norm, in whole numbers; under `replace` in L2 rounded up."""
        weighing = self.weighing(chosen, norm, facts)
        most = chosen.whole if weighing is None else weighing.limit << weighing.bits
        groups = math.prod(key.cells(facts.schema) for key in self.keys)
        if facts.adjacency is not Adjacency.replace or (groups == 1 and len(chosen.forms) == 1):
            return Fraction(most)
        return Fraction(2 * most) if norm == 1 else Fraction(math.isqrt(2 * most * most - 1) + 1)

    def mechanism(self, share: Share, facts: TableFacts) -> tuple[CountNoise, Basis]:
        """The mechanism with the smaller noise in a count of rows, and its basis: a choice by public numbers."""
        options: list[tuple[float, int, CountNoise, Basis]] = []
        for order, family in enumerate(("laplace", "gaussian")):
            chosen = self.of_family("laplace" if family == "laplace" else "gaussian", facts)
            norm: Literal[1, 2] = 1 if family == "laplace" else 2
            sensitivity = self.sensitivity(chosen, norm, facts)
            noise: CountNoise | None
            if family == "laplace":
                noise = share.laplace(int(sensitivity), facts.adjacency)
            else:
                noise = share.gaussian(int(sensitivity), facts.adjacency)
            if noise is not None:
                size = (
                    deviation(noise) * float(np.linalg.norm(chosen.rows)) / self._scale(chosen, norm, facts)
                )
                options.append((size, order, noise, chosen))
        _, _, noise, chosen = min(options, key=lambda option: option[:2])
        return noise, chosen

    def _scale(self, chosen: Basis, norm: Literal[1, 2], facts: TableFacts) -> float:
        weighing = self.weighing(chosen, norm, facts)
        return 1.0 if weighing is None else 2.0**weighing.bits

    def deviation(self, share: Share, facts: TableFacts) -> float:
        """Of the number of rows."""
        noisy = self.expected(share, facts)
        return math.sqrt(noisy.law.variance) * float(np.linalg.norm(noisy.basis.rows)) / noisy.scale

    def expected(self, share: Share, facts: TableFacts) -> NoisyMoments:
        """With sums of 0."""
        noise, chosen = self.mechanism(share, facts)
        norm = norm_of(noise)
        shape = tuple(key.cells(facts.schema) for key in self.keys)
        return NoisyMoments(
            sums=np.zeros((math.prod(shape), len(chosen.forms))),
            basis=chosen,
            law=NoiseLaw.of(noise),
            shape=shape,
            scale=self._scale(chosen, norm, facts),
        )

    # The private part.

    def exact(self, chosen: Basis, norm: Literal[1, 2], facts: TableFacts) -> GroupSums:
        """What the engine is asked for."""
        amount = None if self.column is None else Amount(self.column, self.steps(facts))
        return GroupSums(
            keys=self.keys,
            forms=chosen.forms,
            amount=amount,
            where=self.where,
            weighing=self.weighing(chosen, norm, facts),
        )

    def measure(self, table: Table, purse: Purse, facts: TableFacts) -> NoisyMoments:
        """One query, one release."""
        noise, chosen = self.mechanism(purse.share, facts)
        exact = table.aggregate(self.exact(chosen, norm_of(noise), facts))
        noisy = purse.release(noise, exact)
        expected = self.expected(purse.share, facts)
        return replace(expected, sums=np.asarray(noisy, dtype=np.float64).reshape(expected.sums.shape))


def norm_of(noise: CountNoise) -> Literal[1, 2]:
    """In which norm the noise needs a bound."""
    return 1 if NoiseLaw.of(noise).family == "laplace" else 2


def _number(facts: TableFacts, name: str) -> Numeric:
    column = facts.schema[name]
    require(isinstance(column, Numeric), "column", name, "a number of the schema")
    assert isinstance(column, Numeric)
    return column

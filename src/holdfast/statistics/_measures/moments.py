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
from holdfast.errors import require
from holdfast.privacy._adjacency import Adjacency
from holdfast.statistics._measures.basis import STEPS_OF_DEGREE, Basis, basis, total_basis
from holdfast.statistics._measures.bounding import (
    CHOICE_SHARE,
    SINGLE_CHOICE_SHARE,
    ChosenBound,
    choose_bound,
)
from holdfast.statistics._measures.measure import Measure, Purse
from holdfast.statistics._noise_law import Family, NoiseLaw
from holdfast.statistics._shares import CountNoise, Currency, Share, deviation, root_of
from holdfast.statistics._table_facts import TableFacts

MOST_GROUPS = 2**24
"""More groups, declared keys multiplied, are refused."""
USER_BITS = 10
"""A user's weighed contribution is a whole number of 2^-10 rows."""
Bound = float | Literal["auto"]
"""How many rows (of a sum alone: how much) of one unit may count, or "auto": chosen privately."""


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
    chosen: ChosenBound | None = None
    """The bound on a unit's contribution, where it was chosen privately."""

    def total(self, weights: tuple[float, ...]) -> Floats:
        """A statistic of each group."""
        return self.basis.total(weights, self.sums) / self.scale

    def reach(self, weights: Floats, failure: float) -> Floats:
        """How far noise moves weighted sums of the sums, except with this probability."""
        return self.law.reach(weights, failure) / self.scale


@dataclass(frozen=True, kw_only=True)
class RowMoments(Measure):
    """The sums of a basis of a column's number, by groups; of degree 0, the numbers of rows.

    `alone` is the sum of the number and nothing else. `once` counts units: each once in a group where it has rows.

    Sensitivity: a unit's whole contribution, all groups and forms together, has L1 (L2) norm at most that of one row,
    or of `bound` rows where units own several and are weighed. Its entries are not negative. Under `add_remove` and
    `zero_out` that is how far a unit moves the sums; under `replace` twice that in L1 and sqrt(2) times that in L2,
    but for a single number, which moves by that at most.
    """

    keys: tuple[Key, ...] = ()
    column: str | None = None
    degree: int = 0
    missing: bool = False
    alone: bool = False
    once: bool = False
    where: Condition | None = None
    bound: Bound | None = None

    @property
    def label(self) -> str:
        """What, of which column, by which groups, of which rows."""
        what = "units" if self.once else "rows"
        if self.column is not None:
            what = f"{'sum' if self.alone else f'moments up to {self.degree}'} of {self.column}"
        by = "".join(f" by {name}" for key in self.keys for name in key.columns)
        return f"{what}{by}{'' if self.where is None else f' where {self.where.describe()}'}"

    def merged(self, other: Measure, facts: TableFacts) -> Measure | None:
        """Rows are counted along with a column's moments; of two degrees the higher one serves both."""
        if not isinstance(other, RowMoments):
            return None
        if (self.keys, self.where, self.once) != (other.keys, other.where, other.once):
            return None
        if facts.users and (self.bound, self.alone) != (other.bound, other.alone):
            return None
        if self.column is not None and other.column is not None and self.column != other.column:
            return None
        first, second = (self, other) if self.column is not None else (other, self)
        if first == second:
            return first
        rows = first.missing or second.missing or (first.column is not None and second.column is None)
        missing = rows and first.column is not None and not _number(facts, first.column).declares_null
        degree, alone = max(first.degree, second.degree), first.alone and second.alone
        return replace(first, degree=degree, missing=missing, alone=alone)

    def check(self, facts: TableFacts) -> None:
        """Declared columns, and not too many groups."""
        if self.column is not None:
            _number(facts, self.column)
        if self.where is not None:
            self.where.check(facts.schema)
        require(self.groups(facts) <= MOST_GROUPS, "groups", self.groups(facts), f"<= {MOST_GROUPS}")
        if facts.users:
            known = self.bound == "auto" or (isinstance(self.bound, int | float) and 0 < self.bound <= 2**30)
            require(known, "bound", self.bound, "'auto' or a number above 0 where a unit owns several rows")
            if self.bound != "auto":
                chosen = self.of_family("laplace", facts)
                limit = self.limit(chosen, facts)
                require(1 <= limit < 2**50, "bound", self.bound, "at least one step of the column's grid")

    # Sizes, all public.

    def currencies(self) -> tuple[Currency, ...]:
        """A choice of a bound is not counted in mu."""
        return ("pure", "zcdp") if self.bound == "auto" else ("pure", "zcdp", "gdp")

    def groups(self, facts: TableFacts) -> int:
        """How many groups there are."""
        return math.prod(key.cells(facts.schema) for key in self.keys)

    def steps(self, facts: TableFacts) -> int:
        """How many steps there are between the bounds of the number."""
        if self.column is None:
            return 1
        column, most = _number(facts, self.column), STEPS_OF_DEGREE[self.degree]
        width = column.high - column.low
        return int(width) if column.integer and width <= most else most

    def step(self, facts: TableFacts) -> float:
        """The width of one step in the column's units."""
        assert self.column is not None
        column = _number(facts, self.column)
        return (column.high - column.low) / self.steps(facts)

    def offset(self, facts: TableFacts) -> int:
        """The lower bound in steps, rounded down; of a sum alone, whose numbers are not negative."""
        assert self.column is not None
        return math.floor(_number(facts, self.column).low / self.step(facts))

    def of_family(self, family: Family, facts: TableFacts) -> Basis:
        """The basis for noise of this family."""
        if self.alone:
            return total_basis(offset=self.offset(facts), steps=self.steps(facts))
        return basis(degree=self.degree, steps=self.steps(facts), missing=self.missing, family=family)

    def limit(self, chosen: Basis, facts: TableFacts) -> int:
        """The public bound as a whole number; for "auto" that of `max_rows` rows, by which plans are made."""
        rows = facts.unit.max_rows if self.bound == "auto" else self.bound
        assert isinstance(rows, int | float)
        if self.alone and self.bound != "auto":
            return math.floor(rows / self.step(facts))
        return math.floor(rows * chosen.whole)

    def weighing(self, limit: int, norm: Literal[1, 2], facts: TableFacts) -> Weighing | None:
        """How units are weighed; None where each owns one row."""
        if not facts.users:
            return None
        return Weighing(norm=norm, limit=limit, bits=min(USER_BITS, 62 - limit.bit_length()))

    def sensitivity(self, chosen: Basis, norm: Literal[1, 2], facts: TableFacts, *, limit: int) -> Fraction:
        """How far one unit moves the sums in this norm, in whole numbers; under `replace` in L2 rounded up."""
        weighing = self.weighing(limit, norm, facts)
        most = chosen.whole if weighing is None else weighing.limit << weighing.bits
        if facts.adjacency is not Adjacency.replace or (self.groups(facts) == 1 and len(chosen.forms) == 1):
            return Fraction(most)
        return Fraction(2 * most) if norm == 1 else root_of(2 * most * most)

    def mechanism(
        self, share: Share, facts: TableFacts, *, limit: int | None = None, family: Family | None = None
    ) -> tuple[CountNoise, Basis]:
        """The mechanism with the smaller noise in a count of rows, and its basis: a choice by public numbers."""
        options: list[tuple[float, int, CountNoise, Basis]] = []
        families: tuple[Family, ...] = ("laplace", "gaussian") if family is None else (family,)
        for order, name in enumerate(families):
            chosen, norm = self.of_family(name, facts), _NORMS[name]
            own_limit = self.limit(chosen, facts) if facts.users and limit is None else limit or 1
            sensitivity = self.sensitivity(chosen, norm, facts, limit=own_limit)
            noise: CountNoise | None
            if name == "laplace":
                noise = share.laplace(int(sensitivity), facts.adjacency)
            else:
                noise = share.gaussian(sensitivity, facts.adjacency)
            if noise is not None:
                scale = self._scale(own_limit, norm, facts)
                size = deviation(noise) * float(np.linalg.norm(chosen.leading)) / scale
                options.append((size, order, noise, chosen))
        _, _, noise, chosen = min(options, key=lambda option: option[:2])
        return noise, chosen

    def _scale(self, limit: int, norm: Literal[1, 2], facts: TableFacts) -> float:
        weighing = self.weighing(limit, norm, facts)
        return 1.0 if weighing is None else 2.0**weighing.bits

    def deviation(self, share: Share, facts: TableFacts) -> float:
        """Of the number of rows."""
        noisy = self.expected(share, facts)
        return math.sqrt(noisy.law.variance) * float(np.linalg.norm(noisy.basis.leading)) / noisy.scale

    def expected(self, share: Share, facts: TableFacts) -> NoisyMoments:
        """With sums of 0."""
        share = self._shares(share, facts)[0]
        noise, chosen = self.mechanism(share, facts)
        return self._noisy(noise, chosen, self.limit(chosen, facts) if facts.users else 1, facts)

    def typical(self, share: Share, facts: TableFacts, rows: float) -> NoisyMoments:
        """With the sums of rows whose numbers lie in the middle."""
        noisy = self.expected(share, facts)
        middle, each = self.steps(facts) / 2, rows / max(1, self.groups(facts)) * noisy.scale
        sums = np.array([b + c * middle + d * middle**2 for _, b, c, d in noisy.basis.forms])
        return replace(noisy, sums=np.tile(each * sums, (len(noisy.sums), 1)))

    def _shares(self, share: Share, facts: TableFacts) -> tuple[Share, Share | None]:
        """For the sums, and for the choice of the bound."""
        if self.bound != "auto" or not facts.users:
            return share, None
        single = self.groups(facts) * len(self.of_family("laplace", facts).forms) == 1
        part = SINGLE_CHOICE_SHARE if single else CHOICE_SHARE
        noise, choice = share.parts((1.0 - part, part))
        return noise, choice

    def _noisy(self, noise: CountNoise, chosen: Basis, limit: int, facts: TableFacts) -> NoisyMoments:
        shape = tuple(key.cells(facts.schema) for key in self.keys)
        return NoisyMoments(
            sums=np.zeros((math.prod(shape), len(chosen.forms))),
            basis=chosen,
            law=NoiseLaw.of(noise),
            shape=shape,
            scale=self._scale(limit, norm_of(noise), facts),
        )

    def example(self, share: Share, facts: TableFacts, rows: int) -> NoisyMoments | None:
        """Sums of so many rows in the middle, without noise; None where the bound is yet to be chosen privately."""
        if facts.users and self.bound == "auto":
            return None
        return self.typical(share, facts, rows * self.groups(facts))

    # The private part.

    def exact(self, chosen: Basis, norm: Literal[1, 2], facts: TableFacts, *, limit: int) -> GroupSums:
        """What the engine is asked for."""
        amount = None if self.column is None else Amount(self.column, self.steps(facts))
        return GroupSums(
            keys=self.keys,
            forms=chosen.forms,
            amount=amount,
            where=self.where,
            weighing=self.weighing(limit, norm, facts),
            once=self.once and facts.users,
        )

    def measure(self, table: Table, purse: Purse, facts: TableFacts) -> NoisyMoments:
        """One query, one release; where the bound is chosen, one of each for it before."""
        share, choice = self._shares(purse.share, facts)
        noise, chosen = self.mechanism(share, facts)
        limit = self.limit(chosen, facts) if facts.users else 1
        bound = None
        if choice is not None:
            norm, law = norm_of(noise), NoiseLaw.of(noise)
            spread = law.scale / limit / 2.0 ** min(USER_BITS, 62 - limit.bit_length())
            size = 1.0 if norm == 1 else math.sqrt(2.0 / math.pi)
            bound = choose_bound(
                table,
                replace(purse, share=choice),
                facts,
                sums=self.exact(chosen, norm, facts, limit=limit),
                row=chosen.whole,
                excess=0.5 * self.groups(facts) * len(chosen.forms) * spread * size,
            )
            limit = bound.limit
            noise, chosen = self.mechanism(share, facts, limit=limit, family=law.family)
        exact = table.aggregate(self.exact(chosen, norm_of(noise), facts, limit=limit))
        sums = np.asarray(replace(purse, share=share).release(noise, exact), dtype=np.float64)
        noisy = self._noisy(noise, chosen, limit, facts)
        return replace(noisy, sums=sums.reshape(noisy.sums.shape), chosen=bound)


_NORMS: dict[Family, Literal[1, 2]] = {"laplace": 1, "gaussian": 2}


def norm_of(noise: CountNoise) -> Literal[1, 2]:
    """In which norm the noise needs a bound."""
    return _NORMS[NoiseLaw.of(noise).family]


def _number(facts: TableFacts, name: str) -> Numeric:
    column = facts.schema[name]
    require(isinstance(column, Numeric), "column", name, "a number of the schema")
    assert isinstance(column, Numeric)
    return column

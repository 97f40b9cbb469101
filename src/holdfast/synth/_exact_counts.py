"""ExactCounts and ExactAnswers: exact counts of a private table, and exact answers of a workload. Private."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from holdfast._arguments import checked
from holdfast._arrays import Floats
from holdfast._assumption import NUMBER_OF_ROWS, Assumption
from holdfast.data._table import Table
from holdfast.errors import ParameterError, require
from holdfast.privacy._account.request import refuse_users
from holdfast.privacy._adjacency import Adjacency, PrivacyUnit
from holdfast.synth._workload import Workload
from holdfast.synth._workload.workload import AnswerVector, Group

#: The most cells of exact counts that are cached; the least recently used are dropped first.
MOST_CACHED_CELLS = 2**25
#: The most joint counts of one pass over the table; engines hold all of them in memory.
MOST_SETS_PER_PASS = 256


@checked
class ExactCounts:
    """A table seen through joint counts of a few declared columns. Private: the counts are exact.

    `public_count` is what methods may divide by; `assumptions` says what that rests on.

    Parameters
    ----------
    table : Table
        The rows.
    columns : sequence of str, optional
        The columns that may be asked for; all that can be counted by default.

    Examples
    --------
    >>> from holdfast.data import Categorical, Schema, open_table
    >>> table = open_table({"sex": ["F", "M", "M"]}, Schema([Categorical("sex", ["F", "M"])]))
    >>> ExactCounts(table).counts([["sex"]])[0].tolist()
    [1.0, 2.0]
    """

    def __init__(self, table: Table, columns: Sequence[str] | None = None) -> None:
        self.table = table
        names = table.schema.names if columns is None else tuple(columns)
        self.domain: dict[str, int] = {name: table.schema[name].cells for name in names}
        require(bool(self.domain), "columns", names, "at least one column that can be counted")
        self._public: tuple[int, tuple[Assumption, ...]] | None = None
        self._cache: OrderedDict[tuple[str, ...], Floats] = OrderedDict()
        self._cached_cells = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in order."""
        return tuple(self.domain)

    @property
    def public_count(self) -> int:
        """The number of privacy units, for methods that divide by it: never the true one where that is private."""
        if self._public is None:
            if not self.adjacency.count_is_public and self.table.n_public is None:
                raise ParameterError(
                    "n_public must be declared under add_remove for this method, which divides by the number of rows, "
                    "got n_public=None; declare it, or use a method that counts rows privately (adaptive, tree, "
                    "gaussian, independent)"
                )
            self._public = self.table.public_count()
        return self._public[0]

    @property
    def public_units(self) -> int | None:
        """The number of privacy units where that is public: declared, or the same in all neighbours; else None."""
        declared = self.adjacency.count_is_public or self.table.n_public is not None
        return self.public_count if declared else None

    @property
    def public_rows(self) -> int | None:
        """The number of rows where that is public, which needs units of one row each; else None."""
        return self.public_units if self.unit.max_rows == 1 else None

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """What a promise about this table assumes; the number of units is listed once it was asked for."""
        assumed = () if self._public is None else self._public[1]
        if self._public is not None and not self.adjacency.count_is_public:
            declared = Assumption(
                kind=NUMBER_OF_ROWS,
                subject="n_public",
                text=f"n_public={self._public[0]} was declared: proportions and their intervals are shares of it",
            )
            assumed = (*assumed, declared)
        return (*self.table.assumptions, *assumed)

    @property
    def adjacency(self) -> Adjacency:
        """The relation between neighbouring tables."""
        return self.table.adjacency

    @property
    def unit(self) -> PrivacyUnit:
        """The privacy unit: a row, or all rows of a user."""
        return self.table.unit

    def shape(self, columns: Sequence[str]) -> tuple[int, ...]:
        """The shape of a joint count of `columns`."""
        for name in columns:
            require(name in self.domain, "columns", name, f"among {list(self.domain)}")
        return tuple(self.domain[name] for name in columns)

    def counts(self, column_sets: Sequence[Sequence[str]]) -> list[Floats]:
        """Exact joint counts of each of `column_sets`.

        Counts that are not cached are taken in a few passes over the table.
        """
        wanted = [tuple(columns) for columns in column_sets]
        absent = list(dict.fromkeys(columns for columns in wanted if columns not in self._cache))
        fresh: dict[tuple[str, ...], Floats] = {}
        for start in range(0, len(absent), MOST_SETS_PER_PASS):
            part = absent[start : start + MOST_SETS_PER_PASS]
            tables = self.table.counts(part)
            fresh |= {
                columns: counted.astype(np.float64) for columns, counted in zip(part, tables, strict=True)
            }
        answers = []
        for columns in wanted:
            if columns in self._cache:
                self._cache.move_to_end(columns)
            answers.append(fresh[columns] if columns in fresh else self._cache[columns])
        for columns, counted in fresh.items():
            self._remember(columns, counted)
        return answers

    def group_sums(self, group: Group) -> Floats:
        """The exact answers of a group that is answered row by row (`OneLayer`), in one pass over the table."""
        query_group: Any = group
        return self.table.sums(query_group)

    def __call__(self, *columns: str) -> Floats:
        """The exact joint count of these columns."""
        return self.counts([columns])[0]

    def _remember(self, columns: tuple[str, ...], counts: Floats) -> None:
        self._cache[columns] = counts
        self._cached_cells += counts.size
        while self._cached_cells > MOST_CACHED_CELLS and len(self._cache) > 1:
            _, dropped = self._cache.popitem(last=False)
            self._cached_cells -= dropped.size


#: One unit changes the summed answer of a query with values in [0, 1] by at most 1, under every adjacency: adding,
#: removing or blanking a record by its value, replacing one by a difference of two values. The rest is for rounding in
#: the sums, which are floating point.
SCORE_SENSITIVITY = 1.0 + 2.0**-20
SINGLE_ROWS = "keep one row of each user, or use method='adaptive', which multiplies its sensitivity"
"""What to do where a unit owns several rows."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ExactAnswers:
    """Exact summed answers c_q(S), and the public number of units n by which proportions are taken.

    Under `add_remove` n is the declared count, whatever the table holds: scores are c_q(S) - n q(p), uncentred
    (soundness, section 9), and move by at most one.
    """

    layout: AnswerVector
    counts: Floats = field(repr=False)
    size: float

    @classmethod
    def of(cls, data: ExactCounts, workload: Workload) -> ExactAnswers:
        """Count the table; an error for units of several rows, which the sensitivity of the scores does not cover."""
        refuse_users(data, what="a selection of single queries", instead=SINGLE_ROWS)
        layout = AnswerVector(workload, data.domain)
        return cls(layout=layout, counts=layout.answers(data.counts), size=float(max(1, data.public_count)))

    def excess(self, answers: Floats) -> Floats:
        """c_q(S) - n q(p) for every query, from the answers of a distribution that sums to one."""
        return np.asarray(self.counts - self.size * answers)

    def signed_excess(self, answers: Floats) -> Floats:
        """`excess` of every query, and then of every query's negation."""
        gap = self.excess(answers)
        return np.concatenate([gap, -gap])

    def query_and_sign(self, index: int) -> tuple[int, float]:
        """The index of a query and its sign, from its index in `signed_excess`."""
        return (index, 1.0) if index < self.layout.size else (index - self.layout.size, -1.0)

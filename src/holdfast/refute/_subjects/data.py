"""Subjects for statistics of a table: noisy counts, sums of rows and sums of functions, by row and by bounded user.

The statistics come from the engine of tables in memory. Tried are the sensitivities of `holdfast.data._sensitivity` and
of `OneLayer`, and a certificate over the functions of `OneLayer`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from holdfast.data import Encoder, RowSum
from holdfast.data._sensitivity import counts_l1, counts_l2, sum_l2
from holdfast.data._table import Table
from holdfast.privacy._account import Account
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._curves.renyi import ZCDP
from holdfast.privacy._mechanisms.gaussian import Gaussian
from holdfast.privacy._mechanisms.laplace import Laplace
from holdfast.refute._freshness import FreshnessTrial
from holdfast.refute._replay import ReplayCase, World
from holdfast.refute._replay_trial import ReplayTrial
from holdfast.refute._subject import NamedSubject, Subject
from holdfast.refute._table_neighbours import TableNeighbours
from holdfast.refute._trial import Trial
from holdfast.synth._certificate import certify
from holdfast.synth._exact_counts import ExactCounts
from holdfast.synth._rows.coded_rows import CodedRows
from holdfast.synth._workload import Workload
from holdfast.synth._workload.one_layer import OneLayer
from holdfast.synth.methods.measure import measure_functions

CELLS = {"sex": ("F", "M"), "site": ("a", "b", "c")}
COUNTED_COLUMNS = (("age",), ("sex", "site"))
"""Two marginals that are released together."""


@dataclass(frozen=True, kw_only=True)
class DataStatistic:
    """One statistic of tables under one neighbour relation."""

    tables: TableNeighbours
    release: Callable[[Table, Account], Any]

    def open_account(self) -> Account:
        """An account large enough for a few releases."""
        return Account(ZCDP(10.0), adjacency=self.tables.adjacency, unit=self.tables.unit)

    def run(self, world: World, account: Account) -> Any:
        """Release the statistic of the table that is opened from these rows."""
        return self.release(self.tables.open_table(world), account)

    def case(self, name: str) -> ReplayCase:
        """A replay case with its neighbouring tables."""
        tables = self.tables
        return ReplayCase.from_neighbours(tables, name=name, open_account=self.open_account, run=self.run)


def noisy_counts(table: Table, account: Account) -> Any:
    """Two marginals, with noise for the L1 and for the L2 sensitivity."""
    counts = np.concatenate([np.ravel(counts) for counts in table.counts(COUNTED_COLUMNS)])
    l1 = counts_l1(table.adjacency, table.unit, marginals=len(COUNTED_COLUMNS))
    l2 = counts_l2(table.adjacency, table.unit, marginals=len(COUNTED_COLUMNS))
    return [
        account.release(Laplace(scale=l1, l1_sensitivity=l1), counts, label="counts, L1"),
        account.release(Gaussian(sigma=l2, l2_sensitivity=l2), counts, label="counts, L2"),
    ]


def noisy_sums(table: Table, account: Account, columns: tuple[str, ...] | None = None) -> Any:
    """Sums of encoded and clipped rows."""
    encoder = Encoder(table.schema, columns, intercept=columns is None, row_norm=0.7)
    sensitivity = sum_l2(encoder.row_norm_bound, table.adjacency, table.unit)
    return account.release(
        Gaussian(sigma=sensitivity, l2_sensitivity=sensitivity), table.sums(RowSum(encoder)), label="sums"
    )


SMOOTH_FUNCTIONS = OneLayer(
    ("sex", "site"),
    cells=(2, 3),
    weights=[[0.0, 0.5, 0.0, 0.2, 0.5], [0.0, 1.0, 0.0, 0.0, 0.0]],
    bias=[0.0, 0.0],
)
"""Both functions are 0 in the first cells and 1 in the last, so that a row moves them by all that is declared."""
STEP_FUNCTIONS = OneLayer(
    ("sex", "site"),
    cells=(2, 3),
    weights=OneLayer.of_marginals(("sex", "site"), (2, 3), order=2).weights,
    bias=[-1.0] * 6,
    step=True,
)
"""One function for each joint cell: a replaced row moves two of them by the whole range."""
PUBLISHED_ROWS = CodedRows(domain={"sex": 2, "site": 3}, codes=np.array([[0, 0], [1, 2], [0, 1]]))


def noisy_functions(table: Table, account: Account, functions: OneLayer = SMOOTH_FUNCTIONS) -> Any:
    """Sums of one-layer functions of rows."""
    return measure_functions(ExactCounts(table), functions, account=account)


def certified_functions(table: Table, account: Account) -> Any:
    """A certificate: the largest error of published rows over both groups of functions."""
    return certify(
        ExactCounts(table), PUBLISHED_ROWS, Workload([SMOOTH_FUNCTIONS, STEP_FUNCTIONS]), account=account
    )


# Sums of `age` alone: a number can move from one end of its range to the other, an encoded category cannot.
STATISTICS: dict[str, tuple[Callable[[Table, Account], Any], ...]] = {
    "counts": (noisy_counts,),
    "functions": (noisy_functions, partial(noisy_functions, functions=STEP_FUNCTIONS), certified_functions),
    "sums": (noisy_sums, partial(noisy_sums, columns=("age",))),
}


def _subject(name: str, adjacency: Adjacency) -> Subject:
    trials: list[Trial] = []
    for max_rows, owner in ((1, "rows"), (3, "users")):
        tables = TableNeighbours(cells=CELLS, adjacency=adjacency, max_rows=max_rows, number_column="age")
        for release in STATISTICS[name]:
            case = DataStatistic(tables=tables, release=release).case(f"{name} of {owner}")
            trials.append(ReplayTrial(case=case, pairs=12, climbs=12))
    if adjacency is Adjacency.replace:
        trials.append(FreshnessTrial(case=case, rows=tables.others, numbers=400))
    return Subject(
        name=f"data {name} {adjacency.value}", claim="holdfast.data._sensitivity", trials=tuple(trials)
    )


def data_subjects() -> Iterable[NamedSubject]:
    """A subject for every statistic and neighbour relation."""
    for adjacency in Adjacency:
        for name in STATISTICS:
            yield NamedSubject(name=f"data {name} {adjacency.value}", make=partial(_subject, name, adjacency))

"""What is promised of statistics of neighbours: counts, sums of encoded rows and of functions, with bounded users.

Through the engine that users get. The sensitivities are those of `holdfast.data._sensitivity` and of
`OneLayer`, whose functions are also certified.
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
from holdfast.refute._replay import Setup, World
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
SETS = (("age",), ("sex", "site"))
"""Two marginals at once: no row can be in the same cell of both by accident."""


@dataclass(frozen=True, kw_only=True)
class DataStatistic:
    """One statistic of tables under one neighbour relation."""

    near: TableNeighbours
    release: Callable[[Table, Account], Any]

    def open(self) -> Account:
        """Enough for a few releases."""
        return Account(ZCDP(10.0), adjacency=self.near.adjacency, unit=self.near.unit)

    def run(self, world: World, account: Account) -> Any:
        """Through the engine of small tables."""
        return self.release(self.near.open(world), account)

    def case(self, name: str) -> Setup:
        """With its neighbours."""
        near = self.near
        return Setup.among(near, name=name, open=self.open, run=self.run)


def noisy_counts(table: Table, account: Account) -> Any:
    """Two marginals, in both norms."""
    counts = np.concatenate([np.ravel(counts) for counts in table.counts(SETS)])
    l1 = counts_l1(table.adjacency, table.unit, marginals=len(SETS))
    l2 = counts_l2(table.adjacency, table.unit, marginals=len(SETS))
    return [
        account.release(Laplace(scale=l1, l1_sensitivity=l1), counts, label="counts, L1"),
        account.release(Gaussian(sigma=l2, l2_sensitivity=l2), counts, label="counts, L2"),
    ]


def noisy_sums(table: Table, account: Account, columns: tuple[str, ...] | None = None) -> Any:
    """Sums of encoded and clipped rows."""
    encoder = Encoder(table.schema, columns, intercept=columns is None, row_norm=0.7)
    moved = sum_l2(encoder.row_norm_bound, table.adjacency, table.unit)
    return account.release(
        Gaussian(sigma=moved, l2_sensitivity=moved), table.sums(RowSum(encoder)), label="sums"
    )


FUNCTIONS = OneLayer(
    ("sex", "site"),
    cells=(2, 3),
    weights=[[0.0, 0.5, 0.0, 0.2, 0.5], [0.0, 1.0, 0.0, 0.0, 0.0]],
    bias=[0.0, 0.0],
)
"""Both are 0 in the first cells and 1 in the last: what is declared is reached."""
STEPS = OneLayer(
    ("sex", "site"),
    cells=(2, 3),
    weights=OneLayer.of_marginals(("sex", "site"), (2, 3), order=2).weights,
    bias=[-1.0] * 6,
    step=True,
)
"""One function for each joint cell: a replaced row moves two of them from end to end."""
PUBLISHED = CodedRows(domain={"sex": 2, "site": 3}, codes=np.array([[0, 0], [1, 2], [0, 1]]))


def noisy_functions(table: Table, account: Account, group: OneLayer = FUNCTIONS) -> Any:
    """Sums of one-layer functions of rows."""
    return measure_functions(ExactCounts(table), group, account=account)


def certified_functions(table: Table, account: Account) -> Any:
    """The largest error of published rows over such functions."""
    return certify(ExactCounts(table), PUBLISHED, Workload([FUNCTIONS, STEPS]), account=account)


# A number alone goes to both ends of its range; what has categories is never the opposite of anything.
STATISTICS: dict[str, tuple[Callable[[Table, Account], Any], ...]] = {
    "counts": (noisy_counts,),
    "functions": (noisy_functions, partial(noisy_functions, group=STEPS), certified_functions),
    "sums": (noisy_sums, partial(noisy_sums, columns=("age",))),
}


def _subject(name: str, adjacency: Adjacency) -> Subject:
    trials: list[Trial] = []
    for max_rows, whose in ((1, "rows"), (3, "users")):
        near = TableNeighbours(cells=CELLS, adjacency=adjacency, max_rows=max_rows, number="age")
        for release in STATISTICS[name]:
            case = DataStatistic(near=near, release=release).case(f"{name} of {whose}")
            trials.append(ReplayTrial(case=case, pairs=12, climbs=12))
    if adjacency is Adjacency.replace:
        trials.append(FreshnessTrial(case=case, rows=near.others, numbers=400))
    return Subject(
        name=f"data {name} {adjacency.value}", claim="holdfast.data._sensitivity", trials=tuple(trials)
    )


def data_subjects() -> Iterable[NamedSubject]:
    """Counts and sums, by row and by user."""
    for adjacency in Adjacency:
        for name in STATISTICS:
            yield NamedSubject(name=f"data {name} {adjacency.value}", make=partial(_subject, name, adjacency))

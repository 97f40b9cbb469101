"""Subjects for linear fits of tables, in which some rows have no target.

The methods by themselves are tried on arrays (`learners`). Here the way from a table to the arrays is tried: which rows
become null records, and whether anything else of a row without a target has an effect. Targets are numbers, two classes
or three; the unit is a row or a user.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from holdfast.learn import PrivateLinearRegression, PrivateLogisticRegression
from holdfast.privacy._account import Account
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._curves.curve import ApproxDP
from holdfast.refute._replay import ReplayCase, World
from holdfast.refute._replay_trial import ReplayTrial
from holdfast.refute._subject import NamedSubject, Subject
from holdfast.refute._table_neighbours import TableNeighbours
from holdfast.refute._trial import Trial

CELLS = {"a": ("x", "y"), "b": ("p", "q", "r"), "c": ("yes", "no")}
NUMBER_COLUMN = "d"
UNITS, ROWS_PER_USER = 16, 3
LIMIT = ApproxDP(1.0, 1e-3)
METHODS: Mapping[str, tuple[tuple[str, Mapping[str, Any]], ...]] = {
    "c": (("output", {"penalty": 0.1}), ("noisy_gd", {}), ("newton", {}), ("objective", {"penalty": 0.1})),
    "b": (("output", {"penalty": 0.1}), ("noisy_gd", {})),
    NUMBER_COLUMN: (("ssp", {}), ("adassp", {}), ("noisy_gd", {})),
}
"""By target: methods that use sums, methods that minimise, and one that uses the count of rows with a target (ssp)."""


@dataclass(frozen=True, kw_only=True)
class TableFit:
    """One way to fit a linear model to a table."""

    target: str
    method: str
    tables: TableNeighbours
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The setting in one line."""
        kind = {"c": "two classes", "b": "three classes"}.get(self.target, "numbers")
        return ", ".join([self.method, kind, *(["users"] if self.tables.max_rows > 1 else [])])

    def open_account(self) -> Account:
        """An account that counts in Gaussian DP, as the methods do."""
        return Account(LIMIT, adjacency=self.tables.adjacency, unit=self.tables.unit, currency="gdp")

    def run(self, world: World, account: Account) -> Any:
        """The release and everything that can be read off the model."""
        kind: Any = PrivateLinearRegression if self.target == NUMBER_COLUMN else PrivateLogisticRegression
        model = kind(method=self.method, **self.options)
        model.fit(self.tables.open_table(world), target=self.target, account=account)
        return [
            model.release_.value,
            dict(model.release_.provenance.parameters),
            model.summary(),
            model.to_json(),
        ]

    def case(self) -> ReplayCase:
        """A replay case with its neighbouring tables."""
        return ReplayCase.from_neighbours(
            self.tables, name=self.name, open_account=self.open_account, run=self.run
        )


def table_fits(adjacency: Adjacency) -> Iterator[TableFit]:
    """Every target with each of its methods, by row; and with noisy gradient descent by user, too."""
    for target, methods in METHODS.items():
        for place, (method, options) in enumerate(methods):
            for max_rows in (1, ROWS_PER_USER) if method == "noisy_gd" and place else (1,):
                tables = TableNeighbours(
                    cells=CELLS,
                    number_column=NUMBER_COLUMN,
                    adjacency=adjacency,
                    others=(UNITS - 1) * max_rows,
                    max_rows=max_rows,
                    n_public=None if adjacency.count_is_public else UNITS,
                    missing_column=target,
                )
                yield TableFit(target=target, method=method, tables=tables, options=options)


def table_fit_subject(adjacency: Adjacency) -> Subject:
    """The subject under one neighbour relation."""
    trials: list[Trial] = [
        ReplayTrial(case=setting.case(), pairs=10, climbs=0) for setting in table_fits(adjacency)
    ]
    return Subject(name=f"table_fits {adjacency.value}", claim="its account's limit", trials=tuple(trials))


def table_fit_subjects() -> Iterable[NamedSubject]:
    """A subject for every neighbour relation."""
    for adjacency in Adjacency:
        yield NamedSubject(name=f"table_fits {adjacency.value}", make=partial(table_fit_subject, adjacency))

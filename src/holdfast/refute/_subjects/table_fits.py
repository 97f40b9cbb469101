"""Linear fits of tables as cases: rows that may have no target, of numbers, two classes and three, rows and users.

The methods by themselves are subjects of their own (`learners`), on arrays; here the way from a table to what they see
is under attack: which rows are null records, and what else of a row without a target might be seen.
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
from holdfast.refute._replay import Setup, World
from holdfast.refute._replay_trial import ReplayTrial
from holdfast.refute._subject import NamedSubject, Subject
from holdfast.refute._table_neighbours import TableNeighbours
from holdfast.refute._trial import Trial

CELLS = {"a": ("x", "y"), "b": ("p", "q", "r"), "c": ("yes", "no")}
NUMBER = "d"
UNITS, ROWS_PER_USER = 16, 3
LIMIT = ApproxDP(1.0, 1e-3)
METHODS: Mapping[str, tuple[tuple[str, Mapping[str, Any]], ...]] = {
    "c": (("output", {"penalty": 0.1}), ("noisy_gd", {}), ("newton", {}), ("objective", {"penalty": 0.1})),
    "b": (("output", {"penalty": 0.1}), ("noisy_gd", {})),
    NUMBER: (("ssp", {}), ("adassp", {}), ("noisy_gd", {})),
}
"""Some that live on sums, some that minimise, one that looks at the count of rows with a target (ssp)."""


@dataclass(frozen=True, kw_only=True)
class TableFit:
    """One way to fit a linear model to a table."""

    target: str
    method: str
    near: TableNeighbours
    told: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """All of it in one line."""
        kind = {"c": "two classes", "b": "three classes"}.get(self.target, "numbers")
        return ", ".join([self.method, kind, *(["users"] if self.near.max_rows > 1 else [])])

    def open(self) -> Account:
        """In the currency of the methods."""
        return Account(LIMIT, adjacency=self.near.adjacency, unit=self.near.unit, currency="gdp")

    def run(self, world: World, account: Account) -> Any:
        """The release and everything that can be read off the model."""
        kind: Any = PrivateLinearRegression if self.target == NUMBER else PrivateLogisticRegression
        model = kind(method=self.method, **self.told)
        model.fit(self.near.open(world), target=self.target, account=account)
        return [
            model.release_.value,
            dict(model.release_.provenance.parameters),
            model.summary(),
            model.to_json(),
        ]

    def case(self) -> Setup:
        """With its neighbours."""
        return Setup.among(self.near, name=self.name, open=self.open, run=self.run)


def table_fits(adjacency: Adjacency) -> Iterator[TableFit]:
    """Every kind of target by every method that is tried; users by the first."""
    for target, methods in METHODS.items():
        for place, (method, told) in enumerate(methods):
            for max_rows in (1, ROWS_PER_USER) if method == "noisy_gd" and place else (1,):
                near = TableNeighbours(
                    cells=CELLS,
                    number=NUMBER,
                    adjacency=adjacency,
                    others=(UNITS - 1) * max_rows,
                    max_rows=max_rows,
                    n_public=None if adjacency.count_is_public else UNITS,
                    lacking=target,
                )
                yield TableFit(target=target, method=method, near=near, told=told)


def table_fit_subject(adjacency: Adjacency) -> Subject:
    """Under one neighbour relation."""
    trials: list[Trial] = [
        ReplayTrial(case=setting.case(), pairs=10, climbs=0) for setting in table_fits(adjacency)
    ]
    return Subject(name=f"table_fits {adjacency.value}", claim="its account's limit", trials=tuple(trials))


def table_fit_subjects() -> Iterable[NamedSubject]:
    """Every neighbour relation."""
    for adjacency in Adjacency:
        yield NamedSubject(name=f"table_fits {adjacency.value}", make=partial(table_fit_subject, adjacency))

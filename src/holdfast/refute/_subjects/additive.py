"""Subjects for additive models: every kind of target, by row and by user, with and without pairs of columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from holdfast.learn._estimators.additive import PrivateAdditiveClassifier, PrivateAdditiveRegressor
from holdfast.privacy._account import Account
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._curves.curve import ApproxDP, PrivacyCurve
from holdfast.refute._freshness import FreshnessTrial
from holdfast.refute._replay import ReplayCase, World
from holdfast.refute._replay_trial import ReplayTrial
from holdfast.refute._subject import NamedSubject, Subject
from holdfast.refute._table_neighbours import TableNeighbours
from holdfast.refute._trial import Trial

CELLS = {"a": ("x", "y"), "b": ("p", "q", "r"), "c": ("no", "yes")}
NUMBER_COLUMN = "d"
UNITS, ROWS_PER_USER = 16, 3
MANY_UNITS = 300
"""So many units that, at the large limit, pairs of columns are worth their price."""
USUAL_LIMIT, LARGE_LIMIT = ApproxDP(1.0, 1e-3), ApproxDP(1e4, 1e-3)


@dataclass(frozen=True, kw_only=True)
class AdditiveSetting:
    """One way to fit an additive model."""

    target: str
    tables: TableNeighbours
    limit: PrivacyCurve = USUAL_LIMIT
    monotone: bool = False

    @property
    def name(self) -> str:
        """The setting in one line."""
        parts = [{"c": "two classes", "b": "three classes"}.get(self.target, "numbers")]
        parts += ["users"] if self.tables.max_rows > 1 else []
        parts += ["pairs"] if self.limit is LARGE_LIMIT else []
        return ", ".join(parts)

    def open_account(self) -> Account:
        """An account that counts in Gaussian DP."""
        return Account(self.limit, adjacency=self.tables.adjacency, unit=self.tables.unit, currency="gdp")

    def run(self, world: World, account: Account) -> Any:
        """The release and everything that can be read off the model."""
        kind = PrivateAdditiveRegressor if self.target == NUMBER_COLUMN else PrivateAdditiveClassifier
        model = kind(monotone={NUMBER_COLUMN: 1} if self.monotone else None)
        model.fit(self.tables.open_table(world), target=self.target, account=account)
        return [model.release_.value, model.summary(), model.to_json()]

    def case(self) -> ReplayCase:
        """A replay case with its neighbouring tables."""
        return ReplayCase.from_neighbours(
            self.tables, name=self.name, open_account=self.open_account, run=self.run
        )


def additive_settings(adjacency: Adjacency) -> Iterator[AdditiveSetting]:
    """Every kind of target by row; for two classes also by user, and with pairs of columns."""

    def tables(units: int = UNITS, max_rows: int = 1, missing_column: str = "") -> TableNeighbours:
        declared = None if adjacency.count_is_public else units
        return TableNeighbours(
            cells=CELLS,
            number_column=NUMBER_COLUMN,
            adjacency=adjacency,
            others=(units - 1) * max_rows,
            max_rows=max_rows,
            n_public=declared,
            missing_column=missing_column,
        )

    for target in ("c", "b", NUMBER_COLUMN):
        yield AdditiveSetting(target=target, tables=tables(missing_column=target), monotone=target == "c")
    yield AdditiveSetting(target="c", tables=tables(max_rows=ROWS_PER_USER, missing_column="c"))
    yield AdditiveSetting(target="c", tables=tables(MANY_UNITS), limit=LARGE_LIMIT)


def additive_subject(adjacency: Adjacency) -> Subject:
    """The subject under one neighbour relation."""
    trials: list[Trial] = []
    for setting in additive_settings(adjacency):
        large_limit = setting.limit is LARGE_LIMIT
        trials.append(
            ReplayTrial(case=setting.case(), pairs=2 if large_limit else 5, climbs=0 if large_limit else 2)
        )
    if adjacency is Adjacency.replace:
        first_setting = next(additive_settings(adjacency))
        trials.append(FreshnessTrial(case=first_setting.case(), rows=UNITS))
    return Subject(name=f"additive {adjacency.value}", claim="its account's limit", trials=tuple(trials))


def additive_subjects() -> Iterable[NamedSubject]:
    """A subject for every neighbour relation."""
    for adjacency in Adjacency:
        yield NamedSubject(name=f"additive {adjacency.value}", make=partial(additive_subject, adjacency))

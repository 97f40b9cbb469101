"""Additive models as cases: two classes, several, and numbers; rows and users; with and without pairs of columns."""

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
from holdfast.refute._replay import Setup, World
from holdfast.refute._replay_trial import ReplayTrial
from holdfast.refute._subject import NamedSubject, Subject
from holdfast.refute._table_neighbours import TableNeighbours
from holdfast.refute._trial import Trial

CELLS = {"a": ("x", "y"), "b": ("p", "q", "r"), "c": ("no", "yes")}
NUMBER = "d"
UNITS, ROWS_PER_USER = 16, 3
MANY = 300
"""Units for whom, at a large budget, pairs of columns are worth their price."""
USUAL, LARGE = ApproxDP(1.0, 1e-3), ApproxDP(1e4, 1e-3)


@dataclass(frozen=True, kw_only=True)
class AdditiveSetting:
    """One way to fit an additive model."""

    target: str
    near: TableNeighbours
    limit: PrivacyCurve = USUAL
    monotone: bool = False

    @property
    def name(self) -> str:
        """All of it in one line."""
        shown = [{"c": "two classes", "b": "three classes"}.get(self.target, "numbers")]
        shown += ["users"] if self.near.max_rows > 1 else []
        shown += ["pairs"] if self.limit is LARGE else []
        return ", ".join(shown)

    def open(self) -> Account:
        """In GDP."""
        return Account(self.limit, adjacency=self.near.adjacency, unit=self.near.unit, currency="gdp")

    def run(self, world: World, account: Account) -> Any:
        """The release and everything that can be read off the model."""
        kind = PrivateAdditiveRegressor if self.target == NUMBER else PrivateAdditiveClassifier
        model = kind(monotone={NUMBER: 1} if self.monotone else None)
        model.fit(self.near.open(world), target=self.target, account=account)
        return [model.release_.value, model.summary(), model.to_json()]

    def case(self) -> Setup:
        """With its neighbours."""
        return Setup.among(self.near, name=self.name, open=self.open, run=self.run)


def additive_settings(adjacency: Adjacency) -> Iterator[AdditiveSetting]:
    """Every loss for rows; users and pairs for two classes."""

    def near(units: int = UNITS, max_rows: int = 1, lacking: str = "") -> TableNeighbours:
        declared = None if adjacency.count_is_public else units
        return TableNeighbours(
            cells=CELLS,
            number=NUMBER,
            adjacency=adjacency,
            others=(units - 1) * max_rows,
            max_rows=max_rows,
            n_public=declared,
            lacking=lacking,
        )

    for target in ("c", "b", NUMBER):
        yield AdditiveSetting(target=target, near=near(lacking=target), monotone=target == "c")
    yield AdditiveSetting(target="c", near=near(max_rows=ROWS_PER_USER, lacking="c"))
    yield AdditiveSetting(target="c", near=near(MANY), limit=LARGE)


def additive_subject(adjacency: Adjacency) -> Subject:
    """Under one neighbour relation."""
    trials: list[Trial] = []
    for setting in additive_settings(adjacency):
        few = setting.limit is LARGE
        trials.append(ReplayTrial(case=setting.case(), pairs=2 if few else 5, climbs=0 if few else 2))
    if adjacency is Adjacency.replace:
        first = next(additive_settings(adjacency))
        trials.append(FreshnessTrial(case=first.case(), rows=UNITS))
    return Subject(name=f"additive {adjacency.value}", claim="its account's limit", trials=tuple(trials))


def additive_subjects() -> Iterable[NamedSubject]:
    """Every neighbour relation."""
    for adjacency in Adjacency:
        yield NamedSubject(name=f"additive {adjacency.value}", make=partial(additive_subject, adjacency))

"""Subjects for synthesisers: every method with its certificate, run through `Synthesizer`.

A setting follows from what a method declares; of its options only those that say how long a run is are made small.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from holdfast.privacy._account import Account
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._curves.curve import ApproxDP, PrivacyCurve, PureDP
from holdfast.refute._freshness import FreshnessTrial
from holdfast.refute._price import PriceTrial
from holdfast.refute._replay import ReplayCase, World, record_run
from holdfast.refute._replay_trial import ReplayTrial
from holdfast.refute._subject import NamedSubject, Subject
from holdfast.refute._table_neighbours import TableNeighbours
from holdfast.refute._trial import Trial
from holdfast.synth._catalogue import REGISTRY, SYNTHESISERS
from holdfast.synth._synthesizer import Synthesizer
from holdfast.synth._workload import Workload
from holdfast.synth.methods.method import SynthesisMethod

CELLS: Mapping[str, tuple[str, ...]] = {"a": ("x", "y"), "b": ("p", "q", "r"), "c": ("no", "yes")}
WORKLOAD = Workload.of([("a", "b"), ("b", "c")])
UNITS, ROWS_PER_USER = 16, 2
SHORT_RUN_OPTIONS = {"rounds": 6, "samples": 2, "most_steps": 10}
"""Options that say how long a run is: few rounds show as much as many, and are quicker."""
LIMITS: tuple[PrivacyCurve, ...] = (PureDP(1.0), ApproxDP(1.0, 1e-3))


@dataclass(frozen=True, kw_only=True)
class SynthesiserSetting:
    """One way to run a synthesiser."""

    method: SynthesisMethod
    tables: TableNeighbours
    limit: PrivacyCurve

    @property
    def name(self) -> str:
        """The setting in one line."""
        parts = ["pure" if self.limit.as_pure() is not None else self.method.currency]
        parts += ["users"] if self.tables.max_rows > 1 else []
        parts += [] if self.tables.n_public is None else ["n declared"]
        return ", ".join(parts)

    def open_account(self) -> Account:
        """An account in the currency of the method."""
        currency = "pure" if self.limit.as_pure() is not None else self.method.currency
        return Account(self.limit, adjacency=self.tables.adjacency, unit=self.tables.unit, currency=currency)

    def run(self, world: World, account: Account) -> Any:
        """Fit, and return the release, the model and the certificate."""
        short_run = {
            option.name: SHORT_RUN_OPTIONS[option.name]
            for option in self.method.options
            if option.name in SHORT_RUN_OPTIONS
        }
        synthesizer = Synthesizer(
            method=self.method, workload=WORKLOAD, columns=list(CELLS), options=short_run
        )
        synthesizer.fit(self.tables.open_table(world), account=account)
        return [synthesizer.release_, synthesizer.model_, synthesizer.certification_]

    def case(self) -> ReplayCase:
        """A replay case with its neighbouring tables."""
        tables = self.tables
        return ReplayCase.from_neighbours(
            tables, name=self.name, open_account=self.open_account, run=self.run
        )

    def is_accepted(self) -> bool:
        """Whether the method runs on an ordinary table, without an exception."""
        case = self.case()
        return not record_run(case, case.plain(UNITS), seed=0).error


def synthesis_settings(method: SynthesisMethod, adjacency: Adjacency) -> Iterator[SynthesiserSetting]:
    """Every limit, with a declared and an undeclared number of units, by row and by user."""
    declared = (None,) if adjacency.count_is_public else (None, UNITS)
    for limit in LIMITS[0 if method.pure else 1 :]:
        for n_public in declared:
            for max_rows in (1,) if method.single_rows else (1, ROWS_PER_USER):
                tables = TableNeighbours(
                    cells=CELLS, adjacency=adjacency, others=UNITS - 1, max_rows=max_rows, n_public=n_public
                )
                setting = SynthesiserSetting(method=method, tables=tables, limit=limit)
                if setting.is_accepted():
                    yield setting


def synthesiser_subject(method: SynthesisMethod, adjacency: Adjacency) -> Subject:
    """The subject for a method under one neighbour relation."""
    settings = list(synthesis_settings(method, adjacency))
    trials: list[Trial] = [ReplayTrial(case=setting.case(), pairs=6, climbs=6) for setting in settings]
    if adjacency.value == method.adjacencies[0]:
        trials += [FreshnessTrial(case=setting.case(), rows=UNITS, numbers=200) for setting in settings[:1]]
    trials += [
        PriceTrial(case=setting.case(), rows=UNITS)
        for setting in {each.limit: each for each in settings}.values()
    ]
    return Subject(name=f"{method.name} {adjacency.value}", claim="its account's limit", trials=tuple(trials))


def synthesiser_subjects() -> Iterable[NamedSubject]:
    """Every synthesiser under every neighbour relation that it names, those of installed packages included."""
    for method in (*SYNTHESISERS, *REGISTRY.installed_entries()):
        for adjacency in method.adjacencies:
            yield NamedSubject(
                name=f"{method.name} {adjacency}",
                make=partial(synthesiser_subject, method, Adjacency.of(adjacency)),
            )

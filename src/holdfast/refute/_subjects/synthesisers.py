"""Synthesisers as cases: every method with its certificate, through the class that people use.

What a method takes is what it declares; of options only the number of rounds is made small, where there is one.
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
from holdfast.refute._replay import Setup, World, recorded
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
ROUNDS = {"rounds": 6, "samples": 2, "most_steps": 10}
"""Options that say how long a run is: few rounds are as telling as many, and quicker."""
LIMITS: tuple[PrivacyCurve, ...] = (PureDP(1.0), ApproxDP(1.0, 1e-3))


@dataclass(frozen=True, kw_only=True)
class SynthesiserSetting:
    """One way to run a synthesiser."""

    method: SynthesisMethod
    near: TableNeighbours
    limit: PrivacyCurve

    @property
    def name(self) -> str:
        """All of it in one line."""
        shown = ["pure" if self.limit.as_pure() is not None else self.method.currency]
        shown += ["users"] if self.near.max_rows > 1 else []
        shown += [] if self.near.n_public is None else ["n declared"]
        return ", ".join(shown)

    def open(self) -> Account:
        """In the currency of the method."""
        currency = "pure" if self.limit.as_pure() is not None else self.method.currency
        return Account(self.limit, adjacency=self.near.adjacency, unit=self.near.unit, currency=currency)

    def run(self, world: World, account: Account) -> Any:
        """Rows, noisy counts, certificates and the model."""
        told = {option.name: ROUNDS[option.name] for option in self.method.options if option.name in ROUNDS}
        made = Synthesizer(method=self.method, workload=WORKLOAD, columns=list(CELLS), options=told)
        made.fit(self.near.open(world), account=account)
        return [made.release_, made.model_, made.certification_]

    def case(self) -> Setup:
        """With its neighbours."""
        near = self.near
        return Setup.among(near, name=self.name, open=self.open, run=self.run)

    def works(self) -> bool:
        """Whether the method takes it."""
        case = self.case()
        return not recorded(case, case.plain(UNITS), seed=0).error


def synthesis_settings(method: SynthesisMethod, adjacency: Adjacency) -> Iterator[SynthesiserSetting]:
    """Every budget, known and unknown numbers of units, rows and users."""
    declared = (None,) if adjacency.count_is_public else (None, UNITS)
    for limit in LIMITS[0 if method.pure else 1 :]:
        for n_public in declared:
            for max_rows in (1,) if method.single_rows else (1, ROWS_PER_USER):
                near = TableNeighbours(
                    cells=CELLS, adjacency=adjacency, others=UNITS - 1, max_rows=max_rows, n_public=n_public
                )
                one = SynthesiserSetting(method=method, near=near, limit=limit)
                if one.works():
                    yield one


def synthesiser_subject(method: SynthesisMethod, adjacency: Adjacency) -> Subject:
    """The method under one neighbour relation."""
    found = list(synthesis_settings(method, adjacency))
    trials: list[Trial] = [ReplayTrial(case=one.case(), pairs=6, climbs=6) for one in found]
    if adjacency.value == method.adjacencies[0]:
        trials += [FreshnessTrial(case=one.case(), rows=UNITS, numbers=200) for one in found[:1]]
    trials += [PriceTrial(case=one.case(), rows=UNITS) for one in {one.limit: one for one in found}.values()]
    return Subject(name=f"{method.name} {adjacency.value}", claim="its account's limit", trials=tuple(trials))


def synthesiser_subjects() -> Iterable[NamedSubject]:
    """Every synthesiser under every neighbour relation that it names, of installed packages, too."""
    for method in (*SYNTHESISERS, *REGISTRY.installed()):
        for adjacency in method.adjacencies:
            yield NamedSubject(
                name=f"{method.name} {adjacency}",
                make=partial(synthesiser_subject, method, Adjacency.of(adjacency)),
            )

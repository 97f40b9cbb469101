"""The private steps of a pipeline as cases: scaling and principal components, from arrays, in every currency."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Logistic
from holdfast.learn._steps.pca import PrivatePCA
from holdfast.learn._steps.scaler import PrivateScaler
from holdfast.learn._steps.step import PrivateStep
from holdfast.privacy._account import Account
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._curves.curve import ApproxDP, PrivacyCurve, PureDP
from holdfast.refute._freshness import FreshnessTrial
from holdfast.refute._neighbours import PointNeighbours
from holdfast.refute._replay import Setup, World
from holdfast.refute._replay_trial import ReplayTrial
from holdfast.refute._subject import NamedSubject, Subject
from holdfast.refute._trial import Trial

OTHERS, COLUMNS = 11, 4
USUAL = ApproxDP(1.0, 1e-3)


@dataclass(frozen=True, kw_only=True)
class StepSetting:
    """One step, on rows of one length."""

    name: str
    make: Callable[..., PrivateStep]
    adjacency: Adjacency
    row_norm: float
    limit: PrivacyCurve = USUAL
    columns: int = COLUMNS

    def open(self) -> Account:
        """In the currency that the step opens itself."""
        currency = "gdp" if self.limit.as_pure() is None else "pure"
        return Account(self.limit, adjacency=self.adjacency, currency=currency)

    def run(self, world: World, account: Account) -> Any:
        """What is released, twice: a step leaves a share for the next."""
        declared = None if self.adjacency.count_is_public else OTHERS + 1
        made = self.make(n_public=declared).fit(world.rows.features, account=account)
        return [made.release_.value, made.summary()]

    def case(self) -> Setup:
        """With its neighbours."""
        problem = Problem(loss=Logistic(), dimension=self.columns, row_norm=self.row_norm)
        near = PointNeighbours(problem=problem, adjacency=self.adjacency, others=OTHERS, strange=False)
        return Setup.among(near, name=self.name, open=self.open, run=self.run)


def step_subject(name: str, adjacency: Adjacency) -> Subject:
    """Under one neighbour relation."""
    settings = {
        # Rows on a sphere that holds the corners of the box, and one column, which goes from end to end.
        "scaler": (
            partial(StepSetting, name="four columns", make=PrivateScaler, row_norm=2.0),
            partial(StepSetting, name="one column", make=PrivateScaler, row_norm=1.0, columns=1),
            partial(StepSetting, name="pure", make=PrivateScaler, row_norm=1.0, columns=1, limit=PureDP(1.0)),
        ),
        "pca": (
            partial(StepSetting, name="centred", make=partial(PrivatePCA, 2), row_norm=1.0),
            partial(StepSetting, name="not centred", make=partial(PrivatePCA, 1, center=False), row_norm=1.0),
            partial(StepSetting, name="pure", make=partial(PrivatePCA, 2), row_norm=1.0, limit=PureDP(1.0)),
        ),
    }[name]
    cases = [setting(adjacency=adjacency).case() for setting in settings]
    trials: list[Trial] = [ReplayTrial(case=case, pairs=12, climbs=40) for case in cases]
    if adjacency is Adjacency.replace:
        trials.append(FreshnessTrial(case=cases[0], rows=OTHERS + 1, numbers=400))
    return Subject(name=f"{name} {adjacency.value}", claim="its account's limit", trials=tuple(trials))


def step_subjects() -> Iterable[NamedSubject]:
    """Every step and neighbour relation."""
    for adjacency in Adjacency:
        for name in ("scaler", "pca"):
            yield NamedSubject(name=f"{name} {adjacency.value}", make=partial(step_subject, name, adjacency))

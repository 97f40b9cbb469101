"""Subjects for the private steps of a pipeline: scaling and principal components, of arrays."""

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
from holdfast.refute._replay import ReplayCase, World
from holdfast.refute._replay_trial import ReplayTrial
from holdfast.refute._subject import NamedSubject, Subject
from holdfast.refute._trial import Trial

OTHERS, COLUMNS = 11, 4
USUAL_LIMIT = ApproxDP(1.0, 1e-3)


@dataclass(frozen=True, kw_only=True)
class StepSetting:
    """One step, tried on rows of one norm."""

    name: str
    make: Callable[..., PrivateStep]
    adjacency: Adjacency
    row_norm: float
    limit: PrivacyCurve = USUAL_LIMIT
    columns: int = COLUMNS

    def open_account(self) -> Account:
        """An account in the currency that the step itself would open."""
        currency = "gdp" if self.limit.as_pure() is None else "pure"
        return Account(self.limit, adjacency=self.adjacency, currency=currency)

    def run(self, world: World, account: Account) -> Any:
        """Fit the step, and return its release and its summary."""
        declared = None if self.adjacency.count_is_public else OTHERS + 1
        fitted = self.make(n_public=declared).fit(world.rows.features, account=account)
        return [fitted.release_.value, fitted.summary()]

    def case(self) -> ReplayCase:
        """A replay case with its neighbouring tables."""
        problem = Problem(loss=Logistic(), dimension=self.columns, row_norm=self.row_norm)
        tables = PointNeighbours(problem=problem, adjacency=self.adjacency, others=OTHERS, strange_rows=False)
        return ReplayCase.from_neighbours(
            tables, name=self.name, open_account=self.open_account, run=self.run
        )


def step_subject(name: str, adjacency: Adjacency) -> Subject:
    """The subject for a step under one neighbour relation."""
    settings = {
        # Four columns: the sphere of the rows holds the corners of the box. One column: it goes from end to end.
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
    """A subject for every step and neighbour relation."""
    for adjacency in Adjacency:
        for name in ("scaler", "pca"):
            yield NamedSubject(name=f"{name} {adjacency.value}", make=partial(step_subject, name, adjacency))

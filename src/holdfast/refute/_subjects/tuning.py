"""What is made of methods: choices among candidates, the search of an estimator, and an estimator itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from holdfast.learn._estimators.classifiers import PrivateLogisticRegression
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import HuberHinge
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.learn._tuning.candidates import Candidate, choose_by_random_stopping, choose_on_parts
from holdfast.learn._tuning.search import PrivateSearch
from holdfast.learn.methods.output import METHOD as OUTPUT
from holdfast.privacy._account import Account
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._curves.curve import PureDP
from holdfast.refute._freshness import FreshnessTrial
from holdfast.refute._neighbours import PointNeighbours
from holdfast.refute._price import PriceTrial
from holdfast.refute._replay import Setup, World
from holdfast.refute._replay_trial import ReplayTrial
from holdfast.refute._subject import NamedSubject, Subject
from holdfast.refute._trial import Trial

ROWS = 16
PROBLEM = Problem(loss=HuberHinge(), dimension=2, penalty=0.5)
CANDIDATES = [
    Candidate.of(OUTPUT, Problem(loss=HuberHinge(), dimension=2, penalty=penalty)) for penalty in (0.5, 1.0)
]
Choose = Callable[..., Any]


def _examples(world: World, adjacency: Adjacency) -> ArrayExamples:
    points = world.rows
    return ArrayExamples(
        features=points.features, labels=points.labels, adjacency=adjacency, public_count=ROWS
    )


def _case(
    name: str, adjacency: Adjacency, run: Callable[[World, Account], Any], *, strange: bool = True
) -> Setup:
    near = PointNeighbours(problem=PROBLEM, adjacency=adjacency, others=ROWS - 1, strange=strange)

    def opened() -> Account:
        return Account(PureDP(2.0), adjacency=adjacency)

    return Setup.among(near, name=name, open=opened, run=run)


def _chooser(choose: Choose, adjacency: Adjacency) -> Callable[[World, Account], Any]:
    return lambda world, account: choose(CANDIDATES, _examples(world, adjacency), account=account)


def _searched(strategy: Any) -> Callable[[World, Account], Any]:
    def run(world: World, account: Account) -> Any:
        model = PrivateLogisticRegression(classes=[-1, 1], method="output", fit_intercept=False, penalty=0.5)
        search = PrivateSearch(model, {"penalty": [0.5, 1.0]}, strategy=strategy)
        points = world.rows
        search.fit(points.features, points.labels, account=account)
        return [search.release_, search.best_params_, search.best_estimator_.coef_]

    return run


def _estimated(world: World, account: Account) -> Any:
    model = PrivateLogisticRegression(classes=[-1, 1], method="auto", fit_intercept=False)
    model.fit(world.rows.features, world.rows.labels, account=account)
    return [model.release_, model.coef_]


def _cases() -> Iterator[tuple[str, Adjacency, Setup]]:
    for adjacency in Adjacency:
        for choose in (choose_on_parts, choose_by_random_stopping):
            case = _case(choose.__name__, adjacency, _chooser(choose, adjacency))
            yield f"tuning {choose.__name__} {adjacency.value}", adjacency, case
    # Estimators take arrays under `replace`, where the number of rows is public.
    for name, run in (
        ("search parts", _searched("parts")),
        ("search random_stopping", _searched("random_stopping")),
        ("estimator auto", _estimated),
    ):
        yield name, Adjacency.replace, _case(name, Adjacency.replace, run, strange=False)


def _subject(name: str, adjacency: Adjacency, case: Setup) -> Subject:
    trials: tuple[Trial, ...] = (ReplayTrial(case=case, pairs=24, climbs=20),)
    if adjacency is Adjacency.replace:  # noise does not know who is a neighbour of whom
        trials = (
            *trials,
            FreshnessTrial(case=case, rows=ROWS, numbers=200),
            PriceTrial(case=case, rows=ROWS),
        )
    return Subject(name=name, claim="its account's limit", trials=trials)


def tuning_subjects() -> Iterable[NamedSubject]:
    """Each of them."""
    return (
        NamedSubject(name=name, make=partial(_subject, name, adjacency, case))
        for name, adjacency, case in _cases()
    )

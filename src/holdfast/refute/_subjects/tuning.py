"""Subjects that are built on methods: choices among candidates, the search of an estimator, and an estimator itself."""

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
from holdfast.refute._replay import ReplayCase, World
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
    name: str, adjacency: Adjacency, run: Callable[[World, Account], Any], *, strange_rows: bool = True
) -> ReplayCase:
    tables = PointNeighbours(problem=PROBLEM, adjacency=adjacency, others=ROWS - 1, strange_rows=strange_rows)

    def open_account() -> Account:
        return Account(PureDP(2.0), adjacency=adjacency)

    return ReplayCase.from_neighbours(tables, name=name, open_account=open_account, run=run)


def _choice_run(choose: Choose, adjacency: Adjacency) -> Callable[[World, Account], Any]:
    return lambda world, account: choose(CANDIDATES, _examples(world, adjacency), account=account)


def _search_run(strategy: Any) -> Callable[[World, Account], Any]:
    def run(world: World, account: Account) -> Any:
        model = PrivateLogisticRegression(classes=[-1, 1], method="output", fit_intercept=False, penalty=0.5)
        search = PrivateSearch(model, {"penalty": [0.5, 1.0]}, strategy=strategy)
        points = world.rows
        search.fit(points.features, points.labels, account=account)
        return [search.release_, search.best_params_, search.best_estimator_.coef_]

    return run


def _fit_estimator(world: World, account: Account) -> Any:
    model = PrivateLogisticRegression(classes=[-1, 1], method="auto", fit_intercept=False)
    model.fit(world.rows.features, world.rows.labels, account=account)
    return [model.release_, model.coef_]


def _cases() -> Iterator[tuple[str, Adjacency, ReplayCase]]:
    for adjacency in Adjacency:
        for choose in (choose_on_parts, choose_by_random_stopping):
            case = _case(choose.__name__, adjacency, _choice_run(choose, adjacency))
            yield f"tuning {choose.__name__} {adjacency.value}", adjacency, case
    # Estimators take arrays under `replace`, where the number of rows is public.
    for name, run in (
        ("search parts", _search_run("parts")),
        ("search random_stopping", _search_run("random_stopping")),
        ("estimator auto", _fit_estimator),
    ):
        yield name, Adjacency.replace, _case(name, Adjacency.replace, run, strange_rows=False)


def _subject(name: str, adjacency: Adjacency, case: ReplayCase) -> Subject:
    trials: tuple[Trial, ...] = (ReplayTrial(case=case, pairs=24, climbs=20),)
    if adjacency is Adjacency.replace:  # noise does not depend on the neighbour relation
        trials = (
            *trials,
            FreshnessTrial(case=case, rows=ROWS, numbers=200),
            PriceTrial(case=case, rows=ROWS),
        )
    return Subject(name=name, claim="its account's limit", trials=trials)


def tuning_subjects() -> Iterable[NamedSubject]:
    """A subject for each choice, search and estimator."""
    return (
        NamedSubject(name=name, make=partial(_subject, name, adjacency, case))
        for name, adjacency, case in _cases()
    )

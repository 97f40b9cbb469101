"""Learning methods as subjects: two tiny tables that differ in one record, trained on many times.

Every entry of METHODS is picked up without further code. The pair is the one that moves a regularised linear
model far: all other records lie along one axis with balanced labels, the record in question alone on the
other axis, with one label or the opposite one. This is an attack on the whole path: clipping, sensitivity,
calibration, noise and post-processing; it is small, so that it finds gross mistakes, not fine ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from holdfast.audit.refutation.subject import Subject
from holdfast.audit.refutation.two_worlds import TwoWorlds
from holdfast.errors import HoldfastError, ParameterError
from holdfast.learn.methods import METHODS
from holdfast.learn.methods.method import Fit, Learner
from holdfast.learn.problem import Problem
from holdfast.learn.problem.losses import Logistic, Softmax, Squared
from holdfast.learn.rows.examples import ArrayExamples
from holdfast.noise.source import Source
from holdfast.privacy.account import Account
from holdfast.privacy.adjacency import Adjacency
from holdfast.privacy.curves.curve import ApproxDP, PrivacyCurve, PureDP

ROWS, DRAWS = 60, 300
EPSILON, DELTA, RADIUS = 1.0, 1e-3, 2.0
Floats = NDArray[np.float64]
PROBLEMS: tuple[Problem, ...] = (
    Problem(loss=Logistic(), dimension=2, penalty=0.1, radius=RADIUS),
    Problem(loss=Logistic(), dimension=2, penalty=0.1),
    Problem(loss=Squared(target_bound=1.0, prediction_bound=RADIUS), dimension=2, penalty=0.1, radius=RADIUS),
    # Labels -1 and 1 are the classes 0 and 1.
    Problem(loss=cast(Any, Softmax(classes=2)), dimension=2, penalty=0.1),
)
"""Tried in this order: a method is audited on the first problem that it accepts."""
CURRENCIES = ("gdp", "zcdp", "renyi", "basic")


def examples(label: float, adjacency: Adjacency) -> ArrayExamples:
    """The table whose odd record has this label; 0 blanks or removes the record."""
    features = np.zeros((ROWS, 2))
    features[:-1, 0] = 1.0
    labels = np.where(np.arange(ROWS) % 2 == 0, 1.0, -1.0)
    features[-1, 1], labels[-1] = 1.0, label
    if label == 0.0 and adjacency is Adjacency.add_remove:
        features, labels = features[:-1], labels[:-1]
    elif label == 0.0:
        features[-1], labels[-1] = 0.0, 1.0
    return ArrayExamples(features=features, labels=labels, adjacency=adjacency, public_count=ROWS)


def fitted_weights(
    method: Learner, problem: Problem, limit: PrivacyCurve, currency: str, table: ArrayExamples, seed: int
) -> Fit:
    """One training through an account of its own."""
    account = Account(limit, adjacency=table.adjacency, currency=currency, seed=seed)
    return method.fit(table, problem, account=account)


def terms(method: Learner, adjacency: Adjacency) -> tuple[Problem, PrivacyCurve, str]:
    """The first problem, limit and currency that the method accepts."""
    limits: list[tuple[PrivacyCurve, str]] = [(PureDP(EPSILON), "pure")] if method.pure else []
    limits += [(ApproxDP(EPSILON, DELTA), currency) for currency in CURRENCIES]
    for limit, currency in limits:
        for problem in PROBLEMS:
            try:
                fitted_weights(method, problem, limit, currency, examples(1.0, adjacency), 0)
            except HoldfastError:
                continue
            return problem, limit, currency
    raise ParameterError(
        f"{method.name} accepts none of the problems that the refutations know; add one to PROBLEMS"
    )


def learner_subject(method: Learner) -> Subject:
    """The method, trained with and without one record, in the first adjacency that it is proved for."""
    adjacency = Adjacency.of(method.adjacencies[0])
    problem, limit, currency = terms(method, adjacency)
    other = -1.0 if adjacency is Adjacency.replace else 0.0

    def second_weight(label: float, source: Source, size: int) -> Floats:
        table = examples(label, adjacency)
        seeds = [int(word) >> 1 for word in source.words(size)]
        return np.array(
            [
                fitted_weights(method, problem, limit, currency, table, seed).weights.ravel()[1]
                for seed in seeds
            ]
        )

    audit = TwoWorlds(
        what=f"a {problem.loss.name} model with and without one record ({adjacency.value})",
        without=partial(second_weight, other),
        present=partial(second_weight, 1.0),
        claim=limit,
        draws=DRAWS,
    )
    return Subject(name=f"method {method.name}", claim=repr(limit), trials=(audit,))


def method_subjects() -> Iterable[Subject]:
    """Every learning method."""
    return (learner_subject(method) for method in METHODS)

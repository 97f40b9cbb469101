"""Fits without privacy, for epsilon = inf, with which private fits are compared. NOT PRIVATE."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from holdfast._arrays import Floats
from holdfast.errors import DataError
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Softmax

FREE_LENGTH = 30.0
"""The constant column is multiplied by this for solvers that penalise it, which divides its penalty by a thousand."""

ABSENT_LOG_ODDS = 20.0
"""Log-odds against a class that does not occur."""


def exact_weights(features: Floats, labels: Floats, problem: Problem, *, l1: bool = False) -> Floats:
    """The minimiser of the mean loss and its penalty, by scikit-learn's solvers; over the ball if there is one.

    Null records, which have no feature and no constant, add the same to the loss of all weights and are no labels: they
    are left out, and the mean is that of all rows all the same, as in the private fit.

    With `l1` the radius is that of the L1 ball. Neither penalty nor ball touches the intercept. Where the free
    minimiser is outside the ball, projected gradient steps find the one inside.
    """
    null = ~features.any(axis=1)
    if null.any() and not null.all():
        share = float(np.mean(~null))
        features, labels = features[~null], labels[~null]
        problem = dataclasses.replace(problem, penalty=problem.penalty / share)
    if problem.loss.name in _CLASSES and len(np.unique(labels)) < max(2, problem.predictions):
        return _without_some_classes(features, labels, problem, l1=l1)
    if not l1:
        free = _SOLVERS[problem.loss.name](features, labels, problem)
        if float(np.linalg.norm(free * problem.penalised)) <= problem.radius:
            return np.asarray(free, dtype=np.float64)
    return _projected_descent(features, labels, problem, _project_l1 if l1 else _project_l2)


def _without_some_classes(features: Floats, labels: Floats, problem: Problem, *, l1: bool) -> Floats:
    """The minimiser where no row has some class, as far as there is one: the score of that class is far below.

    A class that is declared and does not occur, such as what stands for all other values, drives its intercept to minus
    infinity; here it goes `ABSENT_LOG_ODDS` below the lowest of the others.
    """
    if not len(labels):
        raise DataError("no row has a class; a comparison with the exact model needs rows that have one")
    weights = np.zeros((problem.predictions, problem.dimension))
    present = np.unique(labels)
    if problem.predictions == 1:
        away = [ABSENT_LOG_ODDS * float(present[0])]
    elif problem.loss.name == "one_vs_all":
        loss: Any = problem.loss
        binary_problem = dataclasses.replace(problem, loss=loss.binary)
        signs = (np.where(labels == code, 1.0, -1.0) for code in range(loss.classes))
        return np.stack([exact_weights(features, sign, binary_problem, l1=l1) for sign in signs])
    else:
        there = present.astype(np.int64)
        if len(there) > 1:
            fewer = dataclasses.replace(problem, loss=Softmax(classes=len(there)))
            solution = exact_weights(
                features, np.searchsorted(present, labels).astype(np.float64), fewer, l1=l1
            )
            # Two classes may come as one score, which is the difference of theirs.
            weights[there] = np.stack([-solution / 2, solution / 2]) if solution.ndim == 1 else solution
        lowest = float(weights[there, -1].min()) * problem.constant
        away = [
            math.nan if code in there else lowest - ABSENT_LOG_ODDS for code in range(problem.predictions)
        ]
    if problem.has_intercept:
        shown = np.array(away) / problem.constant
        weights[:, -1] = np.where(np.isnan(shown), weights[:, -1], shown)
    return np.asarray(weights[0] if problem.predictions == 1 else weights)


def _logistic(features: Floats, labels: Floats, problem: Problem) -> Floats:
    from sklearn.linear_model import LogisticRegression

    # scikit-learn minimises C sum loss + |w|^2 / 2: C = 1 / (n penalty).
    c = math.inf if problem.penalty == 0 else 1.0 / (len(labels) * problem.penalty)
    rows = features[:, :-1] if problem.has_intercept else features
    if not rows.shape[1]:
        return _projected_descent(features, labels, problem, _project_l2)
    solver = LogisticRegression(
        C=c, fit_intercept=problem.has_intercept, solver="newton-cholesky", tol=1e-10, max_iter=1000
    )
    solver.fit(rows, labels)
    coefficients = solver.coef_
    if problem.has_intercept:
        coefficients = np.column_stack([coefficients, solver.intercept_ / problem.constant])
    return np.asarray(coefficients[0] if len(coefficients) == 1 else coefficients)


def _hinge(features: Floats, labels: Floats, problem: Problem) -> Floats:
    from sklearn.svm import LinearSVC

    c = 1.0 / (len(labels) * max(problem.penalty, 1e-12))
    scaled = features.copy()
    if problem.has_intercept:  # liblinear penalises what it is given: next to nothing of a long column
        scaled[:, -1] *= FREE_LENGTH
    solver = LinearSVC(C=c, loss="hinge", fit_intercept=False, tol=1e-10, max_iter=200_000, random_state=0)
    weights = np.array(solver.fit(scaled, labels).coef_[0])
    if problem.has_intercept:
        weights[-1] *= FREE_LENGTH
    return weights


def _least_squares(features: Floats, labels: Floats, problem: Problem) -> Floats:
    if problem.penalty == 0:
        return np.asarray(np.linalg.lstsq(features, labels, rcond=None)[0])
    gram = features.T @ features + len(labels) * np.diag(problem.penalties)
    return np.asarray(np.linalg.solve(gram, features.T @ labels))


def _one_vs_all(features: Floats, labels: Floats, problem: Problem) -> Floats:
    loss: Any = problem.loss
    binary_problem = dataclasses.replace(problem, loss=loss.binary)
    signs = (np.where(labels == code, 1.0, -1.0) for code in range(loss.classes))
    return np.stack([_SOLVERS[loss.binary.name](features, sign, binary_problem) for sign in signs])


_CLASSES = ("logistic", "softmax", "hinge", "huber", "one_vs_all")


def _huber(features: Floats, labels: Floats, problem: Problem) -> Floats:
    return _projected_descent(features, labels, problem, _project_l2)


_SOLVERS: dict[str, Any] = {
    "logistic": _logistic,
    "softmax": _logistic,
    "hinge": _hinge,
    "huber": _hinge,
    "squared": _least_squares,
    "one_vs_all": _one_vs_all,
    "huber_regression": _huber,
}


def _projected_descent(features: Floats, labels: Floats, problem: Problem, project: Any) -> Floats:
    """Accelerated projected gradient descent with restarts, until steps vanish; of K d weights, class after class."""
    n = len(labels)
    curvature = 1.0 if math.isinf(problem.loss.curvature) else problem.loss.curvature
    beta = curvature * float(np.linalg.norm(features, 2)) ** 2 / n + problem.penalty
    w = ahead = np.zeros(problem.weights)
    momentum, inside = 1.0, np.tile(problem.penalised, problem.predictions) > 0
    penalties = np.tile(problem.penalties, problem.predictions)
    for _ in range(50_000):
        z = features @ ahead.reshape(problem.predictions, -1).T
        gradient = (problem.slopes(z, labels).T @ features).ravel() / n + penalties * ahead
        following = ahead - gradient / beta
        following[inside] = project(following[inside], problem.radius)
        next_momentum = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * momentum**2))
        if float((ahead - following) @ (following - w)) > 0:  # restart: the momentum points uphill
            next_momentum = 1.0
        ahead = following + (momentum - 1.0) / next_momentum * (following - w)
        distance = float(np.linalg.norm(following - w))
        w, momentum = following, next_momentum
        if distance <= 1e-13 * (1.0 + float(np.linalg.norm(w))):
            break
    return problem.of_weights(w)


def _project_l2(w: Floats, radius: float) -> Floats:
    return np.asarray(w * min(1.0, radius / max(float(np.linalg.norm(w)), 1e-300)))


def _project_l1(w: Floats, radius: float) -> Floats:
    """The nearest point of the L1 ball: soft thresholding at the level that meets the radius."""
    size = np.abs(w)
    if float(size.sum()) <= radius:
        return w
    falling = np.sort(size)[::-1]
    excess = (np.cumsum(falling) - radius) / np.arange(1, w.size + 1)
    level = excess[np.flatnonzero(falling > excess)[-1]]
    return np.asarray(np.sign(w) * np.maximum(size - level, 0.0))

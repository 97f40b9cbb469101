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

INTERCEPT_SCALE = 30.0
"""For solvers that penalise the intercept, its column is multiplied by this, which divides the penalty by 900."""
ABSENT_LOG_ODDS = 20.0
"""The log-odds against a class that does not occur."""
CLASS_LOSSES = ("logistic", "softmax", "hinge", "huber", "one_vs_all")
"""The losses whose labels are classes."""


def exact_weights(features: Floats, labels: Floats, problem: Problem, *, l1: bool = False) -> Floats:
    """The minimiser of the mean loss and its penalty within the radius, by scikit-learn's solvers.

    Null records, which have neither a feature nor a constant, add the same to the loss whatever the weights are: they
    are left out of the sums, but not of the number of rows that the mean divides by, as in the private fit.

    With `l1` the radius is that of the L1 ball. Neither the penalty nor the radius concerns the intercept. Where the
    minimiser without a radius is outside the ball, projected gradient steps find the one inside.
    """
    null = ~features.any(axis=1)
    if null.any() and not null.all():
        share = float(np.mean(~null))
        features, labels = features[~null], labels[~null]
        problem = dataclasses.replace(problem, penalty=problem.penalty / share)
    if problem.loss.name in CLASS_LOSSES and len(np.unique(labels)) < max(2, problem.predictions):
        return _without_some_classes(features, labels, problem, l1=l1)
    if not l1:
        free = _SOLVERS[problem.loss.name](features, labels, problem)
        if float(np.linalg.norm(free * problem.penalised)) <= problem.radius:
            return np.asarray(free, dtype=np.float64)
    return _projected_descent(features, labels, problem, _project_l1 if l1 else _project_l2)


def _without_some_classes(features: Floats, labels: Floats, problem: Problem, *, l1: bool) -> Floats:
    """The minimiser where some class does not occur, such as the class that stands for all undeclared values.

    Strictly there is none, because the intercept of that class goes to minus infinity. Here it is `ABSENT_LOG_ODDS`
    below the lowest intercept of the other classes.
    """
    if not len(labels):
        raise DataError("no row has a class; a comparison with the exact model needs rows that have one")
    weights = np.zeros((problem.predictions, problem.dimension))
    present = np.unique(labels)
    if problem.predictions == 1:
        intercepts = [ABSENT_LOG_ODDS * float(present[0])]
    elif problem.loss.name == "one_vs_all":
        loss: Any = problem.loss
        binary_problem = dataclasses.replace(problem, loss=loss.binary)
        signs = (np.where(labels == code, 1.0, -1.0) for code in range(loss.classes))
        return np.stack([exact_weights(features, sign, binary_problem, l1=l1) for sign in signs])
    else:
        codes = present.astype(np.int64)
        if len(codes) > 1:
            present_problem = dataclasses.replace(problem, loss=Softmax(classes=len(codes)))
            solution = exact_weights(
                features, np.searchsorted(present, labels).astype(np.float64), present_problem, l1=l1
            )
            # Of two classes there may be a single score, which is the difference of theirs.
            weights[codes] = np.stack([-solution / 2, solution / 2]) if solution.ndim == 1 else solution
        absent_intercept = float(weights[codes, -1].min()) * problem.constant - ABSENT_LOG_ODDS
        intercepts = [math.nan if code in codes else absent_intercept for code in range(problem.predictions)]
    if problem.has_intercept:
        constant_weights = np.array(intercepts) / problem.constant
        weights[:, -1] = np.where(np.isnan(constant_weights), weights[:, -1], constant_weights)
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
    if problem.has_intercept:  # liblinear penalises the intercept too, and hardly that of a long column
        scaled[:, -1] *= INTERCEPT_SCALE
    solver = LinearSVC(C=c, loss="hinge", fit_intercept=False, tol=1e-10, max_iter=200_000, random_state=0)
    weights = np.array(solver.fit(scaled, labels).coef_[0])
    if problem.has_intercept:
        weights[-1] *= INTERCEPT_SCALE
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
    """The minimiser within the radius, by accelerated gradient descent with restarts (FISTA), until steps vanish.

    `project` moves the weights that have a radius, all but the intercepts, to the nearest point of the ball.
    """
    n = len(labels)
    curvature = 1.0 if math.isinf(problem.loss.curvature) else problem.loss.curvature
    smoothness = curvature * float(np.linalg.norm(features, 2)) ** 2 / n + problem.penalty
    weights = extrapolated = np.zeros(problem.weights)
    momentum, within_ball = 1.0, np.tile(problem.penalised, problem.predictions) > 0
    penalties = np.tile(problem.penalties, problem.predictions)
    for _ in range(50_000):
        predictions = features @ extrapolated.reshape(problem.predictions, -1).T
        gradient = (problem.slopes(predictions, labels).T @ features).ravel() / n + penalties * extrapolated
        following = extrapolated - gradient / smoothness
        following[within_ball] = project(following[within_ball], problem.radius)
        next_momentum = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * momentum**2))
        if (
            float((extrapolated - following) @ (following - weights)) > 0
        ):  # the momentum points uphill: restart
            next_momentum = 1.0
        extrapolated = following + (momentum - 1.0) / next_momentum * (following - weights)
        distance = float(np.linalg.norm(following - weights))
        weights, momentum = following, next_momentum
        if distance <= 1e-13 * (1.0 + float(np.linalg.norm(weights))):
            break
    return problem.of_weights(weights)


def _project_l2(weights: Floats, radius: float) -> Floats:
    """The nearest point of the Euclidean ball."""
    return np.asarray(weights * min(1.0, radius / max(float(np.linalg.norm(weights)), 1e-300)))


def _project_l1(weights: Floats, radius: float) -> Floats:
    """The nearest point of the L1 ball: soft thresholding at the level that meets the radius."""
    sizes = np.abs(weights)
    if float(sizes.sum()) <= radius:
        return weights
    falling = np.sort(sizes)[::-1]
    excess = (np.cumsum(falling) - radius) / np.arange(1, weights.size + 1)
    level = excess[np.flatnonzero(falling > excess)[-1]]
    return np.asarray(np.sign(weights) * np.maximum(sizes - level, 0.0))

"""Frank-Wolfe over a polytope, each corner chosen by the exponential mechanism (Talwar, Thakurta and Zhang 2015).

For the L1 ball this is private lasso and sparse logistic regression, of two classes or of several: noise enters
through the choice of one of 2 d corners (2 K d for K classes), so the error grows with ln d, not with d. The
iterates are functions of the chosen corners, which are the release (soundness, section 8). Polytopes are given by their
corners: the L1 ball, or any list.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from holdfast._arrays import Floats
from holdfast._progress import progress
from holdfast.errors import require
from holdfast.learn._intercept_centre import pay_for_centre
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Softmax, Squared
from holdfast.learn._rows.examples import Chunk, Examples
from holdfast.learn.classics.frank_wolfe_sampling import (
    PLANS,
    AdmissibleRows,
    FrankWolfeBounds,
    SamplingRequest,
)
from holdfast.learn.methods.method import Fit, Learner
from holdfast.privacy._account import Account
from holdfast.privacy._mechanisms.mechanism import Arithmetic


@dataclass(frozen=True, kw_only=True, eq=False)
class L1Ball:
    """|w|_1 <= radius: the corners are radius times plus or minus each axis.

    >>> L1Ball(radius=2.0, dimension=3).corner(4).tolist()
    [0.0, -2.0, 0.0]
    """

    radius: float
    dimension: int

    def __post_init__(self) -> None:
        require(0 < self.radius < math.inf, "l1_radius", self.radius, "> 0 and finite")
        require(self.dimension >= 1, "dimension", self.dimension, ">= 1")

    @property
    def corners(self) -> int:
        """The number of corners."""
        return 2 * self.dimension

    @property
    def l1_norm(self) -> float:
        """The largest L1 norm of a point."""
        return self.radius

    def centre(self) -> Floats:
        """The starting point."""
        return np.zeros(self.dimension)

    def products(self, gradient: Floats) -> Floats:
        """The inner product of each corner with a gradient."""
        return np.concatenate([self.radius * gradient, -self.radius * gradient])

    def corner(self, index: int) -> Floats:
        """One corner."""
        point = np.zeros(self.dimension)
        point[index % self.dimension] = self.radius if index < self.dimension else -self.radius
        return point


@dataclass(frozen=True, kw_only=True, eq=False)
class Corners:
    """The convex hull of a public list of points, one per row."""

    points: Floats

    def __post_init__(self) -> None:
        require(self.points.ndim == 2, "vertices.ndim", self.points.ndim, "2")
        require(self.points.shape[0] >= 2, "len(vertices)", self.points.shape[0], ">= 2")
        require(bool(np.all(np.isfinite(self.points))), "vertices", "...", "finite")

    @property
    def corners(self) -> int:
        """The number of corners."""
        return int(self.points.shape[0])

    @property
    def l1_norm(self) -> float:
        """The largest L1 norm of a point."""
        return float(np.max(np.sum(np.abs(self.points), axis=1)))

    def centre(self) -> Floats:
        """The starting point."""
        return np.asarray(self.points.mean(axis=0))

    def products(self, gradient: Floats) -> Floats:
        """The inner product of each corner with a gradient."""
        return np.asarray(self.points @ gradient)

    def corner(self, index: int) -> Floats:
        """One corner."""
        return np.asarray(self.points[index])


Polytope = L1Ball | Corners
Sampling = Literal["full", "disjoint", "poisson"]


def frank_wolfe(
    examples: Examples,
    problem: Problem,
    *,
    account: Account,
    l1_radius: float | None = None,
    vertices: Floats | None = None,
    feature_bound: float | None = None,
    steps: int | None = None,
    sampling: Sampling = "full",
    batch: int | None = None,
    arithmetic: Arithmetic = "strict",
) -> Fit:
    """Minimise over the L1 ball (or the hull of `vertices`) by privately chosen corners.

    Private for rows within `row_norm`, whose features are then clipped to `feature_bound` (the row norm unless
    given). `sampling`: "full" uses all rows in each of `steps` steps, "disjoint" each row in one step only,
    "poisson" a fresh secret sample of expected size `batch` in each step (not under replace). With a softmax of K
    classes the ball is that of all K d weights, class after class, and the result has shape (K, d).
    """
    require(steps is None or steps >= 1, "steps", steps, ">= 1")
    shape = weights_shape(problem)
    if vertices is None and l1_radius is None:
        require(
            math.isfinite(problem.radius),
            "radius",
            problem.radius,
            "finite for frank_wolfe",
            "give radius=..., or the option l1_radius",
        )
    polytope: Polytope = (
        L1Ball(radius=problem.radius if l1_radius is None else l1_radius, dimension=math.prod(shape))
        if vertices is None
        else Corners(points=np.asarray(vertices, dtype=np.float64))
    )
    require(polytope.centre().size == math.prod(shape), "vertices", "...", "as long as all weights")
    at = pay_for_centre(examples, problem, account, arithmetic=arithmetic, classes=False)
    examples, problem = at.examples, at.problem
    bounds = bounds_of(problem, polytope, feature_bound=feature_bound)
    plan = PLANS[sampling](
        SamplingRequest(
            rows=AdmissibleRows(examples, problem, bounds),
            bounds=bounds,
            weights=math.prod(shape),
            corners=polytope.corners,
            account=account,
            steps=steps,
            batch=batch,
            arithmetic=arithmetic,
        )
    )
    w = polytope.centre()
    for t in progress(range(plan.steps), desc="frank_wolfe"):
        total = _gradient(plan.rows(), w.reshape(shape), problem, bounds)
        gradient = (total / plan.divisor + problem.penalties * w.reshape(shape)).ravel()
        chosen = plan.choose(t, -polytope.products(gradient))
        w = w + 2.0 / (t + 2.0) * (polytope.corner(chosen) - w)
    parameters: dict[str, Any] = {
        "steps": plan.steps,
        "score_sensitivity": plan.score_change,
        "epsilon_per_choice": plan.epsilon,
        "corners": polytope.corners,
    }
    if sampling == "full":
        parameters["excess_risk_bound"] = bounds.excess_risk(
            steps=plan.steps, gumbel_scale=2.0 * plan.score_change / plan.epsilon, corners=polytope.corners
        )
    return Fit(
        weights=at.original_weights(w.reshape(shape)),
        theorem=plan.theorem,
        parameters={**parameters, **at.parameters},
        assumptions=plan.assumptions,
    )


def weights_shape(problem: Problem) -> tuple[int, ...]:
    """(d,), or (K, d) for a softmax of K classes.

    >>> loss: Any = Softmax(classes=3)
    >>> weights_shape(Problem(loss=loss, dimension=5))
    (3, 5)
    """
    return (problem.dimension,) if problem.outputs == "one" else (problem.predictions, problem.dimension)


def bounds_of(problem: Problem, polytope: Polytope, *, feature_bound: float | None) -> FrankWolfeBounds:
    """L_inf over the whole polytope: for the squared loss |<w, x> - y| <= C X + Y, not a constant O(1)."""
    require(
        feature_bound is None or 0 < feature_bound < math.inf,
        "feature_bound",
        feature_bound,
        "> 0 and finite",
    )
    # Rows of norm X have features of size at most X; a smaller declared bound is enforced by clipping.
    largest = problem.norm_bound if feature_bound is None else min(feature_bound, problem.norm_bound)
    loss: Any = problem.loss
    prediction = polytope.l1_norm * largest
    slope = prediction + loss.target_bound if isinstance(loss, Squared) else loss.slope
    curvature = loss.curvature
    if isinstance(loss, Softmax):
        # Entry (k, j) of a row's gradient is (p_k - 1[y = k]) x_j, and |p_k - 1[y = k]| <= 1 for each k alone. Along
        # V the loss curves by the variance of z = V x under p; |z|_1 <= |V|_1 X, so max z - min z is at most that
        # and the variance a quarter of its square.
        slope, curvature = 1.0, 0.25
    return FrankWolfeBounds(
        slope=slope,
        feature_bound=largest,
        l1_norm=polytope.l1_norm,
        curvature=curvature,
        penalty=problem.penalty,
    )


def _gradient(rows: Iterable[Chunk], w: Floats, problem: Problem, bounds: FrankWolfeBounds) -> Floats:
    """The sum of the data loss's gradients, shaped as the weights are."""
    total = np.zeros(w.shape)
    for features, labels in rows:
        slopes = problem.loss.slopes(features @ w.T, labels)
        total += np.clip(slopes, -bounds.slope, bounds.slope).T @ features
    return total


METHOD = Learner(
    name="frank_wolfe",
    run=frank_wolfe,
    paper="Talwar, Thakurta and Zhang 2015",
    needs=("convex", "smooth"),
    pure=True,
    currency="zcdp",
    outputs=("one", "several"),
    behind="pays where an L1 ball is asked for; method='frank_wolfe' takes one",
    centres=True,
    samples=True,
)

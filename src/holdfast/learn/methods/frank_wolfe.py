"""Frank-Wolfe over a polytope, each corner chosen by the exponential mechanism (Talwar, Thakurta and Zhang 2015).

For the L1 ball this is private lasso and sparse logistic regression: noise enters through the choice of one of
2 d corners, so the error grows with ln d, not with d. The iterates are functions of the chosen corners, which
are the release (soundness, section 8).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import AdjacencyError, require
from holdfast.learn.batches import disjoint_batches, poisson_sample
from holdfast.learn.examples import Chunk, Examples
from holdfast.learn.losses import Squared
from holdfast.learn.method import Fit, Method
from holdfast.learn.moments import UNIT_ROUNDOFF, largest_count, summation_error
from holdfast.learn.parallel import parallel
from holdfast.learn.polytope import Corners, L1Ball, Polytope
from holdfast.learn.problem import Problem
from holdfast.learn.risk import clipped
from holdfast.learn.spending import admit, largest_epsilon, refuse_users
from holdfast.noise.source import Source
from holdfast.privacy.account import Account
from holdfast.privacy.adjacency import Adjacency
from holdfast.privacy.curve import PrivacyCurve
from holdfast.privacy.mechanism import Arithmetic
from holdfast.privacy.mechanisms.exponential import Exponential
from holdfast.privacy.mechanisms.subsampled_pure import SubsampledPure

Floats = NDArray[np.float64]
Sampling = Literal["full", "disjoint", "poisson"]
Choose = Callable[[int, Floats], int]


@dataclass(frozen=True, kw_only=True)
class FrankWolfeBounds:
    """Constants of the proof, for all points of the polytope and all admissible rows; public.

    `slope` bounds the loss's derivative there, `feature_bound` every |x_j|, `l1_norm` every |w|_1.
    """

    slope: float
    feature_bound: float
    l1_norm: float
    curvature: float
    penalty: float = 0.0

    @property
    def gradient(self) -> float:
        """L_inf: every entry of one row's gradient is at most this."""
        return self.slope * self.feature_bound

    def score_change(self, adjacency: Adjacency, *, divisor: float, rows_per_unit: int = 1) -> float:
        """2 L_inf C / N under replace, L_inf C / n_0 otherwise: how far one unit moves <gradient, corner>.

        >>> lasso = FrankWolfeBounds(slope=3.0, feature_bound=1.0, l1_norm=2.0, curvature=1.0)
        >>> lasso.score_change(Adjacency.replace, divisor=100.0)
        0.12
        """
        return adjacency.gradient_factor * rows_per_unit * self.gradient * self.l1_norm / divisor

    def rounding(self, count: int, dimension: int) -> float:
        """What floating point may add to the scores of two neighbours: sums of rows, and slopes of predictions.

        A prediction errs by d u C X, so a slope by its curvature times that; a sum as `summation_error` says.
        """
        products = 4.0 * (dimension + 16) * UNIT_ROUNDOFF
        products *= self.slope + self.curvature * self.l1_norm * self.feature_bound
        each = summation_error(count) * self.slope + products
        return 2.0 * count * each * self.feature_bound * self.l1_norm

    @property
    def smoothness(self) -> float:
        """L_1, with respect to the L1 norm."""
        return self.curvature * self.feature_bound**2 + self.penalty

    @property
    def curvature_term(self) -> float:
        """B = 2 L_1 (2 C)^2: without noise the excess after T steps is at most B / (T + 1)."""
        return 2.0 * self.smoothness * (2.0 * self.l1_norm) ** 2

    def steps(self, left: PrivacyCurve, *, score_change: float, corners: int, count: int) -> int:
        """T* that minimises B / T + (Gumbel scale) ln K, rounded into [1, N^2]; all public.

        The scale is score_change sqrt(T / (2 rho)) in zCDP: T* = (2 B / a)^(2/3), a = score_change ln K /
        sqrt(2 rho). In pure DP it is 2 score_change T / epsilon: T* = sqrt(B / a).
        """
        reach = score_change * math.log(corners)
        pure = left.as_pure()
        if pure is not None:
            best = math.sqrt(self.curvature_term * float(pure) / (2.0 * reach))
        else:
            a = reach / math.sqrt(2.0 * _concentrated(left))
            best = (2.0 * self.curvature_term / a) ** (2.0 / 3.0)
        return int(min(max(1, round(best)), count**2))

    def excess_risk(self, *, steps: int, gumbel_scale: float, corners: int) -> float:
        """B / (T + 1) + scale ln K: a bound on the expected excess of the objective over the polytope."""
        return self.curvature_term / (steps + 1) + gumbel_scale * math.log(corners)


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
    **options: Any,
) -> Fit:
    """Minimise over the L1 ball (or the hull of `vertices`) by privately chosen corners.

    Private for rows within `row_norm`, whose features are then clipped to `feature_bound` (the row norm unless
    given). `sampling`: "full" uses all rows in each of `steps` steps, "disjoint" each row in one step only,
    "poisson" a fresh secret sample of expected size `batch` in each step (not under replace).
    """
    require(not options, "options", sorted(options), "empty", "see the parameters of frank_wolfe")
    names = ("full", "disjoint", "poisson")
    require(sampling in names, "sampling", sampling, "one of " + ", ".join(names))
    require(steps is None or steps >= 1, "steps", steps, ">= 1")
    problem.require_smooth("frank_wolfe")
    admit(examples, problem, account, method="frank_wolfe")
    polytope: Polytope = (
        L1Ball(radius=problem.radius if l1_radius is None else l1_radius, dimension=problem.dimension)
        if vertices is None
        else Corners(points=np.asarray(vertices, dtype=np.float64))
    )
    require(polytope.centre().size == problem.dimension, "vertices", "...", "as long as a row")
    bounds = bounds_of(problem, polytope, feature_bound=feature_bound)
    rows = Admissible(examples, problem, bounds)
    plan = _PLANS[sampling](rows, bounds, polytope, account, steps=steps, batch=batch, arithmetic=arithmetic)
    w = polytope.centre()
    for t in range(plan.steps):
        gradient = _gradient(plan.rows(), w, problem, bounds) / plan.divisor + problem.penalty * w
        chosen = plan.choose(t, -polytope.products(gradient))
        w = w + 2.0 / (t + 2.0) * (polytope.corner(chosen) - w)
    return Fit(
        weights=w,
        theorem=plan.theorem,
        parameters={
            "steps": plan.steps,
            "score_sensitivity": plan.score_change,
            "epsilon_per_choice": plan.epsilon,
            "corners": polytope.corners,
        }
        | ({} if sampling != "full" else {"excess_risk_bound": plan.excess_risk(bounds, polytope)}),
        assumptions=plan.assumptions,
    )


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
    loss = problem.loss
    prediction = polytope.l1_norm * largest
    slope = prediction + loss.target_bound if isinstance(loss, Squared) else loss.slope
    return FrankWolfeBounds(
        slope=slope,
        feature_bound=largest,
        l1_norm=polytope.l1_norm,
        curvature=loss.curvature,
        penalty=problem.penalty,
    )


class Admissible:
    """The same rows, clipped to what the bounds say, whatever they hold; once only where they lie in memory."""

    def __init__(self, examples: Examples, problem: Problem, bounds: FrankWolfeBounds) -> None:
        self._examples, self._problem, self._reach = examples, problem, bounds.feature_bound
        self._kept: list[Chunk] | None = None
        self.dimension, self.public_count = examples.dimension, examples.public_count
        self.adjacency, self.unit = examples.adjacency, examples.unit

    def chunks(self) -> Iterator[Chunk]:
        """All rows."""
        if not getattr(self._examples, "resident", False):
            return map(self._within, self._examples.chunks())
        if self._kept is None:
            self._kept = list(map(self._within, self._examples.chunks()))
        return iter(self._kept)

    def shuffled(self, source: Source) -> Iterator[Chunk]:
        """All rows in a secret order."""
        return map(self._within, self._examples.shuffled(source))

    def _within(self, chunk: Chunk) -> Chunk:
        features, labels = clipped(chunk, self._problem)
        if self._reach < self._problem.norm_bound:  # else no entry of a row can exceed it
            features = np.clip(features, -self._reach, self._reach)
        return features, labels


def _gradient(rows: Iterable[Chunk], w: Floats, problem: Problem, bounds: FrankWolfeBounds) -> Floats:
    """The sum of the data loss's gradients."""
    total = np.zeros(w.size)
    for features, labels in rows:
        slopes = problem.loss.slopes(features @ w, labels)
        total += features.T @ np.clip(slopes, -bounds.slope, bounds.slope)
    return total


# Three ways to meet the rows. Each is paid for before the first choice.


@dataclass(frozen=True, kw_only=True, eq=False)
class _Plan:
    """Steps that are paid for: where each one's rows come from, and how it chooses."""

    steps: int
    divisor: float
    rows: Callable[[], Iterable[Chunk]]
    choose: Choose
    score_change: float
    epsilon: float
    theorem: str
    assumptions: tuple[str, ...] = ()

    def excess_risk(self, bounds: FrankWolfeBounds, polytope: Polytope) -> float:
        scale = 2.0 * self.score_change / self.epsilon
        return bounds.excess_risk(steps=self.steps, gumbel_scale=scale, corners=polytope.corners)


def _full(
    examples: Examples,
    bounds: FrankWolfeBounds,
    polytope: Polytope,
    account: Account,
    *,
    steps: int | None,
    batch: int | None,
    arithmetic: Arithmetic,
) -> _Plan:
    """All rows in every step; epsilon per choice sqrt(8 rho / T) in zCDP, epsilon / T in pure DP."""
    require(batch is None, "batch", batch, "None when every step uses all rows", "give sampling='poisson'")
    divisor = float(examples.public_count)
    change = bounds.score_change(account.adjacency, divisor=divisor, rows_per_unit=examples.unit.max_rows)
    # Section 16: both neighbours' sums are rounded.
    most, assumptions = largest_count(examples, None)
    change += bounds.rounding(most, examples.dimension) / divisor
    count = steps or bounds.steps(
        account.remaining(), score_change=change, corners=polytope.corners, count=examples.public_count
    )

    def mechanism(epsilon: float) -> Exponential:
        return Exponential(
            epsilon=epsilon, sensitivity=change, adjacency=account.adjacency, arithmetic=arithmetic
        )

    epsilon = largest_epsilon(account, lambda each: mechanism(each).curve.repeat(count))
    permit = account.permit(mechanism(epsilon), times=count, label="frank_wolfe")
    return _Plan(
        steps=count,
        divisor=divisor,
        rows=examples.chunks,
        choose=lambda t, scores: int(permit.release(scores)),
        score_change=change,
        epsilon=epsilon,
        theorem="exponential mechanism, composed over all steps (Talwar, Thakurta and Zhang 2015; zCDP)",
        assumptions=assumptions,
    )


def _concentrated(left: PrivacyCurve) -> float:
    """A rho that what remains allows, for the rule above: exact in zCDP, by its one order in Renyi."""
    rho = left.as_zcdp()
    orders = getattr(left, "orders", (2.0,))
    return max(float(rho) if rho is not None else left.renyi(orders[0]) / orders[0], 1e-12)


def _disjoint(
    examples: Examples,
    bounds: FrankWolfeBounds,
    polytope: Polytope,
    account: Account,
    *,
    steps: int | None,
    batch: int | None,
    arithmetic: Arithmetic,
) -> _Plan:
    """Section 8 (a): each row takes part in one step, so the whole run costs as much as one choice."""
    refuse_users(examples, method="frank_wolfe with sampling='disjoint'")
    require((steps is None) != (batch is None), "steps", steps, "given, or batch, but not both")
    size = batch if batch is not None else max(1, examples.public_count // (steps or 1))
    count = steps or max(1, examples.public_count // size)
    divisor = float(size)
    change = bounds.score_change(account.adjacency, divisor=divisor)
    most, assumptions = largest_count(examples, None)
    change += bounds.rounding(most, examples.dimension) / divisor
    accounts = parallel(account, parts=count, label="frank_wolfe")
    epsilon = largest_epsilon(accounts[0], lambda each: Exponential(epsilon=each, sensitivity=change).curve)
    mechanism = Exponential(
        epsilon=epsilon, sensitivity=change, adjacency=account.adjacency, arithmetic=arithmetic
    )
    batches = disjoint_batches(examples, account.source, size=size, count=count)
    return _Plan(
        steps=count,
        divisor=divisor,
        rows=lambda: next(batches),
        choose=lambda t, scores: int(accounts[t].release(mechanism, scores)),
        score_change=change,
        epsilon=epsilon,
        theorem="exponential mechanism on disjoint batches (parallel composition)",
        assumptions=assumptions,
    )


def _poisson(
    examples: Examples,
    bounds: FrankWolfeBounds,
    polytope: Polytope,
    account: Account,
    *,
    steps: int | None,
    batch: int | None,
    arithmetic: Arithmetic,
) -> _Plan:
    """Section 8 (b): a fresh sample of rate q in each step, divisor q n_0, epsilon' = ln(1 + q (e^eps - 1))."""
    refuse_users(examples, method="frank_wolfe with sampling='poisson'")
    if account.adjacency is Adjacency.replace:
        raise AdjacencyError(
            "sampling='poisson' is proved for adjacency add_remove and zero_out, got 'replace'; "
            "use sampling='disjoint' or 'full'"
        )
    require(batch is not None and batch >= 1, "batch", batch, "a whole number >= 1 for sampling='poisson'")
    assert batch is not None
    rate = min(1.0, batch / examples.public_count)
    count = steps or max(1, round(1.0 / rate))
    divisor = rate * examples.public_count
    most, assumptions = largest_count(examples, None)
    change = bounds.score_change(account.adjacency, divisor=divisor)
    change += bounds.rounding(most, examples.dimension) / divisor

    def mechanism(epsilon: float) -> SubsampledPure:
        base = Exponential(epsilon=epsilon, sensitivity=change, arithmetic=arithmetic)
        return SubsampledPure(base=base, rate=rate, adjacency=account.adjacency, arithmetic=arithmetic)

    epsilon = largest_epsilon(account, lambda each: mechanism(each).curve.repeat(count))
    permit = account.permit(mechanism(epsilon), times=count, label="frank_wolfe")
    return _Plan(
        steps=count,
        divisor=divisor,
        rows=lambda: poisson_sample(examples, account.source, rate=Fraction(rate)),
        choose=lambda t, scores: int(permit.release(scores)),
        score_change=change,
        epsilon=epsilon,
        theorem="exponential mechanism on Poisson samples (Balle, Barthe and Gaboardi 2018), composed",
        assumptions=assumptions,
    )


_PLANS = {"full": _full, "disjoint": _disjoint, "poisson": _poisson}


METHOD = Method(
    name="frank_wolfe",
    run=frank_wolfe,
    paper="Talwar, Thakurta and Zhang 2015",
    needs=("convex", "smooth"),
    pure=True,
    currency="zcdp",
)

"""PureRows: the mapped rows, and the penalty, of objective perturbation without delta; rules in public quantities.

Five rules, each with its reason (docs/decisions/learning-default.md says on which tables the constants were chosen):

* *Laplace noise for the sum of sizes.* A record moves gradients by at most A in the L1 norm, so independent Laplace
  numbers of scale A / epsilon will do. The usual law, for the Euclidean norm X, has deviation sqrt(d) X / epsilon in
  each number; rows with a of d numbers that differ from 0 have A = sqrt(a) X, and several classes share one A.
* *Units of columns*, estimated with a share of epsilon where the data are enough for that.
* *Few directions.* Noise in d numbers has norm d, not sqrt(d) as with delta. Projections onto k random directions keep
  sqrt(k / d) of a signal, and their noise has norm k: where noise would hide d numbers, fewer are more accurate.
* *Shares of classes*, from a share of epsilon. n rows of which a share p is of one class have a gradient and a
  curvature of n p (1 - p): with a rare class they are worth 4 p (1 - p) n rows of equal classes, so fewer directions
  are used and the ridge is larger. For several classes weights are shrunk towards the model that predicts the shares,
  which is the best one where columns carry no information.
* *A smooth loss for numbers.* The slope of the squared loss is bounded only within a ball; that of `SmoothHuber` is
  bounded by its width, which may be far below a declared range that is too wide. A target is scaled down with its row,
  so a linear relation stays linear.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from holdfast._arrays import Floats
from holdfast._assumption import ACCURACY, Assumption
from holdfast.errors import require
from holdfast.learn._intercept_centre import ClassShares, release_shares
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import SmoothHuber, Squared
from holdfast.learn._rows.clipped_blocks import SIGNED_LOSSES
from holdfast.learn._rows.examples import Examples
from holdfast.learn._whitened_examples import (
    SHARE,
    RowMap,
    WhitenedExamples,
    moments_bound,
    plain_map,
    release_units,
)
from holdfast.privacy._account import Account
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._mechanisms.mechanism import Arithmetic

Whitening = Literal["diagonal", "none"]
ROW_NORM_FACTOR = 0.5
"""The largest Euclidean norm of rows in their own units, as a multiple of the root of the effective dimension."""
REACH_FACTOR = 0.5
"""The largest L1 norm of a mapped row, as a multiple of the root of its number of nonzero entries."""
TYPICAL_SIZE = 0.8
"""The L1 norm of a typical row, as the same multiple: sqrt(2 / pi) for normal numbers."""
LEAST_SIGNAL = 5.0
"""Columns get their own units if epsilon n X^2 / (d factor) is at least this multiple of one row's bound on moments."""
VISIBLE_DIRECTIONS = 0.03
"""The number of directions that noise leaves visible, as a multiple of epsilon n / (factor sqrt(K))."""
CROWDING_FACTOR = 2.0
"""Rows are projected where they have more than this multiple of the visible directions."""
WIDTHS = (0.06, 0.003, 0.25)
"""The width of the smooth loss, in half ranges of the target: the least, per root of the signal, and the largest."""
WEIGHT_SIZE = 0.04
"""The typical size of a weight of mapped rows for numbers, in half ranges of the target; the ridge depends on it."""
CLASS_SHARE = Fraction(1, 25)
"""The share of epsilon that releases how many rows each class has."""
FAINT_SIGNAL = 40.0
"""Well below this signal the ridge is twice as large."""
LEAST_PENALTY = 2.0
"""The least penalty, as a multiple of smoothness / (1 - e^-epsilon): determinants then take at most half of epsilon."""


@dataclass(frozen=True, kw_only=True)
class RowPlan:
    """Whether columns get their own units, and onto how many directions rows are projected; None for no projection."""

    preconditioner: Whitening
    directions: int | None
    reason: str


def row_plan(
    problem: Problem, *, epsilon: float, adjacency: Adjacency | str, count: int, evenness: float = 1.0
) -> RowPlan:
    """The plan that follows from public quantities; `evenness` is that of the classes, where it is known.

    >>> from holdfast.learn._problem.losses import Logistic
    >>> few = Problem(loss=Logistic(), dimension=20)
    >>> row_plan(few, epsilon=1.0, adjacency="replace", count=10_000).preconditioner
    'diagonal'
    >>> wide = Problem(loss=Logistic(), dimension=800, constant=0.5)
    >>> row_plan(wide, epsilon=1.0, adjacency="replace", count=5_000).directions
    75
    >>> row_plan(wide, epsilon=1.0, adjacency="replace", count=5_000, evenness=0.04).directions
    2
    """
    factor = Adjacency.of(adjacency).gradient_factor
    strength = epsilon * count / (problem.dimension * factor)
    enough = LEAST_SIGNAL * moments_bound(problem) / problem.row_norm**2
    kind: Whitening = "diagonal" if strength >= enough else "none"
    seen = VISIBLE_DIRECTIONS * epsilon * evenness * count / (factor * math.sqrt(problem.predictions))
    directions = max(1, int(seen))
    crowded = math.sqrt(problem.active_columns * problem.dimension) > CROWDING_FACTOR * seen
    few = crowded and problem.constant > 0 and directions < problem.dimension - 1
    reason = f"the signal epsilon n / (d factor) is {strength:.3g}: preconditioner {kind}"
    if few:
        reason += f", and rows are seen along at most {directions} public directions"
    return RowPlan(preconditioner=kind, directions=directions if few else None, reason=reason)


@dataclass(frozen=True, kw_only=True, eq=False)
class PureRows:
    """Mapped rows within norm 1, their problem, and the map; `reach` bounds the L1 norm of a row.

    The shares of `classes` are released where there is an intercept to start from them.
    """

    examples: Examples
    problem: Problem
    row_map: RowMap
    norm: float
    reach: float
    constant: float
    assumptions: tuple[Assumption, ...]
    classes: ClassShares | None = None
    target_bound: float | None = None
    """The bound of labels that are numbers; they were divided by it and scaled down with their rows."""

    @property
    def weight_size(self) -> float:
        """The typical size of a weight, for the ridge."""
        return 1.0 if self.target_bound is None else WEIGHT_SIZE

    @property
    def curvature(self) -> float | None:
        """The mean curvature of the loss by the released shares; None for several classes, which count as equal."""
        several = self.problem.outputs == "several"
        return None if several or self.classes is None else self.classes.curvature

    @property
    def origin(self) -> Floats | float:
        """Weights of mapped rows that predict the released shares of classes; 0 where none were released."""
        if self.classes is None:
            return 0.0
        two = self.problem.outputs == "one"
        scores = np.diff(self.classes.scores) if two else self.classes.scores
        centre = np.zeros((len(scores), self.problem.dimension))
        centre[:, -1] = 1.0
        centre[:, -1] = scores / (self.weights(centre)[:, -1] * self.constant)
        return centre.ravel()

    def weights(self, whitened: Any) -> Any:
        """Weights of the original rows from weights of mapped rows.

        A typical row in its own units was shortened by `ROW_NORM_FACTOR`, every typical row by `REACH_FACTOR` over
        `TYPICAL_SIZE`. Weights are scaled by the same factor, or probabilities would be too extreme; decisions do not
        change. Labels that are numbers were scaled down with their rows.
        """
        shortened = min(1.0, REACH_FACTOR / TYPICAL_SIZE) * (ROW_NORM_FACTOR if self.row_map.units else 1.0)
        shortened = self.target_bound or shortened
        return self.row_map.backward(whitened) * (shortened / self.norm)

    @property
    def parameters(self) -> dict[str, Any]:
        """Facts for the release."""
        directions = self.row_map.directions
        return {
            "preconditioner": "diagonal" if self.row_map.units else "none",
            **({"share": SHARE, "clip": self.norm} if self.row_map.units else {}),
            "row_sizes": self.reach,
            **({} if self.classes is None else {"class_share": float(CLASS_SHARE)}),
            **({} if directions is None else {"directions": len(directions)}),
        }


def pure_rows(
    examples: Examples,
    problem: Problem,
    account: Account,
    *,
    preconditioner: Whitening | None = None,
    directions: int | None = None,
    count_bound: int | None = None,
    arithmetic: Arithmetic = "strict",
) -> PureRows:
    """Release shares of classes, and units of columns where the rule or the caller says so; then map the rows.

    For callers that have checked the account, which must be pure.
    """
    left = account.remaining().as_pure()
    assert left is not None, "callers have refused accounts that are not pure"
    if directions is not None:
        most = problem.dimension - 1
        require(
            isinstance(directions, int) and 1 <= directions <= most and problem.constant > 0,
            "directions",
            directions,
            f"a whole number of at least 1 and at most {most}, for rows with an intercept",
        )
    classes = None
    if problem.constant > 0 and (problem.outputs == "several" or problem.loss.name in SIGNED_LOSSES):
        classes = release_shares(
            examples, problem, account, share=CLASS_SHARE, arithmetic=arithmetic, label="objective: classes"
        )
    plan = row_plan(
        problem,
        epsilon=float(left),
        adjacency=account.adjacency,
        count=examples.public_count,
        evenness=classes.evenness if classes is not None and problem.outputs == "one" else 1.0,
    )
    kind = preconditioner or plan.preconditioner
    few = plan.directions if directions is None else directions
    most_rows, assumptions = examples.largest_count(count_bound)
    if kind == "diagonal":
        row_map = release_units(examples, problem, account, most=most_rows, arithmetic=arithmetic)
        norm = ROW_NORM_FACTOR * math.sqrt(max(1.0, row_map.effective_dimension))
    else:
        row_map, norm, assumptions = plain_map(problem), problem.norm_bound, ()
    if few is not None:
        row_map = row_map.along(few)
        norm = ROW_NORM_FACTOR * math.sqrt(row_map.effective_dimension) if kind == "diagonal" else norm
    reach = max(1.0, REACH_FACTOR * math.sqrt(row_map.active))
    bound = problem.loss.target_bound if isinstance(problem.loss, Squared) else None
    rows = WhitenedExamples(
        examples=examples, problem=problem, row_map=row_map, norm=norm, reach=reach, target_bound=bound
    )
    inner = dataclasses.replace(problem, row_norm=1.0, dimension=row_map.dimension, constant=0.0, active=None)
    if bound is not None:
        share = examples.public_count / max(1.0, row_map.effective_dimension)
        width = smooth_width(account.remaining().epsilon(0.0) * share / account.adjacency.gradient_factor)
        inner = dataclasses.replace(inner, loss=SmoothHuber(width=width))
        assumptions = (*assumptions, smoothing_assumption(width))
    return PureRows(
        examples=rows.in_memory(),
        problem=inner,
        row_map=row_map,
        norm=norm,
        reach=reach,
        constant=problem.constant,
        assumptions=assumptions,
        classes=classes,
        target_bound=bound,
    )


def smoothing_assumption(width: float) -> Assumption:
    """The statement in a release that the loss for numbers was smoothed."""
    return Assumption(
        kind=ACCURACY,
        subject="loss",
        text=f"accuracy, not privacy: beyond {width:.2g} of the target's half range, residuals count by their size, "
        "not by their square",
    )


def smooth_width(signal: float) -> float:
    """The width of the smooth loss for numbers in [-1, 1], by the signal epsilon n / (D factor).

    Noise is proportional to the width; a smaller width fits the median of skewed residuals instead of their mean.

    >>> smooth_width(1.0), smooth_width(2_500.0), smooth_width(1e6)
    (0.06, 0.15, 0.25)
    """
    least, by_signal, most = WIDTHS
    return min(most, max(least, by_signal * math.sqrt(signal)))


def noise_spread(numbers: int, l1_factor: float | None, *, arithmetic: Arithmetic) -> float:
    """The standard deviation of each number of the linear term over G / epsilon: Laplace noise, or a Gamma norm.

    >>> noise_spread(49, None, arithmetic="idealised"), round(noise_spread(49, 2.0, arithmetic="strict"), 3)
    (7.0710678118654755, 2.828)
    """
    if l1_factor is None and arithmetic == "idealised":
        return math.sqrt(numbers + 1)
    return math.sqrt(2.0) * (math.sqrt(numbers) if l1_factor is None else l1_factor)


def noise_ridge(
    epsilon: float,
    *,
    deviation: float,
    determinants: Callable[[float], float],
    effective_dimension: float,
    curvature: float,
    count: int,
    least: float,
    signal: float = math.inf,
) -> float:
    """The penalty on the sum of losses: D sigma^2 / (n h), sigma = deviation / epsilon being the noise in each number.

    A weight has the information n h / D, so Newton's step from noisy gradients has variance (sigma D / (n h))^2 in it;
    for weights of size 1, shrinking by a ridge of sigma^2 D / (n h) has the least error (a posterior mean); h, the
    curvature, is p (1 - p) for two classes. The cost of determinants is subtracted from epsilon; it depends on the
    penalty itself, so the two are computed in turn until they agree.

    Shortened rows have less information than n h / D, so the ridge is up to twice as large; but not where the signal
    epsilon n / (D factor) is far above `FAINT_SIGNAL`, since well predictable tables have larger weights.
    """
    larger = 1.0 + 1.0 / (1.0 + (signal / FAINT_SIGNAL) ** 2)
    penalty = least
    for _ in range(8):
        left = max(epsilon - determinants(penalty), 0.1 * epsilon)
        penalty = max(least, larger * effective_dimension * (deviation / left) ** 2 / (count * curvature))
    return penalty


def balanced_ridge(
    epsilon: float,
    *,
    deviation: float,
    determinants: Callable[[float], float],
    effective_dimension: float,
    curvature: float,
    count: int,
    least: float,
) -> float:
    """The penalty with the least mean squared error of a weight, including what it saves in determinants.

    The error of `noise_ridge` is (penalty^2 + sigma^2) / (n h / D + penalty)^2 for a weight of size 1; there sigma is
    fixed while the penalty moves. But sigma is deviation / (epsilon - determinants), and determinants fall as the
    penalty grows: by K - 1 times as much for K classes as for two. Searched in steps of 3 %, from `least` on.

    >>> public = dict(deviation=8.0, effective_dimension=20.0, curvature=0.22, count=10_000, least=2.0)
    >>> round(balanced_ridge(1.0, determinants=lambda penalty: 0.0, **public), 1)
    2.0
    >>> round(balanced_ridge(1.0, determinants=lambda penalty: 2.0 * math.log1p(1.0 / (3.0 * penalty)), **public), 1)
    4.4
    """
    information = count * curvature / effective_dimension
    penalties = least * np.exp(np.arange(0.0, 14.0, 0.03))
    left = np.array([epsilon - determinants(float(penalty)) for penalty in penalties])
    errors = (penalties**2 + (deviation / np.maximum(left, 0.1 * epsilon)) ** 2) / (
        information + penalties
    ) ** 2
    return float(penalties[np.argmin(errors)])

"""The rows, and the penalty, that objective perturbation without delta works with; rules in public quantities.

Five ideas, each with its reason (docs/decisions/learning-default.md says on which tables the constants were chosen):

* *Laplace noise for the sum of sizes.* A record moves gradients by at most A in the L1 norm, so independent Laplace
  numbers of scale A / epsilon will do. The usual law, for the Euclidean norm X, has deviation sqrt(d) X / epsilon in
  each number; rows with a of d numbers that differ from 0 have A = sqrt(a) X, and several classes share one A.
* *Units of columns* from a share of epsilon, where that says enough about them.
* *Few directions.* Noise in d numbers is d long, not sqrt(d) as with delta. Random sums of columns keep sqrt(k / d) of
  a direction and are only k long: where noise would drown d numbers, fewer say more.
* *Shares of classes* from a share of epsilon. n rows of which a share p is of one class have a gradient, and a
  curvature, of n p (1 - p): two classes of which one is rare say as much as 4 p (1 - p) n rows of equal ones, so rows
  are seen along fewer directions and the ridge is larger. Several classes start from the model that predicts the
  shares, not from equal ones: where columns say nothing, weights that shrink to nothing are the best there is.
* *A smooth loss for numbers.* Half a square has no bound on its slope but within a ball; `SmoothHuber` has one
  everywhere, its width, which may be far below a declared range that is too wide. A number is shortened with its row,
  so what is linear stays so.
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
"""The Euclidean norm of rows in units of their own, over the root of the effective dimension."""
REACH_FACTOR = 0.5
"""The sum of a row's sizes, over what its norm and its active numbers allow."""
TYPICAL_SIZE = 0.8
"""What the sizes of a usual row add up to, over the same: sqrt(2 / pi) for normal numbers."""
LEAST_SIGNAL = 5.0
"""Of epsilon n X^2 / (d factor), in units of what one row can add to the moments: below it, units are noise."""
VISIBLE_DIRECTIONS = 0.03
"""Directions that noise leaves visible, per epsilon n / (factor sqrt(K))."""
CROWDING_FACTOR = 2.0
"""Rows are projected where their noise is that of so many times more directions."""
WIDTHS = (0.06, 0.003, 0.25)
"""Of the smooth loss for numbers, in half ranges of the target: at least, per root of the signal, and at most."""
WEIGHT_SIZE = 0.04
"""Of numbers, in half ranges of the target: what the ridge takes a weight of mapped rows to be."""
CLASS_SHARE = Fraction(1, 25)
"""Of epsilon, spent on how many rows each class has."""
FAINT_SIGNAL = 40.0
"""The signal below which a ridge is nearly twice as large."""
LEAST_PENALTY = 2.0
"""In units of smoothness / (1 - e^-epsilon): determinants take half of a small epsilon at most."""


@dataclass(frozen=True, kw_only=True)
class RowPlan:
    """Whether columns get units of their own, and along how many directions rows are seen; None for all of them."""

    preconditioner: Whitening
    directions: int | None
    reason: str


def row_plan(
    problem: Problem, *, epsilon: float, adjacency: Adjacency | str, count: int, evenness: float = 1.0
) -> RowPlan:
    """The rule; `evenness` is that of the classes, where it is known.

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
    """Mapped rows within norm 1, the problem that they make, and their sizes' sum.

    `classes` are released where there is an intercept to hold them.
    """

    examples: Examples
    problem: Problem
    turned: RowMap
    norm: float
    reach: float
    constant: float
    assumptions: tuple[Assumption, ...]
    classes: ClassShares | None = None
    target_bound: float | None = None
    """Of labels that are numbers, which were divided by it and shortened with their rows."""

    @property
    def weight_size(self) -> float:
        """What weights are like, for the ridge."""
        return 1.0 if self.target_bound is None else WEIGHT_SIZE

    @property
    def curvature(self) -> float | None:
        """Of the loss, as far as released shares say; several classes are taken to be equal."""
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
        """As weights of the rows themselves, which are longer than those that were learnt from.

        A usual row of units is shortened by `ROW_NORM_FACTOR`, every usual row by `REACH_FACTOR` over `TYPICAL_SIZE`;
        weights make up for it, or probabilities would be too sure. Decisions are the same. Numbers were shortened with
        their rows.
        """
        shortened = min(1.0, REACH_FACTOR / TYPICAL_SIZE) * (ROW_NORM_FACTOR if self.turned.units else 1.0)
        shortened = self.target_bound or shortened
        return self.turned.backward(whitened) * (shortened / self.norm)

    @property
    def parameters(self) -> dict[str, Any]:
        """For the release."""
        directions = self.turned.directions
        return {
            "preconditioner": "diagonal" if self.turned.units else "none",
            **({"share": SHARE, "clip": self.norm} if self.turned.units else {}),
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
    """Pay for shares of classes, and for units where the rule, or the caller, wants them; map the rows.

    For admitted pure accounts.
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
        turned = release_units(examples, problem, account, most=most_rows, arithmetic=arithmetic)
        norm = ROW_NORM_FACTOR * math.sqrt(max(1.0, turned.effective_dimension))
    else:
        turned, norm, assumptions = plain_map(problem), problem.norm_bound, ()
    if few is not None:
        turned = turned.along(few)
        norm = ROW_NORM_FACTOR * math.sqrt(turned.effective_dimension) if kind == "diagonal" else norm
    reach = max(1.0, REACH_FACTOR * math.sqrt(turned.active))
    bound = problem.loss.target_bound if isinstance(problem.loss, Squared) else None
    rows = WhitenedExamples(
        examples=examples, problem=problem, turned=turned, norm=norm, reach=reach, target_bound=bound
    )
    inner = dataclasses.replace(problem, row_norm=1.0, dimension=turned.dimension, constant=0.0, active=None)
    if bound is not None:
        share = examples.public_count / max(1.0, turned.effective_dimension)
        width = smooth_width(account.remaining().epsilon(0.0) * share / account.adjacency.gradient_factor)
        inner = dataclasses.replace(inner, loss=SmoothHuber(width=width))
        assumptions = (*assumptions, smoothing_assumption(width))
    return PureRows(
        examples=rows.in_memory(),
        problem=inner,
        turned=turned,
        norm=norm,
        reach=reach,
        constant=problem.constant,
        assumptions=assumptions,
        classes=classes,
        target_bound=bound,
    )


def smoothing_assumption(width: float) -> Assumption:
    """What a release says of a loss for numbers that was smoothed."""
    return Assumption(
        kind=ACCURACY,
        subject="loss",
        text=f"accuracy, not privacy: beyond {width:.2g} of the target's half range, residuals count by their size, "
        "not by their square",
    )


def smooth_width(signal: float) -> float:
    """Of the loss for numbers in [-1, 1], by the signal epsilon n / (D factor).

    Noise is proportional to it; with a smaller one, skewed residuals are nearer to their median than to their mean.

    >>> smooth_width(1.0), smooth_width(2_500.0), smooth_width(1e6)
    (0.06, 0.15, 0.25)
    """
    least, by_signal, most = WIDTHS
    return min(most, max(least, by_signal * math.sqrt(signal)))


def noise_spread(numbers: int, l1_factor: float | None, *, arithmetic: Arithmetic) -> float:
    """The deviation of each number of the linear term, over G / epsilon: Laplace numbers, or a Gamma norm.

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
    curvature, is p (1 - p) for two classes.
    What determinants cost is left out of epsilon, which the penalty itself decides: a few rounds settle it.

    Rows are shortened, so they say less than n h / D, and the ridge is up to twice as large; but not where the signal
    epsilon n / (D factor) is far above `FAINT_SIGNAL`, since tables whose predictions are sure have larger weights.
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
    """The penalty with the least mean squared error of a weight, what it saves in determinants counted.

    The error of `noise_ridge` is (penalty^2 + sigma^2) / (n h / D + penalty)^2 for a weight of size 1; there sigma is
    fixed while the penalty moves. But sigma is deviation / (epsilon - determinants), and determinants fall as the
    penalty grows: by K - 1 times as much for K classes as for two. Searched in steps of 3 %, from `least` on.

    >>> told = dict(deviation=8.0, effective_dimension=20.0, curvature=0.22, count=10_000, least=2.0)
    >>> round(balanced_ridge(1.0, determinants=lambda penalty: 0.0, **told), 1)
    2.0
    >>> round(balanced_ridge(1.0, determinants=lambda penalty: 2.0 * math.log1p(1.0 / (3.0 * penalty)), **told), 1)
    4.4
    """
    information = count * curvature / effective_dimension
    penalties = least * np.exp(np.arange(0.0, 14.0, 0.03))
    left = np.array([epsilon - determinants(float(penalty)) for penalty in penalties])
    errors = (penalties**2 + (deviation / np.maximum(left, 0.1 * epsilon)) ** 2) / (
        information + penalties
    ) ** 2
    return float(penalties[np.argmin(errors)])

"""The rows, and the penalty, that objective perturbation without delta works with; rules in public quantities.

Three ideas, each with its reason (docs/decisions/learning-default.md says on which tables the constants were chosen):

* *Laplace noise for the sum of sizes.* A record moves gradients by at most A in the L1 norm, so independent Laplace
  numbers of scale A / epsilon will do. The usual law, for the Euclidean norm X, has deviation sqrt(d) X / epsilon in
  each number; rows with a of d numbers that differ from 0 have A = sqrt(a) X, and several classes share one A.
* *Units of columns* from a share of epsilon, where that says enough about them.
* *Few directions.* Noise in d numbers is d long, not sqrt(d) as with delta. Random sums of columns keep sqrt(k / d) of
  a direction and are only k long: where noise would drown d numbers, fewer say more.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from holdfast.errors import require
from holdfast.learn.problem import Problem
from holdfast.learn.rows.examples import Examples
from holdfast.learn.whitened_examples import (
    SHARE,
    RowMap,
    WhitenedExamples,
    moments_bound,
    plain_map,
    release_units,
)
from holdfast.privacy.account import Account
from holdfast.privacy.adjacency import Adjacency
from holdfast.privacy.mechanisms.mechanism import Arithmetic

Whitening = Literal["diagonal", "none"]
NORM = 0.5
"""The Euclidean norm of rows in units of their own, over the root of the effective dimension."""
REACH = 0.5
"""The sum of a row's sizes, over what its norm and its active numbers allow."""
TYPICAL = 0.8
"""What the sizes of a usual row add up to, over the same: sqrt(2 / pi) for normal numbers."""
LEAST_SIGNAL = 5.0
"""Of epsilon n X^2 / (d factor), in units of what one row can add to the moments: below it, units are noise."""
SEEN = 0.03
"""Directions that noise leaves visible, per epsilon n / (factor sqrt(K))."""
CROWDED = 2.0
"""Rows are projected where their noise is that of so many times more directions."""
LEAST_PENALTY = 2.0
"""In units of smoothness / (1 - e^-epsilon): determinants take half of a small epsilon at most."""


@dataclass(frozen=True, kw_only=True)
class RowPlan:
    """Whether columns get units of their own, and along how many directions rows are seen; None for all of them."""

    preconditioner: Whitening
    directions: int | None
    reason: str


def row_plan(problem: Problem, *, epsilon: float, adjacency: Adjacency | str, count: int) -> RowPlan:
    """The rule.

    >>> from holdfast.learn.problem.losses import Logistic
    >>> few = Problem(loss=Logistic(), dimension=20)
    >>> row_plan(few, epsilon=1.0, adjacency="replace", count=10_000).preconditioner
    'diagonal'
    >>> wide = Problem(loss=Logistic(), dimension=800, constant=0.5)
    >>> row_plan(wide, epsilon=1.0, adjacency="replace", count=5_000).directions
    75
    """
    factor = Adjacency.of(adjacency).gradient_factor
    strength = epsilon * count / (problem.dimension * factor)
    enough = LEAST_SIGNAL * moments_bound(problem) / problem.row_norm**2
    kind: Whitening = "diagonal" if strength >= enough else "none"
    seen = SEEN * epsilon * count / (factor * math.sqrt(problem.predictions))
    directions = max(1, int(seen))
    crowded = math.sqrt(problem.active_columns * problem.dimension) > CROWDED * seen
    few = crowded and problem.constant > 0 and directions < problem.dimension - 1
    reason = f"the signal epsilon n / (d factor) is {strength:.3g}: preconditioner {kind}"
    if few:
        reason += f", and rows are seen along {directions} public directions"
    return RowPlan(preconditioner=kind, directions=directions if few else None, reason=reason)


@dataclass(frozen=True, kw_only=True, eq=False)
class PureRows:
    """Mapped rows within norm 1, the problem that they make, and their sizes' sum."""

    examples: Examples
    problem: Problem
    turned: RowMap
    norm: float
    reach: float
    assumptions: tuple[str, ...]

    def weights(self, found: Any) -> Any:
        """As weights of the rows themselves, which are longer than those that were learnt from.

        A usual row of units is shortened by `NORM`, every usual row by `REACH` over `TYPICAL`; weights make up for it,
        or probabilities would be too sure. Decisions are the same.
        """
        shortened = min(1.0, REACH / TYPICAL) * (NORM if self.turned.units else 1.0)
        return self.turned.backward(found) * (shortened / self.norm)

    @property
    def parameters(self) -> dict[str, Any]:
        """For the release."""
        directions = self.turned.directions
        return {
            "preconditioner": "diagonal" if self.turned.units else "none",
            **({"share": SHARE, "clip": self.norm} if self.turned.units else {}),
            "row_sizes": self.reach,
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
    """Pay for units where the rule, or the caller, wants them, and map the rows. For admitted pure accounts."""
    left = account.remaining().as_pure()
    assert left is not None, "callers have refused accounts that are not pure"
    plan = row_plan(problem, epsilon=float(left), adjacency=account.adjacency, count=examples.public_count)
    kind = preconditioner or plan.preconditioner
    few = plan.directions if directions is None else directions
    if few is not None:
        most = problem.dimension - 1
        require(
            isinstance(few, int) and 1 <= few <= most and problem.constant > 0, "directions", few,
            f"a whole number of at least 1 and at most {most}, for rows with an intercept",
        )  # fmt: skip
    most_rows, assumptions = examples.largest_count(count_bound)
    if kind == "diagonal":
        turned = release_units(examples, problem, account, most=most_rows, arithmetic=arithmetic)
        norm = NORM * math.sqrt(max(1.0, turned.effective_dimension))
    else:
        turned, norm, assumptions = plain_map(problem), problem.norm_bound, ()
    if few is not None:
        turned = turned.along(few)
        norm = NORM * math.sqrt(turned.effective_dimension) if kind == "diagonal" else norm
    reach = max(1.0, REACH * math.sqrt(turned.active))
    rows = WhitenedExamples(examples=examples, problem=problem, turned=turned, norm=norm, reach=reach)
    inner = dataclasses.replace(problem, row_norm=1.0, dimension=turned.dimension, constant=0.0, active=None)
    return PureRows(
        examples=rows.kept(), problem=inner, turned=turned, norm=norm, reach=reach,
        assumptions=assumptions,
    )  # fmt: skip


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
) -> float:
    """The penalty on the sum of losses: D sigma^2 / (n h), sigma = deviation / epsilon being the noise in each number.

    Newton's step from noisy gradients has variance sigma^2 / (n h)^2 in a weight; with D weights whose squares add up
    to about 1, shrinking by a ridge of sigma^2 D / (n h) has the least error (a posterior mean); h, the curvature, is
    1/4 for two classes.
    What determinants cost is left out of epsilon, which the penalty itself decides: a few rounds settle it.
    """
    penalty = least
    for _ in range(8):
        left = max(epsilon - determinants(penalty), 0.1 * epsilon)
        penalty = max(least, effective_dimension * (deviation / left) ** 2 / (count * curvature))
    return penalty

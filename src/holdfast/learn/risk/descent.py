"""Noisy gradient descent: its schedule, the gradients of clipped rows, and the one loop.

Weights are (K, d): a row for each prediction, one for a binary or a real label. The schedule is a rule in public
quantities only. What moves a good setting is the signal s = mu n / (d factor): how far the whole budget lets each
coordinate of a mean be seen. The rule was found on two data sets and variants of them
(docs/decisions/learning-default.md says how) and reads nothing but its arguments.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import BudgetExceeded, require
from holdfast.learn.problem import Problem
from holdfast.learn.problem.losses import along
from holdfast.learn.rows.examples import UNIT_ROUNDOFF, ClippedBlocks, rounding_of_sum
from holdfast.privacy.account import Permit
from holdfast.privacy.adjacency import Adjacency
from holdfast.privacy.curves.curve import PrivacyCurve
from holdfast.privacy.curves.gaussian import GaussianDP
from holdfast.privacy.mechanisms.gaussian import Gaussian
from holdfast.privacy.rounding import NORM_SLACK, as_written
from holdfast.progress import progress

Floats = NDArray[np.float64]
Preconditioner = Literal["full", "diagonal", "none"]
PRECONDITIONERS = ("full", "diagonal", "none")
KEPT_SCALES = 2**23
"""Rows whose scale is kept from pass to pass: 64 MB."""
LARGEST_FULL = 1_000
"""Columns beyond which a full second moment, of d^2 / 2 numbers, is not worth its cost."""


@dataclass(frozen=True, kw_only=True)
class DescentSchedule:
    """How the budget is split and the steps are taken; all of it public.

    `share`: of mu^2, spent on the second moment. `ridge`: added to its eigenvalues, in units of the spectral
    norm of the noise. `clip`: the norm of whitened rows, in units of the root of the effective dimension.
    `step` is for a loss of curvature 1/4 and counts what momentum adds: one gradient moves the weights by `step`
    in the end, by (1 - momentum) of it at once.
    """

    preconditioner: Preconditioner = "full"
    share: float = 0.25
    ridge: float = 0.25
    clip: float = 0.5
    steps: int = 12
    step: float = 24.0
    momentum: float = 0.4
    average: float = 0.5
    """The last share of the iterates is averaged; 0 returns the last one."""

    def __post_init__(self) -> None:
        require(
            self.preconditioner in PRECONDITIONERS,
            "preconditioner",
            self.preconditioner,
            "one of " + ", ".join(PRECONDITIONERS),
        )
        require(0 < self.share < 1, "share", self.share, "in (0, 1)", "use preconditioner='none' for none")
        require(0 < self.ridge < math.inf, "ridge", self.ridge, "> 0 and finite")
        require(0 < self.clip < math.inf, "clip", self.clip, "> 0 and finite")
        require(isinstance(self.steps, int) and self.steps >= 1, "steps", self.steps, "a whole number >= 1")
        require(0 < self.step < math.inf, "step", self.step, "> 0 and finite")
        require(0 <= self.momentum < 1, "momentum", self.momentum, "in [0, 1)")
        require(0 <= self.average <= 1, "average", self.average, "in [0, 1]")

    @property
    def moment_share(self) -> float:
        """Of mu^2, what the second moment costs."""
        return 0.0 if self.preconditioner == "none" else self.share

    @property
    def averaged(self) -> int:
        """How many of the last iterates the result is a mean of."""
        return max(1, math.ceil(self.average * self.steps))

    def changed(self, options: dict[str, Any]) -> DescentSchedule:
        """With what a caller prefers; None keeps the rule's choice."""
        return replace(self, **{name: value for name, value in options.items() if value is not None})

    def summary(self) -> str:
        """What the rule sets; the rest is the same for everybody."""
        return f"preconditioner={self.preconditioner}, steps={self.steps}, step={self.step:.4g}"


def signal(mu: float, *, count: int, dimension: int, factor: float = 1.0) -> float:
    """mu n / (d factor), with the factor of the adjacency and the rows of a unit.

    >>> signal(0.01, count=10_000, dimension=50)
    2.0
    """
    return mu * count / (dimension * factor)


def schedule_for(mu: float, *, count: int, dimension: int, factor: float = 1.0) -> DescentSchedule:
    """The rule.

    >>> schedule_for(0.2185, count=32_561, dimension=108).steps
    12
    """
    s = signal(mu, count=count, dimension=dimension, factor=factor)
    # Below one standard deviation per coordinate, d^2 / 2 noisy numbers say less than d of them.
    full = s >= 1.0 and dimension <= LARGEST_FULL
    return DescentSchedule(
        preconditioner="full" if full else "diagonal",
        steps=round(min(12.0, 6.0 + math.log2(1.0 + s))),
        step=min(24.0, 2.0 * math.sqrt(s)),
    )


def plain_schedule(mu: float, *, count: int, dimension: int, factor: float = 1.0) -> DescentSchedule:
    """The rule's choice without preconditioning: momentum in the rows' own coordinates."""
    s = signal(mu, count=count, dimension=dimension, factor=factor)
    return DescentSchedule(preconditioner="none", steps=40, step=min(80.0, 5.0 * math.sqrt(s)), momentum=0.8)


def gaussian_square(limit: PrivacyCurve) -> Fraction:
    """The largest mu^2 of a Gaussian mechanism within the limit, rounded down.

    In every currency that can pay for Gaussian noise the price is proportional to mu^2, so shares of this
    number are shares of the limit.

    >>> from holdfast.privacy import GaussianDP
    >>> float(gaussian_square(GaussianDP(0.5)))
    0.25
    """
    exact = limit.as_gdp() if isinstance(limit, GaussianDP) else None
    if exact is None:
        exact = 1 / as_written(Gaussian.within(limit, l2_sensitivity=1).sigma) ** 2
    if exact <= 0:
        raise BudgetExceeded("nothing remains in the account; nothing was drawn")
    return exact


def gaussian_for(square: Fraction, *, l2_sensitivity: float, **options: Any) -> Gaussian:
    """The Gaussian mechanism whose mu^2 is at most `square`; sigma rounded up.

    >>> float(gaussian_for(Fraction(1, 4), l2_sensitivity=1.0).sigma)
    2.0
    """
    sensitivity = as_written(l2_sensitivity)
    sigma = l2_sensitivity / math.sqrt(square)
    while (sensitivity / as_written(sigma)) ** 2 > square:
        sigma = math.nextafter(sigma, math.inf)
    return Gaussian(sigma=sigma, l2_sensitivity=l2_sensitivity, **options)


class Whitener(Protocol):
    """A public linear map of rows, x -> P x."""

    @property
    def effective_dimension(self) -> float:
        """How many coordinates a whitened row has, those below the noise counted as the share they keep."""

    @property
    def size(self) -> float:
        """A bound on the spectral norm of P."""

    def forward(self, vector: Floats) -> Floats:
        """P v."""

    def backward(self, vector: Floats) -> Floats:
        """P^T v: weights of whitened rows as weights of the rows themselves."""

    def norms(self, rows: Floats) -> Floats:
        """|P x| for each row."""

    def form(self) -> Floats:
        """P^T P, or its diagonal as a vector: |P x|^2 = x^T (P^T P) x, for engines that compute it themselves."""

    def shrunk(self, vector: Floats, strength: float) -> Floats:
        """(I + strength P P^T)^-1 v: one implicit step of a penalty on P^T v."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ClippedGradients:
    """Gradient sums of a loss over rows that are whitened and then clipped to `norm`; private before noise.

    `norm` is public: it comes from the released second moment, never from whitened rows.
    """

    problem: Problem
    passes: ClippedBlocks
    whitening: Whitener
    norm: float
    _kept: list[Floats] = field(default_factory=list)

    def _scaled(self) -> Iterator[tuple[Floats, Floats, Floats]]:
        """Rows, labels, and min(1, norm / |P x|): what clipping multiplies a whitened row with.

        Where every pass meets the same blocks, that is computed once for those of the first `KEPT_SCALES` rows.
        """
        keep, room = self.passes.repeats, KEPT_SCALES - sum(map(len, self._kept))
        for number, (rows, labels) in enumerate(self.passes.blocks()):
            if keep and number < len(self._kept):
                yield rows, labels, self._kept[number]
                continue
            scales = self.norm / np.maximum(self.whitening.norms(rows), self.norm)
            if keep and len(rows) <= room and number == len(self._kept):
                self._kept.append(scales)
                room -= len(rows)
            yield rows, labels, scales

    def at(self, weights: Floats) -> Floats:
        """The sum of phi'(W x~) x~^T over the clipped rows x~ = scale P x, in whitened coordinates."""
        raw, total = each_row(self.whitening.backward, weights), np.zeros_like(weights)
        if self.passes.engine is not None:  # the same sum, taken where the rows are; of one prediction
            total[0] = self.passes.engine.gradient(raw[0], form=self.whitening.form(), norm=self.norm)
            return each_row(self.whitening.forward, total)
        for rows, labels, scales in self._scaled():
            slopes = self._slopes(scales[:, None] * (rows @ raw.T), along(self.problem.loss, labels, scales))
            total += (scales[:, None] * slopes).T @ rows
        return each_row(self.whitening.forward, total)

    def _slopes(self, z: Floats, labels: Floats) -> Floats:
        """A slope beyond the declared one is clipped: a record's gradient has norm slope * norm at most."""
        bound = self.problem.loss.slope
        return np.clip(self.problem.slopes(z, labels), -bound, bound)

    def l2_sensitivity(self, adjacency: Adjacency, *, rows_per_unit: int, most: int) -> float:
        """c C' sup |phi'|, twice that under replace, and what rounding may add to two sums of `most` rows."""
        problem, slope = self.problem, self.problem.loss.slope
        moved = adjacency.gradient_factor * rows_per_unit * slope * self.norm * (1.0 + NORM_SLACK)
        terms = problem.dimension + (problem.predictions if problem.outputs == "several" else 0)
        error = rounding_of_sum(most) + 4.0 * (terms + 16) * UNIT_ROUNDOFF
        return moved + 2.0 * most * problem.norm_bound * slope * self.whitening.size * error


def each_row(change: Callable[[Floats], Floats], weights: Floats) -> Floats:
    """The change of a vector, for the weights of each prediction."""
    return np.stack([change(row) for row in weights])


def step_length(problem: Problem, schedule: DescentSchedule) -> float:
    """The schedule's step, which is for curvature 1/4, at the curvature that the problem typically has."""
    curvature = min(1.0, problem.loss.curvature)  # hinges curve by about 1 on average
    if problem.outputs == "several":
        # p is near 1 / K, where the softmax curves by 1 / K and one-vs-all by about as much; up to twice the rule's.
        curvature = 1.0 / min(max(problem.predictions, 2), 8)
    step = schedule.step * 0.25 / curvature
    return step / problem.row_norm**2 if schedule.preconditioner == "none" else step


def noisy_descent(
    gradient: Callable[[Floats], Floats],
    problem: Problem,
    whitening: Whitener,
    schedule: DescentSchedule,
    permit: Permit,
    *,
    step: float,
    divisor: float,
    name: str,
) -> Floats:
    """T steps from the origin; the mean of the last iterates, as weights of the rows themselves, (K, d).

    `gradient` is a sum, private until the permit has released it. The divisor is public: the expected number of
    records in the sum, never the number in this one.
    """
    pace = step * (1.0 - schedule.momentum)
    weights = np.zeros((problem.predictions, problem.dimension))
    velocity, mean = np.zeros_like(weights), np.zeros_like(weights)
    for number in progress(range(schedule.steps), desc=name):
        noisy = permit.release(gradient(weights))
        velocity = schedule.momentum * velocity + noisy / divisor
        # The penalty takes an implicit step, which is stable whatever the whitening made of it.
        weights = each_row(
            lambda row: whitening.shrunk(row, pace * problem.penalty), weights - pace * velocity
        )
        length = float(np.linalg.norm(each_row(whitening.backward, weights)))
        weights = weights * min(1.0, problem.radius / max(length, 1e-300))
        if number >= schedule.steps - schedule.averaged:
            mean += weights / schedule.averaged
    return each_row(whitening.backward, mean)

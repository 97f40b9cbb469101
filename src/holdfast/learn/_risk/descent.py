"""Noisy gradient descent: its schedule, the gradients of clipped rows, and the loop of steps.

Weights are (K, d): a row for each prediction, one for a binary or a real label. The schedule follows from public
quantities only, and the clipping norm from released ones. A record's gradient is clipped in whitened coordinates, so no
bound on the loss's slope is needed. docs/decisions/learning-default.md says how the rule was found.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Any, Literal, Protocol

import numpy as np

from holdfast._arrays import Floats
from holdfast._options import OptionGroup
from holdfast._progress import progress
from holdfast.data._clipped_rows import NORM_SLACK
from holdfast.errors import BudgetExceeded, require
from holdfast.learn._problem import Problem
from holdfast.learn._rows.clipped_blocks import ClippedBlocks
from holdfast.learn._rows.summation import UNIT_ROUNDOFF, rounding_of_sum
from holdfast.privacy._account import Permit
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.privacy._curves.gaussian import GaussianDP
from holdfast.privacy._mechanisms.gaussian import Gaussian
from holdfast.privacy._rounding import as_written

Preconditioner = Literal["full", "diagonal", "none"]
PRECONDITIONERS = ("full", "diagonal", "none")
MOST_CACHED_LENGTHS = 2**23
"""The most rows whose length is stored between passes: 64 MB."""
CLIP_RULE = (0.06, 0.05, 0.5)
"""The clipping norm, over the root of the effective dimension: the least, per root of the signal, and the largest."""
RESIDUAL_LOSSES = ("squared", "huber_regression")
SLOWDOWN_FACTOR, GROWTH_THRESHOLD, DOUBT_DEVIATIONS = 0.6, 1.5, 3.0
"""A safeguard against steps that are too long: steps are multiplied by the first number if the squared gradient, less
its noise, grew by more than the second as a factor, and by more than the third in standard deviations of its noise."""
MOST_FULL_COLUMNS = 1_000
"""The most columns for which a full second moment, of d^2 / 2 numbers, is worth its cost."""


@dataclass(frozen=True, kw_only=True)
class DescentSchedule:
    """How the budget is split and the steps are taken; all of it public.

    `unit_share`, `share`: of mu^2, spent on means and squares, and on the second moment. `floor`, `ridge`: added to
    variances and to eigenvalues, in units of their noise. `clip`: the norm of gradients, in units of the root of the
    effective dimension; None for the rule. `step` is for a loss of curvature 1/4 and counts what momentum adds: one
    gradient moves the weights by `step` in the end, by (1 - momentum) of it at once.
    """

    preconditioner: Preconditioner = "full"
    unit_share: float = 0.1
    share: float = 0.25
    floor: float = 0.2
    ridge: float = 0.5
    clip: float | None = None
    steps: int = 16
    step: float = 8.0
    momentum: float = 0.4
    average: float = 0.5
    """The last share of the iterates is averaged; 0 returns the last one."""

    def __post_init__(self) -> None:
        _require_ranges(self)
        most = 1.0 - self.share
        require(0 < self.unit_share < most, "unit_share", self.unit_share, f"in (0, {most:.4g})")

    @property
    def gradient_part(self) -> Fraction:
        """The exact share of mu^2 for gradients."""
        spent = {"none": (), "diagonal": (self.unit_share,), "full": (self.unit_share, self.share)}
        return 1 - sum((Fraction(share) for share in spent[self.preconditioner]), Fraction(0))

    @property
    def moment_share(self) -> float:
        """The share of mu^2 for all of the whitening."""
        return float(1 - self.gradient_part)

    @property
    def averaged_steps(self) -> int:
        """The number of last iterates of which the result is the mean."""
        return max(1, math.ceil(self.average * self.steps))

    def with_changes(self, changes: DescentChanges) -> DescentSchedule:
        """The schedule with a caller's settings in place of the rule's."""
        return replace(self, **{name: value for name, value in vars(changes).items() if value is not None})

    def summary(self) -> str:
        """The settings that depend on the problem."""
        return f"preconditioner={self.preconditioner}, steps={self.steps}, step={self.step:.4g}"


@dataclass(frozen=True, kw_only=True)
class DescentChanges(OptionGroup):
    """Settings that replace those of the rule's schedule; None keeps the rule's."""

    preconditioner: Preconditioner | None = None
    unit_share: float | None = None
    share: float | None = None
    floor: float | None = None
    ridge: float | None = None
    clip: float | None = None
    steps: int | None = None
    step: float | None = None
    momentum: float | None = None
    average: float | None = None

    def __post_init__(self) -> None:
        _require_ranges(self)


def _require_ranges(settings: DescentSchedule | DescentChanges) -> None:
    """Check the range of each setting; None is left to the rule."""
    for name, (holds, wanted, way_out) in _RANGES.items():
        value = getattr(settings, name)
        require(value is None or holds(value), name, value, wanted, way_out)


_RANGES: dict[str, tuple[Callable[[Any], bool], str, str]] = {
    "preconditioner": (lambda value: value in PRECONDITIONERS, f"one of {', '.join(PRECONDITIONERS)}", ""),
    "unit_share": (lambda value: 0 < value < 1, "in (0, 1)", ""),
    "share": (lambda value: 0 < value < 1, "in (0, 1)", "use preconditioner='none' for none"),
    "floor": (lambda value: 0 < value < math.inf, "> 0 and finite", ""),
    "ridge": (lambda value: 0 < value < math.inf, "> 0 and finite", ""),
    "clip": (lambda value: 0 < value < math.inf, "> 0 and finite, or None", ""),
    "steps": (lambda value: isinstance(value, int) and value >= 1, "a whole number >= 1", ""),
    "step": (lambda value: 0 < value < math.inf, "> 0 and finite", ""),
    "momentum": (lambda value: 0 <= value < 1, "in [0, 1)", ""),
    "average": (lambda value: 0 <= value <= 1, "in [0, 1]", ""),
}
NO_CHANGES = DescentChanges()


def signal(mu: float, *, count: int, dimension: int, factor: float = 1.0) -> float:
    """mu n / (d factor), with the factor of the adjacency and the rows of a unit.

    >>> signal(0.01, count=10_000, dimension=50)
    2.0
    """
    return mu * count / (dimension * factor)


def schedule_for(
    mu: float, *, count: int, dimension: int, factor: float = 1.0, classes: int = 1
) -> DescentSchedule:
    """The rule's schedule: the same for all problems, except for the kind of whitening and for several classes.

    With K classes the moments get a smaller share, because one second moment serves all classes.

    >>> schedule_for(0.2185, count=32_561, dimension=108).steps
    16
    """
    kind: Preconditioner = "full" if dimension <= MOST_FULL_COLUMNS else "diagonal"
    if classes == 1:
        return DescentSchedule(preconditioner=kind)
    return DescentSchedule(preconditioner=kind, unit_share=0.05, share=0.1)


def gradient_clip(
    problem: Problem, schedule: DescentSchedule, whitening: Whitener, *, signal: float
) -> float:
    """The clipping norm C of gradients, relative to the root of the effective dimension D.

    A larger C clips less, and noise is proportional to it. So C grows with the signal mu n / D of one coordinate, up to
    where typical gradients are not clipped. Residuals of targets in [-1, 1] are half as long as slopes of classes. Rows
    that are not whitened have the loss's own bound.
    """
    if schedule.preconditioner == "none" and schedule.clip is None:
        slope = problem.loss.slope
        return problem.norm_bound * (slope if math.isfinite(slope) else 1.0)
    dimension = max(1.0, whitening.effective_dimension)
    least, by_signal, most = CLIP_RULE
    part = min(most, max(least, by_signal * math.sqrt(signal / dimension)))
    if schedule.clip is not None:
        part = schedule.clip
    elif problem.loss.name in RESIDUAL_LOSSES:
        part /= 2.0
    return part * math.sqrt(dimension)


def plain_schedule(mu: float, *, count: int, dimension: int, factor: float = 1.0) -> DescentSchedule:
    """The rule's schedule without preconditioning: momentum in the rows' own coordinates."""
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
        """The number of coordinates of a whitened row, where one below the noise counts as a fraction."""

    @property
    def size(self) -> float:
        """A bound on the spectral norm of P."""

    def forward(self, vector: Floats) -> Floats:
        """P v."""

    def backward(self, vector: Floats) -> Floats:
        """P^T v: weights of whitened rows as weights of the rows themselves."""

    @property
    def inverse_size(self) -> float:
        """A bound on the spectral norm of the inverse of P."""

    def norms(self, rows: Floats) -> Floats:
        """|P x| for each row."""

    def form(self) -> Floats:
        """P^T P, or its diagonal as a vector: |P x|^2 = x^T (P^T P) x, for engines that compute it themselves."""

    def shrunk(self, vector: Floats, strengths: Floats) -> Floats:
        """(I + P diag(strengths) P^T)^-1 v: one implicit step of a penalty on P^T v, for each column its own."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ClippedGradients:
    """Sums of gradients, each of them clipped to `clip` in whitened coordinates; private before noise.

    `clip` is public: it comes from the released second moment, never from whitened rows.
    """

    problem: Problem
    passes: ClippedBlocks
    whitening: Whitener
    clip: float
    _cached_lengths: list[Floats] = field(default_factory=list)

    def _rows_with_lengths(self) -> Iterator[tuple[Floats, Floats, Floats]]:
        """Rows, labels, and upper bounds on |P x|.

        Where every pass yields the same blocks, lengths of the first `MOST_CACHED_LENGTHS` rows are computed once.
        """
        keep, room = self.passes.repeats, MOST_CACHED_LENGTHS - sum(map(len, self._cached_lengths))
        for number, (rows, labels) in enumerate(self.passes.blocks()):
            if keep and number < len(self._cached_lengths):
                yield rows, labels, self._cached_lengths[number]
                continue
            lengths = self.whitening.norms(rows) + self._doubt
            if keep and len(rows) <= room and number == len(self._cached_lengths):
                self._cached_lengths.append(lengths)
                room -= len(rows)
            yield rows, labels, lengths

    @property
    def _doubt(self) -> float:
        """A bound on the rounding error of a computed length."""
        terms = self.problem.dimension + 16
        return 4.0 * terms * UNIT_ROUNDOFF * self.whitening.size * self.problem.norm_bound

    def at(self, weights: Floats) -> Floats:
        """The sum of min(1, C / |phi'| |P x|) phi'(W P x) (P x)^T, in whitened coordinates."""
        raw, total = each_row(self.whitening.backward, weights), np.zeros_like(weights)
        if self.passes.engine is not None:  # the same sum, taken where the rows are; of one prediction
            total[0] = self.passes.engine.gradient(
                raw[0], form=self.whitening.form(), clip=self.clip, largest=2.0 * self._share
            )
            return each_row(self.whitening.forward, total)
        for rows, labels, lengths in self._rows_with_lengths():
            slopes = self.problem.slopes(rows @ raw.T, labels)
            sizes = (
                np.abs(slopes[:, 0]) if len(weights) == 1 else np.sqrt(np.einsum("ij,ij->i", slopes, slopes))
            )
            slopes *= (self.clip / np.maximum(sizes * lengths, self.clip))[:, None]
            total += slopes.T @ rows
        return each_row(self.whitening.forward, total)

    @property
    def _share(self) -> float:
        """A bound on the norm of a record's clipped gradient in the rows' own units."""
        problem = self.problem
        return min(problem.norm_bound * problem.loss.slope, self.clip * self.whitening.inverse_size)

    def l2_sensitivity(self, adjacency: Adjacency, *, rows_per_unit: int, most: int) -> float:
        """c C, twice that under replace, plus a bound on the rounding of two sums of `most` rows."""
        problem = self.problem
        change = adjacency.gradient_factor * rows_per_unit * self.clip * (1.0 + NORM_SLACK)
        terms = problem.dimension + (problem.predictions if problem.outputs == "several" else 0)
        error = rounding_of_sum(most) + 4.0 * (terms + 16) * UNIT_ROUNDOFF
        return change + 2.0 * most * self._share * self.whitening.size * error


def each_row(change: Callable[[Floats], Floats], weights: Floats) -> Floats:
    """A function of a vector, applied to the weights of each prediction."""
    return np.stack([change(row) for row in weights])


def step_length(problem: Problem, schedule: DescentSchedule) -> float:
    """The schedule's step, which is for curvature 1/4, converted to the typical curvature of the problem."""
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
    noise: float | None = None,
) -> Floats:
    """T steps from the origin; the mean of the last iterates, as weights of the rows themselves, (K, d).

    `gradient` is a sum, private until the permit has released it. The divisor is public: the expected number of
    records in the sum, never the actual one. `noise` is the standard deviation in each number of a sum; where it is
    given, steps become shorter when gradients grow by more than noise would, as they do where a step overshoots.
    """
    pace, last = step * (1.0 - schedule.momentum), math.inf
    weights = np.zeros((problem.predictions, problem.dimension))
    velocity, mean = np.zeros_like(weights), np.zeros_like(weights)
    for number in progress(range(schedule.steps), desc=name):
        noisy = permit.release(gradient(weights))
        mean_gradient = np.asarray(noisy) / divisor
        if noise is not None:
            spread = noise / divisor
            expected = mean_gradient.size * spread**2
            size = max(float(np.sum(mean_gradient**2)) - expected, 0.0)
            # The variance of |g + noise|^2 over m numbers is 2 m spread^4 + 4 spread^2 |g|^2.
            doubt = DOUBT_DEVIATIONS * spread * math.sqrt(2.0 * expected + 4.0 * size)
            pace *= SLOWDOWN_FACTOR if size > GROWTH_THRESHOLD * last + doubt else 1.0
            last = max(size, 0.1 * expected)
        velocity = schedule.momentum * velocity + mean_gradient
        # The penalty takes an implicit step, which is stable whatever the whitening made of it.
        shrink = partial(whitening.shrunk, strengths=pace * problem.penalties)
        weights = each_row(shrink, weights - pace * velocity)
        length = float(np.linalg.norm(each_row(whitening.backward, weights)))
        weights = weights * min(1.0, problem.radius / max(length, 1e-300))
        if number >= schedule.steps - schedule.averaged_steps:
            mean += weights / schedule.averaged_steps
    return each_row(whitening.backward, mean)

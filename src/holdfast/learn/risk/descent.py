"""The schedule of noisy gradient descent, as a rule in public quantities only.

What moves a good setting is the signal s = mu n / (d factor): how far the whole budget lets each coordinate of a
mean be seen. The rule was found on two data sets and variants of them (docs/decisions/learning-default.md says
how) and reads nothing but its arguments.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from holdfast.errors import BudgetExceeded, require
from holdfast.privacy.curves.curve import PrivacyCurve
from holdfast.privacy.curves.gaussian import GaussianDP
from holdfast.privacy.mechanisms.gaussian import Gaussian
from holdfast.privacy.rounding import as_written

Preconditioner = Literal["full", "diagonal", "none"]
PRECONDITIONERS = ("full", "diagonal", "none")
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

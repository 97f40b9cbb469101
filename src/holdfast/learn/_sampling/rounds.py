"""SamplingPlan: step, rounds and caps of the sampler, and its total variation distance, all from public numbers.

The proximal sampler of Chen, Chewi, Salim and Wibisono 2022 (theorem 3) halves its way to the density: each round
divides the divergence by (1 + a h)^2, a the strong convexity of the exponent and h the step. The step is bounded by the
trace of the second derivative, not by dimension times smoothness (soundness, section 11), so that for every table a
round expects at most 400 proposals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from holdfast.errors import ParameterError, require

ROUND_PROPOSALS = 400.0
"""The largest expected number of proposals in a round, for every table; the step follows from it."""
MOST_DIRECT_PROPOSALS = 1e6
"""A direct draw is made where its expected number of proposals is at most this, for every table."""
START_ALLOWANCE = 0.1
"""What the certified start's gradient may add to the divergence, or to the logarithm of expected proposals."""
CAP_SHARE = 0.1
"""The share of the total variation for rounds that stop at their cap."""
MOST_ROUNDS = 1_000_000
UPWARD_ROUNDING = 1.0 + 1e-9
"""Rounding of doubles, upwards."""


@dataclass(frozen=True, kw_only=True)
class SamplingPlan:
    """How exp(-k [f + (penalty/2)|x|^2]) is drawn; `total_variation` 0 means directly, which is exact.

    `smoothness` bounds the trace of f's second derivative, for every table: curvature times squared row norm.

    >>> plan = SamplingPlan(dimension=5, inverse_temperature=395.28, penalty=6.3246e-3, smoothness=0.25)
    >>> round(plan.direct_bound), SamplingPlan(**{**vars(plan), "total_variation": 1e-8}).rounds
    (237, 24)
    """

    dimension: int
    inverse_temperature: float
    penalty: float
    smoothness: float
    total_variation: float = 0.0
    half_side: float = math.inf

    def __post_init__(self) -> None:
        for name in ("inverse_temperature", "smoothness"):
            require(0 < getattr(self, name) < math.inf, name, getattr(self, name), "> 0 and finite")
        require(
            self.penalty > 0 or math.isfinite(self.half_side), "penalty", self.penalty, "> 0 without a box"
        )
        require(0 <= self.total_variation < 1, "total_variation", self.total_variation, "in [0, 1)")
        if self.is_direct:
            if not self.admits_direct:
                raise ParameterError(
                    f"a direct draw may need {self.direct_bound:.3g} proposals here, more than "
                    f"{MOST_DIRECT_PROPOSALS:g}; "
                    + (
                        "use fewer columns or rows, a smaller diameter or epsilon, or delta > 0"
                        if math.isfinite(self.half_side)
                        else "give delta > 0, or a larger penalty, or fewer columns"
                    )
                )
        else:
            require(
                math.isinf(self.half_side), "half_side", self.half_side, "infinite for the proximal sampler"
            )
            require(
                self.rounds <= MOST_ROUNDS,
                "rounds",
                self.rounds,
                f"<= {MOST_ROUNDS}",
                "give a smaller epsilon or diameter, or use method='objective'",
            )

    @property
    def is_direct(self) -> bool:
        """Whether one rejection loop draws from the density itself."""
        return self.total_variation == 0

    @property
    def strong_convexity(self) -> float:
        """a, the strong convexity of the exponent."""
        return self.inverse_temperature * self.penalty

    @property
    def direct_bound(self) -> float:
        """Expected proposals of a direct draw, for every table.

        In the whole space (1 + smoothness / (d penalty))^(d/2): determinants by their trace. On a box of diameter D
        shrink it towards the minimiser by t: t^d of the tangent's mass is kept with chance e^(-k smoothness t^2 D^2/2)
        or more, and the best t gives (e k smoothness D^2 / d)^(d/2).
        """
        d = self.dimension
        if math.isinf(self.half_side):
            log = 0.5 * d * math.log1p(self.smoothness / (d * self.penalty))
        else:
            steep = self.inverse_temperature * (self.smoothness + self.penalty) * 4.0 * d * self.half_side**2
            log = 0.5 * steep if steep <= d else 0.5 * d * (1.0 + math.log(steep / d))
        return (
            math.exp(min(log + START_ALLOWANCE, 700.0))
            if math.isfinite(self.half_side)
            else math.exp(min(log, 700.0))
        )

    @property
    def admits_direct(self) -> bool:
        """Whether a direct draw expects few enough proposals."""
        return self.direct_bound <= MOST_DIRECT_PROPOSALS

    @property
    def step(self) -> float:
        """h = d (400^(2/d) - 1) / (k smoothness); infinite for a direct draw."""
        if self.is_direct:
            return math.inf
        d = self.dimension
        return (
            d * math.expm1(2.0 / d * math.log(ROUND_PROPOSALS)) / (self.inverse_temperature * self.smoothness)
        )

    @property
    def spread(self) -> float:
        """s = 1 / (1/h + a): the variance of a proposal in each coordinate."""
        return 1.0 / (1.0 / self.step + self.strong_convexity)

    @property
    def start_divergence(self) -> float:
        """From the start's law to the density: (d/2) ln(1 + smoothness / (d penalty)), and the start's inexactness."""
        d = self.dimension
        return 0.5 * d * math.log1p(self.smoothness / (d * self.penalty)) * UPWARD_ROUNDING + START_ALLOWANCE

    @cached_property
    def rounds(self) -> int:
        """As many as bring sqrt(divergence / 2) below the total variation that is left for them; 0 directly."""
        if self.is_direct:
            return 0
        mixing = (1.0 - CAP_SHARE) * self.total_variation
        needed = 0.5 * math.log(self.start_divergence / (2.0 * mixing**2))
        return max(1, math.ceil(needed / math.log1p(self.strong_convexity * self.step) * UPWARD_ROUNDING))

    def cap(self, residual: float) -> float:
        """Proposals after which a round gives up; all rounds together do so with a chance of at most the caps' share.

        `residual` is the norm of the gradient at the point of tangency: whatever it is, this bound holds.
        """
        if self.is_direct:
            return math.inf
        expected = ROUND_PROPOSALS * math.exp(min(0.5 * self.spread * residual**2, 600.0))
        return math.ceil(
            expected * math.log(self.rounds / (CAP_SHARE * self.total_variation)) * UPWARD_ROUNDING
        )

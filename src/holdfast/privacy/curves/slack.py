"""Slack beside a curve: samplers that are only close to their law, analyses that may fail."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from holdfast.errors import require
from holdfast.privacy.curves.curve import PrivacyCurve, curve_from_json, number, plain_curve
from holdfast.privacy.rounding import Number, as_written, round_up


@dataclass(frozen=True, repr=False)
class WithSlack(PrivacyCurve):
    """delta(eps) + (1 + e^eps) tau + failure (soundness, section 0).

    tau: the sampler is within this total variation of the analysed law, for every input and history.
    probability: with which the analysis does not apply (an overfull batch), charged to delta.
    """

    curve: PrivacyCurve
    tau: Number = 0.0
    probability: Number = 0.0

    def __post_init__(self) -> None:
        require(0 <= self.tau < 1, "tau", self.tau, "in [0, 1)")
        require(0 <= self.probability < 1, "probability", self.probability, "in [0, 1)")

    @property
    def total_variation(self) -> Fraction:
        """The curve's own, and this."""
        return self.curve.total_variation + as_written(self.tau)

    @property
    def failure(self) -> Fraction:
        """The curve's own, and this."""
        return self.curve.failure + as_written(self.probability)

    def delta(self, epsilon: float) -> float:
        """The curve's delta and the slack."""
        grown = (1.0 + math.exp(min(epsilon, 700.0))) * round_up(self.tau) if self.tau else 0.0
        return min(1.0, self.curve.delta(epsilon) + grown * (1 + 1e-15) + round_up(self.probability))

    def epsilon(self, delta: float) -> float:
        """The least epsilon that is proved; delta is not monotone in epsilon once tau > 0."""
        require(0 <= delta <= 1, "delta", delta, "in [0, 1]")
        # Solve for the curve at what is left of delta; the slack is taken at the answer, from above.
        guess = self.curve.epsilon(max(0.0, delta - round_up(self.probability)))
        for _ in range(200):
            if math.isinf(guess) or self.delta(guess) <= delta:
                return guess
            left = delta - (self.delta(guess) - self.curve.delta(guess))
            if left <= 0:
                return math.inf
            guess = max(self.curve.epsilon(left), math.nextafter(guess, math.inf))
        return math.inf

    def as_pure(self) -> Fraction | None:
        """The curve's cost; the slack is charged beside it."""
        return self.curve.as_pure()

    def as_approximate(self) -> tuple[Fraction, Fraction] | None:
        """The curve's cost; the slack is charged beside it."""
        return self.curve.as_approximate()

    def as_zcdp(self) -> Fraction | None:
        """The curve's cost; the slack is charged beside it."""
        return self.curve.as_zcdp()

    def as_gdp(self) -> Fraction | None:
        """The curve's cost; the slack is charged beside it."""
        return self.curve.as_gdp()

    def renyi(self, order: float) -> float:
        """The curve's cost; the slack is charged beside it."""
        return self.curve.renyi(order)

    def group(self, size: int) -> PrivacyCurve:
        """Total variation is not multiplied by the group (soundness, section 18)."""
        return WithSlack(self.curve.group(size), self.tau, size * as_written(self.probability))

    def admits(self, curve: PrivacyCurve) -> bool:
        """Slack within slack, and the curve within the curve."""
        bare = curve.curve if isinstance(curve, WithSlack) else curve
        return (
            curve.total_variation <= self.total_variation
            and curve.failure <= self.failure
            and self.curve.admits(bare)
        )

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "kind": self.kind,
            "curve": self.curve.to_json(),
            "tau": plain_curve(self.tau),
            "probability": plain_curve(self.probability),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> WithSlack:
        """The curve of these fields."""
        return cls(curve_from_json(data["curve"]), number(data["tau"]), number(data["probability"]))

    def __repr__(self) -> str:
        return f"{self.curve!r} + slack (tau={float(self.total_variation):g}, delta={float(self.failure):g})"

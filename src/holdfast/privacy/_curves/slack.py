"""WithSlack: a curve with slack, for samplers that are only close to their law and analyses that may fail."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from holdfast._arguments import checked
from holdfast._stored_fields import require_fields
from holdfast.errors import require
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.privacy._curves.stored import curve_from_json
from holdfast.privacy._rounding import Number, as_written, round_up
from holdfast.privacy._stored_numbers import number_of_stored, stored_number


@checked
@dataclass(frozen=True, repr=False)
class WithSlack(PrivacyCurve):
    """A curve and what it leaves out: samplers that are only close to their law, analyses that may fail.

    delta(eps) + (1 + e^eps) tau + failure: three entries, each with its own rules (soundness, section 21). A
    delta of the curve is none of these: it stays inside the curve.

    Parameters
    ----------
    curve : PrivacyCurve
        What holds but for the slack.
    tau : int, float or Fraction
        The sampler is within this total variation of the analysed law, for every input and history.
    probability : int, float or Fraction
        Of an event of a pair, outside which two neighbours are as close as declared (an overfull batch).
    common : int, float or Fraction
        Of an event of the mechanism's own coins, the same whatever the table (a sampler that gives up).

    Examples
    --------
    >>> from holdfast.privacy._curves.curve import PureDP
    >>> WithSlack(PureDP(1.0), common=1e-9).epsilon(1e-6) <= 1.0
    True
    """

    curve: PrivacyCurve
    tau: Number = 0.0
    probability: Number = 0.0
    common: Number = 0.0

    def __post_init__(self) -> None:
        for name in ("tau", "probability", "common"):
            require(0 <= getattr(self, name) < 1, name, getattr(self, name), "in [0, 1)")

    @property
    def without_slack(self) -> PrivacyCurve:
        """The curve."""
        return self.curve

    @property
    def total_variation(self) -> Fraction:
        """The total variation of the curve and of this slack."""
        return self.curve.total_variation + as_written(self.tau)

    @property
    def failure(self) -> Fraction:
        """The failure probability of the curve and of both events."""
        return self.curve.failure + as_written(self.probability) + as_written(self.common)

    @property
    def _event_probability(self) -> float:
        return round_up(as_written(self.probability) + as_written(self.common))

    def delta(self, epsilon: float) -> float:
        """The curve's delta plus the slack."""
        sampler_slack = (1.0 + math.exp(min(epsilon, 700.0))) * round_up(self.tau) if self.tau else 0.0
        return min(1.0, self.curve.delta(epsilon) + sampler_slack * (1 + 1e-15) + self._event_probability)

    def epsilon(self, delta: float) -> float:
        """The least epsilon that is proved; delta is not monotone in epsilon once tau > 0."""
        require(0 <= delta <= 1, "delta", delta, "in [0, 1]")
        # Solve for the curve at what is left of delta; the slack is taken at the answer, from above.
        guess = self.curve.epsilon(max(0.0, delta - self._event_probability))
        for _ in range(200):
            if math.isinf(guess) or self.delta(guess) <= delta:
                return guess
            left = delta - (self.delta(guess) - self.curve.delta(guess))
            if left <= 0:
                return math.inf
            guess = max(self.curve.epsilon(left), math.nextafter(guess, math.inf))
        return math.inf

    @property
    def default_currency(self) -> str:
        """As the curve; the slack is counted beside it."""
        return self.curve.default_currency

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
        """Only an event of a pair is multiplied by the group."""
        return WithSlack(self.curve.group(size), self.tau, size * as_written(self.probability), self.common)

    def to_replace(self) -> PrivacyCurve:
        """An event of a pair may happen on either side."""
        return WithSlack(self.curve.to_replace(), self.tau, 2 * as_written(self.probability), self.common)

    def either_way(self) -> PrivacyCurve:
        """The slack has no direction."""
        return WithSlack(self.curve.either_way(), self.tau, self.probability, self.common)

    def around_sampled_curve(self, curve: PrivacyCurve, rate: Number) -> PrivacyCurve:
        """The slack beside the sampled `curve`.

        An event counts if the unit was drawn, at this `rate`, and is then one of a pair.
        """
        event = as_written(rate) * (as_written(self.probability) + as_written(self.common))
        return WithSlack(curve, self.tau, event)

    def admits(self, curve: PrivacyCurve) -> bool:
        """Whether the other slack is within this slack and the other curve within this curve."""
        bare = curve.curve if isinstance(curve, WithSlack) else curve
        return (
            curve.total_variation <= self.total_variation
            and curve.failure <= self.failure
            and self.curve.admits(bare)
        )

    def to_json(self) -> dict[str, Any]:
        """The fields as plain data, for JSON."""
        return {
            "kind": self.kind,
            "curve": self.curve.to_json(),
            "tau": stored_number(self.tau),
            "probability": stored_number(self.probability),
            "common": stored_number(self.common),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> WithSlack:
        """The curve whose `to_json` wrote this data."""
        stored = require_fields(cls.__name__, data, ("curve", "tau", "probability", "common"))
        slack = (number_of_stored(stored[name]) for name in ("tau", "probability", "common"))
        return cls(curve_from_json(stored["curve"]), *slack)

    def __repr__(self) -> str:
        return f"{self.curve!r} + slack (tau={float(self.total_variation):g}, delta={float(self.failure):g})"


def bare_and_slack(curve: PrivacyCurve) -> tuple[PrivacyCurve, tuple[Fraction, Fraction, Fraction]]:
    """The curve without its slack, and that: total variation, event of a pair, common event."""
    tau = probability = common = Fraction(0)
    while isinstance(curve, WithSlack):
        tau += as_written(curve.tau)
        probability += as_written(curve.probability)
        common += as_written(curve.common)
        curve = curve.curve
    return curve, (tau, probability, common)

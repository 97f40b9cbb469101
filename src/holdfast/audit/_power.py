"""Power: which faults an audit would have noticed, stated beside its bound.

A pass means something only if a fault would have been noticed. Two figures say which: the smallest factor kappa of too
little noise that is noticed with probability 0.8, and the probability that no noise at all is noticed. Where the second
is below 0.9 the audit cannot fail (soundness, section 22).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from holdfast._arguments import checked
from holdfast._stored_fields import require_fields
from holdfast.audit._bounds.signal import POWER_SEED, Signal
from holdfast.audit._findings import Finding
from holdfast.errors import FormatError, require
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.privacy._curves.stored import curve_from_json

NOTICED_PROBABILITY, TEST_PROBABILITY = 0.8, 0.9
"""The probability with which kappa is noticed, and the least against no noise at all that makes a test."""
_LARGEST_KAPPA, _KAPPA_RATIO = 1024.0, 1.005


@checked
@dataclass(frozen=True, kw_only=True)
class PowerBasis:
    """What an audit's power is computed from, fixed before the audit is made.

    Parameters
    ----------
    claim : PrivacyCurve
        The curve that the noise was made for.
    interference : float
        How far a canary's score strays without any noise, as a standard deviation in units of the canary's own effect:
        other canaries and the rows around them.
    measured : bool
        Whether the interference was seen on the real training without noise; else it follows from the model that a
        release is the sum of its rows.
    runs : int
        The number of trainings planned, where an audit may stop early.
    mu : float, optional
        How far apart the worlds are in standard deviations, where that was measured; else it follows from the claim.

    Examples
    --------
    >>> from holdfast.privacy import GaussianDP
    >>> basis = PowerBasis(claim=GaussianDP(1.0), interference=0.5)
    >>> PowerBasis.from_json(basis.to_json()) == basis
    True
    """

    claim: PrivacyCurve
    interference: float
    measured: bool = False
    runs: int = 0
    mu: float | None = None

    def __post_init__(self) -> None:
        require(self.interference >= 0, "interference", self.interference, ">= 0, infinity included")
        require(self.mu is None or 0 < self.mu < math.inf, "mu", self.mu, "> 0 and finite")
        require(isinstance(self.runs, int) and self.runs >= 0, "runs", self.runs, "an integer >= 0")

    def to_json(self) -> dict[str, Any]:
        """The fields as plain values; an infinite interference is written as None."""
        return {
            "claim": self.claim.to_json(),
            "interference": self.interference if math.isfinite(self.interference) else None,
            "measured": self.measured,
            "runs": self.runs,
            "mu": self.mu,
        }

    def signal(self, *, delta: float) -> Signal | None:
        """How a canary shows under the noise as declared, where epsilon is read at this `delta`."""
        if self.mu is not None:
            return Signal(normal=1.0 / self.mu, interference=self.interference)
        return Signal.of_claim(self.claim, delta=delta, interference=self.interference)

    @classmethod
    def from_json(cls, data: Any) -> PowerBasis:
        """The basis that `to_json` wrote as `data`; `FormatError` for anything else."""
        data = require_fields("basis of an audit", data, list(cls.__dataclass_fields__))
        try:
            known = data["interference"]
            return cls(
                claim=curve_from_json(data["claim"]),
                interference=math.inf if known is None else float(known),
                measured=bool(data["measured"]),
                runs=data["runs"],
                mu=data["mu"],
            )
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise FormatError("the basis of an audit's power lacks a field or has a wrong one") from error


@checked
@dataclass(frozen=True, kw_only=True)
class Power:
    """What an audit would have noticed, at a confidence.

    Parameters
    ----------
    kappa : float or None
        The smallest factor of too little noise that is noticed with probability 0.8; None if none is.
    no_noise : float
        The probability that no noise at all is noticed.
    confidence : float
        Of a refutation.
    how : str
        Where the figures come from, in words.

    Examples
    --------
    >>> strong = Power(kappa=2.0, no_noise=1.0, confidence=0.95, how="seed 0")
    >>> strong.can_fail, strong.summary()
    (True, 'would have noticed noise 2 times too small with probability 0.8, no noise at all with 1.00 (seed 0)')
    """

    kappa: float | None
    no_noise: float
    confidence: float
    how: str

    @property
    def can_fail(self) -> bool:
        """Whether the audit is a test at all."""
        return self.no_noise >= TEST_PROBABILITY

    def summary(self) -> str:
        """Both figures in a line."""
        if not self.can_fail:
            return (
                f"CANNOT FAIL, not a test: with no noise at all it would have refuted the claim with probability "
                f"{self.no_noise:.2f} ({self.how})"
            )
        least = (
            "no smaller fault than no noise at all"
            if self.kappa is None
            else f"noise {self.kappa:.3g} times too small with probability {NOTICED_PROBABILITY:g}"
        )
        return f"would have noticed {least}, no noise at all with {self.no_noise:.2f} ({self.how})"


def power(
    finding: Finding, basis: PowerBasis, claim: PrivacyCurve, *, delta: float, confidence: float
) -> Power:
    """The power of an audit against a claim, at a confidence."""
    return _power(finding, basis, claim, delta, round(1.0 - confidence, 15))


@lru_cache(maxsize=256)
def _power(finding: Finding, basis: PowerBasis, claim: PrivacyCurve, delta: float, beta: float) -> Power:
    declared = basis.signal(delta=delta)
    how = f"{'measured on the code' if basis.measured else 'from the design'}, seed {POWER_SEED}"
    if declared is None:
        return Power(kappa=None, no_noise=0.0, confidence=1.0 - beta, how=how)
    noise = declared

    def notice_probability(kappa: float) -> float:
        weaker = noise.with_less_noise(kappa)
        return finding.power(claim, delta=delta, beta=beta, signal=weaker, runs=basis.runs)

    return Power(
        kappa=smallest_kappa(notice_probability),
        no_noise=notice_probability(math.inf),
        confidence=1.0 - beta,
        how=how,
    )


def smallest_kappa(notice_probability: Any) -> float | None:
    """The smallest factor that is noticed with probability 0.8, to half a percent and rounded up; None if none is.

    >>> round(smallest_kappa(lambda kappa: min(1.0, kappa / 4)), 1)
    3.2
    """
    if notice_probability(_LARGEST_KAPPA) < NOTICED_PROBABILITY:
        return None
    low, high = 1.0, _LARGEST_KAPPA
    if notice_probability(low) >= NOTICED_PROBABILITY:
        return low
    while high / low > _KAPPA_RATIO:
        middle = math.sqrt(low * high)
        if notice_probability(middle) >= NOTICED_PROBABILITY:
            high = middle
        else:
            low = middle
    return high

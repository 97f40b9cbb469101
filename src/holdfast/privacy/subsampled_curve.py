"""Poisson subsampling of a symmetric curve, under add_remove: both directions, in closed form."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import ParameterError, require
from holdfast.privacy.curve import PrivacyCurve, number, plain
from holdfast.privacy.numeric.dominating_pair import DominatingPair
from holdfast.privacy.numeric.pairs.subsampled import AddedUnit, RemovedUnit
from holdfast.privacy.rounding import Number, round_up


@dataclass(frozen=True, repr=False)
class SubsampledCurve(PrivacyCurve):
    """Each unit takes part with probability `rate`, afresh and in secret; then the base mechanism runs.

    >>> from holdfast.privacy.laplace_curve import LaplaceCurve
    >>> round(SubsampledCurve(LaplaceCurve(1.0), 0.01).epsilon(0.0), 6)
    0.017037
    """

    curve: PrivacyCurve
    rate: Number

    def __post_init__(self) -> None:
        require(0 < self.rate <= 1, "rate", self.rate, "in (0, 1]")
        pairs = self.curve.pairs()
        if pairs is None or len(pairs) != 1:
            raise ParameterError(
                f"subsampling needs a symmetric curve with a dominating pair, got {self.curve!r}"
            )

    @property
    def _rate(self) -> float:
        return min(1.0, round_up(self.rate))

    def delta(self, epsilon: float) -> float:
        """The larger of both directions."""
        return float(self.deltas(np.array([epsilon]))[0])

    def deltas(self, epsilons: NDArray[np.float64]) -> NDArray[np.float64]:
        """The larger of both directions at each point.

        Removed: q delta(l) with e^l = 1 + (e^eps - 1)/q. Added: q e^(eps + l) delta(-l) with
        e^l = 1 - (1 - e^-eps)/q.
        """
        rate = self._rate
        small = np.minimum(epsilons, 600.0)
        with np.errstate(over="ignore"):
            base = np.where(epsilons > 600.0, epsilons - math.log(rate), np.log1p(np.expm1(small) / rate))
        removed = rate * self.curve.deltas(np.asarray(base))
        inside = 1.0 + np.expm1(-epsilons) / rate
        opposite = np.log(np.where(inside > 0, inside, 1.0))
        with np.errstate(under="ignore", over="ignore"):
            grown = (
                rate * np.exp(np.minimum(small + opposite, 0.0)) * self.curve.deltas(np.asarray(-opposite))
            )
        added = np.where(inside > 0, grown, 0.0)
        return np.asarray(np.minimum(np.maximum(removed, added) * (1 + 1e-13), 1.0))

    def as_pure(self) -> Fraction | None:
        """log(1 + q (e^eps - 1)), rounded up."""
        from holdfast.privacy.amplify import amplified_pure

        pure = self.curve.as_pure()
        return None if pure is None else amplified_pure(pure, self.rate)

    def epsilon(self, delta: float) -> float:
        """At most the pure parameter, where there is one."""
        pure = self.as_pure()
        if pure is None:
            return super().epsilon(delta)
        return round_up(pure) if delta == 0.0 else min(round_up(pure), super().epsilon(delta))

    def as_zcdp(self) -> Fraction | None:
        """Only through a pure parameter: no finite rho is claimed for subsampled Gaussians."""
        pure = self.as_pure()
        return None if pure is None else pure**2 / 2

    def pairs(self) -> tuple[DominatingPair, ...]:
        """Unit removed, unit added."""
        base = self.curve.pairs()
        assert base is not None
        if self._rate == 1.0:
            return base
        return RemovedUnit(base[0], self._rate), AddedUnit(base[0], self._rate)

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"kind": self.kind, "curve": self.curve.to_json(), "rate": plain(self.rate)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> SubsampledCurve:
        """The curve of these fields."""
        from holdfast.privacy.storage import curve_from_json

        return cls(curve_from_json(data["curve"]), number(data["rate"]))

    def __repr__(self) -> str:
        return f"SubsampledCurve({self.curve!r}, rate={float(self.rate):g})"

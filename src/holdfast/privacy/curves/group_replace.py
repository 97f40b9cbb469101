"""The curve for neighbours that are two steps apart, from the curve for one step."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import ParameterError
from holdfast.privacy.curves.curve import PrivacyCurve, curve_from_json
from holdfast.privacy.curves.slack import WithSlack
from holdfast.privacy.rounding import as_written


@dataclass(frozen=True, repr=False)
class GroupReplace(PrivacyCurve):
    """P to Q and Q to R are one step each; this bounds P to R.

    delta(a + b) <= delta(a) + e^a delta(b) for every split; a = b is the (2 epsilon, (1 + e^epsilon) delta)
    of soundness, section 0.
    """

    STORED_AS: ClassVar[str] = "TwoSteps"

    curve: PrivacyCurve

    def __post_init__(self) -> None:
        if self.curve.total_variation or self.curve.failure:
            raise ParameterError("curve must have no slack: it is outermost; to_replace(...) lifts it")

    def delta(self, epsilon: float) -> float:
        """The best of several splits."""
        return float(self.deltas(np.array([epsilon]))[0])

    def deltas(self, epsilons: NDArray[np.float64]) -> NDArray[np.float64]:
        """The best of several splits at each point."""
        best = np.ones(len(epsilons))
        for share in np.linspace(0.3, 0.7, 17):
            first = share * np.asarray(epsilons)
            second = np.nextafter(np.asarray(epsilons) - first, -np.inf).clip(min=0.0)
            with np.errstate(over="ignore", invalid="ignore"):
                later = self.curve.deltas(second)
                whole = self.curve.deltas(first) + np.where(later > 0, np.exp(first) * later, 0.0)
            best = np.minimum(best, whole * (1 + 1e-14))
        return np.asarray(np.minimum(best, 1.0))

    def as_pure(self) -> Fraction | None:
        """Twice."""
        own = self.curve.as_pure()
        return None if own is None else 2 * own

    def as_zcdp(self) -> Fraction | None:
        """Four times."""
        own = self.curve.as_zcdp()
        return None if own is None else 4 * own

    def as_gdp(self) -> Fraction | None:
        """Four times, in squares."""
        own = self.curve.as_gdp()
        return None if own is None else 4 * own

    def renyi(self, order: float) -> float:
        """Soundness, section 6: D_a(P||R) <= (a - 1/2)/(a - 1) D_2a(P||Q) + D_(2a-1)(Q||R).

        Near order 1 the factor explodes: a larger order's bound holds as well, and is better there.
        """
        if order <= 1 or math.isinf(order):
            return math.inf
        orders = [order, *(a for a in (1.25, 1.5, 2.0, 3.0, 4.0) if a > order)]
        bounds = [(a - 0.5) / (a - 1) * self.curve.renyi(2 * a) + self.curve.renyi(2 * a - 1) for a in orders]
        rho = self.as_zcdp()
        if rho is not None:
            bounds.append(order * float(rho))
        return min(bounds) * (1 + 1e-14)

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"kind": self.kind, "curve": self.curve.to_json()}

    @classmethod
    def of(cls, curve: PrivacyCurve) -> PrivacyCurve:
        """Two steps of any curve, its slack lifted: total variation as it is, a failure on either side."""
        if isinstance(curve, WithSlack):
            return WithSlack(cls.of(curve.curve), curve.tau, 2 * as_written(curve.probability))
        return cls(curve)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> PrivacyCurve:
        """The curve of these fields; slack inside it, which old files may hold, is lifted."""
        return cls.of(curve_from_json(data["curve"]))

    def __repr__(self) -> str:
        return f"TwoSteps({self.curve!r})"

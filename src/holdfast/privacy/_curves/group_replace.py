"""The curve for neighbours that are two steps apart, from the curve for one step."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from holdfast._arrays import Floats
from holdfast._stored_fields import require_fields
from holdfast.errors import ParameterError
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.privacy._curves.stored import curve_from_json
from holdfast.privacy._losses.atomic_pair import AtomicPair
from holdfast.privacy._losses.dominating_pair import DominatingPair
from holdfast.privacy._losses.steps import replacement_pair
from holdfast.privacy._tradeoff import Points


@dataclass(frozen=True, repr=False)
class GroupReplace(PrivacyCurve):
    """The curve from P to R, where P to Q and Q to R are one step each.

    delta(a + b) <= delta(a) + e^a delta(b) for every split, negative parts included; a = b is the
    (2 epsilon, (1 + e^epsilon) delta) of soundness, section 0. The unit is removed first, then another is added.
    """

    curve: PrivacyCurve

    def __post_init__(self) -> None:
        if self.curve.has_slack:
            raise ParameterError("curve must have no slack: it is outermost; to_replace(...) lifts it")

    @cached_property
    def _atoms(self) -> AtomicPair | None:
        """The pair of both steps together, if the curve has finitely many outcomes."""
        pair = self.curve.pair()
        return replacement_pair(pair) if isinstance(pair, AtomicPair) else None

    def pair(self) -> DominatingPair | None:
        """The pair of both steps, if the curve has finitely many outcomes; else None."""
        return self._atoms

    def delta(self, epsilon: float) -> float:
        """The best of several splits."""
        return float(self.deltas(np.array([epsilon]))[0])

    def deltas(self, epsilons: Points) -> Floats:
        """Exact for finitely many outcomes; else the best of many splits at each point, and again around it."""
        epsilons = np.asarray(epsilons, dtype=np.float64)
        if self._atoms is not None:
            return np.minimum(self._atoms.deltas(epsilons), 1.0)
        all_epsilons, epsilons = epsilons, np.minimum(epsilons, 1e300)
        best, best_split = np.ones(epsilons.size), epsilons / 2
        reach = 0.25 * np.maximum(epsilons, 0.1)
        for width in (1.0, 0.2, 0.04):
            centre = best_split
            for share in np.linspace(-1.0, 1.0, 11):
                first = centre + share * width * reach
                total = self._split_delta(first, np.nextafter(epsilons - first, -np.inf))
                best_split = np.where(total < best, first, best_split)
                best = np.minimum(best, total)
        return self._positive(best, all_epsilons)

    def _split_delta(self, first: Floats, second: Floats) -> Floats:
        """A step that removes a unit, up to the loss `first`, and one that adds another, up to `second`."""
        removed, added = _at_any_loss(self.curve, first)[0], _at_any_loss(self.curve, second)[1]
        with np.errstate(over="ignore", invalid="ignore"):
            grown = np.where(added > 0, np.exp(first) * added, 0.0)
        return np.asarray((removed + grown) * (1 + 1e-14))

    def as_pure(self) -> Fraction | None:
        """Twice the pure parameter of the curve."""
        cost = self.curve.as_pure()
        return None if cost is None else 2 * cost

    def as_zcdp(self) -> Fraction | None:
        """Four times the zCDP parameter of the curve."""
        cost = self.curve.as_zcdp()
        return None if cost is None else 4 * cost

    def as_gdp(self) -> Fraction | None:
        """Four times the squared Gaussian parameter of the curve."""
        cost = self.curve.as_gdp()
        return None if cost is None else 4 * cost

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
        """The fields as plain data, for JSON."""
        return {"kind": self.kind, "curve": self.curve.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PrivacyCurve:
        """The curve whose `to_json` wrote this data."""
        return cls(curve_from_json(require_fields(cls.__name__, data, ("curve",))["curve"]))

    def __repr__(self) -> str:
        return f"GroupReplace({self.curve!r})"


def _at_any_loss(curve: PrivacyCurve, losses: Floats) -> tuple[Floats, Floats]:
    """`both_deltas` at losses of either sign: H_a(P||Q) = 1 - a + a H_(1/a)(Q||P) (soundness, section 21)."""
    removed, added = curve.both_deltas(np.abs(losses))
    below = losses < 0
    with np.errstate(under="ignore"):
        alpha = np.exp(np.minimum(losses, 0.0))
    return (
        np.where(below, 1.0 - alpha + alpha * added, removed),
        np.where(below, 1.0 - alpha + alpha * removed, added),
    )

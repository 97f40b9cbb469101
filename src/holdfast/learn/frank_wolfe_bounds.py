"""Constants of private Frank-Wolfe: how far one row moves a corner's score, and how many steps are worth their noise.

All hold for every point of the polytope and every admissible row, and are public (soundness, section 8).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from holdfast.learn.moments import UNIT_ROUNDOFF, summation_error
from holdfast.privacy.adjacency import Adjacency
from holdfast.privacy.curve import PrivacyCurve


@dataclass(frozen=True, kw_only=True)
class FrankWolfeBounds:
    """Constants of the proof, for all points of the polytope and all admissible rows; public.

    `slope` bounds the loss's derivative there, `feature_bound` every |x_j|, `l1_norm` every |w|_1.
    """

    slope: float
    feature_bound: float
    l1_norm: float
    curvature: float
    penalty: float = 0.0

    @property
    def gradient(self) -> float:
        """L_inf: every entry of one row's gradient is at most this."""
        return self.slope * self.feature_bound

    def score_change(self, adjacency: Adjacency, *, divisor: float, rows_per_unit: int = 1) -> float:
        """2 L_inf C / N under replace, L_inf C / n_0 otherwise: how far one unit moves <gradient, corner>.

        >>> lasso = FrankWolfeBounds(slope=3.0, feature_bound=1.0, l1_norm=2.0, curvature=1.0)
        >>> lasso.score_change(Adjacency.replace, divisor=100.0)
        0.12
        """
        return adjacency.gradient_factor * rows_per_unit * self.gradient * self.l1_norm / divisor

    def rounding(self, count: int, weights: int) -> float:
        """What floating point may add to the scores of two neighbours: sums of rows, and slopes of predictions.

        A prediction errs by d u C X, so a slope by its curvature times that (twice that for a softmax, whose sum of
        K exponentials errs by K u more); a sum as `summation_error` says.
        """
        products = 4.0 * (weights + 16) * UNIT_ROUNDOFF
        products *= self.slope + self.curvature * self.l1_norm * self.feature_bound
        each = summation_error(count) * self.slope + products
        return 2.0 * count * each * self.feature_bound * self.l1_norm

    @property
    def smoothness(self) -> float:
        """L_1, with respect to the L1 norm."""
        return self.curvature * self.feature_bound**2 + self.penalty

    @property
    def curvature_term(self) -> float:
        """B = 2 L_1 (2 C)^2: without noise the excess after T steps is at most B / (T + 1)."""
        return 2.0 * self.smoothness * (2.0 * self.l1_norm) ** 2

    def steps(self, left: PrivacyCurve, *, score_change: float, corners: int, count: int) -> int:
        """T* that minimises B / T + (Gumbel scale) ln K, rounded into [1, N^2]; all public.

        The scale is score_change sqrt(T / (2 rho)) in zCDP: T* = (2 B / a)^(2/3), a = score_change ln K /
        sqrt(2 rho). In pure DP it is 2 score_change T / epsilon: T* = sqrt(B / a).
        """
        reach = score_change * math.log(corners)
        pure = left.as_pure()
        if pure is not None:
            best = math.sqrt(self.curvature_term * float(pure) / (2.0 * reach))
        else:
            a = reach / math.sqrt(2.0 * _concentrated(left))
            best = (2.0 * self.curvature_term / a) ** (2.0 / 3.0)
        return int(min(max(1, round(best)), count**2))

    def excess_risk(self, *, steps: int, gumbel_scale: float, corners: int) -> float:
        """B / (T + 1) + scale ln K: a bound on the expected excess of the objective over the polytope."""
        return self.curvature_term / (steps + 1) + gumbel_scale * math.log(corners)


def _concentrated(left: PrivacyCurve) -> float:
    """A rho that what remains allows, for the rule above: exact in zCDP, by its one order in Renyi."""
    rho = left.as_zcdp()
    orders = getattr(left, "orders", (2.0,))
    return max(float(rho) if rho is not None else left.renyi(orders[0]) / orders[0], 1e-12)

"""Privacy curves: delta for every epsilon; CURVES lists those that a file may name.

`curve` has the idea and the two textbook curves, and one file for each law or rule has the others.
"""

from __future__ import annotations

from holdfast.privacy.curves.composition import Composed
from holdfast.privacy.curves.curve import ApproxDP, PrivacyCurve, PureDP
from holdfast.privacy.curves.finite_curve import BoundedRange, FinitePair
from holdfast.privacy.curves.gaussian import DiscreteGaussianCurve, GaussianDP
from holdfast.privacy.curves.group_replace import GroupReplace
from holdfast.privacy.curves.laplace import DiscreteLaplaceCurve, LaplaceCurve
from holdfast.privacy.curves.loss_distribution import LossDistribution
from holdfast.privacy.curves.objective import ObjectiveCurve
from holdfast.privacy.curves.renyi import ZCDP, RenyiDP
from holdfast.privacy.curves.slack import WithSlack
from holdfast.privacy.curves.subsampled import SubsampledCurve, SubsampledGaussianCurve

__all__ = ["CURVES"]
CURVES: tuple[type[PrivacyCurve], ...] = (
    PureDP,
    BoundedRange,
    ApproxDP,
    ZCDP,
    GaussianDP,
    RenyiDP,
    LossDistribution,
    Composed,
    WithSlack,
    LaplaceCurve,
    DiscreteLaplaceCurve,
    DiscreteGaussianCurve,
    FinitePair,
    SubsampledCurve,
    SubsampledGaussianCurve,
    GroupReplace,
    ObjectiveCurve,
)
"""Every curve that can be stored. Kinds are never removed and never change their meaning."""

"""Privacy curves: delta for every epsilon; CURVES lists those that a file may name.

`curve` has the idea and the two textbook curves, and one file for each law or rule has the others.
"""

from __future__ import annotations

from holdfast.privacy._curves.composition import Composed
from holdfast.privacy._curves.curve import ApproxDP, PrivacyCurve, PureDP
from holdfast.privacy._curves.finite_curve import BoundedRange, FinitePair
from holdfast.privacy._curves.fixed_size import FixedSizeGaussianCurve
from holdfast.privacy._curves.gaussian import DiscreteGaussianCurve, GaussianDP
from holdfast.privacy._curves.group_replace import GroupReplace
from holdfast.privacy._curves.laplace import DiscreteLaplaceCurve, LaplaceCurve
from holdfast.privacy._curves.loss_distribution import LossDistribution
from holdfast.privacy._curves.objective import ObjectiveCurve
from holdfast.privacy._curves.renyi import ZCDP, RenyiDP
from holdfast.privacy._curves.slack import WithSlack
from holdfast.privacy._curves.subsampled import SubsampledCurve, SubsampledGaussianCurve
from holdfast.privacy._curves.threshold import ThresholdCurve

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
    FixedSizeGaussianCurve,
    GroupReplace,
    ObjectiveCurve,
    ThresholdCurve,
)
"""Every curve that can be stored. Kinds are never removed and never change their meaning."""

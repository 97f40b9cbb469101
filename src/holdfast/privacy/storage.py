"""Reading curves back from plain data: the list of kinds that a file may name."""

from __future__ import annotations

from typing import Any

from holdfast.errors import FormatError, HoldfastError
from holdfast.privacy.bounded_range import BoundedRange
from holdfast.privacy.composition import Composed
from holdfast.privacy.curve import ApproxDP, PrivacyCurve, PureDP
from holdfast.privacy.discrete_gaussian_curve import DiscreteGaussianCurve
from holdfast.privacy.discrete_laplace_curve import DiscreteLaplaceCurve
from holdfast.privacy.finite_pair import FinitePair
from holdfast.privacy.gaussian_dp import GaussianDP
from holdfast.privacy.laplace_curve import LaplaceCurve
from holdfast.privacy.loss_distribution import LossDistribution
from holdfast.privacy.objective_curve import ObjectiveCurve
from holdfast.privacy.renyi import RenyiDP
from holdfast.privacy.slack import WithSlack
from holdfast.privacy.subsampled_curve import SubsampledCurve
from holdfast.privacy.subsampled_gaussian_curve import SubsampledGaussianCurve
from holdfast.privacy.two_steps import TwoSteps
from holdfast.privacy.zcdp import ZCDP

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
    TwoSteps,
    ObjectiveCurve,
)
"""Every curve that can be stored. Kinds are never removed and never change their meaning."""


def curve_from_json(data: Any) -> PrivacyCurve:
    """The curve that `to_json` wrote; `FormatError` for anything else."""
    kinds = {cls.__name__: cls for cls in CURVES}
    if not isinstance(data, dict) or data.get("kind") not in kinds:
        raise FormatError("a privacy curve needs a known 'kind': " + ", ".join(kinds))
    try:
        return kinds[data["kind"]].from_json({name: value for name, value in data.items() if name != "kind"})
    except HoldfastError:
        raise
    except Exception as error:
        raise FormatError(f"the fields of a stored {data['kind']} do not make one") from error

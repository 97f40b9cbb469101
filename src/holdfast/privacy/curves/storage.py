"""Reading curves back from plain data: the list of kinds that a file may name."""

from __future__ import annotations

from typing import Any

from holdfast.errors import FormatError, HoldfastError
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


def curve_from_json(data: Any) -> PrivacyCurve:
    """The curve that `to_json` wrote; `FormatError` for anything else."""
    kinds = {cls.STORED_AS or cls.__name__: cls for cls in CURVES}
    if not isinstance(data, dict) or data.get("kind") not in kinds:
        raise FormatError("a privacy curve needs a known 'kind': " + ", ".join(kinds))
    try:
        return kinds[data["kind"]].from_json({name: value for name, value in data.items() if name != "kind"})
    except HoldfastError:
        raise
    except Exception as error:
        raise FormatError(f"the fields of a stored {data['kind']} do not make one") from error

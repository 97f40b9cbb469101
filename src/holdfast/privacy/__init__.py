"""The vocabulary of guarantees: neighbours, curves, mechanisms, accounts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.lazy import exported

if TYPE_CHECKING:
    from holdfast.privacy.account import Account as Account
    from holdfast.privacy.account import Permit as Permit
    from holdfast.privacy.adjacency import Adjacency as Adjacency
    from holdfast.privacy.adjacency import PrivacyUnit as PrivacyUnit
    from holdfast.privacy.adjacency import resolve_adjacency as resolve_adjacency
    from holdfast.privacy.amplify import to_replace as to_replace
    from holdfast.privacy.bounded_range import BoundedRange as BoundedRange
    from holdfast.privacy.calibration import calibrate as calibrate
    from holdfast.privacy.composition import compose as compose
    from holdfast.privacy.curve import ApproxDP as ApproxDP
    from holdfast.privacy.curve import PrivacyCurve as PrivacyCurve
    from holdfast.privacy.curve import PureDP as PureDP
    from holdfast.privacy.gaussian_dp import GaussianDP as GaussianDP
    from holdfast.privacy.guarantee import Guarantee as Guarantee
    from holdfast.privacy.loss_distribution import LossDistribution as LossDistribution
    from holdfast.privacy.mechanism import Mechanism as Mechanism
    from holdfast.privacy.mechanisms import MECHANISMS as MECHANISMS
    from holdfast.privacy.mechanisms import DiscreteGaussian as DiscreteGaussian
    from holdfast.privacy.mechanisms import DiscreteLaplace as DiscreteLaplace
    from holdfast.privacy.mechanisms import Exponential as Exponential
    from holdfast.privacy.mechanisms import Gaussian as Gaussian
    from holdfast.privacy.mechanisms import Laplace as Laplace
    from holdfast.privacy.mechanisms import ObjectivePerturbation as ObjectivePerturbation
    from holdfast.privacy.mechanisms import PermuteAndFlip as PermuteAndFlip
    from holdfast.privacy.mechanisms import PureObjectivePerturbation as PureObjectivePerturbation
    from holdfast.privacy.mechanisms import RandomisedResponse as RandomisedResponse
    from holdfast.privacy.mechanisms import SubsampledGaussian as SubsampledGaussian
    from holdfast.privacy.mechanisms import SubsampledPure as SubsampledPure
    from holdfast.privacy.mechanisms import VectorLaplace as VectorLaplace
    from holdfast.privacy.renyi import RenyiDP as RenyiDP
    from holdfast.privacy.slack import WithSlack as WithSlack
    from holdfast.privacy.tradeoff import TradeOff as TradeOff
    from holdfast.privacy.zcdp import ZCDP as ZCDP

_HOMES = {
    "account": ("Account", "Permit"),
    "adjacency": ("Adjacency", "PrivacyUnit", "resolve_adjacency"),
    "amplify": ("to_replace",),
    "bounded_range": ("BoundedRange",),
    "calibration": ("calibrate",),
    "composition": ("compose",),
    "curve": ("ApproxDP", "PrivacyCurve", "PureDP"),
    "gaussian_dp": ("GaussianDP",),
    "guarantee": ("Guarantee",),
    "loss_distribution": ("LossDistribution",),
    "mechanism": ("Mechanism",),
    "mechanisms": (
        "MECHANISMS",
        "DiscreteGaussian",
        "DiscreteLaplace",
        "Exponential",
        "Gaussian",
        "Laplace",
        "ObjectivePerturbation",
        "PermuteAndFlip",
        "PureObjectivePerturbation",
        "RandomisedResponse",
        "SubsampledGaussian",
        "SubsampledPure",
        "VectorLaplace",
    ),
    "renyi": ("RenyiDP",),
    "slack": ("WithSlack",),
    "tradeoff": ("TradeOff",),
    "zcdp": ("ZCDP",),
}
__all__, __getattr__, __dir__ = exported(__name__, _HOMES)

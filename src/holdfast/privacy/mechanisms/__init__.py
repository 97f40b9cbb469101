"""MECHANISMS: every mechanism that an account accepts, and that the refutations attack."""

from __future__ import annotations

from typing import Any

from holdfast.errors import FormatError, HoldfastError
from holdfast.privacy.mechanisms.gaussian import DiscreteGaussian, Gaussian
from holdfast.privacy.mechanisms.gibbs import BoxExponential, RegularisedExponential
from holdfast.privacy.mechanisms.laplace import DiscreteLaplace, Laplace
from holdfast.privacy.mechanisms.mechanism import Mechanism
from holdfast.privacy.mechanisms.objective import ObjectivePerturbation, PureObjectivePerturbation
from holdfast.privacy.mechanisms.randomised_response import RandomisedResponse
from holdfast.privacy.mechanisms.selection import Exponential, PermuteAndFlip
from holdfast.privacy.mechanisms.subsampled import FixedSizeGaussian, SubsampledGaussian, SubsampledPure
from holdfast.privacy.mechanisms.vector_laplace import VectorLaplace

__all__ = [
    "MECHANISMS",
    "BoxExponential",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Exponential",
    "FixedSizeGaussian",
    "Gaussian",
    "Laplace",
    "ObjectivePerturbation",
    "PermuteAndFlip",
    "PureObjectivePerturbation",
    "RandomisedResponse",
    "RegularisedExponential",
    "SubsampledGaussian",
    "SubsampledPure",
    "VectorLaplace",
    "mechanism_from_json",
]
MECHANISMS: tuple[type[Mechanism], ...] = (
    Gaussian,
    Laplace,
    VectorLaplace,
    Exponential,
    PermuteAndFlip,
    RandomisedResponse,
    SubsampledGaussian,
    SubsampledPure,
    DiscreteLaplace,
    DiscreteGaussian,
    ObjectivePerturbation,
    PureObjectivePerturbation,
    FixedSizeGaussian,
    RegularisedExponential,
    BoxExponential,
)
"""Names are stored in ledgers: they are never removed and never change their meaning."""


def mechanism_from_json(data: Any) -> Mechanism:
    """The mechanism that `to_json` wrote; `FormatError` for anything else."""
    kinds = {cls.__name__: cls for cls in MECHANISMS}
    if not isinstance(data, dict) or data.get("mechanism") not in kinds:
        raise FormatError("a stored mechanism needs a known name: " + ", ".join(kinds))
    try:
        return kinds[data["mechanism"]].from_json(data)
    except HoldfastError:
        raise
    except Exception as error:
        raise FormatError(f"the fields of a stored {data['mechanism']} do not make one") from error

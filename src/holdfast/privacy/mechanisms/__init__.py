"""MECHANISMS: every mechanism that an account accepts, and that the refutations attack."""

from __future__ import annotations

from typing import Any

from holdfast.errors import FormatError, HoldfastError
from holdfast.privacy.mechanism import Mechanism
from holdfast.privacy.mechanisms.discrete_gaussian import DiscreteGaussian
from holdfast.privacy.mechanisms.discrete_laplace import DiscreteLaplace
from holdfast.privacy.mechanisms.exponential import Exponential
from holdfast.privacy.mechanisms.fixed_size_gaussian import FixedSizeGaussian
from holdfast.privacy.mechanisms.gaussian import Gaussian
from holdfast.privacy.mechanisms.laplace import Laplace
from holdfast.privacy.mechanisms.objective import ObjectivePerturbation, PureObjectivePerturbation
from holdfast.privacy.mechanisms.permute_and_flip import PermuteAndFlip
from holdfast.privacy.mechanisms.randomised_response import RandomisedResponse
from holdfast.privacy.mechanisms.subsampled_gaussian import SubsampledGaussian
from holdfast.privacy.mechanisms.subsampled_pure import SubsampledPure
from holdfast.privacy.mechanisms.vector_laplace import VectorLaplace

__all__ = [
    "MECHANISMS",
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

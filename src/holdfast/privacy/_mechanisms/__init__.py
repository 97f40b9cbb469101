"""MECHANISMS: holdfast's own mechanisms. REGISTRY: those of installed packages, too; refutations attack all."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from holdfast._extensions import Registry
from holdfast.errors import FormatError, HoldfastError
from holdfast.privacy._mechanisms.gaussian import DiscreteGaussian, Gaussian
from holdfast.privacy._mechanisms.gibbs import BoxExponential, RegularisedExponential
from holdfast.privacy._mechanisms.key_selection import KeySelection
from holdfast.privacy._mechanisms.laplace import DiscreteLaplace, Laplace
from holdfast.privacy._mechanisms.mechanism import Mechanism, qualified_name
from holdfast.privacy._mechanisms.objective import ObjectivePerturbation, PureObjectivePerturbation
from holdfast.privacy._mechanisms.randomised_response import RandomisedResponse
from holdfast.privacy._mechanisms.selection import Exponential, PermuteAndFlip
from holdfast.privacy._mechanisms.several_choices import SeveralChoices
from holdfast.privacy._mechanisms.subsampled import FixedSizeGaussian, SubsampledGaussian, SubsampledPure
from holdfast.privacy._mechanisms.thresholded import Thresholded
from holdfast.privacy._mechanisms.vector_laplace import VectorLaplace

__all__ = [
    "MECHANISMS",
    "REGISTRY",
    "BoxExponential",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Exponential",
    "FixedSizeGaussian",
    "Gaussian",
    "KeySelection",
    "Laplace",
    "ObjectivePerturbation",
    "PermuteAndFlip",
    "PureObjectivePerturbation",
    "RandomisedResponse",
    "RegularisedExponential",
    "SeveralChoices",
    "SubsampledGaussian",
    "SubsampledPure",
    "Thresholded",
    "VectorLaplace",
    "mechanism_from_json",
    "stored_mechanism",
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
    SeveralChoices,
    Thresholded,
    KeySelection,
)
"""Names are stored in ledgers: they are never removed and never change their meaning."""
REGISTRY = Registry(
    group="holdfast.mechanisms",
    noun="mechanism",
    own=MECHANISMS,
    kind=Mechanism,
    classes=True,
    label="__name__",
    states=("theorem", "admissible"),
)


def stored_mechanism(mechanism: Mechanism) -> dict[str, Any]:
    """All its parameters, for a ledger; of one that is none of holdfast's, module and class, and the package, if any.

    Which one it is, is a matter of the class itself: what calls itself as holdfast's does is none of them.
    """
    kind, stored = type(mechanism), dict(mechanism.to_json())
    if kind not in MECHANISMS:
        author = REGISTRY.author(kind)
        stored |= {"mechanism": qualified_name(kind)}
        stored |= {"from": author.package} if author is not None and author.package else {}
    inner = {field.name: getattr(mechanism, field.name) for field in fields(mechanism)}
    return stored | {
        name: stored_mechanism(value) for name, value in inner.items() if isinstance(value, Mechanism)
    }


def mechanism_from_json(data: Any) -> Mechanism:
    """The mechanism that an account stored; `FormatError` for anything else.

    One of a package (`from`) is read by that package, if it is installed here and registers this very class.
    """
    kinds: dict[Any, type[Mechanism]] = {cls.__name__: cls for cls in MECHANISMS}
    name = data.get("mechanism") if isinstance(data, dict) else None
    if isinstance(name, str) and "from" in data and name not in kinds:
        kind = REGISTRY.find(name.rpartition(".")[2].rpartition(":")[2])
        if kind is not None and qualified_name(kind) == name:
            kinds[name] = kind
    if not isinstance(name, str) or name not in kinds:
        raise FormatError("a stored mechanism needs a known name: " + ", ".join(kinds))
    try:
        return kinds[name].from_json({key: value for key, value in data.items() if key != "from"})
    except HoldfastError:
        raise
    except Exception as error:
        raise FormatError(f"the fields of a stored {data['mechanism']} do not make one") from error

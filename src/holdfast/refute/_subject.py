"""Subject: something that claims to be private, with the trials it must survive.

A mechanism of `holdfast.privacy.MECHANISMS` becomes a subject without further code. A learning or synthesis
method becomes one by one object, `Subject(name=..., claim=..., trials=(...))`, in a list of `subjects.REGISTRY`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from holdfast.errors import ParameterError, require
from holdfast.privacy._mechanisms import MECHANISMS, REGISTRY
from holdfast.privacy._mechanisms.mechanism import Mechanism
from holdfast.refute._freshness import MechanismFreshness
from holdfast.refute._trial import Law, Neighbours, Trial
from holdfast.refute._two_worlds import Sample, TwoWorlds, calls, sometimes


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A name, what is claimed, and the attempts to refute it.

    `broken` says why the claim is false, for versions that are wrong on purpose: these must be refuted.
    """

    name: str
    claim: str
    trials: tuple[Trial, ...]
    broken: str = ""

    def __post_init__(self) -> None:
        require(bool(self.name), "name", self.name, "a non-empty text")
        require(bool(self.trials), "trials", self.trials, "at least one attempt", f"{self.name} has none")


@dataclass(frozen=True, kw_only=True)
class NamedSubject:
    """A subject by its name; made when it is wanted, because making one may run what it is about."""

    name: str
    make: Callable[[], Subject]


def of_mechanism(
    mechanism: Mechanism,
    *,
    sample: Sample | None = None,
    name: str = "",
    broken: str = "",
    draws: int = 4000,
) -> Subject:
    """A mechanism under its tests: declared law, fresh noise, worst pair's distance, audit at the worst pair.

    `sample` draws in its stead: what is declared by one and drawn by another is a broken mechanism.
    """
    drawn = mechanism.sample if sample is None else sample
    low, high = (mechanism.check(value) for value in mechanism.worst_pair())
    rate = mechanism.sampling_rate
    laws = [
        Law(
            what=f"draws at {_shown(value)}",
            draw=calls(drawn, value),
            cdf=partial(mechanism.cdf, value),
            centre=float(value.flat[0]),
            draws=max(1000, 5 * draws // 8),
        )
        for value in map(mechanism.check, mechanism.probes())
    ]
    distance = Neighbours(what="the worst pair", shares=lambda _: [mechanism.distance(low, high)])
    audit = TwoWorlds(
        what=f"{_shown(low)} against {_shown(high)}" + (f", sampled at rate {rate:g}" if rate < 1 else ""),
        without=calls(drawn, low, score=_first),
        present=sometimes(rate, calls(drawn, high, score=_first), calls(drawn, low, score=_first)),
        claim=mechanism.curve,
        draws=draws,
    )
    return Subject(
        name=name or subject_label(mechanism),
        claim=repr(mechanism.curve),
        trials=(*laws, MechanismFreshness(mechanism=mechanism, sample=drawn), distance, audit),
        broken=broken,
    )


def subject_label(mechanism: Mechanism) -> str:
    """The mechanism with its parameters, as short as it can be told apart."""
    shown = {
        k: v for k, v in mechanism.to_json().items() if k not in ("mechanism", "adjacency", "arithmetic")
    }
    inside = ", ".join(f"{k}={v['mechanism'] if isinstance(v, dict) else v}" for k, v in shown.items())
    return f"{mechanism.name}({inside})" + ("" if mechanism.arithmetic == "strict" else " idealised")


def _first(release: Any) -> float:
    return float(np.ravel(release)[0])


def _shown(value: Any) -> str:
    return "(" + ", ".join(f"{number:g}" for number in value) + ")"


def mechanism_subjects() -> Iterable[NamedSubject]:
    """Every example of every mechanism, of installed packages, too."""
    for kind in (*MECHANISMS, *REGISTRY.installed()):
        for example in kind.examples():
            yield NamedSubject(name=subject_label(example), make=partial(of_mechanism, example))


def matching(found: Iterable[NamedSubject], name: str | None) -> tuple[NamedSubject, ...]:
    """Those whose name begins so; `ParameterError` with the known names if there is none."""
    everything = tuple(found)
    chosen = tuple(one for one in everything if name is None or _plain(one.name).startswith(_plain(name)))
    if not chosen:
        known = sorted({one.name.split("(")[0] for one in everything})
        raise ParameterError(f"name must be one of {', '.join(known)}, got name={name!r}")
    return chosen


def _plain(name: str) -> str:
    return "".join(c for c in name.lower() if c.isalnum())

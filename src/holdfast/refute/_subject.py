"""Subject: something that claims to be private, with the trials that it must survive.

Every mechanism of `holdfast.privacy.MECHANISMS` becomes a subject without further code, and so do learning and
synthesis methods (`_subjects`). Anything else is added as `Subject(name=..., claim=..., trials=(...))`, by a function
in `_subjects.REGISTRY`.
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
from holdfast.refute._two_worlds import Sample, TwoWorlds, separate_draws, subsampled_draws


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A name, a claim, and the trials that attempt to refute the claim.

    A version that is wrong on purpose says in `broken` why its claim is false; it must be refuted.
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
    """A subject that is built only when it is wanted, since building one may run the method that it is about."""

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
    """A mechanism with its trials: declared law, fresh noise, distance of the worst pair, audit at the worst pair.

    `sample`, if given, draws in place of the mechanism: with less noise than is declared, it makes a broken subject.
    """
    draw_release = mechanism.sample if sample is None else sample
    low, high = (mechanism.check(value) for value in mechanism.worst_pair())
    rate = mechanism.sampling_rate
    laws = [
        Law(
            what=f"draws at {_vector_text(value)}",
            draw=separate_draws(draw_release, value),
            cdf=partial(mechanism.cdf, value),
            centre=float(value.flat[0]),
            draws=max(1000, 5 * draws // 8),
        )
        for value in map(mechanism.check, mechanism.probes())
    ]
    distance = Neighbours(what="the worst pair", shares=lambda _: [mechanism.distance(low, high)])
    audit = TwoWorlds(
        what=f"{_vector_text(low)} against {_vector_text(high)}"
        + (f", sampled at rate {rate:g}" if rate < 1 else ""),
        without=separate_draws(draw_release, low, score=_first_number),
        present=subsampled_draws(
            rate,
            separate_draws(draw_release, high, score=_first_number),
            separate_draws(draw_release, low, score=_first_number),
        ),
        claim=mechanism.curve,
        draws=draws,
    )
    return Subject(
        name=name or subject_label(mechanism),
        claim=repr(mechanism.curve),
        trials=(*laws, MechanismFreshness(mechanism=mechanism, sample=draw_release), distance, audit),
        broken=broken,
    )


def subject_label(mechanism: Mechanism) -> str:
    """The name of a mechanism with its parameters."""
    parameters = {
        k: v for k, v in mechanism.to_json().items() if k not in ("mechanism", "adjacency", "arithmetic")
    }
    parameter_text = ", ".join(
        f"{k}={v['mechanism'] if isinstance(v, dict) else v}" for k, v in parameters.items()
    )
    return f"{mechanism.name}({parameter_text})" + ("" if mechanism.arithmetic == "strict" else " idealised")


def _first_number(release: Any) -> float:
    return float(np.ravel(release)[0])


def _vector_text(value: Any) -> str:
    return "(" + ", ".join(f"{number:g}" for number in value) + ")"


def mechanism_subjects() -> Iterable[NamedSubject]:
    """Every example of every mechanism, those of installed packages included."""
    for kind in (*MECHANISMS, *REGISTRY.installed_entries()):
        for example in kind.examples():
            yield NamedSubject(name=subject_label(example), make=partial(of_mechanism, example))


def select_by_name(named_subjects: Iterable[NamedSubject], name: str | None) -> tuple[NamedSubject, ...]:
    """The subjects whose name begins with `name`; all if it is None. If none does, the error lists the known names."""
    candidates = tuple(named_subjects)
    chosen = tuple(
        subject
        for subject in candidates
        if name is None or _letters_and_digits(subject.name).startswith(_letters_and_digits(name))
    )
    if not chosen:
        known = sorted({subject.name.split("(")[0] for subject in candidates})
        raise ParameterError(f"name must be one of {', '.join(known)}, got name={name!r}")
    return chosen


def _letters_and_digits(name: str) -> str:
    return "".join(c for c in name.lower() if c.isalnum())

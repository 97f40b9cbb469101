"""Versions that are wrong on purpose: the shipped code with one mistake each, all of which must be refuted.

What `refute` does not refute here is a hole in the suite. A fault names the function in which it lies and the subjects
that it breaks; the subjects' own trials run on the broken code. `quieter` makes mechanisms that draw less noise than
they declare.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from holdfast.errors import ParameterError
from holdfast.noise._source import Source
from holdfast.privacy._mechanisms import MECHANISMS
from holdfast.privacy._mechanisms.mechanism import Mechanism
from holdfast.refute._faults import FAULTS
from holdfast.refute._planting import PlantedFault, with_fault
from holdfast.refute._subject import NamedSubject, Subject, matching, of_mechanism, subject_label
from holdfast.refute._subjects import REGISTRY
from holdfast.refute._subjects.claims import broken_claims
from holdfast.refute._trial import Outcome, Test

CRASHES = ("NameError", "AttributeError", "UnboundLocalError")
"""A mistake that crashes wherever it is met is no broken version: it would fall to anything."""


@dataclass(frozen=True, kw_only=True)
class UnderFault:
    """The trials of the subjects that a fault breaks, on the broken code, until one refutes."""

    fault: PlantedFault
    spends: bool = True
    test: Test = "replay"
    """Until it is run: which one sees the fault is what it finds out."""

    def run(self, source: Source, *, error: float) -> Outcome:
        """Subjects are made under the fault, too: what a method takes is part of what is tried."""
        last: Outcome | None = None
        with with_fault(self.fault):
            chosen = [one for make in REGISTRY for one in make() if one.name.startswith(self.fault.subjects)]
            for subject in (one.make() for one in chosen):
                chances = max(1, sum(trial.spends for trial in subject.trials)) * len(chosen)
                for trial in sorted(subject.trials, key=lambda one: one.test != self.fault.test):
                    last = trial.run(source, error=error / chances)
                    if set(last.raised) & set(CRASHES):
                        raise ParameterError(
                            f"{self.fault.name} does not run as it is written: {last.detail}"
                        )
                    if last.refuted:
                        return dataclasses.replace(last, what=f"{subject.name}: {last.what}")
        if last is None:
            raise ParameterError(f"{self.fault.name} names no subject that there is: {self.fault.subjects}")
        return last


def quieter(mechanism: Mechanism, factor: float = 2.0) -> Mechanism:
    """The same mechanism with its noise divided by the factor: in its declared law, but not in its claim.

    >>> from holdfast.privacy import Gaussian
    >>> quieter(Gaussian(sigma=1.0, l2_sensitivity=1.0)).sigma
    0.5
    """
    changed: Any = mechanism
    for name in ("sigma", "scale"):
        if hasattr(changed, name):
            return _replaced(changed, name, float(getattr(changed, name)) / factor)
    if hasattr(changed, "inverse_temperature"):
        return _replaced(
            changed, "inverse_temperature", float(changed.inverse_temperature) * factor**2
        )  # of a density that is nearly normal
    if hasattr(changed, "base"):
        return _replaced(changed, "base", quieter(changed.base, factor))
    if not hasattr(changed, "epsilon"):
        raise ParameterError(
            f"{mechanism.name} has none of the fields sigma, scale, epsilon, inverse_temperature, base; name its "
            "noise by one of them"
        )
    return _replaced(changed, "epsilon", float(changed.epsilon) * factor)


def _replaced(mechanism: Any, field: str, value: Any) -> Mechanism:
    again: Mechanism = dataclasses.replace(mechanism, **{field: value})
    return again


def _halved(example: Mechanism) -> Subject:
    return of_mechanism(
        example,
        sample=quieter(example).sample,
        name=f"noise_halved {subject_label(example)}",
        broken="half the declared noise is drawn",
        draws=1600,
    )


def _under(fault: PlantedFault) -> Subject:
    return Subject(
        name=fault.name,
        claim=" and ".join(fault.subjects),
        trials=(UnderFault(fault=fault),),
        broken=fault.why,
    )


def _every() -> Iterator[NamedSubject]:
    for fault in FAULTS:
        yield NamedSubject(name=fault.name, make=lambda fault=fault: _under(fault))  # type: ignore[misc]
    yield from broken_claims()
    for kind in MECHANISMS:
        for example in kind.examples():
            yield NamedSubject(
                name=f"noise_halved {subject_label(example)}",
                make=lambda example=example: _halved(example),  # type: ignore[misc]
            )


def broken(name: str | None = None) -> tuple[Subject, ...]:
    """Everything that must fall, or what begins with this name."""
    return tuple(one.make() for one in matching(_every(), name))


def broken_names() -> Iterable[NamedSubject]:
    """The same, not made yet."""
    return _every()

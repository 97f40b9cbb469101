"""Subjects that are broken on purpose: the shipped code with one mistake each, all of which must be refuted.

One that `refute` lets survive shows a hole in the suite. A planted fault names the function in which it lies and the
subjects that it breaks; the trials of these subjects then run on the broken code. Besides, every mechanism is tried
with half of its noise (`with_less_noise`).
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
from holdfast.refute._subject import NamedSubject, Subject, of_mechanism, select_by_name, subject_label
from holdfast.refute._subjects import REGISTRY
from holdfast.refute._subjects.claims import broken_claims
from holdfast.refute._trial import Outcome, Test

CRASH_ERRORS = ("NameError", "AttributeError", "UnboundLocalError")
"""Exceptions of code that cannot run at all. A fault that raises one is written wrongly: any trial would refute it."""


@dataclass(frozen=True, kw_only=True)
class UnderFault:
    """Runs the trials of the subjects that a fault breaks, on the broken code, until one of them refutes."""

    fault: PlantedFault
    spends: bool = True
    test: Test = "replay"
    """A placeholder: the outcome carries the kind of the trial that saw the fault."""

    def run(self, source: Source, *, error: float) -> Outcome:
        """Build the subjects and run their trials, both on the broken code."""
        last: Outcome | None = None
        with with_fault(self.fault):
            named = [
                named_subject
                for list_subjects in REGISTRY
                for named_subject in list_subjects()
                if named_subject.name.startswith(self.fault.subjects)
            ]
            for subject in (named_subject.make() for named_subject in named):
                chances = max(1, sum(trial.spends for trial in subject.trials)) * len(named)
                for trial in sorted(subject.trials, key=lambda trial: trial.test != self.fault.test):
                    last = trial.run(source, error=error / chances)
                    if set(last.raised) & set(CRASH_ERRORS):
                        raise ParameterError(
                            f"{self.fault.name} does not run as it is written: {last.detail}"
                        )
                    if last.refuted:
                        return dataclasses.replace(last, what=f"{subject.name}: {last.what}")
        if last is None:
            raise ParameterError(f"{self.fault.name} names no subject that exists: {self.fault.subjects}")
        return last


def with_less_noise(mechanism: Mechanism, factor: float = 2.0) -> Mechanism:
    """The mechanism with its noise divided by the factor.

    >>> from holdfast.privacy import Gaussian
    >>> with_less_noise(Gaussian(sigma=1.0, l2_sensitivity=1.0)).sigma
    0.5
    """
    noise_holder: Any = mechanism
    for name in ("sigma", "scale"):
        if hasattr(noise_holder, name):
            return _with_field(noise_holder, name, float(getattr(noise_holder, name)) / factor)
    if hasattr(noise_holder, "inverse_temperature"):
        return _with_field(
            noise_holder, "inverse_temperature", float(noise_holder.inverse_temperature) * factor**2
        )  # of a density that is nearly normal
    if hasattr(noise_holder, "base"):
        return _with_field(noise_holder, "base", with_less_noise(noise_holder.base, factor))
    if not hasattr(noise_holder, "epsilon"):
        raise ParameterError(
            f"{mechanism.name} has none of the fields sigma, scale, epsilon, inverse_temperature, base; name its "
            "noise by one of them"
        )
    return _with_field(noise_holder, "epsilon", float(noise_holder.epsilon) * factor)


def _with_field(mechanism: Any, field: str, value: Any) -> Mechanism:
    altered: Mechanism = dataclasses.replace(mechanism, **{field: value})
    return altered


def _half_noise_subject(example: Mechanism) -> Subject:
    return of_mechanism(
        example,
        sample=with_less_noise(example).sample,
        name=f"noise_halved {subject_label(example)}",
        broken="half the declared noise is drawn",
        draws=1600,
    )


def _fault_subject(fault: PlantedFault) -> Subject:
    return Subject(
        name=fault.name,
        claim=" and ".join(fault.subjects),
        trials=(UnderFault(fault=fault),),
        broken=fault.why,
    )


def _all_broken_subjects() -> Iterator[NamedSubject]:
    for fault in FAULTS:
        yield NamedSubject(name=fault.name, make=lambda fault=fault: _fault_subject(fault))  # type: ignore[misc]
    yield from broken_claims()
    for kind in MECHANISMS:
        for example in kind.examples():
            yield NamedSubject(
                name=f"noise_halved {subject_label(example)}",
                make=lambda example=example: _half_noise_subject(example),  # type: ignore[misc]
            )


def broken_subjects(name: str | None = None) -> tuple[Subject, ...]:
    """All subjects that must be refuted, or those whose name begins with this."""
    return tuple(named_subject.make() for named_subject in select_by_name(_all_broken_subjects(), name))


def broken_subject_names() -> Iterable[NamedSubject]:
    """All subjects that must be refuted, by name; each is made when it is wanted."""
    return _all_broken_subjects()

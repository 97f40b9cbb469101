"""Audit designs by a name and flat settings, which come from the options of a command or the lines of a plan."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from holdfast.audit._designs import AuditDesign, ManyRuns, OneRun, Sequential, Transcript
from holdfast.audit._designs.one_run import DEFAULT_CANARIES
from holdfast.errors import ParameterError

DESIGNS: dict[str, type[OneRun] | type[ManyRuns] | type[Sequential] | type[Transcript]] = {
    "one-run": OneRun,
    "multi-run": ManyRuns,
    "sequential": Sequential,
    "transcript": Transcript,
}


def settings_of(name: str) -> frozenset[str]:
    """The names of the settings that the design of this name takes."""
    return frozenset(field.name for field in dataclasses.fields(DESIGNS[name]))


def named_design(name: str, settings: Mapping[str, Any]) -> AuditDesign:
    """The design of this name with all settings that are not None; a setting that only others take is refused.

    >>> named_design("multi-run", {"runs": 100, "seconds": None}).runs
    100
    >>> named_design("multi-run", {"seconds": 60.0})
    Traceback (most recent call last):
    ...
    holdfast.errors.ParameterError: seconds must be left out for multi-run (it is for transcript), got seconds=60.0
    """
    chosen = {key: value for key, value in settings.items() if value is not None}
    for key in sorted(chosen.keys() - settings_of(name)):
        takers = " and ".join(other for other in DESIGNS if key in settings_of(other))
        raise ParameterError(
            f"{key} must be left out for {name} (it is for {takers}), got {key}={chosen[key]!r}"
        )
    return DESIGNS[name](**({"canaries": DEFAULT_CANARIES} | chosen if name == "one-run" else chosen))

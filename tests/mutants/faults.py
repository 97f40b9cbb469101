"""The planted faults of every room."""

from __future__ import annotations

from . import (
    account,
    attack,
    attributes,
    audit,
    columns,
    dossier,
    engines,
    errors,
    evaluation,
    extensions,
    influence,
    intervals,
    keeping,
    learning,
    nothing_lost,
    privacy,
    reproductions,
    sampling,
    selection,
    statistics,
    strangers,
    synth,
    units,
    usefulness,
)
from .fault import Fault

ROOMS = (
    units,
    privacy,
    account,
    keeping,
    nothing_lost,
    learning,
    sampling,
    strangers,
    selection,
    audit,
    synth,
    engines,
    errors,
    attack,
    dossier,
    extensions,
    attributes,
    influence,
    reproductions,
    intervals,
    evaluation,
    columns,
    usefulness,
    statistics,
)
FAULTS: tuple[Fault, ...] = tuple(fault for room in ROOMS for fault in room.FAULTS)

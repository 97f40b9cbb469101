"""The planted faults of every room."""

from __future__ import annotations

from . import (
    account,
    attack,
    attributes,
    audit,
    dossier,
    engines,
    influence,
    keeping,
    learning,
    nothing_lost,
    privacy,
    synth,
)
from .fault import Fault

ROOMS = (
    privacy,
    account,
    keeping,
    nothing_lost,
    learning,
    audit,
    synth,
    engines,
    attack,
    attributes,
    influence,
    dossier,
)
FAULTS: tuple[Fault, ...] = tuple(fault for room in ROOMS for fault in room.FAULTS)

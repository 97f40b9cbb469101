"""What is refuted: mechanisms, sensitivities, the kernel, learners and synthesisers."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from holdfast.audit.refutation.subject import Subject, matching, mechanism_subjects
from holdfast.audit.refutation.subjects.bolt_on import bolt_on_subjects
from holdfast.audit.refutation.subjects.claims import sound_claims
from holdfast.audit.refutation.subjects.data import data_subjects
from holdfast.audit.refutation.subjects.learners import method_subjects
from holdfast.audit.refutation.subjects.synthesisers import synth_subjects

REGISTRY: tuple[Callable[[], Iterable[Subject]], ...] = (
    mechanism_subjects,
    data_subjects,
    bolt_on_subjects,
    sound_claims,
    method_subjects,
    synth_subjects,
)
"""Where subjects come from; a room with methods adds one function here."""


def subjects(name: str | None = None) -> tuple[Subject, ...]:
    """Everything that must survive, or what begins with this name (case and dashes do not count)."""
    return matching((subject for source in REGISTRY for subject in source()), name)

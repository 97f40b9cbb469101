"""What is refuted: mechanisms, statistics, learners, synthesisers, and what is made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from holdfast.refute._subject import NamedSubject, Subject, matching, mechanism_subjects
from holdfast.refute._subjects.additive import additive_subjects
from holdfast.refute._subjects.claims import sound_claims
from holdfast.refute._subjects.data import data_subjects
from holdfast.refute._subjects.learners import learner_subjects
from holdfast.refute._subjects.steps import step_subjects
from holdfast.refute._subjects.synthesisers import synthesiser_subjects
from holdfast.refute._subjects.table_fits import table_fit_subjects
from holdfast.refute._subjects.tuning import tuning_subjects

REGISTRY: tuple[Callable[[], Iterable[NamedSubject]], ...] = (
    mechanism_subjects,
    data_subjects,
    sound_claims,
    learner_subjects,
    additive_subjects,
    table_fit_subjects,
    step_subjects,
    synthesiser_subjects,
    tuning_subjects,
)
"""Where subjects come from; a room with methods adds one function here."""


def subject_names() -> Iterable[NamedSubject]:
    """Everything that must survive, not made yet."""
    return (one for source in REGISTRY for one in source())


def subjects(name: str | None = None) -> tuple[Subject, ...]:
    """Everything that must survive, or what begins with this name (case and dashes do not count)."""
    return tuple(one.make() for one in matching(subject_names(), name))

"""The subjects of refutation: mechanisms, statistics, learners, synthesisers, searches and estimators."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from holdfast.refute._subject import NamedSubject, Subject, mechanism_subjects, select_by_name
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
"""Functions that list the subjects; whoever adds another kind of subject adds its function here."""


def subject_names() -> Iterable[NamedSubject]:
    """All subjects that must survive, by name; each is built when it is wanted."""
    return (named_subject for list_subjects in REGISTRY for named_subject in list_subjects())


def subjects(name: str | None = None) -> tuple[Subject, ...]:
    """All subjects that must survive, or those whose name begins with this (case and dashes do not count)."""
    return tuple(named_subject.make() for named_subject in select_by_name(subject_names(), name))

"""Checks of a method by the transcripts of its runs: replays on neighbours, fresh noise, the declared sampling rate.

The trials are those of `holdfast refute`, for a method of your own. Their settings follow from what the method
declares: losses, neighbour relations, options with a list of values, units.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from holdfast._arguments import checked
from holdfast.learn.methods.method import Learner
from holdfast.noise._source import Source
from holdfast.privacy._adjacency import Adjacency
from holdfast.refute._subject import Subject
from holdfast.refute._subjects.learners import learner_subject
from holdfast.refute._subjects.synthesisers import synthesiser_subject
from holdfast.refute._suite import FALSE_ALARM
from holdfast.refute._trial import Test
from holdfast.synth.methods.method import SynthesisMethod
from holdfast.testing._contract import Check, ensure


@checked
def check_replay(method: Learner | SynthesisMethod, adjacency: Adjacency | str | None = None) -> None:
    """Raise unless runs on neighbours with the same outputs agree in all but values within the declared sensitivity.

    Parameters
    ----------
    method : Learner or SynthesisMethod
        The method.
    adjacency : {"replace", "add_remove"}, optional
        Which neighbours are tried; by default the first that the method names.

    Examples
    --------
    >>> from holdfast.synth import SYNTHESISERS
    >>> check_replay(next(method for method in SYNTHESISERS if method.name == "dual_query"))
    """
    _ensure_survives(method, adjacency, "replay")


@checked
def check_freshness(method: Learner | SynthesisMethod, adjacency: Adjacency | str | None = None) -> None:
    """Raise unless the noise of every step has its declared law and depends on no other.

    Parameters
    ----------
    method : Learner or SynthesisMethod
        The method.
    adjacency : {"replace", "add_remove"}, optional
        Under which neighbours it runs; by default the first that the method names.

    Examples
    --------
    >>> from holdfast.learn import LEARNERS
    >>> check_freshness(next(learner for learner in LEARNERS if learner.name == "adassp"))
    """
    _ensure_survives(method, adjacency, "freshness")


@checked
def check_sampling(method: Learner | SynthesisMethod, adjacency: Adjacency | str | None = None) -> None:
    """Raise unless rows are drawn with the rate that the price was computed for, where one is declared.

    Parameters
    ----------
    method : Learner or SynthesisMethod
        The method.
    adjacency : {"replace", "add_remove"}, optional
        Under which neighbours it runs; by default the first that the method names.

    Examples
    --------
    >>> from holdfast.learn import LEARNERS
    >>> check_sampling(next(learner for learner in LEARNERS if learner.name == "adassp"))
    """
    _ensure_survives(method, adjacency, "sampling")


def transcript_checks(method: Learner | SynthesisMethod) -> Iterator[Check]:
    """Replay, freshness and sampling, under every neighbour relation that the method names."""
    for adjacency in method.adjacencies:
        for check in (check_replay, check_freshness, check_sampling):
            yield Check(
                name=f"{check.__name__}-{adjacency}", run=partial(check, method, adjacency), slow=True
            )


def _ensure_survives(
    method: Learner | SynthesisMethod, adjacency: Adjacency | str | None, test: Test
) -> None:
    subject = subject_of(method, method.adjacencies[0] if adjacency is None else adjacency)
    trials = [trial for trial in subject.trials if trial.test == test]
    for place, trial in enumerate(trials):
        outcome = trial.run(Source(seed=place), error=FALSE_ALARM / len(trials))
        ensure(not outcome.refuted, outcome.summary())


def subject_of(method: Learner | SynthesisMethod, adjacency: Adjacency | str) -> Subject:
    """The method as a subject of refutation, with its trials."""
    if isinstance(method, Learner):
        return learner_subject(method, Adjacency.of(adjacency))
    return synthesiser_subject(method, Adjacency.of(adjacency))

"""What `holdfast refute` runs, a test for each subject.

`make test` tries what stands for study and comparison (the classics) under one neighbour relation; `make deep` under
all, and it runs the command itself.
"""

from __future__ import annotations

import pytest
from _pytest.mark import ParameterSet

from holdfast.learn import classics as learn_classics
from holdfast.privacy import Adjacency
from holdfast.refute._broken import broken_subject_names
from holdfast.refute._subject import NamedSubject
from holdfast.refute._subjects import subject_names
from holdfast.refute._suite import FALSE_ALARM, refute
from holdfast.synth import classics as synth_classics
from holdfast.synth._catalogue import SYNTHESISERS

pytestmark = pytest.mark.slow

SOUND, BROKEN = tuple(subject_names()), tuple(broken_subject_names())
SHARE = FALSE_ALARM / (len(SOUND) + len(BROKEN))
"""Of the probability that a whole run refutes anything true."""
CLASSICS = {learner.name for learner in learn_classics.CLASSICS} | {
    synthesiser.name for synthesiser in synth_classics.CLASSICS
}


def taken_to_its_bound(name: str) -> bool:
    """Statistics, two learners and every synthesiser: an understated sensitivity would be seen. Others may be weak."""
    method, _, adjacency = name.partition(" ")
    synthesiser = method in {entry.name for entry in SYNTHESISERS} and adjacency == "replace"
    return synthesiser or method in ("data", "output", "noisy_gd")


def by_tier() -> list[ParameterSet]:
    """Each under its name; of a classic, the first neighbour relation is near and the others are deep."""
    seen: set[str] = set()
    params = []
    for named in SOUND:
        method, _, adjacency = named.name.partition(" ")
        classic = method in CLASSICS and adjacency in {relation.value for relation in Adjacency}
        marks = [pytest.mark.deep] if classic and method in seen else []
        params.append(pytest.param(named, id=named.name, marks=marks))
        seen.add(method)
    return params


@pytest.mark.parametrize("named", by_tier())
def test_what_is_in_use_survives(named: NamedSubject) -> None:
    (verdict,) = refute([named.make()], false_alarm=SHARE).verdicts
    assert not verdict.refuted, verdict.summary()
    if taken_to_its_bound(named.name):
        assert not verdict.weak, verdict.summary()


def not_said_before() -> list[ParameterSet]:
    """Each under its name; that half of the noise falls, contracts say of each example of a mechanism."""
    return [
        pytest.param(
            named, id=named.name, marks=[pytest.mark.deep] if named.name.startswith("noise_halved") else []
        )
        for named in BROKEN
    ]


@pytest.mark.parametrize("named", not_said_before())
def test_what_is_broken_falls(named: NamedSubject) -> None:
    (verdict,) = refute([named.make()], false_alarm=SHARE).verdicts
    assert verdict.broken
    assert verdict.refuted, verdict.summary()

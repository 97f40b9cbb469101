"""What `holdfast refute` runs, a test for each subject.

`make test` tries what stands for study and comparison (the classics) under one neighbour relation; `make deep` under
all, and it runs the command itself.
"""

from __future__ import annotations

import pytest
from _pytest.mark import ParameterSet

from holdfast.learn import classics as learn_classics
from holdfast.privacy import Adjacency
from holdfast.refute._broken import broken_names
from holdfast.refute._subject import NamedSubject
from holdfast.refute._subjects import subject_names
from holdfast.refute._suite import FALSE_ALARM, refute
from holdfast.synth import classics as synth_classics

pytestmark = pytest.mark.slow

SOUND, BROKEN = tuple(subject_names()), tuple(broken_names())
SHARE = FALSE_ALARM / (len(SOUND) + len(BROKEN))
"""Of the probability that a whole run refutes anything true."""
CLASSICS = {method.name for method in (*learn_classics.CLASSICS, *synth_classics.CLASSICS)}


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
    assert not verdict.weak, verdict.summary()


@pytest.mark.parametrize("named", BROKEN, ids=lambda named: named.name)
def test_what_is_broken_falls(named: NamedSubject) -> None:
    (verdict,) = refute([named.make()], false_alarm=SHARE).verdicts
    assert verdict.broken
    assert verdict.refuted, verdict.summary()

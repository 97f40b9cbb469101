from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from holdfast.audit.refutation.subjects.synthesisers import counted_table, synthesised, synthesiser_subject
from holdfast.audit.refutation.two_worlds import TwoWorlds
from holdfast.noise.source import Source
from holdfast.privacy import Adjacency, ApproxDP
from holdfast.synth.methods import METHODS
from holdfast.synth.methods.method import SynthesisMethod

QUICK = ("gaussian", "independent", "tree")


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_every_synthesiser_can_be_a_subject(method: SynthesisMethod) -> None:
    subject = synthesiser_subject(method)
    (trial,) = subject.trials
    assert isinstance(trial, TwoWorlds)
    adjacency = Adjacency.of(method.adjacencies[0])
    assert 0 <= synthesised(method, ApproxDP(1.0, 1e-3), counted_table(True, adjacency), 1) <= 1


def test_the_worlds_differ_in_one_record() -> None:
    with_it, without = counted_table(True, Adjacency.replace), counted_table(False, Adjacency.replace)
    assert (with_it("first", "second") - without("first", "second")).tolist() == [[-1.0, 0.0], [0.0, 1.0]]
    removed = counted_table(False, Adjacency.add_remove)
    assert removed("first", "second").sum() == with_it("first", "second").sum() - 1
    assert removed.public_count == with_it.public_count


@pytest.mark.slow
@pytest.mark.parametrize("method", [m for m in METHODS if m.name in QUICK], ids=lambda method: method.name)
def test_a_synthesiser_with_far_too_little_noise_is_refuted(method: SynthesisMethod) -> None:
    """The same method, calibrated to epsilon 300 while it claims 1."""
    (sound,) = synthesiser_subject(method).trials
    assert isinstance(sound, TwoWorlds)
    adjacency = Adjacency.of(method.adjacencies[0])

    def world(present: bool) -> Any:
        data = counted_table(present, adjacency)

        def draw(source: Source, size: int) -> Any:
            import numpy as np

            limit = ApproxDP(300.0, 1e-3)
            return np.array([synthesised(method, limit, data, int(word) >> 1) for word in source.words(size)])

        return draw

    broken = replace(sound, without=world(False), present=world(True))
    outcome = broken.run(Source(seed=3), error=1e-8)
    assert outcome.statistic > outcome.bound

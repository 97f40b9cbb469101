from __future__ import annotations

import pytest

from holdfast.audit.refutation.subjects.learners import examples, fitted_weights, learner_subject, terms
from holdfast.audit.refutation.two_worlds import TwoWorlds
from holdfast.learn.methods import METHODS
from holdfast.noise.source import Source
from holdfast.privacy import Adjacency, ApproxDP, PureDP

QUICK = ("bolt_on", "functional", "objective", "output", "ridge")


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_every_method_has_a_problem_that_it_accepts(method: object) -> None:
    from holdfast.learn.methods.method import Learner

    assert isinstance(method, Learner)
    problem, limit, currency = terms(method, Adjacency.of(method.adjacencies[0]))
    assert problem.dimension == 2
    assert limit in (PureDP(1.0), ApproxDP(1.0, 1e-3))
    assert currency


@pytest.mark.slow
@pytest.mark.parametrize("method", [m for m in METHODS if m.name in QUICK], ids=lambda method: method.name)
def test_a_method_with_far_too_little_noise_is_refuted(method: object) -> None:
    """The same method, calibrated to epsilon 400 while it claims 1."""
    from holdfast.learn.methods.method import Learner

    assert isinstance(method, Learner)
    adjacency = Adjacency.of(method.adjacencies[0])
    problem, _, currency = terms(method, adjacency)
    (sound,) = learner_subject(method).trials
    assert isinstance(sound, TwoWorlds)

    def world(label: float):  # type: ignore[no-untyped-def]
        import numpy as np

        table = examples(label, adjacency)
        return lambda source, size: np.array(
            [
                fitted_weights(method, problem, PureDP(400.0), currency, table, int(word) >> 1).weights[1]
                for word in source.words(size)
            ]
        )

    broken = TwoWorlds(
        what="too little noise", without=world(-1.0), present=world(1.0), claim=sound.claim, draws=300
    )
    outcome = broken.run(Source(seed=1), error=1e-8)
    assert outcome.statistic > outcome.bound

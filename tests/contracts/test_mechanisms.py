"""What every entry of MECHANISMS must satisfy; a new mechanism is picked up without further code."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
import pytest

from holdfast.audit.refutation.broken import quieter
from holdfast.audit.refutation.subject import of_mechanism
from holdfast.audit.refutation.suite import refute
from holdfast.errors import AdjacencyError, HoldfastError, ParameterError
from holdfast.noise.source import Source
from holdfast.privacy import MECHANISMS, Account, Adjacency, ApproxDP, Mechanism
from holdfast.privacy.curves.curve import curve_from_json
from holdfast.privacy.mechanisms import mechanism_from_json

EXAMPLES = [example for cls in MECHANISMS for example in cls.examples()]
each_example = pytest.mark.parametrize("mechanism", EXAMPLES, ids=lambda m: f"{m.name}-{m.arithmetic}")
each_kind = pytest.mark.parametrize("kind", MECHANISMS, ids=lambda cls: cls.__name__)


def changed(mechanism: Mechanism, **fields: Any) -> Mechanism:
    again: Mechanism = dataclasses.replace(mechanism, **fields)
    return again


@each_kind
def test_declares_what_it_rests_on(kind: type[Mechanism]) -> None:
    assert kind.theorem
    assert kind.admissible <= set(Adjacency)
    assert kind.examples(), "the contract needs an example"


@each_example
def test_is_stored_without_loss(mechanism: Mechanism) -> None:
    again = mechanism_from_json(json.loads(json.dumps(mechanism.to_json())))
    assert again == mechanism
    curve = curve_from_json(json.loads(json.dumps(mechanism.curve.to_json())))
    for epsilon in (0.0, 0.3, 1.0, 4.0):
        assert curve.delta(epsilon) == pytest.approx(mechanism.curve.delta(epsilon), rel=1e-12)


@each_example
def test_refuses_parameters_outside_their_range(mechanism: Mechanism) -> None:
    for field in dataclasses.fields(mechanism):
        value = getattr(mechanism, field.name)
        if isinstance(value, float | int) and not isinstance(value, bool):
            for bad in (0, -1.0, float("nan"), float("inf")):
                with pytest.raises(ParameterError, match=field.name):
                    changed(mechanism, **{field.name: bad})


@each_example
def test_refuses_an_account_of_another_adjacency(mechanism: Mechanism) -> None:
    for adjacency in Adjacency:
        account = Account(ApproxDP(1e6, 0.5), adjacency=adjacency, currency="basic", seed=0)
        if adjacency not in mechanism.admissible:
            with pytest.raises(AdjacencyError, match=adjacency.value):
                account.release(mechanism, mechanism.worst_pair()[0])
        else:
            for other in mechanism.admissible - {adjacency}:
                declared = changed(mechanism, adjacency=other)
                with pytest.raises(AdjacencyError, match=other.value):
                    account.release(declared, mechanism.worst_pair()[0])


@each_example
@pytest.mark.parametrize("bad", [[float("nan")], [float("inf"), 0.0], ["a"], [], [True], [1j]], ids=repr)
def test_refuses_bad_values_before_charging(mechanism: Mechanism, bad: Any) -> None:
    adjacency = sorted(mechanism.admissible, key=str)[0]
    account = Account(ApproxDP(100.0, 0.5), adjacency=adjacency, currency="basic", seed=0)
    with pytest.raises(HoldfastError):
        account.release(mechanism, bad)
    assert account.journal.spent("") is None


@each_example
def test_seeded_draws_repeat_and_secure_ones_do_not(mechanism: Mechanism) -> None:
    value = mechanism.check(mechanism.worst_pair()[0])

    def stream(seed: int | None) -> list[Any]:
        source = Source(seed)
        return [np.asarray(mechanism.sample(value, source)).tolist() for _ in range(200)]

    assert stream(5) == stream(5)
    assert stream(None) != stream(None)


@pytest.mark.slow
@each_example
def test_is_not_refuted(mechanism: Mechanism) -> None:
    (verdict,) = refute([of_mechanism(mechanism, draws=2400)]).verdicts
    assert {outcome.test for outcome in verdict.outcomes} == {"law", "neighbours", "audit"}
    assert not verdict.refuted, verdict.summary()


@pytest.mark.slow
@each_example
def test_a_third_of_the_noise_is_refuted(mechanism: Mechanism) -> None:
    subject = of_mechanism(mechanism, sample=quieter(mechanism, 3.0).sample, broken="a third of the noise")
    audit = dataclasses.replace(subject, trials=subject.trials[-1:])
    (verdict,) = refute([audit]).verdicts
    assert verdict.refuted_by() == ("audit",), "the test has no power: " + verdict.summary()


@each_example
def test_half_of_the_noise_breaks_the_declared_law(mechanism: Mechanism) -> None:
    subject = of_mechanism(mechanism, sample=quieter(mechanism).sample, broken="half the noise", draws=1600)
    (verdict,) = refute([dataclasses.replace(subject, trials=subject.trials[:1])]).verdicts
    assert verdict.refuted_by() == ("law",), "the test has no power: " + verdict.summary()


@each_example
def test_the_declared_law_is_a_law(mechanism: Mechanism) -> None:
    for value in map(mechanism.check, mechanism.probes()):
        at = np.sort(np.concatenate([np.linspace(-60.0, 60.0, 999), np.arange(-5.0, 6.0)]))
        law = mechanism.cdf(value, at)
        assert law.shape == at.shape
        assert np.all(np.diff(law) >= -1e-15)
        assert law[0] == pytest.approx(0.0, abs=1e-9)
        assert law[-1] == pytest.approx(1.0, abs=1e-9)


@each_example
def test_the_worst_pair_is_one_sensitivity_apart(mechanism: Mechanism) -> None:
    low, high = map(mechanism.check, mechanism.worst_pair())
    assert mechanism.distance(low, high) == pytest.approx(1.0)
    assert mechanism.distance(high, low) == pytest.approx(1.0)
    assert mechanism.distance(low, low) == 0.0

"""What every entry of MECHANISMS must satisfy; a new mechanism is picked up without further code."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from holdfast.errors import AdjacencyError, HoldfastError, ParameterError
from holdfast.noise.source import Source
from holdfast.privacy import MECHANISMS, Account, Adjacency, ApproxDP, Mechanism
from holdfast.privacy.mechanisms import mechanism_from_json
from holdfast.privacy.storage import curve_from_json
from tests.contracts.refuter import refuted

EXAMPLES = [example for cls in MECHANISMS for example in cls.examples()]
each_example = pytest.mark.parametrize("mechanism", EXAMPLES, ids=lambda m: f"{m.name}-{m.arithmetic}")
each_kind = pytest.mark.parametrize("kind", MECHANISMS, ids=lambda cls: cls.__name__)


VECTORISED = {"Laplace", "Gaussian", "RandomisedResponse", "SubsampledGaussian", "SubsampledPure"}
"""Coordinates of one release are independent here: one long vector is as good as many draws."""


def draws(mechanism: Mechanism, value: Any, *, seed: int) -> NDArray[np.float64]:
    source, checked = Source(seed), mechanism.check(value)
    if mechanism.name in VECTORISED:
        return np.asarray(mechanism.sample(np.repeat(checked, 20_000), source), float)
    return np.array([float(np.ravel(mechanism.sample(checked, source))[0]) for _ in range(3_000)])


def worlds(mechanism: Mechanism, *, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Draws without and with the unit; a subsampled mechanism sees the unit only sometimes."""
    low, high = mechanism.worst_pair()
    without, present = draws(mechanism, low, seed=seed), draws(mechanism, high, seed=seed + 1)
    rate = getattr(mechanism, "rate", 1.0)
    if rate < 1:
        sampled = np.random.default_rng(seed).random(present.size) < rate
        present = np.where(sampled, present, draws(mechanism, low, seed=seed + 2))
    return without, present


def changed(mechanism: Mechanism, **fields: Any) -> Mechanism:
    again: Mechanism = dataclasses.replace(mechanism, **fields)
    return again


def louder(mechanism: Mechanism) -> Mechanism:
    """The same mechanism with a third of its noise."""
    for name in ("sigma", "scale"):
        if hasattr(mechanism, name):
            return changed(mechanism, **{name: getattr(mechanism, name) / 3})
    base = getattr(mechanism, "base", None)
    if base is not None:
        return changed(mechanism, base=louder(base))
    return changed(mechanism, epsilon=3 * getattr(mechanism, "epsilon"))  # noqa: B009 - not every mechanism has one


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
    assert not refuted(mechanism.curve, *worlds(mechanism, seed=100))


@pytest.mark.slow
@each_example
def test_a_third_of_the_noise_is_refuted(mechanism: Mechanism) -> None:
    assert refuted(mechanism.curve, *worlds(louder(mechanism), seed=200)), "the test has no power"

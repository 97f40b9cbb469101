"""Signed queries as an objective: its value is their payoff, its slope the derivative."""

from __future__ import annotations

import numpy as np
import pytest

from holdfast.noise._source import Source
from holdfast.synth._models.generator.heads import Heads
from holdfast.synth._models.generator.mixture import MixtureModel
from holdfast.synth._models.generator.network import NetworkMixture
from holdfast.synth._models.generator.payoffs import Payoffs
from holdfast.synth._models.generator.training import LogitMixture

DOMAIN = {"a": 2, "b": 3, "c": 1}
HEADS = Heads.of(DOMAIN)
RANDOM = np.random.default_rng(0)
QUERIES = [
    (("a", "b"), RANDOM.random((2, 3)), 1.0),
    (("b",), np.array([0.0, 1.0, 0.0]), -1.0),
    (("c", "a"), np.array([[1.0, 0.0]]), 1.0),
]


def test_the_value_is_the_mean_payoff() -> None:
    made = LogitMixture(HEADS, components=4, source=Source(seed=2)).probabilities()
    model = MixtureModel.of_heads(DOMAIN, HEADS, made, total=1.0)
    paid = [sign * float((values * model.project(columns)).sum()) for columns, values, sign in QUERIES]
    assert Payoffs(HEADS, QUERIES).gradient(made)[0] == pytest.approx(-np.mean(paid), rel=1e-5)


def test_the_slope_is_the_derivative() -> None:
    made = LogitMixture(HEADS, components=3, source=Source(seed=2)).probabilities().astype(np.float64)
    payoffs = Payoffs(HEADS, QUERIES)
    slope = payoffs.gradient(made.astype(np.float32))[1]
    for place in np.ndindex(*made.shape):
        moved = made.copy()
        moved[place] += 1e-2
        # Linear in every single probability: a difference of any length is the derivative.
        change = payoffs.gradient(moved.astype(np.float32))[0] - payoffs.gradient(made.astype(np.float32))[0]
        assert change / 1e-2 == pytest.approx(slope[place], abs=2e-4)


@pytest.mark.parametrize("form", [LogitMixture, NetworkMixture])
def test_either_form_learns_to_answer(form: type[LogitMixture]) -> None:
    made = form(HEADS, components=4, source=Source(seed=2))
    payoffs = Payoffs(HEADS, QUERIES)
    before = payoffs.gradient(made.probabilities())[0]
    for _ in range(15):
        made.step(payoffs)
    assert payoffs.gradient(made.probabilities())[0] < before - 0.01

"""The finite-domain formulas: against brute force, against Boolean analysis, and with priors that are not even."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from studies.reproductions import boolean_functions as boolean

from holdfast.attack._influence.finite_domain import (
    best_guess,
    blind_gain,
    gain,
    influences,
    mean_limits,
    output_codes,
    possible_values,
)
from holdfast.errors import ParameterError


@given(st.integers(2, 5), st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_the_gain_is_that_of_the_best_attack(values: int, seed: int) -> None:
    """Over all attacks (a value for each output), by enumeration; and it is what the guesses reach."""
    random = np.random.default_rng(seed)
    outputs, prior = random.integers(0, 3, values), random.dirichlet(np.ones(values))
    kinds = np.unique(outputs)
    best = max(
        sum(prior[v] for v in range(values) if guess[int(np.searchsorted(kinds, outputs[v]))] == v)
        for guess in product(range(values), repeat=kinds.size)
    )
    shown = outputs[None, :, None].astype(float)
    found = gain(output_codes(shown), prior[None])
    assert found[0] == pytest.approx(best)
    reached = sum(
        prior[v]
        for v in range(values)
        if best_guess(possible_values(shown, shown[:, v]), prior[None])[0] == v
    )
    assert reached == pytest.approx(best)
    assert blind_gain(prior[None])[0] <= found[0] + 1e-12


@pytest.mark.parametrize("seed", range(3))
def test_two_values_and_an_even_prior_give_boolean_influence(seed: int) -> None:
    h = np.random.default_rng(seed).choice([-1.0, 1.0], size=32)
    for i in range(5):
        up, down = boolean.halves(h, i)
        codes = output_codes(np.stack([up, down], axis=1)[:, :, None])
        assert np.mean(influences(codes)) == pytest.approx(boolean.influence(h, i))
        assert np.mean(gain(codes, np.full(codes.shape, 0.5))) == pytest.approx(boolean.bayes_gain(h, i))


def test_an_even_prior_gives_the_number_of_distinct_outputs() -> None:
    random = np.random.default_rng(0)
    outputs = random.integers(0, 4, size=(50, 6))
    codes = output_codes(outputs[:, :, None].astype(float))
    distinct = np.array([np.unique(line).size for line in outputs])
    assert np.allclose(gain(codes, np.full((50, 6), 1 / 6)), distinct / 6)
    assert np.allclose(influences(codes), (distinct - 1) / 5)


def test_where_the_output_says_nothing_the_mode_is_guessed() -> None:
    """With an uneven prior a constant on ties would be wrong."""
    prior = np.array([[0.1, 0.2, 0.7]])
    silent = np.zeros((1, 3, 1))
    assert best_guess(possible_values(silent, silent[:, 0]), prior).tolist() == [2]
    assert gain(output_codes(silent), prior).tolist() == [0.7]
    assert influences(output_codes(silent)).tolist() == [0.0]


def test_limits_of_a_mean_hold_at_their_rate() -> None:
    random, outside = np.random.default_rng(1), 0
    for _ in range(300):
        low, high = mean_limits(float(np.mean(random.random(60) < 0.2)), 60, error=0.05)
        outside += not low <= 0.2 <= high
    assert outside <= 15
    assert mean_limits(0.5, 200, error=0.05)[1] - 0.5 == pytest.approx(np.sqrt(np.log(40) / 400))


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ParameterError, match="outputs"):
        possible_values(np.zeros((3, 2, 1)), np.zeros((2, 1)))
    with pytest.raises(ParameterError, match="values"):
        influences(np.zeros((3, 1), dtype=np.int64))

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance

from holdfast.data import Categorical, Schema
from holdfast.synth._evaluation.compared_rows import plain_schema, read_compared
from holdfast.synth._evaluation.marginals import (
    chance_distance,
    earth_mover,
    marginal_error,
    marginal_errors,
    moved_columns,
)
from tests.synth.evaluation.samples import SCHEMA, people

PLAIN = plain_schema(SCHEMA)
COUNTS = st.lists(st.integers(0, 50), min_size=3, max_size=3).filter(any)
ONE = Schema([Categorical("c", ["a", "b", "c"])])


@given(COUNTS, COUNTS)
def test_total_variation_is_a_distance(first: list[int], second: list[int]) -> None:
    a, b = np.array(first, float), np.array(second, float)
    there, back = marginal_error(["c"], a, b, ONE), marginal_error(["c"], b, a, ONE)
    assert there.total_variation == pytest.approx(back.total_variation)
    assert 0 <= there.total_variation <= 1 + 1e-12
    assert there.largest <= there.total_variation + 1e-12
    assert marginal_error(["c"], a, 7 * a, ONE).total_variation == pytest.approx(0)


def test_numbers_by_hand() -> None:
    found = marginal_error(["c"], np.array([50.0, 30.0, 20.0]), np.array([2.0, 5.0, 3.0]), ONE)
    assert found.total_variation == pytest.approx(0.3)
    assert found.largest == pytest.approx(0.3)
    assert found.where == "a"


def test_chance_is_what_two_samples_show() -> None:
    share, draw = np.array([0.7, 0.2, 0.1]), np.random.default_rng(1)
    seen = [
        0.5 * np.abs(draw.multinomial(400, share) / 400 - draw.multinomial(900, share) / 900).sum()
        for _ in range(2000)
    ]
    assert chance_distance(share, 400, 900) == pytest.approx(np.mean(seen), rel=0.05)


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=8), st.lists(st.floats(-5, 5), min_size=1, max_size=8))
def test_earth_mover_is_scipys(first: list[float], second: list[float]) -> None:
    a, b = np.array(first), np.array(second)
    weights, others = np.arange(1.0, len(a) + 1), np.arange(len(b), 0.0, -1)
    wanted = wasserstein_distance(a, b, weights, others)
    assert earth_mover(a, weights, b, others) == pytest.approx(wanted, abs=1e-9)


def test_what_moves_up_and_what_moves_down_do_not_cancel() -> None:
    assert earth_mover(np.array([0.0, 2.0]), np.ones(2), np.array([1.0]), np.ones(1)) == pytest.approx(1.0)


def test_tables_of_rows_against_rows() -> None:
    real, other = (read_compared(people(seed=seed), PLAIN, name="real") for seed in (0, 1))
    for width, number in ((1, 4), (2, 6)):
        found = marginal_errors(real, other, width=width)
        assert len(found.errors) == number
        assert found.average == pytest.approx(found.by_chance, rel=0.6)
        assert marginal_errors(real, real, width=width).average == 0
    older = people(seed=0)
    older["age"] = older["age"] / 2
    (moved,) = moved_columns(real, read_compared(older, PLAIN, name="synthetic"))
    assert moved.distance == pytest.approx(20, rel=0.05)
    assert moved.of_range == pytest.approx(moved.distance / 80)


def test_ordered_categories_move_by_steps() -> None:
    """Other and missing values have no place in an order, and count on neither side."""
    column = Categorical("mood", ["bad", "fair", "good"], ordered=True, other="(other)", null="(missing)")
    schema = Schema([column, Categorical("sex", ["F", "M"])])
    real, made = (
        read_compared({"mood": mood, "sex": ["F"] * 4}, schema, name="rows")
        for mood in (["bad", "bad", "?", None], ["good", "fair", "good", "good"])
    )
    (moved,) = moved_columns(real, made)
    assert (moved.column, moved.distance, moved.of_range, moved.steps) == ("mood", 1.75, 0.875, True)

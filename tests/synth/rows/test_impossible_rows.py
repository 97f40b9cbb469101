"""Impossible combinations: declared, checked, and absent from every row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.data import Categorical, Schema
from holdfast.errors import ParameterError
from holdfast.noise._source import Source
from holdfast.synth._models.product import ProductModel, round_to_counts
from holdfast.synth._rows.impossible_rows import Zeros, is_possible, possible_rows, require_possible

DOMAIN = {"a": 3, "b": 4, "c": 2}


def test_a_constraint_is_checked_at_birth_and_against_the_domain() -> None:
    with pytest.raises(ParameterError, match="cells"):
        Zeros(("a", "b"), [(0,)])
    with pytest.raises(ParameterError, match="columns"):
        Zeros("ab", [(0, 0)])
    with pytest.raises(ParameterError, match="among"):
        Zeros(("z",), [(0,)]).check(DOMAIN)
    with pytest.raises(ParameterError, match="below"):
        Zeros(("a",), [(3,)]).check(DOMAIN)
    with pytest.raises(ParameterError, match="leave a record"):
        require_possible([Zeros(("c",), [(0,), (1,)])], DOMAIN)


def test_labels_are_those_of_the_schema() -> None:
    schema = Schema([Categorical("a", ["x", "y", "z"]), Categorical("c", ["no", "yes"])])
    assert Zeros.of_labels(schema, [{"c": "yes", "a": ["x", "z"]}]).cells == ((1, 0), (1, 2))
    with pytest.raises(ParameterError, match="labels of column 'a'"):
        Zeros.of_labels(schema, [{"a": "w"}])


@given(seed=st.integers(0, 10**6), share=st.floats(0.05, 0.7))
@settings(max_examples=40, deadline=None)
def test_no_row_is_impossible(seed: int, share: float) -> None:
    random = np.random.default_rng(seed)
    cells = [(int(a), int(b)) for a in range(3) for b in range(4) if random.random() < share]
    zeros = (Zeros(("a", "b"), [cell for cell in cells if cell != (2, 3)]), Zeros(("c", "a"), [(0, 0)]))
    model = ProductModel(
        columns={name: random.random(size) + 0.01 for name, size in DOMAIN.items()}, total=50.0
    )
    codes = possible_rows(model, 200, Source(seed=seed), zeros)
    assert codes.shape == (200, 3)
    assert is_possible(codes, tuple(DOMAIN), DOMAIN, zeros).all()


def test_a_model_that_only_draws_impossible_rows_is_repaired() -> None:
    model = ProductModel(columns={"a": [1, 0, 0], "b": [1, 0, 0, 0], "c": [1, 0]}, total=9.0)
    codes = possible_rows(model, 9, Source(seed=1), (Zeros(("a", "b"), [(0, 0)]),))
    assert not ((codes[:, 0] == 0) & (codes[:, 1] == 0)).any()


@given(seed=st.integers(0, 10**6), rows=st.integers(0, 500), cells=st.integers(1, 40))
@settings(max_examples=60, deadline=None)
def test_rounded_counts_are_within_one_of_their_expectation(seed: int, rows: int, cells: int) -> None:
    weights = np.random.default_rng(seed).random(cells) + 1e-6
    counts = round_to_counts(weights, rows, Source(seed=seed))
    assert counts.sum() == rows
    assert np.all(np.abs(counts - rows * weights / weights.sum()) <= 1 + 1e-9)

"""Controlled rounding: every count within rounding of what it should be, and right on average."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from holdfast._arrays import Codes
from holdfast.noise._source import Source
from holdfast.synth._models.graphical.junction_tree import JunctionTree, propagate, shape_of
from holdfast.synth._models.graphical.model import GraphicalModel, bit_reversed_rank, systematic_cells

DOMAIN = {"a": 3, "b": 4, "c": 5}
CHAIN = [("a", "b"), ("b", "c")]


def chain(seed: int = 0) -> GraphicalModel:
    random = np.random.default_rng(seed)
    tree = JunctionTree.of(DOMAIN, CHAIN)
    potentials = [random.normal(0, 1.5, shape_of(clique, DOMAIN)) for clique in tree.cliques]
    return GraphicalModel(tree=tree, beliefs=propagate(tree, potentials), total=1.0)


def counts(codes: Codes, *columns: str) -> NDArray[np.float64]:
    names = list(DOMAIN)
    made = np.zeros(shape_of(columns, DOMAIN))
    np.add.at(made, tuple(codes[:, names.index(name)] for name in columns), 1.0)
    return made


@given(st.integers(0, 3000), st.integers(0, 100))
def test_the_root_is_rounded_and_every_group_is(rows: int, seed: int) -> None:
    model = chain(seed % 7)
    codes = model.sample(rows, Source(seed))
    assert codes.shape == (rows, 3)
    root, leaf = model.tree.cliques
    assert np.abs(counts(codes, *root) - rows * model.project(root)).max() < 1.0
    # In the second clique each group gets its conditional shares, of as many rows as it has.
    groups = counts(codes, "b")
    other = next(name for name in leaf if name != "b")
    joint = model.project(("b", other))
    expected = groups[:, None] * joint / joint.sum(axis=1, keepdims=True)
    assert np.abs(counts(codes, "b", other) - expected).max() < 1.0 + 1e-6


def test_counts_are_right_on_average() -> None:
    model = chain()
    mean = sum(counts(model.sample(50, Source(seed)), "a", "c") for seed in range(400)) / 400
    assert np.abs(mean - 50 * model.project(("a", "c"))).max() < 0.35


def test_far_less_error_than_independent_draws() -> None:
    model, random = chain(), np.random.default_rng(0)
    joint = model.project(("a", "b", "c")).reshape(-1)
    errors = {"controlled": 0.0, "independent": 0.0}
    for seed in range(20):
        drawn = np.stack(
            np.unravel_index(random.choice(joint.size, 2000, p=joint / joint.sum()), (3, 4, 5)), axis=1
        )
        for name, codes in (("controlled", model.sample(2000, Source(seed))), ("independent", drawn)):
            for pair in (("a", "b"), ("b", "c"), ("a", "c")):
                errors[name] += float(np.abs(counts(codes, *pair) - 2000 * model.project(pair)).sum())
    assert errors["controlled"] < 0.4 * errors["independent"]


def test_a_cell_without_mass_is_never_drawn() -> None:
    shares = np.array([[0.0, 1.0, 0.0, 1e-17], [0.0, 0.0, 0.0, 0.0]])
    group = np.repeat([0, 1], 50)
    for seed in range(30):
        picked = systematic_cells(shares, group, np.arange(100), Source(seed))
        assert set(picked[:50].tolist()) <= {1, 3}
        assert ((picked[50:] >= 0) & (picked[50:] < 4)).all()


@given(st.lists(st.integers(1, 70), min_size=1, max_size=6))
def test_ranks_permute_each_group_and_spread_neighbours(sizes: list[int]) -> None:
    within = np.concatenate([np.arange(size) for size in sizes])
    ranks = bit_reversed_rank(within, np.repeat(sizes, sizes))
    start = 0
    for size in sizes:
        part = ranks[start : start + size]
        assert sorted(part.tolist()) == list(range(size))
        if size >= 8:  # a run of a quarter of the group reaches both halves
            assert (part[: size // 4 + 1] < size / 2).any()
            assert (part[: size // 4 + 1] >= size / 2 - 1).any()
        start += size


def test_no_rows_and_one_row() -> None:
    assert chain().sample(0, Source(1)).shape == (0, 3)
    assert chain().sample(1, Source(1)).shape == (1, 3)
    with pytest.raises(ValueError, match="negative"):
        chain().sample(-1, Source(1))

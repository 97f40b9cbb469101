"""Junction trees and belief propagation, against brute force over the whole universe."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast._arrays import Floats
from holdfast.synth._models.graphical.estimation import CliqueLayout, lbfgs
from holdfast.synth._models.graphical.junction_tree import (
    JunctionTree,
    Triangulation,
    maximal_cliques,
    propagate,
    shape_of,
    spread,
    sum_onto,
)
from holdfast.synth._models.graphical.model import GraphicalModel

NAMES = tuple("abcdef")
SIZES = (2, 3, 2, 4, 3, 1)
DOMAIN = dict(zip(NAMES, SIZES, strict=True))


@st.composite
def column_sets(draw: st.DrawFn) -> list[tuple[str, ...]]:
    sets = st.sets(st.sampled_from(NAMES), min_size=1, max_size=3).map(lambda s: tuple(sorted(s)))
    return draw(st.lists(sets, min_size=0, max_size=7))


def random_tree(sets: list[tuple[str, ...]], seed: int) -> tuple[JunctionTree, list[Floats]]:
    random = np.random.default_rng(seed)
    tree = JunctionTree.of(DOMAIN, sets)
    return tree, [random.normal(0.0, 2.0, shape_of(clique, DOMAIN)) for clique in tree.cliques]


def brute(tree: JunctionTree, potentials: list[Floats]) -> tuple[Floats, float]:
    logs = np.zeros(SIZES)
    for clique, potential in zip(tree.cliques, potentials, strict=True):
        logs = logs + spread(potential, clique, NAMES)
    weights = np.exp(logs - logs.max())
    return weights / weights.sum(), float(np.log(weights.sum()) + logs.max())


@given(column_sets())
def test_a_tree_covers_every_table_and_has_the_running_intersection_property(
    sets: list[tuple[str, ...]],
) -> None:
    tree = JunctionTree.of(DOMAIN, sets)
    assert {name for clique in tree.cliques for name in clique} == set(DOMAIN)
    for columns in sets:
        home = tree.home(columns)
        assert home is not None
        assert set(columns) <= set(tree.cliques[home])
    seen: set[str] = set()
    for place, clique in enumerate(tree.cliques):
        assert tree.parents[place] < place
        # What earlier cliques have of this one is exactly what its parent has.
        assert seen & set(clique) == set(tree.separator(place))
        assert not any(set(clique) < set(other) for other in tree.cliques)
        seen |= set(clique)


@given(column_sets(), column_sets())
def test_the_size_with_one_more_table_is_that_of_a_tree_made_anew(
    sets: list[tuple[str, ...]], more: list[tuple[str, ...]]
) -> None:
    for columns in more:
        assert (
            Triangulation(DOMAIN, sets).cells_with(columns) == JunctionTree.of(DOMAIN, [*sets, columns]).cells
        )


@given(column_sets(), st.integers(0, 1000))
@settings(max_examples=40)
def test_propagation_and_projection_equal_brute_force(sets: list[tuple[str, ...]], seed: int) -> None:
    tree, potentials = random_tree(sets, seed)
    joint, log_normaliser = brute(tree, potentials)
    beliefs = propagate(tree, potentials)
    assert beliefs.log_normaliser == pytest.approx(log_normaliser, abs=1e-9)
    for clique, table in zip(tree.cliques, beliefs.tables, strict=True):
        assert np.allclose(table, sum_onto(joint, NAMES, clique), atol=1e-12)
    model = GraphicalModel(tree=tree, beliefs=beliefs, total=7.0)
    for width in range(4):
        for columns in combinations(reversed(NAMES), width):
            assert np.allclose(model.project(columns), 7.0 * sum_onto(joint, NAMES, columns), atol=1e-11)
    assert model.project(NAMES).sum() == pytest.approx(7.0)


@given(column_sets(), st.integers(0, 1000))
@settings(max_examples=30)
def test_placing_potentials_is_the_transpose_of_taking_marginals(
    sets: list[tuple[str, ...]], seed: int
) -> None:
    distinct = list(dict.fromkeys(sets))
    tree, potentials = random_tree(distinct, seed)
    layout, beliefs = CliqueLayout(tree, distinct), propagate(tree, potentials)
    vector = np.random.default_rng(seed).normal(size=layout.size)
    through = sum(
        float((a * b).sum()) for a, b in zip(layout.potentials(vector), beliefs.tables, strict=True)
    )
    assert through == pytest.approx(float(vector @ layout.marginals(beliefs)), abs=1e-9)


def test_impossible_cells_get_nothing_and_extreme_ones_do_not_overflow() -> None:
    tree = JunctionTree.of({"a": 2, "b": 2, "c": 2}, [("a", "b"), ("b", "c")])
    hard = [np.array([[0.0, -np.inf], [2000.0, -1500.0]]), np.array([[-900.0, 900.0], [0.0, 0.0]])]
    beliefs = propagate(tree, hard)
    assert np.isfinite(beliefs.log_normaliser)
    for table in beliefs.tables:
        assert np.isfinite(table).all()
        assert table.sum() == pytest.approx(1.0)
    first = beliefs.tables[tree.cliques.index(("a", "b"))]
    assert first[0, 1] == 0.0


def test_sizes_are_those_of_the_triangulated_graph() -> None:
    domain = {"a": 10, "b": 20, "c": 30, "d": 40}
    ring = [("a", "b"), ("b", "c"), ("c", "d")]
    assert Triangulation(domain, ring).cells_with(("c", "d")) == 200 + 600 + 1200
    assert Triangulation(domain, ring).cells_with(("a", "d")) == min(
        10 * 20 * 30 + 10 * 30 * 40, 20 * 10 * 40 + 20 * 30 * 40
    )
    assert maximal_cliques(domain, []) == [("a",), ("b",), ("c",), ("d",)]


def test_the_search_finds_the_least_of_a_badly_scaled_bowl_and_never_climbs() -> None:
    random = np.random.default_rng(0)
    scales = 10.0 ** random.uniform(-2, 2, 30)
    target = random.normal(size=30)

    def bowl(x: Floats) -> tuple[float, Floats]:
        gap = x - target
        return float((scales * gap**2).sum() + (gap**4).sum()), 2 * scales * gap + 4 * gap**3

    found = lbfgs(bowl, np.zeros(30), curvature=np.ones(30), iterations=500, tolerance=1e-14)
    assert np.allclose(found, target, atol=1e-4)
    values = [
        bowl(lbfgs(bowl, np.zeros(30), curvature=np.ones(30), iterations=n, tolerance=0.0))[0]
        for n in range(0, 12, 3)
    ]
    assert values == sorted(values, reverse=True)

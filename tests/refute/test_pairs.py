"""Neighbours are neighbours: every pair that is tried, and every pair that a climb makes of it."""

from __future__ import annotations

import numpy as np
import pytest

from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Logistic
from holdfast.privacy import Adjacency
from holdfast.refute._neighbours import PointNeighbours
from holdfast.refute._replay import World
from holdfast.refute._table_neighbours import OWNER_COLUMN, TableNeighbours

PROBLEM = Problem(loss=Logistic(), dimension=3)


def points(adjacency: Adjacency, rows: int) -> PointNeighbours:
    return PointNeighbours(problem=PROBLEM, adjacency=adjacency, others=6, rows_per_unit=rows)


def are_neighbours(pair: tuple[World, World], adjacency: Adjacency, rows: int) -> None:
    tables = []
    for world in pair:
        rows_of = zip(world.identifiers.tolist(), world.rows.features, world.rows.labels, strict=True)
        tables.append({name: (x.tobytes(), float(y)) for name, x, y in rows_of})
    changed = {name for name in tables[0] | tables[1] if tables[0].get(name) != tables[1].get(name)}
    assert len(changed) <= rows
    assert all(name >= 6 for name in changed)
    if adjacency is Adjacency.add_remove:
        assert not any(name >= 6 for name in tables[1])
    else:
        assert tables[0].keys() == tables[1].keys()
    if adjacency is Adjacency.zero_out:
        mine = pair[1].identifiers >= 6
        assert not pair[1].rows.features[mine].any()


@pytest.mark.parametrize("adjacency", list(Adjacency))
@pytest.mark.parametrize("rows", [1, 3])
def test_pairs_of_points(adjacency: Adjacency, rows: int) -> None:
    near, random = points(adjacency, rows), np.random.default_rng(1)
    for pair in near.pairs(random):
        are_neighbours(pair, adjacency, rows)
        for _ in range(3):
            pair = near.vary(random, pair)
            are_neighbours(pair, adjacency, rows)


@pytest.mark.parametrize("adjacency", list(Adjacency))
@pytest.mark.parametrize("max_rows", [1, 2])
def test_pairs_of_tables(adjacency: Adjacency, max_rows: int) -> None:
    near = TableNeighbours(cells={"a": ("x", "y"), "b": ("p", "q")}, adjacency=adjacency, max_rows=max_rows)
    random = np.random.default_rng(2)
    for first, second in near.pairs(random):
        for one, other in ((first, second), near.vary(random, (first, second))):
            others = [
                [
                    tuple(row)
                    for row in zip(*(w.rows[name] for name in w.rows), strict=True)
                    if row[-1] != "changed"
                ]
                for w in (one, other)
            ]
            assert others[0] == others[1]
            gone = "changed" not in other.rows[OWNER_COLUMN]
            assert gone is (adjacency is not Adjacency.replace)
            same = len(one.identifiers) == len(other.identifiers)
            assert same is adjacency.count_is_public


def test_a_table_knows_of_its_null_units() -> None:
    near = TableNeighbours(cells={"a": ("x", "y")}, adjacency=Adjacency.zero_out)
    first, second = next(iter(near.pairs(np.random.default_rng(3))))
    tables = [near.open_table(world) for world in (first, second)]
    assert [table.public_count()[0] for table in tables] == [near.others + 1] * 2
    assert [int(table.counts([("a",)])[0].sum()) for table in tables] == [near.others + 1, near.others]

"""What a unit moves, measured on neighbours, against what each measure declares; and the worst case reaches it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from holdfast.data import Categorical, Identifier, Numeric, Schema, open_table
from holdfast.data._group_sums import CellKey
from holdfast.privacy import PrivacyUnit
from holdfast.statistics._measures.moments import RowMoments
from holdfast.statistics._measures.ranks import GridCounts, GridTree
from holdfast.statistics._shares import Share
from holdfast.statistics._table_facts import TableFacts

COLUMNS: list[Any] = [
    Categorical("ward", ["a", "b", "c"]),
    Numeric("x", 0, 8, integer=True),
    Identifier("who"),
]
WARD = (CellKey("ward"),)
MEASURES = [
    RowMoments(keys=WARD, bound=2),
    RowMoments(bound=2),
    RowMoments(keys=WARD, column="x", degree=1, missing=True, bound=2),
    RowMoments(keys=WARD, column="x", degree=2, bound=2),
    RowMoments(column="x", degree=1, alone=True, bound=9),
    RowMoments(keys=WARD, once=True, bound=2),
]


def _neighbours(unit: PrivacyUnit, adjacency: str) -> list[tuple[pd.DataFrame, pd.DataFrame]]:
    draw = np.random.default_rng(7)
    pairs = []
    for trial in range(60):
        size = 1 if unit.column is None else int(draw.integers(1, 7))
        rest = pd.DataFrame({"ward": ["a", "b"], "x": [1.0, 5.0], "who": ["r", "s"]})
        own = [_unit_rows(draw, size if place else 1, extreme=trial < 30) for place in range(2)]
        first = pd.concat([rest, own[0]], ignore_index=True)
        other = pd.concat([rest, own[1]], ignore_index=True) if adjacency == "replace" else rest
        pairs.append((first, other))
    return pairs


def _unit_rows(draw: np.random.Generator, size: int, *, extreme: bool) -> pd.DataFrame:
    """Rows of one person; extreme ones lie all in one cell at one end."""
    if extreme:
        wards, values = [str(draw.choice(list("abc")))] * size, [float(draw.choice([0, 8]))] * size
    else:
        wards = [str(ward) for ward in draw.choice(list("abc"), size)]
        values = [float(value) for value in draw.choice([0.0, 3.0, 8.0, np.nan], size)]
    return pd.DataFrame({"ward": wards, "x": values, "who": "me"})


@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
@pytest.mark.parametrize("unit", [PrivacyUnit(), PrivacyUnit.user("who", max_rows=3)], ids=["row", "person"])
@pytest.mark.parametrize("place", range(len(MEASURES)))
def test_moments_move_by_what_is_declared(place: int, unit: PrivacyUnit, adjacency: str) -> None:
    measure = MEASURES[place]
    if measure.once and unit.column is None:
        return
    schema = Schema(COLUMNS, unit=unit, adjacency=adjacency)
    reached = {1: 0.0, 2: 0.0}
    for first, other in _neighbours(unit, adjacency):
        tables = [open_table(rows, schema) for rows in (first, other)]
        facts = TableFacts.of(tables[0])
        for family, norm in (("laplace", 1), ("gaussian", 2)):
            chosen = measure.of_family(family, facts)  # type: ignore[arg-type]
            limit = measure.limit(chosen, facts) if facts.users else 1
            asked = measure.exact(chosen, norm, facts, limit=limit)  # type: ignore[arg-type]
            change = (tables[0].aggregate(asked) - tables[1].aggregate(asked)).astype(float)
            declared = float(measure.sensitivity(chosen, norm, facts, limit=limit))  # type: ignore[arg-type]
            moved = float(np.abs(change).sum() if norm == 1 else np.linalg.norm(change))
            assert moved <= declared * (1 + 1e-12)
            reached[norm] = max(reached[norm], moved / declared)
    nothing_moves = place == 1 and adjacency == "replace" and unit.column is None
    assert nothing_moves or min(reached.values()) > 0.4


@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
@pytest.mark.parametrize("unit", [PrivacyUnit(), PrivacyUnit.user("who", max_rows=3)], ids=["row", "person"])
def test_trees_move_by_what_is_declared(unit: PrivacyUnit, adjacency: str) -> None:
    schema = Schema(COLUMNS, unit=unit, adjacency=adjacency)
    reached = {1: 0.0, 2: 0.0}
    for first, other in _neighbours(unit, adjacency):
        tables = [open_table(rows, schema) for rows in (first, other)]
        facts = TableFacts.of(tables[0])
        tree = GridTree(grid=GridCounts(keys=WARD, column="x", bound=1))
        levels = [tree.levels(Share("pure", 1), facts, tree.grid.counts(table, facts))[2] for table in tables]  # type: ignore[arg-type]
        change = np.concatenate([(a - b).ravel() for a, b in zip(*levels, strict=True)]).astype(float)
        declared = [float(bound) for bound in tree.sensitivity(len(levels[0]), facts)]
        for norm, moved in ((1, float(np.abs(change).sum())), (2, float(np.linalg.norm(change)))):
            assert moved <= declared[norm - 1]
            reached[norm] = max(reached[norm], moved / declared[norm - 1])
    assert min(reached.values()) > 0.99

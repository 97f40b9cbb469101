"""Rows of a GROUPING SETS query become tables: each row in the set whose columns it has."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from holdfast.data import Categorical, Schema
from holdfast.data._sql.statements import distinct_sets, zero_filled

NAMES = tuple(f"x{place}" for place in range(11))
SCHEMA = Schema([Categorical(name, ["0", "1", "2"]) for name in NAMES])


@given(
    st.lists(st.sets(st.sampled_from(NAMES), max_size=3).map(sorted), min_size=1, max_size=6),
    st.integers(0, 1000),
    st.integers(1, 40),
)
def test_tables_are_those_of_the_records(wanted: list[list[str]], seed: int, rows: int) -> None:
    codes = np.random.default_rng(seed).integers(0, 3, (rows, len(NAMES)))
    sets = [tuple(group) for group in wanted]
    asked = distinct_sets(sets)
    names = list(dict.fromkeys(name for group in asked for name in group))
    found: list[list[int | None]] = []
    for group in asked:
        cells, counts = (
            np.unique(codes[:, [NAMES.index(name) for name in group]], axis=0, return_counts=True)
            if group
            else (np.zeros((1, 0), dtype=np.int64), np.array([rows]))
        )
        for cell, count in zip(cells.tolist(), counts.tolist(), strict=True):
            known = dict(zip(group, cell, strict=True))
            found.append([known.get(name) for name in names] + [count])
    columns = [pa.array(column, pa.int64()) for column in zip(*found, strict=True)]
    whole = pa.record_batch(columns, names=[*names, "count"])
    batches = [whole.slice(first, 7) for first in range(0, whole.num_rows, 7)] + [whole.slice(0, 0)]
    for group, table in zip(sets, zero_filled(SCHEMA, sets, batches), strict=True):
        expected = np.zeros((3,) * len(group), dtype=np.int64)
        np.add.at(expected, tuple(codes[:, NAMES.index(name)] for name in group), 1 if group else rows)
        assert np.array_equal(table, expected)

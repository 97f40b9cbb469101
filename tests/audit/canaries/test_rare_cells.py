"""Rare cells come from the schema alone, and a canary's record falls into its cell and no other's."""

from __future__ import annotations

import numpy as np
import pytest

from holdfast.audit._canaries import RareCells
from holdfast.data._engines import open_table
from holdfast.data._schema import Schema
from holdfast.data._schema.schema import Categorical, Numeric
from holdfast.errors import ParameterError

SMALL = Schema(
    [
        Numeric("age", 17, 90, bins=[17, 30, 65, 90], null="category"),
        Numeric("children", 0, 3, integer=True),
        Numeric("rooms", 0, 9, integer=True, bins=[0, 2.2, 2.8, 9]),
        Categorical("work", ["state", "private"], other="(other)", null="(missing)"),
        Categorical("sex", ["F", "M"]),
    ]
)
WIDE = Schema([Numeric(f"x{k}", -1, 1, bins=1000) for k in range(8)])


def _count_of_each(cells: RareCells, schema: Schema) -> np.ndarray:
    import pandas as pd

    table = open_table(pd.DataFrame(cells.records(range(cells.count))), schema)
    return np.asarray(table.counts([schema.names])[0])


def test_every_record_falls_into_its_own_cell() -> None:
    cells = RareCells(schema=SMALL, count=RareCells(schema=SMALL, count=1, seed=0).domain, seed=4)
    assert cells.domain == 4 * 4 * 2 * 4 * 2  # no whole number lies in the second bin of "rooms"
    counts = _count_of_each(cells, SMALL)
    assert counts.max() == 1
    assert counts.sum() == cells.count
    codes = cells.codes(range(cells.count))
    assert np.all(counts[tuple(codes.T)] == 1)


def test_a_domain_too_large_to_list_is_drawn_from_without_repeats() -> None:
    cells = RareCells(schema=WIDE, count=3000, seed=4)
    codes = cells.codes(range(3000))
    assert cells.domain == 1000**8
    assert len(np.unique(codes, axis=0)) == 3000
    assert codes.min() >= 0
    assert codes.max() <= 999
    assert np.all(np.abs(codes.mean(axis=0) - 499.5) < 5 * 1000 / np.sqrt(12 * 3000))
    # More canaries of one seed begin with the fewer only by design of the stream, the same call by promise.
    assert np.array_equal(codes, RareCells(schema=WIDE, count=3000, seed=4).codes(range(3000)))
    assert not np.array_equal(codes, RareCells(schema=WIDE, count=3000, seed=5).codes(range(3000)))


def test_scores_read_the_released_count_of_the_cell() -> None:
    cells = RareCells(schema=SMALL, count=5, seed=1)
    codes = [tuple(code) for code in cells.codes(range(5)).tolist()]
    assert cells.scores({codes[2]: 7.5}).tolist() == [0.0, 0.0, 7.5, 0.0, 0.0]


def test_more_cells_than_the_schema_has_are_refused() -> None:
    with pytest.raises(ParameterError, match="finer bins"):
        RareCells(schema=SMALL, count=10_000, seed=1)

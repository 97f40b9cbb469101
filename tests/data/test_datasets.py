"""Adult: the bundled table is the published one, and its schema covers it."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pytest

from holdfast.data import Order, adult, adult_schema, open_table
from holdfast.errors import ParameterError


def test_published_counts() -> None:
    """UCI's own numbers: rows, incomes and unknown work classes of both files."""
    for part, rows, incomes, unknown in [
        ("train", 32561, [24720, 7841], 1836),
        ("test", 16281, [12435, 3846], 963),
    ]:
        table = adult(part)  # type: ignore[arg-type]
        assert table.count() == rows
        income, work = table.counts([["income"], ["workclass"]])
        assert income.tolist() == incomes
        assert work[table.schema["workclass"].labels.index("?")] == unknown
    with pytest.raises(ParameterError, match="part"):
        adult("validation")  # type: ignore[arg-type]


def test_the_schema_is_declared_and_covers_the_data() -> None:
    schema = adult_schema()
    assert schema.assumptions == ()
    assert schema.adjacency is not None
    assert len(schema.names) == 15
    path = files("holdfast.data._datasets") / "adult_train.parquet"
    open_ended = open_table(str(path), schema)
    sets = [[name] for name in schema.names] + [["age", "income"], ["sex", "race", "education"]]
    for here, there in zip(adult().counts(sets), open_ended.counts(sets), strict=True):
        np.testing.assert_array_equal(here, there)
    (batch,) = adult("test").batches(["age", "hours_per_week"], order=Order.irrelevant(), rows=20_000)
    assert batch.column("age").mean() == pytest.approx(38.77, abs=0.01)

"""PostgreSQL and Spark give the integers of memory, for every form of sum, weighed and not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from holdfast.data import Schema, Table, open_table
from holdfast.data._group_sums import UnitsAbove
from holdfast.privacy import PrivacyUnit
from tests.servers import postgres, spark
from tests.statistics.test_group_sums import QUESTIONS, SCHEMA, rows, weighed

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings(spark.IGNORED)]
UNITS = {"row": PrivacyUnit(), "person": SCHEMA.confirmed_unit}


@pytest.fixture(scope="module", params=["postgres", "spark"])
def opened(request: pytest.FixtureRequest) -> Iterator[dict[str, tuple[Table, Table]]]:
    """For each unit the rows in memory, and where the engine has them."""
    stored: Any = pa.Table.from_pandas(rows(3), preserve_index=False)
    source: Any
    options: dict[str, Any] = {}
    if request.param == "postgres":
        server = postgres.required_server()
        server.load(stored, "group_sums")
        source, options = server.url("group_sums"), {"way": "sql"}
    else:
        source = spark.stored(spark.classic(), stored)
    tables = {}
    for name, unit in UNITS.items():
        schema = Schema(SCHEMA.columns, unit=unit, adjacency="add_remove")
        tables[name] = (open_table(stored, schema), open_table(source, schema, **options))
    yield tables
    for _, engine in tables.values():
        engine.close()


@pytest.mark.parametrize("place", range(len(QUESTIONS)))
def test_databases_give_the_integers_of_memory(opened: dict[str, tuple[Table, Table]], place: int) -> None:
    memory, engine = opened["row"]
    assert engine.aggregate(QUESTIONS[place]).tolist() == memory.aggregate(QUESTIONS[place]).tolist()
    memory, engine = opened["person"]
    for norm in (1, 2):
        for once in (False, True):
            question = replace(weighed(QUESTIONS[place], norm, 2), once=once)
            assert engine.aggregate(question).tolist() == memory.aggregate(question).tolist()
        above = UnitsAbove(sums=weighed(QUESTIONS[place], norm, 2), thresholds=(1, 70, 5000))
        assert engine.aggregate(above).tolist() == memory.aggregate(above).tolist()

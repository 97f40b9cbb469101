"""A Spark session and its catalogue in which every function that we use is also a stranger's: ours are Spark's own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from holdfast.data import Categorical, Identifier, Numeric, Order, Schema, open_table
from holdfast.data._schema.kinds import Column
from holdfast.privacy import PrivacyUnit
from tests.servers import spark

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings(spark.IGNORED)]
ROWS = pa.table(
    {
        "who": ["p", "q", "q", "r", "P"],
        "x": [1.0, None, 99.0, 5.0, 7.5],
        "k": ["yes", "no", "YES", "yes", "No"],
    }
)


#: Of those that our statements call.
NAMES = ("sha2", "isnan", "floor", "count", "left", "concat", "row_number", "explode")


@pytest.fixture
def session() -> Iterator[Any]:
    """With a function of each name in the session and one in the catalogue."""
    session = spark.classic().newSession()
    functions = [(kind, name) for name in NAMES for kind in ("TEMPORARY FUNCTION ", "FUNCTION default.")]
    for kind, name in functions:
        session.sql(f"CREATE {kind}{name}(a STRING) RETURNS STRING RETURN 'evil'").collect()
    yield session
    for kind, name in functions:
        session.sql(f"DROP {kind}{name}").collect()


def _answers(source: Any) -> Any:
    columns: list[Column] = [
        Identifier("who"),
        Numeric("x", 0, 10, bins=5),
        Categorical("k", ["yes", "no"], other="?"),
    ]
    schema = Schema(columns, unit=PrivacyUnit.user("who", max_rows=1))
    with open_table(source, schema) as table:
        rows = sum(batch.rows for batch in table.batches(order=Order.permutation(), rows=2))
        return table.units(), rows, sum(table.counts([["x"]])[0].tolist())


def test_functions_of_others_do_not_run(session: Any) -> None:
    assert _answers(spark.stored(session, ROWS)) == _answers(ROWS)


def test_collations_change_no_answer(session: Any) -> None:
    collated = spark.stored(session, ROWS).selectExpr(
        "collate(who, 'UTF8_LCASE') AS who", "x", "collate(k, 'UTF8_LCASE') AS k"
    )
    assert _answers(collated) == _answers(ROWS)
    schema = Schema([Categorical("k", ["yes", "no"], other="?")])
    with open_table(collated.select("k"), schema) as table:
        assert table.counts([["k"]])[0].tolist() == [2, 1, 2]

"""SQL text computes what the memory engine computes, value by value."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from holdfast.data import Categorical, Identifier, Numeric, Order, Schema, open_table
from holdfast.data._engines.duckdb.table import COUNTED_BATCH_ROWS
from holdfast.data._readings import numbers, texts
from holdfast.data._schema.kinds import Column
from holdfast.data._sql.dialect import Dialect
from holdfast.privacy import PrivacyUnit

CONNECTION = duckdb.connect()
ODD_NUMERALS = ["1e99", "1e100", ".5", "5.", "+5", "-.5e1", "5.e0", "١٢", "1_0", "0x10", "inf", "nan", "\v1"]


def listed(values: st.SearchStrategy[Any], dtype: Any) -> st.SearchStrategy[Any]:
    """Arrow arrays of such values, some of them null."""
    return st.lists(st.none() | values, min_size=1, max_size=20).map(lambda made: pa.array(made, dtype))


numerals = st.from_regex(r"\A[ ]?[+-]?[0-9]{0,4}(\.[0-9]{0,3})?([eE][+-]?[0-9]{1,3})?[ ]?\Z")
words = numerals | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)
columns = st.one_of(
    listed(st.floats(width=64), pa.float64()),
    listed(st.floats(width=32), pa.float32()),
    listed(st.integers(-(2**63), 2**63 - 1), pa.int64()),
    listed(st.integers(-30, 30), pa.int8()),
    listed(words, pa.string()),
    listed(st.decimals(-999, 999, places=3, allow_nan=False), pa.decimal128(12, 3)),
    listed(st.dates(), pa.date32()),
    listed(st.datetimes(), pa.timestamp("us")),
)


@st.composite
def declared(draw: st.DrawFn) -> Column:
    if draw(st.booleans()):
        categories = draw(
            st.lists(words | st.sampled_from(["1", "-3", "2.5"]), min_size=1, max_size=4, unique=True)
        )
        return Categorical(
            "v", categories, other=draw(st.none() | st.just("?")), null=draw(st.none() | st.just("-"))
        )
    whole = draw(st.booleans())
    low = float(draw(st.integers(-20, 20)))
    high = low + draw(st.integers(1, 40)) + (0.0 if whole else draw(st.floats(0, 1)))
    null = draw(st.sampled_from(["low", "high", "midpoint", "category"]))
    return Numeric("v", low, high, bins=draw(st.none() | st.integers(1, 40)), integer=whole, null=null)


@pytest.mark.slow
@settings(max_examples=100)
@given(columns, declared())
@example(pa.array(ODD_NUMERALS), Numeric("v", -20, 20, bins=40, null="category"))
@example(pa.array([2.5, 3.5, -0.5, 0.49999999999999994]), Numeric("v", -2, 4, integer=True))
@example(pa.array([2**53 + 1, 2**62 + 3], pa.int64()), Numeric("v", 0, 2.0**63, bins=3))
def test_counts_and_values_agree(values: Any, column: Column) -> None:
    schema = Schema([column])
    CONNECTION.register("arrived", pa.table({"v": values}))
    CONNECTION.execute("CREATE OR REPLACE TABLE t AS SELECT * FROM arrived")
    there = open_table(CONNECTION, schema, table="t")
    here = open_table(pa.table({"v": values}), schema)
    np.testing.assert_array_equal(there.counts([["v"]])[0], here.counts([["v"]])[0])


def test_many_sets_are_counted_in_one_reading() -> None:
    """Twelve sets, the total and a repeated one among them, over several batches: what the memory engine counts."""
    draw = np.random.default_rng(0)
    rows = COUNTED_BATCH_ROWS + 7
    frame = pa.table(
        {
            "a": pa.array(draw.integers(0, 3, rows), mask=draw.random(rows) < 0.1),
            "b": draw.normal(5, 4, rows),
            "who": draw.integers(0, rows // 2, rows),
        }
    )
    declared: list[Column] = [
        Categorical("a", [0, 1], other="?", null="-"),
        Numeric("b", 0, 10, bins=5, null="category"),
    ]
    sets = [["a"], ["b"], ["a", "b"], ["b", "a"], [], ["b"]] * 2
    CONNECTION.register("arrived", frame)
    CONNECTION.execute("CREATE OR REPLACE TABLE many AS SELECT * FROM arrived")
    schema = Schema(declared)
    there, here = open_table(CONNECTION, schema, table="many"), open_table(frame, schema)
    for one, other in zip(there.counts(sets), here.counts(sets), strict=True):
        np.testing.assert_array_equal(one, other)
    users = Schema([*declared, Identifier("who")], unit=PrivacyUnit.user("who", max_rows=1))
    bounded = open_table(CONNECTION, users, table="many")
    few, many = bounded.counts(sets[:3]), bounded.counts(sets)
    assert few[0].sum() < rows
    for one, other in zip(few, many, strict=False):
        np.testing.assert_array_equal(one, other)


@given(columns)
def test_numbers_and_identifiers_are_read_alike(values: Any) -> None:
    CONNECTION.register("arrived", pa.table({"v": values, "i": np.arange(len(values))}))
    CONNECTION.execute("CREATE OR REPLACE TABLE t AS SELECT * FROM arrived")
    from holdfast.data._engines.duckdb.table import KINDS

    kind = KINDS[str(CONNECTION.table("t").types[0]).partition("(")[0]]
    dialect = Dialect()
    read = f"SELECT {dialect.read_number('v', kind)}, {dialect.read_text('v', kind)} FROM t ORDER BY i"
    there = CONNECTION.sql(read).fetchall()
    np.testing.assert_array_equal([np.nan if n is None else n for n, _ in there], numbers(values))
    if kind.value not in ("floating", "decimal"):
        assert [text for _, text in there] == texts(values).to_pylist()
    else:  # engines print fractions differently; whole numbers, as identifiers are, must agree
        for (number, text), mine in zip(there, texts(values).to_pylist(), strict=True):
            if number is None or (number == np.floor(number) and abs(number) < 2**53):
                assert text == mine


@pytest.mark.parametrize("name", ['"', '""', 'a"; DROP TABLE t; --', "'", "\\", "é", "\n", "select", " "])
def test_quoting_survives_the_engine(name: str) -> None:
    dialect = Dialect()
    row = CONNECTION.sql(f"SELECT {dialect.literal(name)} AS {dialect.identifier(name)}")
    assert (row.columns, row.fetchall()) == ([name], [(name,)])


@pytest.mark.parametrize("value", [0.1, 5e-324, 1.7976931348623157e308, -0.0, 1 / 3, 2.0**60])
def test_literals_are_read_bit_for_bit(value: float) -> None:
    (found,) = CONNECTION.sql(f"SELECT {Dialect().number(value)}").fetchall()[0]
    assert np.float64(found).tobytes() == np.float64(value).tobytes()


def test_statements_name_no_data_column_twice() -> None:
    """A hostile name is quoted once, at the lowest layer; above it only generated names appear."""
    from holdfast.data._sql.statements import Statements
    from holdfast.data._storage_kinds import Kind

    schema = Schema([Numeric("MARK", 0, 1, null="category"), Identifier("WHO")])
    statements = Statements(
        schema=schema,
        dialect=Dialect(),
        source="t",
        position="rowid",
        kinds={"MARK": Kind.text, "WHO": Kind.text},
        key=b"k" * 32,
    )
    assert statements.counts([["MARK"]]).count("MARK") == 1
    assert statements.rows_in_order(["MARK"], Order.keyed_hash("WHO")).count("WHO") == 1

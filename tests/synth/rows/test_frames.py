"""Types survive the way through a synthesizer, and no value leaves its cell for the sake of a type."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.data import Categorical, DateTime, Hierarchy, Numeric, Schema
from holdfast.data._batch import encode_batch
from holdfast.errors import ParameterError
from holdfast.noise._source import Source
from holdfast.synth import Synthesizer
from holdfast.synth._rows.coded_rows import CodedRows, as_frame, decode_rows, frame_types
from holdfast.synth._rows.frames import as_type

pytestmark = pytest.mark.filterwarnings("ignore::holdfast.errors.NotPrivateWarning")
SIZES = ["small", "middle", "large"]
SCHEMA = Schema(
    [
        Numeric("whole", 0, 100, integer=True, bins=7),
        Numeric("gap", 0, 5, integer=True, null="category"),
        Numeric("single", 0, 1, bins=[0, 0.1, 0.3, 0.7, 1]),
        Numeric("money", 0, 100_000, bins=9, spacing="log", smallest=1, decimals=2, null="category"),
        Numeric("exact", -50, 50, bins=7),
        Categorical("size", SIZES, null="(missing)", ordered=True),
        Categorical("town", ["Ulm", "Köln"], other="(other)"),
        Categorical("flag", [False, True]),
        Categorical("code", [1, 2, 3]),
        DateTime("day", "2020-01-15", "2024-06-30", null="category"),
        DateTime("seen", "2024-01-01", "2024-03-31 23:00", unit="hour", bins="day"),
        DateTime("month", "2020-01", "2024-12", unit="month"),
        Hierarchy("post", ["10115", "10117", "20095"], coarser=[2], level=1),
    ]
)


def arrow(codes: Any) -> Any:
    return decode_rows(CodedRows(domain=SCHEMA.domain, codes=codes), SCHEMA, Source(seed=1))


def drawn(rows: int, seed: int = 0) -> Any:
    random = np.random.default_rng(seed)
    return np.stack([random.integers(0, SCHEMA[name].cells, rows) for name in SCHEMA.names], axis=1)


def reread(table: Any) -> Any:
    batch = encode_batch(
        SCHEMA, {name: table[name].combine_chunks() for name in SCHEMA.names}, table.num_rows
    )
    return np.stack([batch.codes(name) for name in SCHEMA.names], axis=1)


@given(st.integers(0, 2**32))
@settings(max_examples=25, deadline=None)
def test_what_is_decoded_is_read_back_into_its_cell(seed: int) -> None:
    codes = drawn(80, seed)
    made = arrow(codes)
    assert np.array_equal(reread(made), codes)
    cents = np.array([one for one in made["money"].to_pylist() if one is not None])
    assert np.array_equal(np.round(cents, 2), cents)


TYPES = {
    "whole": pa.int8(),
    "gap": pa.uint16(),
    "single": pa.float32(),
    "exact": pa.decimal128(6, 2),
    "size": pa.dictionary(pa.int32(), pa.string(), True),
    "town": pa.large_string(),
    "flag": pa.bool_(),
    "code": pa.int16(),
    "day": pa.timestamp("ns"),
    "seen": pa.timestamp("ms", "Europe/Berlin"),
    "month": pa.date64(),
}


@given(st.integers(0, 2**32))
@settings(max_examples=15, deadline=None)
def test_arrow_types_survive_and_no_value_leaves_its_cell(seed: int) -> None:
    codes = drawn(80, seed)
    before = arrow(codes)
    source = pa.table({name: pa.nulls(0, TYPES.get(name, before[name].type)) for name in SCHEMA.names})
    made = as_frame(before, "arrow", SCHEMA, frame_types(source, SCHEMA.names))
    for name, dtype in TYPES.items():
        found = made[name].type
        assert found == dtype, name
        assert str(found) == str(dtype), name  # types compare equal whether they are ordered or not
    assert np.array_equal(reread(made), codes)


def pandas_frame(rows: int = 400) -> pd.DataFrame:
    made = arrow(drawn(rows)).to_pandas()
    made["whole"] = made["whole"].astype("int8")
    made["gap"] = made["gap"].astype("Int16")
    made["single"] = made["single"].astype("float32")
    made["size"] = pd.Categorical(made["size"], categories=SIZES, ordered=True)
    made["town"] = made["town"].astype("category")
    made["code"] = made["code"].astype("uint8")
    made["day"] = pd.to_datetime(made["day"]).astype("datetime64[ns]")
    made["seen"] = made["seen"].dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")
    made["post"] = made["post"].astype("string")
    made["month"] = made["month"].astype(object)
    return made


def test_pandas_types_survive() -> None:
    frame = pandas_frame()
    made = Synthesizer(method="independent", delta=1e-6, random_state=1).fit(frame, SCHEMA).sample()
    assert made.dtypes.drop("town").to_dict() == frame.dtypes.drop("town").to_dict()
    assert made["size"].dtype.ordered
    assert list(made["town"].dtype.categories) == ["Ulm", "Köln", "(other)"]  # as declared, not as found
    assert isinstance(made["month"].dropna().iloc[0], datetime.date)
    more = Synthesizer(method="independent", delta=1e-6, random_state=1).fit(frame, SCHEMA)
    with pytest.warns(UserWarning, match="new draw"):
        assert more.sample(7).dtypes["whole"] == np.int8


def test_a_gap_does_not_make_whole_numbers_floating() -> None:
    """Whether a column of pandas is floating depends on one missing value: such types are not taken over."""
    frame = pandas_frame()[["whole", "gap"]].astype("float64")
    schema = SCHEMA.select("whole", "gap")
    made = Synthesizer(method="independent", delta=1e-6, random_state=1).fit(frame, schema).sample()
    assert [str(one) for one in made.dtypes] == ["int64", "Int64"]


def test_polars_types_survive() -> None:
    frame = pl.from_pandas(pandas_frame().drop(columns=["month"])).with_columns(
        pl.col("size").cast(pl.String).cast(pl.Enum(SIZES)),
        pl.col("day").cast(pl.Date),
        pl.col("seen").cast(pl.Datetime("ms", "Asia/Tokyo")),
        pl.col("exact").cast(pl.Decimal(8, 2)),
    )
    schema = SCHEMA.select(*frame.columns)
    made = Synthesizer(method="independent", delta=1e-6, random_state=1).fit(frame, schema).sample()
    assert made.schema == frame.schema


def test_declared_types_are_in_the_release(tmp_path: Any) -> None:
    """A file has no types to keep: the schema says them, and a release that is loaded has them."""
    columns: list[Any] = [
        Numeric("age", 0, 120, integer=True, dtype="int8"),
        Numeric("paid", 0, 9, bins=3, dtype="decimal(5, 2)"),
        Categorical("size", SIZES, dtype="dictionary"),
        DateTime("day", "2024-01-01", "2024-02-01", dtype="timestamp[s]"),
        Categorical("ordered", SIZES, ordered=True),
    ]
    rows = {
        "age": [1, 2, 200] * 50,
        "paid": ["1.5", "8", "x"] * 50,
        "size": ["small", "large", "?"] * 50,
        "day": ["2024-01-03"] * 150,
        "ordered": SIZES * 50,
    }
    fitted = Synthesizer(method="independent", delta=1e-6, random_state=1).fit(rows, Schema(columns))
    fitted.save(tmp_path / "made.holdfast")
    made = Synthesizer.load(tmp_path / "made.holdfast").sample()
    kinds = [str(made[name].type) for name in made.column_names]
    assert kinds[0] == "int8"
    assert kinds[1] == "decimal128(5, 2)"
    assert kinds[3] == "timestamp[s]"
    assert all(kind.startswith("dictionary<values=string") for kind in (kinds[2], kinds[4]))
    assert "ordered=1" in kinds[4]
    assert isinstance(made["paid"][0].as_py(), Decimal)


def test_a_type_that_is_none_is_refused() -> None:
    for dtype in ("int9", "object", "timestamp[h]", 3):
        with pytest.raises(
            ParameterError, match=r"dtype must be (an Arrow type|a text or None, got dtype=3)"
        ):
            Numeric("a", 0, 1, dtype=dtype)  # type: ignore[arg-type]


def test_a_value_beside_an_edge_is_rounded_into_its_own_cell() -> None:
    column = Numeric("x", 0, 1, bins=3)
    values = pa.array([0.34, 0.66, 0.1, float(np.nextafter(1 / 3, 0)), None])
    tenths = as_type(column, values, pa.decimal128(3, 1))
    assert tenths.to_pylist() == [Decimal("0.4"), Decimal("0.6"), Decimal("0.1"), Decimal("0.3"), None]
    single = as_type(column, values, pa.float32())
    assert single.type == pa.float32()
    assert single[3].as_py() < 1 / 3 < float(np.float32(1 / 3))
    # No tenth lies between 0.31 and 0.39: such a column keeps its type.
    narrow = Numeric("x", 0, 1, bins=[0, 0.31, 0.39, 1])
    assert as_type(narrow, pa.array([0.35]), pa.decimal128(3, 1)).type == pa.float64()

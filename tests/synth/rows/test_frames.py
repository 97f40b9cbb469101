"""Types of synthetic rows are the declared ones, and no value leaves its cell for the sake of a type."""

from __future__ import annotations

import dataclasses
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.data import Categorical, DateTime, Hierarchy, Numeric, Schema
from holdfast.data._batch import encode_batch
from holdfast.errors import ParameterError
from holdfast.noise._source import Source
from holdfast.synth import Synthesizer
from holdfast.synth._rows.coded_rows import CodedRows, decode_rows, null_cell
from holdfast.synth._rows.frames import as_frame, as_type

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
    "whole": ("int8", pa.int8()),
    "gap": ("uint16", pa.uint16()),
    "single": ("float32", pa.float32()),
    "exact": ("decimal(6, 2)", pa.decimal128(6, 2)),
    "size": ("dictionary", pa.dictionary(pa.int32(), pa.string(), True)),
    "town": ("large_string", pa.large_string()),
    "flag": ("bool", pa.bool_()),
    "code": ("int16", pa.int16()),
    "day": ("timestamp[ns]", pa.timestamp("ns")),
    "seen": ("timestamp[ms, Europe/Berlin]", pa.timestamp("ms", "Europe/Berlin")),
    "month": ("date", pa.date32()),
}
"""Types as a schema writes them, and as Arrow has them."""


def declaring(types: dict[str, str]) -> Schema:
    """The schema with these `dtype`s."""
    return Schema([dataclasses.replace(SCHEMA[name], dtype=types.get(name)) for name in SCHEMA.names])


@given(st.integers(0, 2**32))
@settings(max_examples=15, deadline=None)
def test_declared_types_are_had_and_no_value_leaves_its_cell(seed: int) -> None:
    codes = drawn(80, seed)
    schema = declaring({name: written for name, (written, _) in TYPES.items()})
    table = decode_rows(CodedRows(domain=SCHEMA.domain, codes=codes), schema, Source(seed=1))
    for name, (_, dtype) in TYPES.items():
        assert table[name].type == dtype, name
        assert str(table[name].type) == str(dtype), (
            name
        )  # types compare equal whether they are ordered or not
    assert np.array_equal(reread(table), codes)


KINDS = {
    "pandas": {
        "whole": "int8",
        "gap": "UInt16",
        "single": "float32",
        "size": "category",
        "flag": "bool",
        "code": "int16",
        "day": "datetime64[ns]",
        "seen": "datetime64[ms, Europe/Berlin]",
    },
    "polars": {
        "whole": "Int8",
        "gap": "UInt16",
        "single": "Float32",
        "exact": "Decimal(precision=6, scale=2)",
        "size": f"Enum(categories={SIZES})",
        "town": "String",
        "flag": "Boolean",
        "code": "Int16",
        "seen": "Datetime(time_unit='ms', time_zone='Europe/Berlin')",
    },
}


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames_have_the_declared_types(kind: str) -> None:
    schema = declaring({name: written for name, (written, _) in TYPES.items()})
    table = decode_rows(CodedRows(domain=SCHEMA.domain, codes=drawn(50)), schema, Source(seed=1))
    frame = as_frame(table, kind, schema)
    for name, dtype in KINDS[kind].items():
        assert str(frame[name].dtype) == dtype, name
    if kind == "pandas":
        assert list(frame["size"].cat.categories) == SIZES


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "dict"])
@pytest.mark.parametrize("filled", [0.0, 1.0])
def test_types_do_not_depend_on_the_values(kind: str, filled: float) -> None:
    """Whether any value is missing, or all are, or there are no rows, the types are those of the schema."""
    codes = 0 * drawn(
        int(40 * filled)
    )  # the first cell of each column, which none declares for missing values
    nulls = [null_cell(SCHEMA[name]) for name in SCHEMA.names]
    missing = np.stack([codes[:, i] if c is None else np.full(len(codes), c) for i, c in enumerate(nulls)], 1)
    types = []
    for cells in (codes, missing):
        table = decode_rows(CodedRows(domain=SCHEMA.domain, codes=cells), SCHEMA, Source(seed=1))
        frame = as_frame(table, kind, SCHEMA)
        types.append(
            [str(frame[name].type if kind == "arrow" else frame[name].dtype) for name in SCHEMA.names]
        )
    assert types[0] == types[1]


@pytest.mark.parametrize(
    ("fitted", "changed"),
    [
        ("int8", "float64"),  # one missing value
        ("Int16", "object"),  # one text
        ("category", "object"),
    ],
)
def test_the_types_of_the_fitted_frame_have_no_say(fitted: str, changed: str) -> None:
    """One record can change them (finding V2)."""
    schema = SCHEMA.select("whole", "gap", "day")
    frame = arrow(drawn(400)).to_pandas()[["whole", "gap", "day"]]
    frame["gap"] = frame["gap"].fillna(0).astype(int)
    types = []
    for dtype, days in ((fitted, "datetime64[ns]"), (changed, object)):
        given = frame.astype({"whole": dtype, "gap": dtype, "day": days})
        synthesizer = Synthesizer(method="independent", delta=1e-6, random_state=1).fit(given, schema)
        types.append([str(column) for column in synthesizer.sample().dtypes])
    assert types[0] == types[1] == ["int64", "Int64", "object"]


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

"""What every engine promises: the answers of the memory engine, whatever the data.

An engine joins by one entry of `STORES`: a function that puts an Arrow table where the engine finds it and
returns the arguments of `open_table`. The checks below then run on it without further code.
"""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from holdfast.data import (
    Categorical,
    DateTime,
    Hierarchy,
    Identifier,
    Numeric,
    Order,
    Schema,
    Table,
    open_table,
)
from holdfast.data._schema.kinds import Column
from holdfast.noise._source import Source
from holdfast.privacy._adjacency import PrivacyUnit

Store = Callable[[pa.Table, Path], Mapping[str, Any]]
HOSTILE = [
    'a"b',
    "x'; DROP TABLE t; --",
    "naïve Δ 列",
    "new\nline",
    "select",
    "a.b",
    "tab\there",
    "%s {0} $1",
    "c0",
    "p",
]


def everything() -> tuple[pa.Table, Schema]:
    """Every type a column may have, with nulls, NaN, infinities and values outside the declaration."""
    D, day = decimal.Decimal, datetime.datetime
    utc = datetime.UTC
    columns: dict[str, Any] = {
        "whole": pa.array([1, -5, 2**40, None, 7, 0, 3, 3], pa.int64()),
        "large": pa.array([2**64 - 1, 0, 5, None, 2**53 + 1, 9, 1, 1], pa.uint64()),
        "real": pa.array([0.5, float("nan"), float("inf"), float("-inf"), None, -0.0, 1e308, 5e-324]),
        "single": pa.array([0.1, 2.5, -1.0, None, 3.0, 1e30, 0.30000001, 0.7], pa.float32()),
        "exact": pa.array(
            [D("0.10"), D("0.30"), None, D("-9.99"), D("3.00"), D("0.70"), D("1.50"), D("0.20")]
        ),
        "words": pa.array(["12", " 3.5 ", "abc", "", None, "-1e2", "+4", "1e999"]),
        "truth": pa.array([True, False, None, True, True, False, None, False]),
        "flag": pa.array([True, False, None, True, True, False, None, False]),
        "sex": pa.array(["F", "M", "X", None, "f", "F ", "é", "M"]),
        "code": pa.array([1, 2, 3, None, -1, 2, 2, 1], pa.int16()),
        "grade": pa.array([1.0, 2.5, float("nan"), None, 3.0, 1e300, 2.0, float("inf")]),
        "shade": pa.array(["red", "blue", None, "red", "ultraviolet", "", "blue", "red"]).dictionary_encode(),
        "born": pa.array([datetime.date(2020, 1, day_) for day_ in (1, 2, 3, 4, 1, 2, 2)] + [None]),
        "seen": pa.array(
            [day(2020, 1, 1, 10), day(2020, 1, 1, 10, 0, 0, 100000), None] + [day(1960, 5, 4)] * 5
        ),
        "zoned": pa.array(
            [day(2020, 1, 1, 10, tzinfo=utc)] * 4 + [None] * 4, pa.timestamp("us", "Europe/Paris")
        ),
        "nested": pa.array([[1], [2], None, [], [1, 2], [3], [4], [5]]),
        "bytes": pa.array([b"\xff\xfe", b"a", None, b"", b"b", b"c", b"\x00", b"d"]),
        "id": pa.array(["u", "v", "w", None, "u", "u", "v", "ü"]),
    }
    schema = Schema(
        [
            Numeric("whole", -3, 6, integer=True, null="category"),
            Numeric("large", 0, 2.0**60, bins=7),
            Numeric("real", -1, 1, bins=[-1, -0.0, 0.5, 1], null="category"),
            Numeric("single", 0, 3, bins=[0, 0.1, 0.3, 0.7, 3], null="high"),
            Numeric("exact", 0, 3, bins=[0, 0.1, 0.2, 0.3, 0.7, 3], null=0.25),
            Numeric("words", -50, 50, bins=9, null="low"),
            Numeric("truth", 0, 2, bins=2, null="category"),
            Categorical("flag", ["true", "false"], null="unknown"),
            Categorical("sex", ["F", "M"], other="(other)", null="(missing)"),
            Categorical("code", [1, 2], other="else"),
            Categorical("grade", ["1", "2.5", "x", "3"], other="else", null="none"),
            Categorical("shade", ["red", "blue"]),
            Categorical("born", ["2020-01-01", "2020-01-02"], other="later"),
            Categorical("seen", ["2020-01-01 10:00:00", "2020-01-01 10:00:00.1"], other="never", null="null"),
            Categorical("zoned", ["2020-01-01 10:00:00"], null="null"),
            Categorical("nested", ["[1]"], other="other", null="null"),
            Categorical("bytes", ["a"], other="other", null="null"),
            Identifier("id"),
        ]
    )
    return pa.table(columns), schema


def columns_of_files() -> tuple[pa.Table, Schema]:
    """Dates in every type and format, amounts, spellings and levels, with all that a real file holds besides."""
    day, moment = datetime.date, datetime.datetime
    dates = [
        day(2024, 2, 29),
        day(2023, 12, 31),
        None,
        day(1, 1, 1),
        day(9999, 12, 31),
        day(1969, 12, 28),
        day(2024, 3, 1),
    ]
    times = [
        moment(2024, 2, 29, 23, 59, 59, 999_999),
        moment(2023, 12, 31, 0, 0),
        None,
        moment(1960, 1, 1, 5, 30),
    ]
    times += [moment(2024, 3, 3, 23), moment(2024, 3, 4), moment(2024, 1, 31, 12, 30, 30, 1)]
    german = ["29.02.2024", " 1.3.2024 ", "30.02.2024", "31/12/2023", "2024-03-01", None, "00.00.0000"]
    iso = [
        "2024-02-29T23:59:59.5Z",
        "2024-02-29 23:59",
        "2024-13-01",
        "2024-02-29 24:00",
        "2024-02-29T08:30:15+02:00",
    ]
    american = ["02/29/24 07:05", "2/3/69 7:5", "13/01/24 00:00", "12/31/68 23:59", "", "x", "1/1/24 0:0"]
    columns: dict[str, Any] = {
        "day": pa.array(dates),
        "week": pa.array(dates),
        "month": pa.array(times),
        "hour": pa.array(times),
        "zoned": pa.array(times, pa.timestamp("us", "America/New_York")),
        "nano": pa.array(times, pa.timestamp("ms")),
        "german": german,
        "iso": [*iso, "0000-01-01", "now"],
        "american": american,
        "digits": pa.array([20240229, 20230229, 20241231, None, 7, -1, 99999999]),
        "price": pa.array([0.0, 0.5, 12.5, 1e9, -999.0, None, -20.0]),
        "fee": ["$1,234.50", "-$5", " $ -2.5 ", "1,5", "n/a", None, "$12,345,678"],
        "lohn": ["1.234,50 EUR", "1.5", "12,5", "1.000", "7 EUR", "EUR", "-0,25EUR"],
        "paid": [" YES", "y", "No", "n/a", "?", None, "maybe"],
        "town": [
            "MÜNCHEN",
            "münchen ",
            "Άθήνα",
            "ΆΘΉΝΑ",
            "\u041c\u041e\u0421\u041a\u0412\u0410",
            "Köln",
            "\tköln\n",
        ],
        "code": pa.array([1.0, 2.0, -9.0, None, 3.0, 1.0, float("nan")]),
        "post": ["10115", "10117", "20095", "10*", "east", None, "99999"],
        "id": list("aabbccd"),
    }
    moscow = "\u043c\u043e\u0441\u043a\u0432\u0430"
    levels: Any = [2, {"10*": "east", "20*": "north"}]
    schema = Schema(
        [
            DateTime("day", "2023-06-01", "2024-06-30", null="category"),
            DateTime("week", "2023-12-01", "2024-03-31", unit="week", nulls=["9999-12-31"], null="category"),
            DateTime("month", "2023", "2024-12", unit="month", null="2023-05"),
            DateTime(
                "hour", "2024-01-31 00:00", "2024-03-04 23:00", unit="hour", bins="day", null="category"
            ),
            DateTime("zoned", "2023-01-01", "2024-12-31", unit="minute", bins=7, null="category"),
            DateTime("nano", "2023-01-01", "2024-12-31", unit="second", bins="quarter", null="low"),
            DateTime("german", "2024-01-01", "2024-12-31", format="%d.%m.%Y", null="category"),
            DateTime("iso", "2024-02-01", "2024-03-01", unit="minute", bins="week", null="category"),
            DateTime(
                "american", "1969-01-01", "2068-12-31", unit="hour", format="%m/%d/%y %H:%M", null="category"
            ),
            DateTime("digits", "2024-01-01", "2024-12-31", format="%Y%m%d", bins="month", null="category"),
            Numeric("price", -50, 1e6, bins=9, spacing="log", smallest=1, nulls=[-999], null="category"),
            Numeric("fee", -100, 20_000, bins=8, written_as="$1,234.5", null="category"),
            Numeric("lohn", -10, 2_000, bins=8, written_as="1.234,5 EUR", nulls=[7], null="category"),
            Categorical(
                "paid",
                ["no", "yes"],
                aliases={"Y": "yes"},
                trim=True,
                fold=True,
                nulls=["n/a", "?"],
                other="other",
                null="none",
            ),
            Categorical("town", ["München", "Άθήνα", moscow, "Köln"], trim=True, fold=True, other="other"),
            Categorical("code", [1, 2], aliases={"3": "2"}, nulls=["-9"], null="none", ordered=True),
            Hierarchy(
                "post", ["10115", "10117", "20095"], coarser=levels, level=2, other="abroad", null="none"
            ),
            Identifier("id"),
        ]
    )
    return pa.table(columns), schema


def opened(store: Store, folder: Path, rows: pa.Table, schema: Schema, **options: Any) -> Table:
    return open_table(schema=schema, **store(rows, folder), **options)


def reference(rows: pa.Table, schema: Schema, **options: Any) -> Table:
    return open_table(rows, schema, engine="memory", **options)


def all_rows(
    table: Table, order: Order | None = None, rows: int = 1000
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Every row with its missing flags, in the order they came."""
    parts = []
    for batch in table.batches(order=order or Order.irrelevant(), rows=rows):
        flags = [batch.missing[name] for name in sorted(batch.missing)]
        shown = [] if batch.present is None else [batch.present]
        parts.append(np.column_stack([batch.matrix(), *flags, *shown]))
    return np.concatenate(parts) if parts else np.empty((0, 0))


def as_multiset(rows: np.ndarray[Any, np.dtype[np.float64]]) -> list[tuple[float, ...]]:
    return sorted(map(tuple, rows.tolist()))


def visits(users: int = 30, seed: int = 5) -> pa.Table:
    """Users with 1 to 12 rows, some rows equal, some without a user."""
    coins = np.random.default_rng(seed)
    owner = np.repeat([f"user {i}" for i in range(users)], coins.integers(1, 13, users)).tolist()
    owner[3] = owner[9] = owner[17] = None
    n = len(owner)
    value = np.round(coins.normal(0, 1, n), 1)
    return pa.table(
        {
            "user": owner,
            "value": pa.array(np.where(coins.random(n) < 0.1, np.nan, value), from_pandas=True),
            "kind": coins.choice(["a", "b", "z"], n),
            "visit": pa.array(coins.permutation(n)),
        }
    )


def visits_schema(max_rows: int = 3, **declared: Any) -> Schema:
    columns: list[Column] = [
        Identifier("user"),
        Numeric("value", -1, 1, bins=5, null="category"),
        Categorical("kind", ["a", "b"], other="else"),
        Identifier("visit"),
    ]
    return Schema(columns, unit=PrivacyUnit.user("user", max_rows=max_rows), **declared)


def seeded(seed: int = 11) -> Source:
    return Source(seed=seed)

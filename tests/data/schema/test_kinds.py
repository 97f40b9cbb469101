"""Dates, hierarchies, spellings and logarithmic bins: files give them back, and bad ones are refused."""

from __future__ import annotations

import datetime
import tomllib
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.data import Categorical, DateTime, Hierarchy, Numeric, Schema, open_table
from holdfast.data._moments import as_dates, moment_numbers
from holdfast.data._schema.calendar import UNITS, read_moment, starts, unit_of_seconds
from holdfast.data._schema.schema import to_toml
from holdfast.errors import FormatError, ParameterError

AnyDateTime: Any = DateTime
AnyNumeric: Any = Numeric
AnyCategorical: Any = Categorical
AnyHierarchy: Any = Hierarchy
MOMENTS = st.datetimes(datetime.datetime(1, 1, 2), datetime.datetime(9999, 12, 30))
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)


@given(st.lists(MOMENTS, min_size=1, max_size=20), st.sampled_from(UNITS))
@settings(max_examples=30, deadline=None)
def test_stored_and_written_moments_are_one(found: list[datetime.datetime], unit: str) -> None:
    """Arrow's timestamps, ISO texts and texts of a format are read as the same unit, which Python's calendar begins."""
    column = DateTime("d", "0001-01-02", "9999-12-30", unit=unit, bins=3, format="%d/%m/%Y %H:%M:%S")
    found = [one.replace(microsecond=0) for one in found]
    stored = moment_numbers(column, pa.array(found, pa.timestamp("us")))
    for texts in (
        [one.isoformat() for one in found],
        [f"{one:%d/%m/}{one.year:04d}{one: %H:%M:%S}" for one in found],
    ):
        np.testing.assert_array_equal(moment_numbers(column, pa.array(texts)), stored)
    begins = as_dates(column, stored.astype(np.int64), None).to_pylist()
    for one, begin in zip(found, begins, strict=True):
        assert begin == _begin(one, unit)


def _begin(one: datetime.datetime, unit: str) -> Any:
    day = one.date()
    match unit:
        case "year":
            return day.replace(month=1, day=1)
        case "quarter":
            return day.replace(month=3 * ((day.month - 1) // 3) + 1, day=1)
        case "month":
            return day.replace(day=1)
        case "week":
            return day - datetime.timedelta(days=day.weekday())
        case "day":
            return day
        case "hour":
            return one.replace(minute=0, second=0)
        case "minute":
            return one.replace(second=0)
    return one


@given(st.integers(-62_000_000_000, 250_000_000_000), st.sampled_from(UNITS))
def test_a_unit_begins_in_itself(second: int, unit: str) -> None:
    number = unit_of_seconds([second], unit)
    begin = starts(number, unit).astype(np.int64)
    assert begin[0] <= second
    assert unit_of_seconds(begin, unit)[0] == number[0]


DIGITS = st.text("0123456789./-: T", min_size=6, max_size=19)
DATES = st.builds(
    lambda d, m, y, t: f"{d}{t}{m}{t}{y}",
    st.integers(0, 32),
    st.integers(0, 13),
    st.integers(0, 9999),
    st.sampled_from("./-"),
)


@given(st.lists(st.one_of(DIGITS, DATES, MOMENTS.map(str), WORDS, st.none()), min_size=1, max_size=40))
@settings(max_examples=6, deadline=None)
def test_databases_read_any_text_as_memory_does(texts: list[str | None]) -> None:
    schema = Schema(
        [
            DateTime("x", "1990-01-01", "2030-12-31", format="%d.%m.%Y", null="category"),
            Categorical(
                "y",
                ["A", "ß", "É1", "1"],
                aliases={"a.": "A"},
                nulls=["-"],
                trim=True,
                fold=True,
                null="none",
            ),
        ]
    )
    rows = pa.table({"x": pa.array(texts, pa.string()), "y": pa.array(texts, pa.string())})
    with duckdb.connect() as connection:
        connection.register("t", rows)
        counts = open_table(connection, schema, table="t").counts([["x", "y"]])[0]
    np.testing.assert_array_equal(counts, open_table(rows, schema).counts([["x", "y"]])[0])


FORMS = (
    "%d-%b-%Y",
    "%b %Y",
    "%d. %b %y",
    "%m/%d/%Y %I:%M:%S %p",
    "%d%b%Y",
    "%Y-%m",
    "%Y年%m月%d日",
    "%m%d%Y",
)
NAMES = st.sampled_from("jan Feb MÄR mars Mai june Jul août SEPT. Okt November dez feber x ma".split())
PARTS = st.tuples(
    st.integers(0, 32),
    st.one_of(NAMES, st.integers(0, 13).map(str), st.integers(1, 12).map("{:02d}".format)),
    st.one_of(st.integers(1960, 2040), st.integers(0, 99)),
    st.integers(0, 13),
    st.integers(0, 60),
    st.sampled_from(["AM", "pm", "P.M.", "a.m.", "xm", ""]),
)


def written(form: str, parts: tuple[int, str, int, int, int, str]) -> str:
    """A text that looks like one of the format, and is one if its parts are."""
    day, month, year, hour, minute, half = parts
    signs = {"%d": f"{day:02d}", "%b": month, "%m": month, "%Y": str(year), "%y": str(year), "%I": str(hour)}
    signs |= {"%M": f"{minute:02d}", "%S": "07", "%p": half}
    for sign, text in signs.items():
        form = form.replace(sign, text)
    return form


@given(st.lists(st.tuples(st.sampled_from(FORMS), PARTS), min_size=5, max_size=40))
@settings(max_examples=2, deadline=None)
def test_months_by_name_and_hours_after_noon_are_one_in_databases(drawn: list[Any]) -> None:
    """One text alone, a column of them, and SQL read the same moment, or none."""
    for form in FORMS:
        column = DateTime("x", "1960-01-01", "2040-12-31", unit="hour", bins=20, format=form, null="category")
        day = DateTime("y", "2001-05-03 00:00", "2001-05-04 00:00", unit="hour", format=form, null="category")
        usual = [(3, "5", 2001, 9, 5, half) for half in ("AM", "PM", "p.m.")]
        texts = [written(form, parts) for parts in [*usual, *(parts for _, parts in drawn)]] + [
            None,
            "2001-02-03",
        ]
        rows = pa.table({name: pa.array(texts, pa.string()) for name in "xy"})
        read = moment_numbers(column, rows["x"])
        alone = [float("nan") if text is None else read_moment(text, "hour", form) for text in texts]
        np.testing.assert_array_equal(read, alone)
        with duckdb.connect() as connection:
            connection.register("t", rows)
            counts = open_table(connection, Schema([column, day]), table="t").counts([["x"], ["y"]])
        for here, there in zip(
            counts, open_table(rows, Schema([column, day])).counts([["x"], ["y"]]), strict=True
        ):
            np.testing.assert_array_equal(here, there)
    assert read_moment("3-Mai-2021", "day", "%d-%b-%Y") == read_moment("2021-05-03", "day", "iso")
    assert read_moment("12/31/2020 12:30:00 AM", "hour", "%m/%d/%Y %I:%M:%S %p") == 447048


@st.composite
def columns(draw: st.DrawFn) -> Any:
    kind = draw(st.sampled_from(["date", "hierarchy", "log", "words"]))
    if kind == "date":
        low, high = sorted(draw(st.lists(MOMENTS, min_size=2, max_size=2, unique_by=lambda one: one.year)))
        unit = draw(st.sampled_from(UNITS[:5]))
        bins = draw(st.sampled_from([None, 1, 7, "year"]))
        dtype = draw(st.sampled_from([None, "date", "timestamp[ms, UTC]"]))
        return DateTime(
            "c", low, high, unit=unit, bins=bins, null=draw(st.sampled_from(["low", "category"])), dtype=dtype
        )
    if kind == "log":
        least = draw(st.sampled_from([-50.0, 0.0, 0.5]))
        smallest = 1.0 if least <= 0 else None
        few = draw(st.integers(2, 12))
        return Numeric("c", least, 1e4, bins=few, spacing="log", smallest=smallest, nulls=[-9, "x"])
    names = draw(
        st.lists(st.text("abAB é", min_size=2, max_size=4), min_size=2, max_size=5, unique_by=str.lower)
    )
    if kind == "hierarchy":
        coarser: Any = [1] if draw(st.booleans()) else [{name: "all" for name in names}]
        return Hierarchy(
            "c", names, coarser=coarser, level=draw(st.sampled_from([None, 0, 1])), other="(other)"
        )
    return Categorical(
        "c", names, aliases={"*'\"": names[0]}, fold=True, nulls=["\\"], ordered=draw(st.booleans())
    )


@given(columns())
@settings(deadline=None)
def test_files_give_back_what_was_declared(column: Any) -> None:
    schema = Schema([column])
    again = Schema.from_dict(tomllib.loads(to_toml(schema, {"c": ["a note\nof two lines"], "": ["another"]})))
    assert again == schema
    assert again.hash() == schema.hash()
    assert len(column.labels) == column.cells
    assert len(set(column.labels)) == column.cells


def test_unused_options_leave_the_hash_alone() -> None:
    """What nobody declared is not written."""
    record = Schema([Numeric("a", 0, 1), Categorical("b", ["x"])]).to_dict()
    assert record["columns"] == [
        {"name": "a", "kind": "numeric", "low": 0.0, "high": 1.0, "integer": False, "null": "midpoint"},
        {"name": "b", "kind": "categorical", "categories": ["x"]},
    ]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: AnyDateTime("d", "2024-13-01", "2025-01-01"), "moment must be a date"),
        (lambda: AnyDateTime("d", "2025-01-01", "2024-01-01"), "low must be"),
        (lambda: AnyDateTime("d", "2024-01-01", "2025-01-01", unit="fortnight"), "unit must be one of"),
        (
            lambda: AnyDateTime("d", "2024-01-01", "2025-01-01", bins="hour"),
            "bins must be a unit that is not finer",
        ),
        (lambda: AnyDateTime("d", "2024-01-01", "2025-01-01", format="%d %B %Y"), "format must be"),
        (lambda: AnyDateTime("d", "2024-01-01", "2025-01-01", format="%Y-%d-%m"), "format must not"),
        (
            lambda: AnyDateTime("d", "0001-01-01", "9999-01-01", unit="second", bins="minute"),
            "a unit of which",
        ),
        (lambda: AnyDateTime("d", "2024-01-01", "2025-01-01", decimals=2), "decimals must be left out"),
        (lambda: AnyNumeric("n", 0, 9, spacing="log"), "smallest must be declared"),
        (lambda: AnyNumeric("n", 1, 9, spacing="sqrt"), "spacing must be one of"),
        (lambda: AnyNumeric("n", 1, 9, spacing="log", bins=[1, 9]), "spacing must be 'log' where"),
        (lambda: AnyNumeric("n", 0, 9, spacing="log", smallest=10), "smallest must be above 0"),
        (lambda: AnyNumeric("n", 0, 9, nulls="NA"), "nulls must be a list"),
        (lambda: AnyNumeric("n", 0, 9, nulls=[None]), "nulls must be a list of numbers or texts"),
        (lambda: AnyNumeric("n", 0, 9, decimals=True), "decimals must be"),
        (lambda: AnyCategorical("c", ["Yes", "yes"], fold=True), "stands for two of them"),
        (lambda: AnyCategorical("c", ["a", "b"], aliases={"a": "b"}), "stands for two of them"),
        (lambda: AnyCategorical("c", ["a", "b"], nulls=["a"]), "stands for two of them"),
        (lambda: AnyCategorical("c", ["a"], aliases={"x": "y"}), "must lead to a declared category"),
        (lambda: AnyCategorical("c", ["a"], trim="yes"), "trim must be true or false"),
        (lambda: AnyHierarchy("h", ["a"], coarser=[]), "coarser must be a list of levels"),
        (lambda: AnyHierarchy("h", ["a", "b"], coarser=[{"a": "x"}]), "must name every category"),
        (lambda: AnyHierarchy("h", ["ab", "ac"], coarser=[1, 2]), "must be coarser than the one below"),
        (lambda: AnyHierarchy("h", ["a"], coarser=[1], level=2), "level must be a whole number from 0"),
        (lambda: AnyHierarchy("h", ["a"], coarser=[0]), "a number of letters >= 1"),
        (lambda: AnyHierarchy("h", ["a"], coarser=["x"]), "coarser must be a list in which each is a whole"),
        (lambda: AnyHierarchy("h", 3, coarser=[1]), "categories must be a list"),
    ],
)
def test_bad_declarations_are_refused(make: Any, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        make()


def test_a_file_with_a_bad_date_is_refused() -> None:
    entry = {"name": "d", "kind": "datetime", "low": "soon", "high": "later"}
    with pytest.raises(FormatError, match="moment must be a date"):
        Schema.from_dict({"format": "holdfast-schema/1", "columns": [entry]})


def test_a_coarse_value_is_read_as_what_it_says() -> None:
    column = Hierarchy(
        "p", ["1011", "1012", "2009"], coarser=[2, {"10*": "east", "20*": "north"}], other="(other)"
    )
    values = ["1012", "10*", "east", "20*", "3000"]
    for level, cells in ((0, [1, 3, 3, 3, 3]), (1, [0, 0, 2, 1, 2]), (2, [0, 0, 0, 1, 2])):
        found = open_table({"p": values}, Schema([column.at(level)])).counts([["p"]])[0]
        assert found.tolist() == np.bincount(cells, minlength=column.at(level).cells).tolist()

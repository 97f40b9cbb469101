"""A sales export as people send it: what the draft makes of it, what the check says, and rows that come back."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast._cli.app import app
from holdfast.data import Categorical, DateTime, Hierarchy, Identifier, Numeric, Schema, open_table
from holdfast.data._draft import Draft, draft_of
from holdfast.data._draft.check import INTERNAL, check_table
from holdfast.data._draft.codes import code_levels
from holdfast.data._schema import UnconfirmedUnit
from holdfast.errors import DataError, ParameterError
from holdfast.synth import Synthesizer
from tests.servers import postgres

ROWS = 600


def sales() -> dict[str, list[str]]:
    """Orders of customers who come back, with all the spellings of one thing."""
    random = np.random.default_rng(4)
    days = np.datetime64("2023-01-01") + random.integers(0, 700, ROWS)
    written = ["{2}.{1}.{0}".format(*str(day).split("-")) for day in days]
    amounts = [f"{one:.2f}".replace(".", ",") for one in np.exp(random.normal(3.5, 1.8, ROWS))]
    codes = [f"{area}{place:03d}" for area in (10, 20, 45, 80) for place in range(100, 106)]
    pieces = random.poisson(3, ROWS).astype(str)
    for place in range(0, ROWS, 60):
        written[place], amounts[place], pieces[place] = "31.02.2023", "n/a", "-999"
    return {
        "order": [str(100_000 + place) for place in range(ROWS)],
        "customer_id": [f"K{one:04d}" for one in random.integers(0, 150, ROWS)],
        "sold": written,
        "amount": amounts,
        "pieces": pieces.tolist(),
        "postcode": random.choice(codes, ROWS).tolist(),
        "paid": random.choice(["Yes", "no", "YES", "No ", "y", "N", "n/a", ""], ROWS).tolist(),
        "size": random.choice(["small", "large", "Medium", "medium"], ROWS).tolist(),
        "churned": random.integers(0, 2, ROWS).astype(str).tolist(),
    }


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sales") / "sales.csv"
    columns = sales()
    lines = [";".join(columns), *(";".join(row) for row in zip(*columns.values(), strict=True))]
    path.write_bytes("\n".join(lines).encode("cp1252"))
    return path


@pytest.fixture(scope="module")
def draft(export: Path) -> Draft:
    return draft_of(str(export), target="churned")


def test_every_column_is_what_it_is(draft: Draft) -> None:
    schema = draft.schema
    assert schema.identifiers == ("order", "customer_id")
    sold, paid, place = schema["sold"], schema["paid"], schema["postcode"]
    assert isinstance(sold, DateTime)
    assert (sold.unit, sold.format, sold.null) == ("day", "%d.%m.%Y", "category")
    amount = schema["amount"]
    assert isinstance(amount, Numeric)
    assert (amount.edges[-3:], amount.decimals, amount.nulls) == ((1000.0, 3000.0, 10000.0), 2, ("n/a",))
    assert schema["pieces"].nulls == (-999.0,)
    assert isinstance(place, Hierarchy)
    assert (place.coarser, place.level) == ((2, 1), None)
    assert isinstance(paid, Categorical)
    assert (paid.trim, paid.fold, paid.nulls) == (True, True, ("n/a",))
    assert dict(paid.aliases) == {"N": "no", "y": "Yes"}
    assert isinstance(schema["size"], Categorical)
    assert schema["size"].ordered
    assert [label.lower() for label in schema["size"].declared_labels] == ["small", "medium", "large"]
    assert isinstance(schema["churned"], Categorical)
    assert schema["churned"].values == (0, 1)
    assert schema.unit == UnconfirmedUnit(["customer_id"])


def test_a_target_in_words_has_the_classes_that_were_found() -> None:
    frame = {"rating": ["low", "mid", "high"] * 20, "left": ["stayed", "left", "stayed"] * 20}
    made = draft_of(frame, target="left")
    left, rating = made.schema["left"], made.schema["rating"]
    assert isinstance(left, Categorical)
    assert isinstance(rating, Categorical)
    assert (left.values, left.other) == (("left", "stayed"), None)
    assert (rating.declared_labels[:3], rating.other, rating.ordered) == (
        ("low", "mid", "high"),
        "(other)",
        True,
    )


def test_every_guess_says_what_it_rests_on(draft: Draft) -> None:
    text = draft.to_toml()
    for column in draft.schema.columns:
        assert draft.reasons[column.name], column.name
    assert "# a date: 590 of 600 values are written %d.%m.%Y" in text
    assert "# target: 'churned' is a classification" in text
    assert "# one customer_id, of " in text
    assert Schema.from_dict(draft.schema.to_dict()) == draft.schema


@pytest.mark.parametrize(
    "kind", ["pandas", "polars", "parquet", "duckdb", pytest.param("postgres", marks=pytest.mark.slow)]
)
def test_the_same_from_frames_and_databases(kind: str, draft: Draft, tmp_path: Path) -> None:
    table = pa.table(
        {name: [None if text == "" else text for text in column] for name, column in sales().items()}
    )
    source: Any = {"pandas": table.to_pandas, "polars": lambda: pl.from_arrow(table)}.get(
        kind, lambda: None
    )()
    if kind == "parquet":
        source = tmp_path / "sales.parquet"
        parquet.write_table(table, source)
    if kind == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        with duckdb.connect(str(tmp_path / "s.db")) as connection:
            connection.register("arrived", table)
            connection.execute("CREATE TABLE sales AS SELECT * FROM arrived")
        source = f"duckdb:///{tmp_path / 's.db'}?table=sales"
    if kind == "postgres":
        server = postgres.required_server()
        server.load(table, "sales of a draft")
        source = server.url("sales of a draft")
        told = {one.name: one for one in check_table(source, publicly_known(draft)).columns}
        assert told["sold"].unread == 10
    found = draft_of(source).schema
    assert [type(one) for one in found.columns if one.name != "amount"] == [
        type(one)
        for one in draft.schema.columns
        if one.name != "amount"  # its decimal comma is that of a CSV file
    ]
    assert found.unit == draft.schema.unit


def test_stored_types_are_kept(tmp_path: Path) -> None:
    rows = pa.table(
        {
            "age": pa.array(range(100), pa.int8()),
            "paid": pa.array([1.5, 2.25] * 50, pa.float32()),
            "kind": pa.array(["a", "b"] * 50).dictionary_encode(),
            "seen": pa.array([datetime.datetime(2024, 1, 1, 8, 30)] * 100, pa.timestamp("ms")),
            "grade": pa.DictionaryArray.from_arrays(
                pa.array([0, 1, 2, 1] * 25), ["x", "y", "z"], ordered=True
            ),
        }
    )
    parquet.write_table(rows, tmp_path / "typed.parquet")
    for source in (
        rows,
        rows.to_pandas(),
        pl.from_arrow(rows.drop_columns(["grade"])),
        tmp_path / "typed.parquet",
    ):
        schema = draft_of(source).schema
        kinds = {name: schema[name].dtype for name in schema.names if name not in ("grade", "age")}
        assert kinds["paid"] == "float32"
        assert kinds["kind"] == "dictionary"
        assert str(kinds["seen"]).startswith("timestamp[")
        assert isinstance(schema["seen"], DateTime)
        assert schema["seen"].unit == "minute"
    graded = draft_of(rows).schema["grade"]
    assert isinstance(graded, Categorical)
    assert graded.ordered


def test_two_numbers_and_few_numbers_are_classes_of_a_target() -> None:
    rows = {"y": [0, 1, 2, 3] * 10, "flag": [0, 1] * 20, "year": [2020, 2021] * 20}
    assert isinstance(draft_of(rows).schema["y"], Numeric)
    assert isinstance(draft_of(rows, target="y").schema["y"], Categorical)
    assert isinstance(draft_of(rows).schema["flag"], Categorical)
    assert isinstance(draft_of(rows).schema["year"], Numeric)
    with pytest.raises(ParameterError, match="target must be one of the columns"):
        draft_of(rows, target="z")


# Checks.


def publicly_known(draft: Draft) -> Schema:
    """The draft once a person has replaced what was taken from the data."""
    record = draft.schema.to_dict()
    for column in record["columns"]:
        column.pop("taken_from_data", None)
        column.pop("dtype", None)
        if column["name"] == "amount":
            column |= {"low": 0.0, "high": 2000.0, "smallest": 1.0, "spacing": "log", "bins": 12}
        if column["name"] == "sold":
            column |= {"low": "2023-01-01", "high": "2024-12-31"}
    return Schema.from_dict(record).with_unit("customer_id", max_rows=10)


def test_the_owner_sees_everything(draft: Draft, export: Path) -> None:
    record = publicly_known(draft).to_dict()
    for column in record["columns"]:
        if column["name"] == "size":
            column["categories"] = ["small", "large"]
        if column["name"] == "pieces":
            column |= {"low": 1.0, "high": 5.0}
    found = check_table(str(export), Schema.from_dict(record))
    told = {one.name: one for one in found.columns}
    rows = sales()
    assert told["sold"].unread == 10
    assert told["sold"].examples == (("31.02.2023", 10),)
    assert told["size"].unknown == sum(one.lower() == "medium" for one in rows["size"])
    assert told["pieces"].below == rows["pieces"].count("0")
    assert told["pieces"].missing == 10
    assert told["amount"].missing == 10
    assert told["amount"].above == sum(
        float(one.replace(",", ".")) > 2000 for one in rows["amount"] if one != "n/a"
    )
    assert found.summary().startswith(INTERNAL)
    owned = pd.Series(rows["customer_id"]).value_counts()
    assert (
        f"{int((owned > 10).sum())} of {len(owned)} units" in found.summary() or int((owned > 10).sum()) == 0
    )


def neighbours(draft: Draft, export: Path, tmp_path: Path) -> list[Path]:
    """The export, and one in which every value is strange."""
    other = tmp_path / "other.csv"
    head, *lines = export.read_text(encoding="cp1252").splitlines()
    other.write_text("\n".join([head, *(";".join("?!" for _ in line.split(";")) for line in lines[:50])]))
    publicly_known(draft).save(tmp_path / "sales.toml")
    return [export, other]


def test_others_see_nothing_of_any_row(draft: Draft, export: Path, tmp_path: Path) -> None:
    """Output and exit status are those of any table with these columns."""

    def run(path: Path, *options: str) -> tuple[int, str]:
        done = CliRunner().invoke(app, ["schema", "check", str(path), str(tmp_path / "sales.toml"), *options])
        return done.exit_code, done.output

    one, two = neighbours(draft, export, tmp_path)
    assert run(one) == run(two)
    assert run(one)[0] == 0
    assert run(one, "--json") == run(two, "--json")
    code, told = run(two, "--internal")
    assert code == 1
    assert INTERNAL in told
    assert json.loads(run(two, "--internal", "--json")[1])["marked"] == INTERNAL


def test_lines_in_another_encoding_are_found(tmp_path: Path) -> None:
    """In UTF-8 they are rows without values: nothing fails, and nothing is learned unless somebody looks."""
    path = tmp_path / "towns.csv"
    path.write_bytes("town\nMünchen\nUlm\n".encode("latin-1"))
    found = check_table(str(path), Schema([Categorical("town", ["München", "Ulm"])]))
    assert any("1 rows have no value in any column" in finding for finding in found.findings)
    with pytest.raises(DataError, match="missing or repeated"):
        check_table(str(path), Schema([Categorical("city", ["Ulm"])]))


# Rows back.


@pytest.mark.filterwarnings("ignore::holdfast.errors.NotPrivateWarning")
@pytest.mark.parametrize("kind", ["pandas", "polars", "csv"])
def test_from_the_draft_to_rows(kind: str, draft: Draft, export: Path) -> None:
    schema = publicly_known(draft)
    table = pa.table(sales())
    sources: dict[str, Any] = {
        "pandas": table.to_pandas,
        "polars": lambda: pl.from_arrow(table),
        "csv": lambda: str(export),
    }
    made = Synthesizer(2.0, 1e-5, method="independent", random_state=3).fit(sources[kind](), schema)
    rows = made.sample()
    listed: Sequence[Any] = rows["sold"].to_pylist() if kind == "csv" else rows["sold"].to_list()
    first = next(one for one in listed if isinstance(one, datetime.date))
    assert datetime.date(2023, 1, 1) <= first <= datetime.date(2024, 12, 31)
    place = made._contents.schema["postcode"]
    assert isinstance(place, Hierarchy)
    assert place.level == 2  # noise of a few dozen rows over 24 codes: areas and even regions drown first
    declared = made._contents.schema
    again = open_table(rows, Schema([declared[name] for name in declared.names]))
    codes = made._rows
    for name in ("postcode", "size", "paid", "sold"):
        assert np.array_equal(again.counts([[name]])[0], codes([name]))


@pytest.mark.filterwarnings("ignore::holdfast.errors.NotPrivateWarning")
def test_the_level_follows_from_public_numbers_alone() -> None:
    """Whatever the rows hold: the budget, the declared column and how many rows there are decide."""
    column = Hierarchy("code", [f"{one:02d}" for one in range(100)], coarser=[1])
    schema = Schema([column, Categorical("x", ["a"])])
    for rows, epsilon, level in ((200, 1.0, 1), (20_000, 1.0, 0), (200, 1000.0, 0)):
        for values in (["07"] * rows, [f"{place % 100:02d}" for place in range(rows)]):
            made = Synthesizer(epsilon, 1e-6, method="independent", random_state=1)
            fitted = made.fit({"code": values, "x": ["a"] * rows}, schema)
            chosen = fitted._contents.schema["code"]
            assert isinstance(chosen, Hierarchy)
            assert chosen.level == level
            assert made.estimate(schema, rows=rows).largest_group == chosen.cells


def test_an_identifier_is_no_target() -> None:
    draft = draft_of({"id": [f"p{i}" for i in range(500)], "x": [1.0] * 500}, target="id")
    assert isinstance(draft.schema.columns[0], Identifier)
    assert "identifier" in draft.reasons[""][-1]


@pytest.mark.filterwarnings("ignore:the schema is a draft")
def test_amounts_are_drafted_as_they_are_written() -> None:
    """With what the guess rests on; a column whose numbers are all plain, and texts with numbers in them, are not."""
    euros = [f"{place % 9}.{place % 900 + 100},{place % 90 + 10} \u20ac" for place in range(300)]
    thousands = [f"{place % 7 + 1},{place % 900 + 100}" for place in range(300)]
    rows = {
        "euros": euros,
        "thousands": thousands,
        "level": [f"Level {place % 4}" for place in range(300)],
        "share": ["12 %", "7 %", None] * 100,
        "plain": [f"{place}.5" for place in range(300)],
        "dollars": ["$5", "-$1,200.50", "n/a"] * 100,
        "code": [f"{place % 50:03d}" for place in range(300)],
    }
    draft = draft_of(rows)
    found = {one.name: one for one in draft.schema.columns}
    written = {name: getattr(one, "written_as", None) for name, one in found.items()}
    assert written == {
        "euros": "1.234,5 \u20ac",
        "thousands": "1,234.5",
        "level": None,
        "share": "1234.5 %",
        "plain": None,
        "dollars": "$1,234.5",
        "code": None,
    }
    dollars = found["dollars"]
    assert isinstance(dollars, Numeric)
    assert (dollars.low, dollars.high, dollars.nulls) == (-1300.0, 100.0, ("n/a",))
    assert "200 of 200 texts write numbers as '$1,234.5' is 1234.5, 0 plainly" in " ".join(
        draft.reasons["dollars"]
    )
    assert "'1234,5' would fit as well" in " ".join(draft.reasons["thousands"])
    assert not check_table(rows, draft.schema).findings


def test_names_and_scales_of_other_languages() -> None:
    rows = {
        "Patienten-Nr": [f"P{place % 400:05d}" for place in range(800)],
        "kundenNr": [f"K{place:05d}" for place in range(800)],
        "Schweregrad": ["leicht", "mittel", "schwer", "k. A."] * 200,
        "Q1": ["Agree", "Strongly agree", "Somewhat disagree", "Prefer not to say"] * 200,
    }
    draft = draft_of(rows)
    assert draft.schema.identifiers == ("Patienten-Nr", "kundenNr")
    assert draft.schema.unit == UnconfirmedUnit(["Patienten-Nr", "kundenNr"])
    grade, answer = draft.schema["Schweregrad"], draft.schema["Q1"]
    assert isinstance(grade, Categorical)
    assert isinstance(answer, Categorical)
    assert (grade.ordered, grade.categories, grade.nulls) == (
        True,
        ("leicht", "mittel", "schwer"),
        ("k. A.",),
    )
    assert answer.categories == ("Somewhat disagree", "Agree", "Strongly agree")
    assert answer.nulls == ("Prefer not to say",)


def test_what_nothing_can_read_is_left_out_and_said(tmp_path: Path) -> None:
    """Nested columns and empty ones; words are listed as people list them."""
    rows = pa.table(
        {
            "who": [{"id": 1}] * 40,
            "tags": [["a"], None] * 20,
            "empty": pa.nulls(40, pa.string()),
            "class": ["10A", "9B", "9a", "b"] * 10,
        }
    )
    parquet.write_table(rows, tmp_path / "rows.parquet")
    for source in (rows, tmp_path / "rows.parquet"):
        draft = draft_of(source)
        assert draft.schema.names == ("class",)
        assert draft.schema["class"].labels[:4] == ("9a", "9B", "10A", "b")
        said = " ".join(draft.reasons[""])
        assert "left out: 'who' is stored as struct<id: int64>, which no kind of column reads" in said
        assert "left out: 'tags' is stored as list<" in said
        assert "left out: 'empty' holds no value" in said


def test_numbers_of_things_are_identifiers_and_no_codes_or_amounts() -> None:
    """Policies, meters and readers, as registers number them: never categories, never a feature."""
    draw = np.random.default_rng(7)
    policies, meters, cards = (draw.integers(0, most, 3000) for most in (2000, 400, 900))
    rows = {
        "policy": [f"P{one:06d}" for one in policies],
        "meter": [f"M{one:05d}" for one in meters],
        "card": 20_000 + cards,
        "reader": 1 + cards,
        "distance": cards,
        "ward": [f"W{one:02d}" for one in meters % 25],
        "post": [f"{1000 + one}" for one in meters],
    }
    schema = draft_of(rows).schema
    assert schema.identifiers == ("policy", "meter", "card", "reader")
    assert (schema["distance"].kind, schema["ward"].kind, schema["post"].kind) == (
        "numeric",
        "categorical",
        "hierarchy",
    )
    assert schema["post"].to_dict()["coarser"] == [
        2
    ]  # all begin with 1: a level that tells nothing apart is none


def test_orders_that_are_stored_are_kept(tmp_path: Path) -> None:
    """Red is before amber, whatever the alphabet says."""
    lights = ["red", "amber", "green"]
    frame = pd.DataFrame({"light": pd.Categorical(["green", "red"] * 20, categories=lights, ordered=True)})
    frame.to_parquet(tmp_path / "lights.parquet")
    enumerated = pl.DataFrame({"light": pl.Series(["green", "red"] * 20, dtype=pl.Enum(lights))})
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t AS SELECT 'red'::ENUM('red', 'amber', 'green') AS light")
        sources = (
            frame,
            str(tmp_path / "lights.parquet"),
            enumerated,
            pa.table(frame),
            connection.table("t"),
        )
        for source in sources:
            light = draft_of(source).schema["light"]
            assert isinstance(light, Categorical)
            assert (list(light.categories), light.ordered) == (lights, True)


def test_truth_values_are_the_same_in_every_file(tmp_path: Path) -> None:
    frame = pd.DataFrame({"paid": [True, False, True] * 9})
    frame.to_csv(tmp_path / "t.csv", index=False)
    drafted, written = draft_of(frame).schema, draft_of(str(tmp_path / "t.csv")).schema
    assert drafted["paid"] == written["paid"] == Categorical("paid", ["false", "true"], fold=True)
    assert not check_table(str(tmp_path / "t.csv"), drafted.with_unit("row")).findings


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the schema is a draft")
def test_a_server_declares_types_and_orders() -> None:
    """What PostgreSQL stores as numeric or uuid is read, and what nothing reads is named."""
    server = postgres.required_server()
    server.run(
        "CREATE TYPE light AS ENUM ('red', 'amber', 'green')",
        "CREATE TABLE typed AS SELECT (i * 1.25)::numeric(8, 2) AS price, (i / 3.0) AS ratio, gen_random_uuid() "
        "AS who, i::smallint % 90 AS age, 'green'::light AS light, money '2.5' AS cash FROM generate_series(1, 300) i",
        "GRANT SELECT ON typed TO reader",
    )
    draft = draft_of(server.url("typed"))
    price, ratio, light = (draft.schema[name] for name in ("price", "ratio", "light"))
    assert isinstance(price, Numeric)
    assert isinstance(ratio, Numeric)
    assert isinstance(light, Categorical)
    assert (price.low, price.high, price.dtype, price.decimals) == (0.0, 400.0, "decimal(8, 2)", 2)
    assert ratio.high == 100.0
    assert (light.categories, light.ordered) == (("red", "amber", "green"), True)
    assert draft.schema.identifiers == ("who",)
    assert "left out: 'cash' is stored as money, which no kind of column reads" in draft.reasons[""]
    assert not check_table(server.url("typed"), draft.schema).findings


@settings(max_examples=60)
@given(
    st.lists(st.integers(0, 99_999), min_size=2, max_size=40, unique=True),
    st.sets(st.integers(1, 4), min_size=1, max_size=4),
)
def test_levels_of_codes_that_lost_their_zeros_nest(numbers: list[int], asked: set[int]) -> None:
    """However many digits codes have, and however many levels are asked for: a hierarchy, whose steps are prefixes."""
    words = sorted(map(str, numbers))
    levels = code_levels(words, sorted(asked, reverse=True))
    if levels:
        column = Hierarchy("code", words, coarser=levels)
        width = max(map(len, words))
        for names in column.steps[1:]:
            for word, name in zip(words, names, strict=True):
                assert word.zfill(width).startswith(name.rstrip("*")) or word.startswith(name.rstrip("*"))


def test_a_large_count_is_no_marker_and_an_answer_is() -> None:
    """Brothers and sisters from 0 on, fewer of each, and an 8; answers from 1 on, and an 8 or 9."""
    random = np.random.default_rng(8)
    rows: dict[str, Any] = {
        "siblings": random.choice([0, 1, 2, 3, 4, 5, 8], 2_000, p=[0.68, 0.2, 0.05, 0.03, 0.02, 0.01, 0.01]),
        "answer": random.choice([1, 2, 3, 4, 9], 2_000, p=[0.2, 0.3, 0.3, 0.18, 0.02]),
    }
    drafted = draft_of(rows).schema
    assert isinstance(drafted["siblings"], Numeric)
    assert (drafted["siblings"].nulls, drafted["siblings"].high) == ((), 8.0)
    assert isinstance(drafted["answer"], Categorical) or drafted["answer"].nulls == (9.0,)


def test_labels_in_letters_that_look_like_digits_are_texts() -> None:
    drafted = draft_of({"place": ["²a", "①b", "٣c", "4d"] * 9}).schema["place"]
    assert isinstance(drafted, Categorical)
    assert set(drafted.declared_labels) == {"²a", "①b", "٣c", "4d"}


def test_illnesses_with_points_and_postcodes_of_letters_are_codes() -> None:
    random = np.random.default_rng(4)
    rows = {
        "diagnosi": random.choice(
            [f"{k}.{d}" for k in range(140, 900, 9) for d in (0, 1, 9)], 3_000
        ).tolist(),
        "postcode": random.choice(
            [f"{a}{b} {c}XB" for a in ("SW", "M", "LS") for b in range(1, 20, 2) for c in (1, 4, 7)],
            3_000,
        ).tolist(),
        "measure": random.choice([f"{k}.5" for k in range(300)], 3_000).tolist(),
    }
    drafted = draft_of(rows).schema
    assert isinstance(drafted["diagnosi"], Hierarchy)
    assert isinstance(drafted["postcode"], Hierarchy)
    assert type(drafted["measure"]) is Numeric


@given(st.lists(st.integers(-(10**18), 10**18), min_size=1, max_size=6), st.integers(1, 40))
@settings(max_examples=40)
def test_large_whole_numbers_are_drafted_as_something(values: list[int], times: int) -> None:
    """Whatever their size, and however few: the draft is a schema that is read back, as numbers and as texts."""
    for column in (values * times, [str(value) for value in values * times]):
        draft = draft_of({"n": column, "x": list(range(len(column)))})
        assert Schema.from_dict(draft.schema.to_dict()) == draft.schema

"""Findings E1, E2, E4, E6 and E7: what files do to other rows, and data or passwords on the screen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

from holdfast._cli.app import app
from holdfast.data import (
    Categorical,
    Encoder,
    Identifier,
    Numeric,
    Order,
    RowSum,
    Schema,
    Table,
    draft_schema,
    open_table,
)
from holdfast.learn import PrivateLogisticRegression
from holdfast.privacy import Account, PrivacyUnit, PureDP
from holdfast.synth import Marginal, Synthesizer, Workload

pytestmark = [
    pytest.mark.filterwarnings(f"ignore::holdfast.errors.{name}")
    for name in ("AssumptionWarning", "BudgetWarning", "NotPrivateWarning")
]
NAN, INFINITY = float("nan"), float("inf")


def finding(number: str, what: str) -> pytest.MarkDecorator:
    return pytest.mark.xfail(strict=True, raises=AssertionError, reason=f"finding {number}: {what}")


def seeded(seed: int) -> Any:
    """The coins that choose among a user's rows, the same for every engine."""
    return Account(PureDP(1.0), seed=seed).source


# E1: missing numbers in Parquet files.


def _polars(table: pa.Table, path: Path) -> None:
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    frame.write_parquet(path)


def _as_view(path: Path, schema: Schema) -> Table:
    connection = duckdb.connect()
    connection.execute(f"CREATE VIEW rows AS SELECT * FROM read_parquet('{path}')")
    return open_table(connection, schema, table="rows")


_OPEN: list[duckdb.DuckDBPyConnection] = []
"""Relations of older versions of DuckDB do not keep their connections."""


def _as_filtered(path: Path, schema: Schema) -> Table:
    _OPEN.append(duckdb.connect())
    return open_table(_OPEN[-1].sql(f"SELECT * FROM read_parquet('{path}') WHERE here"), schema)


WRITERS: dict[str, Callable[[pa.Table, Path], None]] = {"pyarrow": parquet.write_table, "polars": _polars}
READERS: dict[str, Callable[[Path, Schema], Table]] = {
    "file": open_table,
    "view": _as_view,
    "filtered": _as_filtered,
}
POLICIES: dict[str, Numeric | Categorical] = {
    "category": Numeric("x", 0, 1, bins=2, null="category"),
    "low": Numeric("x", 0, 1, bins=2, null="low"),
    "number": Numeric("x", 0, 1, bins=2, null=0.1),
    "categorical": Categorical("x", ["0.25", "0.75"], other="(other)", null="(missing)"),
}


@pytest.mark.share(13)
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()], ids=str)
@pytest.mark.parametrize("policy", POLICIES)
def test_a_nan_in_a_file_follows_its_columns_policy(
    tmp_path: Path, policy: str, kind: pa.DataType, writer: str, reader: str
) -> None:
    stored = pa.table({"x": pa.array([0.25, 0.75, NAN, NAN, 0.75, NAN], kind), "here": [True] * 6})
    schema = Schema([POLICIES[policy]])
    expected = open_table(stored, schema).counts([["x"]])[0].tolist()
    WRITERS[writer](stored, tmp_path / "rows.parquet")
    with READERS[reader](tmp_path / "rows.parquet", schema) as table:
        assert table.counts([["x"]])[0].tolist() == expected


HALF_MISSING = np.where(np.arange(1000) % 2 == 0, NAN, np.arange(1000) / 1000)


@pytest.mark.parametrize("other", [INFINITY, -INFINITY, None])
def test_one_row_moves_no_other_row_to_another_cell(tmp_path: Path, other: float | None) -> None:
    schema = Schema([Numeric("x", 0, 1, bins=2, null="category")])
    counted = []
    for place, last in enumerate((0.5, other)):
        path = tmp_path / f"{place}.parquet"
        parquet.write_table(pa.table({"x": pa.array([*HALF_MISSING[:-1].tolist(), last])}), path)
        with open_table(path, schema) as table:
            counted.append(table.counts([["x"]])[0])
    assert int(np.abs(counted[0] - counted[1]).sum()) <= 2


def test_released_shares_of_neighbouring_files_agree(tmp_path: Path) -> None:
    schema = Schema([Numeric("x", 0, 1, bins=2, null="category")])
    values = np.tile(HALF_MISSING, 20)
    shares = []
    for place, last in enumerate((0.5, INFINITY)):
        path = tmp_path / f"{place}.parquet"
        parquet.write_table(pa.table({"x": [*values[:-1].tolist(), last]}), path)
        made = Synthesizer(
            epsilon=5.0,
            delta=1e-6,
            method="independent",
            workload=Workload([Marginal(("x",))]),
            random_state=1,
        )
        shares.append(made.fit(path, schema).answer()[("x",)].estimates[-1])
    assert abs(shares[0] - shares[1]) < 0.01


def _kept(source: Any, schema: Schema) -> NDArray[np.int64]:
    """Which rows take part: 1 for each tag of a row that was kept."""
    with open_table(source, schema, entropy=seeded(5)) as table:
        return table.counts([["tag"]])[0]


def _of_users(rows: int, *, max_rows: int) -> Schema:
    return Schema(
        [
            Identifier("who"),
            Numeric("x", 0, 1, bins=4, null="category"),
            Categorical("tag", list(range(rows))),
        ],
        unit=PrivacyUnit.user("who", max_rows=max_rows),
    )


def test_one_user_changes_no_rows_that_others_keep(tmp_path: Path) -> None:
    users, each = 40, 6
    rng = np.random.default_rng(1)
    x = np.where(rng.random(users * each) < 0.5, NAN, rng.uniform(0, 1, users * each))
    schema = _of_users(users * each, max_rows=2)
    kept = []
    for place, last in enumerate((0.5, INFINITY)):
        path = tmp_path / f"{place}.parquet"
        rows = {"who": np.repeat(np.arange(users), each), "x": [*x[:-1].tolist(), last]}
        parquet.write_table(pa.table(rows | {"tag": np.arange(users * each)}), path)
        kept.append(_kept(path, schema)[:-each])
    assert int(np.sum(kept[0] != kept[1])) == 0


def test_rows_whose_user_is_nan_belong_to_the_user_of_no_name(tmp_path: Path) -> None:
    who = [1.0, *[NAN] * 30, 2.0]
    stored = pa.table({"who": who, "x": [0.5] * 32, "tag": list(range(32))})
    schema = _of_users(32, max_rows=2)
    parquet.write_table(stored, tmp_path / "rows.parquet")
    assert _kept(tmp_path / "rows.parquet", schema).tolist() == _kept(stored, schema).tolist()


def test_an_order_by_keyed_hash_is_that_of_the_values_whatever_the_file_says(tmp_path: Path) -> None:
    stored = pa.table({"who": [1.0, 2.0, NAN, 3.0, 4.0, 5.0, 6.0, 7.0], "tag": list(range(8))})
    schema = Schema([Identifier("who"), Categorical("tag", list(range(8)))])
    parquet.write_table(stored, tmp_path / "rows.parquet")
    read = []
    for source in (tmp_path / "rows.parquet", stored):
        order = Order.keyed_hash("who", key=b"k" * 32, neighbours_keep_identifier=True, source=seeded(3))
        with open_table(source, schema) as table:
            read.append(
                [code for batch in table.batches(["tag"], order=order) for code in batch.codes("tag")]
            )
    assert read[0] == read[1]


# E2: rows of the data in what is raised or printed.

SECRET = "Geheimrat"
BROKEN = {
    "a field too many": f"76,{SECRET},yes,more",
    "a field too few": f"76,{SECRET}",
    "a stray quote": f'76,"{SECRET}"x,yes',
    "an open quote": f'76,"{SECRET},yes',
}


def _told(error: BaseException | None) -> str:
    """All that a traceback would show of the messages."""
    words = []
    while error is not None:
        words.append(f"{error} {error.args}")
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return "\n".join(words)


def _broken_csv(path: Path, line: str, *, rows: int) -> Path:
    """A table that is well-formed but for one line near its end."""
    lines = [f"{i % 90},Frau {i},{'yes' if i % 3 else 'no'}" for i in range(rows)]
    lines[-rows // 4] = line
    path.write_text("\n".join(["age,name,ill", *lines, ""]))
    return path


CLINIC = Schema([Numeric("age", 0, 100), Categorical("ill", ["no", "yes"])])


@pytest.mark.parametrize("fault", BROKEN)
def test_an_error_while_rows_are_read_quotes_no_row(tmp_path: Path, fault: str) -> None:
    path = _broken_csv(tmp_path / "clinic.csv", BROKEN[fault], rows=150_000)
    raised = None
    with open_table(path, CLINIC) as table:
        try:
            for _ in table.batches(order=Order.irrelevant()):
                pass
        except Exception as error:
            raised = error
    assert SECRET not in _told(raised)


def test_an_error_while_rows_are_summed_quotes_no_row(tmp_path: Path) -> None:
    path = _broken_csv(tmp_path / "clinic.csv", BROKEN["a field too many"], rows=150_000)
    raised = None
    with open_table(path, CLINIC) as table:
        try:
            table.sums(RowSum(Encoder(CLINIC)))
        except Exception as error:
            raised = error
    assert SECRET not in _told(raised)


def _model(folder: Path) -> Path:
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (300, 1))
    model = PrivateLogisticRegression(epsilon=1.0, delta=1e-6, random_state=1, classes=["no", "yes"])
    model.fit(x, np.where(x[:, 0] > 0, "yes", "no"))
    assert model.release_ is not None
    model.release_.save(folder / "model.holdfast")
    return folder / "model.holdfast"


def _shown(*arguments: str | Path) -> str:
    """All that a person at the screen could see, a traceback's messages with it."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return f"{result.output}\n{_told(result.exception)}"


@pytest.mark.parametrize("fault", ["a field too many", "a field too few"])
@pytest.mark.parametrize("command", ["attack membership", "attack synthetic", "audit"])
def test_a_command_that_reads_a_broken_csv_prints_no_row(tmp_path: Path, command: str, fault: str) -> None:
    broken = _broken_csv(tmp_path / "clinic.csv", BROKEN[fault], rows=400)
    CLINIC.save(tmp_path / "clinic.toml")
    arguments: dict[str, list[str | Path]] = {
        "attack membership": [
            _model(tmp_path),
            "--members",
            broken,
            "--non-members",
            broken,
            "--target",
            "ill",
        ],
        "attack synthetic": [
            broken,
            "--schema",
            tmp_path / "clinic.toml",
            "--members",
            broken,
            "--non-members",
            broken,
        ],
        "audit": ["numpy:mean", "--data", broken, "--epsilon", "1", "--adjacency", "add_remove"],
    }
    assert SECRET not in _shown(*command.split(), *arguments[command])


def test_an_audit_of_a_table_of_texts_prints_no_value(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"age": ["76", SECRET]}), tmp_path / "clinic.parquet")
    shown = _shown(
        "audit",
        "numpy:mean",
        "--data",
        tmp_path / "clinic.parquet",
        "--epsilon",
        "1",
        "--adjacency",
        "add_remove",
    )
    assert SECRET not in shown


# E6 and E7: files that are not as declared.

NOT_UTF8 = {
    "latin-1": "age,name,ill\n76,M\u00fcller,yes\n40,x,no\n".encode("latin-1"),
    "utf-16": "age,name,ill\n76,Geheimrat,yes\n".encode("utf-16"),
    "utf-16-le": "age,name,ill\n76,Geheimrat,yes\n".encode("utf-16-le"),
    "ragged": b"age,name,ill\n76,Geheimrat\n40,x,no\n50,x,yes,1\n",
    "stray quote": b'age,name,ill\n76,"Geheimrat,yes\n40,x"y,no\n',
    "empty": b"",
    "no line end": b"Geheimrat",
}


@pytest.mark.parametrize("content", NOT_UTF8)
@pytest.mark.parametrize(
    "command", ["fit", "synth", "schema draft", "attack membership", "attack synthetic", "audit"]
)
def test_no_command_ends_in_a_traceback_over_a_csv_file(tmp_path: Path, command: str, content: str) -> None:
    path = tmp_path / "clinic.csv"
    path.write_bytes(NOT_UTF8[content])
    CLINIC.save(tmp_path / "clinic.toml")
    schema: list[str | Path] = ["--schema", tmp_path / "clinic.toml"]
    members: list[str | Path] = ["--members", path, "--non-members", path]
    arguments: dict[str, list[str | Path]] = {
        "fit": [
            path,
            *schema,
            "--target",
            "ill",
            "--epsilon",
            "1",
            "--delta",
            "0.01",
            "-o",
            tmp_path / "m.holdfast",
        ],
        "synth": [path, *schema, "--epsilon", "1", "--delta", "0.01", "-o", tmp_path / "made.parquet"],
        "schema draft": [path],
        "attack membership": [_model(tmp_path), *members, "--target", "ill"],
        "attack synthetic": [path, *schema, *members],
        "audit": ["numpy:mean", "--data", path, "--epsilon", "1", "--adjacency", "add_remove"],
    }
    result = CliRunner().invoke(app, [*command.split(), *map(str, arguments[command])])
    assert result.exception is None or isinstance(result.exception, SystemExit), _told(result.exception)
    if command != "schema draft":  # which shows values
        assert "Geheimrat" not in result.output


# E4: passwords.

PASSWORD, QUOTED = "hush@hush", "hush%40hush"
AT = f"clerk:{QUOTED}@127.0.0.1:1/clinic?table=visits"
URLS = {
    "postgresql": f"postgresql://{AT}",
    "postgres": f"postgres://{AT}",
    "in the query": f"postgresql://127.0.0.1:1/clinic?table=visits&user=clerk&password={QUOTED}",
    "without slashes": f"postgresql:{AT}",
    "keywords": f"host=127.0.0.1 port=1 user=clerk password={PASSWORD}",
}


@pytest.mark.parametrize("form", URLS)
def test_schema_draft_prints_no_password(form: str) -> None:
    shown = _shown("schema", "draft", URLS[form])
    assert PASSWORD not in shown
    assert QUOTED not in shown


@pytest.mark.parametrize("form", URLS)
def test_draft_schema_raises_no_password(form: str) -> None:
    raised = None
    try:
        draft_schema(URLS[form])
    except Exception as error:
        raised = error
    assert PASSWORD not in _told(raised)
    assert QUOTED not in _told(raised)


@pytest.mark.parametrize("form", ["without slashes", "keywords"])
@pytest.mark.parametrize("command", ["fit", "synth"])
def test_a_mistyped_url_is_not_printed(tmp_path: Path, command: str, form: str) -> None:
    CLINIC.save(tmp_path / "clinic.toml")
    target = ["--target", "ill"] if command == "fit" else []
    promise = ["--epsilon", "1", "-o", str(tmp_path / "made.parquet")]
    shown = _shown(command, URLS[form], "--schema", tmp_path / "clinic.toml", *target, *promise)
    assert PASSWORD not in shown
    assert QUOTED not in shown


@pytest.mark.parametrize("command", ["attack membership", "attack synthetic", "audit", "compare"])
def test_a_url_in_the_place_of_a_file_is_not_printed(tmp_path: Path, command: str) -> None:
    url = URLS["postgresql"]
    (tmp_path / "made.parquet").touch()
    arguments: dict[str, list[str | Path]] = {
        "attack membership": [tmp_path / "made.parquet", "--members", url],
        "attack synthetic": [tmp_path / "made.parquet", "--members", url],
        "audit": ["numpy:mean", "--data", url],
        "compare": [url],
    }
    assert QUOTED not in _shown(*command.split(), *arguments[command])

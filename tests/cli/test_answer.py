"""`holdfast answer`: a query in, numbers with intervals out, paid once."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as parquet
import pytest
from click.testing import CliRunner, Result

from holdfast._cli.app import app
from holdfast.data import Categorical, Identifier, Numeric, Schema
from holdfast.ledger import Ledger
from holdfast.privacy import ApproxDP, PrivacyUnit
from holdfast.statistics import StatisticsTable

QUERY = "select ward, count(*) as visits, avg(cost) from t where cost > 5 group by ward order by visits desc"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def visits(tmp_path: Path) -> tuple[str | Path, ...]:
    """A file of patients with several visits, its schema, and the arguments that name them."""
    rows = 1200
    frame = {
        "patient": [place // 3 for place in range(rows)],
        "ward": ["a" if place % 4 else "b" for place in range(rows)],
        "cost": [float(10 + place % 50) for place in range(rows)],
    }
    parquet.write_table(pa.table(frame), tmp_path / "visits.parquet")
    Schema(
        [Identifier("patient"), Categorical("ward", ["a", "b", "c"]), Numeric("cost", 0, 100)],
        adjacency="add_remove",
        unit=PrivacyUnit("patient", max_rows=3),
    ).save(tmp_path / "visits.toml")
    return ("answer", tmp_path / "visits.parquet", QUERY, "--schema", tmp_path / "visits.toml")


def test_files_hold_what_the_query_shows_and_all_that_was_released(
    visits: tuple[str | Path, ...], tmp_path: Path
) -> None:
    table, release = tmp_path / "answer.csv", tmp_path / "answer.holdfast"
    result = run(*visits, "--epsilon", "2", "-o", table, "--release", release)
    assert result.exit_code == 0, result.output
    shown = pyarrow.csv.read_csv(table)
    assert shown["ward"].to_pylist()[:2] == ["a", "b"]
    assert shown.column_names[:4] == ["ward", "visits", "visits_low", "visits_high"]
    assert StatisticsTable.load(release).tables[0].rows == 3
    assert "a     9" in result.output or "a     8" in result.output
    assert "epsilon 2" in result.output


def test_a_ledger_pays_once_for_the_same_query(visits: tuple[str | Path, ...], tmp_path: Path) -> None:
    ledger, release = tmp_path / "budget.db", tmp_path / "answer.holdfast"
    with Ledger.create(ledger) as opened:
        opened.dataset(
            "clinic",
            limit=ApproxDP(3.0, 1e-6),
            adjacency="add_remove",
            unit=PrivacyUnit("patient", max_rows=3),
        )
    paid = (*visits, "--epsilon", "1", "--ledger", ledger, "--dataset", "clinic", "--release", release)
    first = run(*paid)
    assert first.exit_code == 0, first.output
    release.unlink()
    before = run("ledger", "show", ledger, "--json").output
    again = run(*paid)
    assert again.exit_code == 0, again.output
    assert run("ledger", "show", ledger, "--json").output == before
    assert release.is_file()


def test_explain_spends_and_reads_nothing(visits: tuple[str | Path, ...], tmp_path: Path) -> None:
    result = run(*visits, "--epsilon", "1", "--explain", "--json")
    assert result.exit_code == 0, result.output
    questions = json.loads(result.output)["questions"]
    assert [question["name"] for question in questions] == ["visits", "mean_cost"]
    assert questions[1]["half_widths"]["100"] > questions[1]["half_widths"]["10000"] > 0
    assert not questions[0]["half_widths"]  # its bound is chosen privately
    assert sorted(path.name for path in tmp_path.iterdir()) == ["visits.parquet", "visits.toml"]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--epsilon", "1"), "--output or --release"),
        ((), "--epsilon"),
        (("--epsilon", "1", "-o", "answer.xlsx"), "output must end in one of"),
        (("--epsilon", "1", "--release", "a.holdfast", "--confidence", "0.3"), "confidence"),
    ],
)
def test_what_is_left_open_is_refused(
    visits: tuple[str | Path, ...],
    options: tuple[str, ...],
    text: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*visits, *options)
    assert result.exit_code == 2
    assert text in result.output
    assert not (tmp_path / "a.holdfast").exists()

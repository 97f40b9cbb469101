"""`holdfast fit` and `holdfast synth` take the URL of a DuckDB table."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow.parquet as parquet
import pytest
from click.testing import CliRunner, Result

from holdfast._cli.app import app
from holdfast.data import Categorical, Numeric, Schema
from holdfast.learn import load_model


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def clinic(tmp_path: Path) -> tuple[str, ...]:
    """The URL of a table with a hostile column name, and the option that names its schema."""
    with duckdb.connect(str(tmp_path / "clinic.db")) as connection:
        connection.execute(
            'CREATE TABLE visits AS SELECT i % 100 AS "age"";--", '
            "CASE WHEN (i * 7919) % 100 < i % 100 THEN 'yes' ELSE 'no' END AS ill FROM range(4000) AS r(i)"
        )
    Schema([Numeric('age";--', 0, 100, bins=4), Categorical("ill", ["no", "yes"])]).save(
        tmp_path / "clinic.toml"
    )
    return (f"duckdb:///{tmp_path / 'clinic.db'}?table=visits", "--schema", str(tmp_path / "clinic.toml"))


@pytest.mark.parametrize("method", ["auto", "bolt_on"])
def test_a_model_is_fitted(clinic: tuple[str, ...], tmp_path: Path, method: str) -> None:
    model = tmp_path / "model.holdfast"
    told = ("--target", "ill", "--method", method, "--epsilon", "5", "--delta", "1e-6", "-o", model)
    shown = run("fit", *clinic, *told)
    assert shown.exit_code == 0, shown.output
    assert load_model(model).predict({'age";--': [1, 99]}).tolist() == ["no", "yes"]


def test_rows_are_synthesised(clinic: tuple[str, ...], tmp_path: Path) -> None:
    output = tmp_path / "synthetic.parquet"
    shown = run(
        "synth", *clinic, "--method", "independent", "--epsilon", "5", "--delta", "1e-6", "-o", output
    )
    assert shown.exit_code == 0, shown.output
    made = parquet.read_table(output)
    assert made.num_rows == 4000
    assert made.column_names == ['age";--', "ill"]
    assert 1_500 < made["ill"].to_pylist().count("yes") < 2_500


def test_what_cannot_be_opened_is_said_without_the_engines_words(
    clinic: tuple[str, ...], tmp_path: Path
) -> None:
    """And with the way out: which tables there are, how a table is named, who has the file."""
    url, *rest = clinic
    told = (*rest, "--target", "ill", "--epsilon", "5", "-o", str(tmp_path / "model.holdfast"))
    said = {
        url.replace("visits", "absent"): "has no table 'absent' in schema 'main'; it holds visits",
        url.replace("clinic.db", "gone.db"): "must exist, got",
        "duckdb://clinic.db?table=visits": "four slashes for an absolute path",
        str(tmp_path / "clinic.db"): "a table of a DuckDB file is duckdb:///PATH?table=NAME",
    }
    for source, words in said.items():
        shown = run("fit", source, *told)
        assert shown.exit_code == 2, shown.output
        assert words in shown.output
        assert "Traceback" not in shown.output
    with duckdb.connect(str(tmp_path / "clinic.db")):
        assert "is open for writing" in run("fit", url, *told).output
    assert run("schema", "check", url.replace("visits", "Visits"), rest[-1]).exit_code == 0

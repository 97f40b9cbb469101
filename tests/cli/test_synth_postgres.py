"""`holdfast synth` takes the URL of a PostgreSQL table and never pulls a row of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from click.testing import CliRunner

from holdfast._cli.app import app
from holdfast.data import Categorical, Numeric, Schema
from tests.servers.postgres import READER_PASSWORD, Server


@pytest.mark.parametrize("method", ["auto", "gaussian"])
def test_rows_are_synthesised_in_plain_sql(postgres_server: Server, tmp_path: Path, method: str) -> None:
    ages = np.arange(3000) % 100
    ill = np.where((np.arange(3000) * 7919) % 100 < ages, "yes", "no")
    postgres_server.load(pa.table({"age": ages, "ill": ill}), "synth clinic")
    Schema([Numeric("age", 0, 100, bins=4), Categorical("ill", ["no", "yes"])]).save(tmp_path / "clinic.toml")
    output = tmp_path / "synthetic.parquet"
    try:
        shown = CliRunner().invoke(
            app,
            [
                "synth",
                postgres_server.url("synth clinic", way="sql"),
                "--schema",
                str(tmp_path / "clinic.toml"),
                "--method",
                method,
                "--epsilon",
                "5",
                "--delta",
                "1e-6",
                "-o",
                str(output),
            ],
        )
    finally:
        postgres_server.run('DROP TABLE "synth clinic"')
    assert shown.exit_code == 0, shown.output
    assert READER_PASSWORD not in shown.output
    made = parquet.read_table(output)
    assert made.num_rows == 3000
    old = np.asarray(made["age"]) >= 75
    sick = np.asarray(made["ill"]) == "yes"
    assert sick[old].mean() - sick[~old].mean() > 0.3

"""`holdfast synth`: files in, files out, and a ledger that pays once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as parquet
import pytest
from click.testing import CliRunner, Result

from holdfast._cli.app import app
from holdfast._cli.result_files import write_files
from holdfast.data import Categorical, Numeric, Schema
from holdfast.ledger import Ledger
from holdfast.privacy import ApproxDP
from holdfast.release import Release
from holdfast.synth import Synthesizer


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def clinic(tmp_path: Path) -> tuple[str, ...]:
    """A file, its schema, and the options that name them."""
    random = np.random.default_rng(3)
    age = random.integers(0, 100, 2000)
    frame = {"age": age, "ill": np.where(age > 50, "yes", "no"), "ward": random.integers(1, 4, 2000)}
    parquet.write_table(pa.table(frame), tmp_path / "clinic.parquet")
    columns: list[Any] = [
        Numeric("age", 0, 100, bins=4, integer=True),
        Categorical("ill", ["no", "yes"]),
        Categorical("ward", [1, 2, 3]),
    ]
    Schema(columns).save(tmp_path / "clinic.toml")
    return (
        "synth",
        str(tmp_path / "clinic.parquet"),
        "--schema",
        str(tmp_path / "clinic.toml"),
        "--method",
        "independent",
    )


@pytest.mark.parametrize("ending", ["parquet", "csv", "arrow"])
def test_rows_and_release_are_written(clinic: tuple[str, ...], tmp_path: Path, ending: str) -> None:
    output, release = tmp_path / f"synthetic.{ending}", tmp_path / "out.holdfast"
    shown = run(*clinic, "--epsilon", "1", "--delta", "1e-9", "-o", output, "--release", release)
    assert shown.exit_code == 0, shown.output
    assert "largest error: at most" in shown.output
    read = {"parquet": parquet.read_table, "csv": pyarrow.csv.read_csv, "arrow": pyarrow.feather.read_table}
    table = read[ending](output)
    assert table.num_rows == 2000
    assert table.column_names == ["age", "ill", "ward"]
    back = Synthesizer.from_release(Release.load(release))
    assert back.sample()["ward"].to_pylist() == table["ward"].to_pylist()
    again = run(*clinic, "--epsilon", "1", "-o", output)
    assert again.exit_code == 2
    assert "--force" in again.output


def test_json_tells_the_same(clinic: tuple[str, ...], tmp_path: Path) -> None:
    shown = run(*clinic, "--epsilon", "1", "-o", tmp_path / "s.csv", "--rows", "50", "--json")
    record = json.loads(shown.stdout)
    assert record["rows"] == 50
    assert record["certificates"][0]["name"] == "largest error"
    assert record["private"] is True


def test_an_estimate_spends_and_writes_nothing(clinic: tuple[str, ...]) -> None:
    for flag in ("--estimate", "--dry-run"):
        shown = run(*clinic, "--epsilon", "1", flag)
        assert shown.exit_code == 0, shown.output
        assert "nothing was spent" in shown.output
    record = json.loads(run(*clinic, "--epsilon", "1", "--estimate", "--json").output)
    assert record["queries"] == 24


def test_a_target_and_an_objective_are_passed_on(clinic: tuple[str, ...]) -> None:
    asked = (*clinic[:-1], "auto", "--epsilon", "1", "--estimate", "--json")
    found = [
        json.loads(run(*asked, "--target", "ill", *more).output)["method"]
        for more in ((), ("--objective", "largest"))
    ]
    assert found == ["adaptive", "gaussian"]


def test_workloads_and_impossible_combinations_come_from_files(
    clinic: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "w.json").write_text('[["age", "ill"], ["ward"]]')
    (tmp_path / "w.txt").write_text("# pairs\nage, ill\n\nward  # alone\n")
    (tmp_path / "never.json").write_text('[{"ill": "yes", "ward": ["1", "2"]}, {"ill": "no", "ward": "3"}]')
    for name in ("w.json", "w.txt"):
        shown = run(*clinic, "--epsilon", "1", "--workload", tmp_path / name, "--estimate", "--json")
        assert json.loads(shown.output)["queries"] == 11
    output = tmp_path / "s.parquet"
    shown = run(*clinic, "--epsilon", "1", "-o", output, "--impossible", tmp_path / "never.json")
    assert shown.exit_code == 0, shown.output
    pairs = {(row["ill"], row["ward"]) for row in parquet.read_table(output).to_pylist()}
    assert pairs <= {("yes", 3), ("no", 1), ("no", 2)}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("-o", "s.parquet"), "--epsilon"),
        (("--epsilon", "1"), "--output"),
        (("--epsilon", "1", "-o", "s.xlsx"), "must end in"),
        (("--epsilon", "1", "-o", "s.csv", "--ledger", "x"), "x"),
        (("--epsilon", "1", "-o", "s.csv", "--account", "a"), "given together"),
        (("--epsilon", "1", "-o", "s.csv", "--workload", "k=three"), "k=N"),
        (("--epsilon", "-1", "-o", "s.csv"), "epsilon"),
        (("--epsilon", "1", "-o", "s.csv", "--target", "salary"), "target must be one of the columns"),
        (("--epsilon", "1", "-o", "s.csv", "--objective", "worst"), "worst"),
    ],
)
def test_bad_usage_is_refused(clinic: tuple[str, ...], options: tuple[str, ...], words: str) -> None:
    shown = run(*clinic, *options)
    assert shown.exit_code == 2
    assert words in shown.output
    assert not Path("s.csv").exists()


def test_bad_files_are_refused(clinic: tuple[str, ...], tmp_path: Path) -> None:
    for text in ("[1, 2]", "[[", '{"a": 1}\n'):
        (tmp_path / "w.json").write_text(text)
        shown = run(*clinic, "--epsilon", "1", "--workload", tmp_path / "w.json", "--estimate")
        assert shown.exit_code == 2
    (tmp_path / "never.json").write_text("[3]")
    assert (
        run(*clinic, "--epsilon", "1", "--impossible", tmp_path / "never.json", "--estimate").exit_code == 2
    )


def test_a_named_account_is_resumed_and_pays_once(
    clinic: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    budget = tmp_path / "budget.db"
    with Ledger.create(budget) as ledger:
        ledger.dataset("clinic", limit=ApproxDP(1.0, 1e-6), currency="zcdp")
    options = ("--ledger", budget, "--dataset", "clinic", "--account", "june", "-o", tmp_path / "s.csv")
    fail = [True]

    def out_of_disk(release: Any, files: Any) -> None:
        if fail.pop():
            raise OSError(28, "No space left on device", "s.csv")
        write_files(release, files)

    monkeypatch.setattr("holdfast._cli.payment.write_files", out_of_disk)
    assert run(*clinic, *options).exit_code == 2
    fail.append(False)
    with Ledger.open(budget) as ledger:
        spent = sum(entry.kind == "charge" for entry in ledger.history())
    again = run(*clinic, *options)
    assert again.exit_code == 0, again.output
    with Ledger.open(budget) as ledger:
        assert ledger.verify().ok
        charges = [entry for entry in ledger.history() if entry.kind == "charge"]
    assert len(charges) == spent == 2
    refused = run(*clinic, "--ledger", budget, "--dataset", "clinic", "-o", tmp_path / "t.csv")
    assert refused.exit_code == 3

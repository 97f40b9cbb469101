from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from click.testing import CliRunner, Result

from holdfast._cli.app import app
from holdfast.data import Categorical, Numeric, Schema
from holdfast.learn import load_model
from holdfast.ledger import Ledger
from holdfast.privacy import ApproxDP


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def clinic(tmp_path: Path) -> tuple[str, ...]:
    """A file, its schema, and the options that name them."""
    rng = np.random.default_rng(3)
    age = rng.integers(0, 100, 3000)
    ill = np.where(age + rng.normal(0, 10, 3000) > 50, "yes", "no")
    parquet.write_table(pa.table({"age": age, "ill": ill}), tmp_path / "clinic.parquet")
    Schema([Numeric("age", 0, 100), Categorical("ill", ["no", "yes"])]).save(tmp_path / "clinic.toml")
    return ("fit", str(tmp_path / "clinic.parquet"), "--schema", str(tmp_path / "clinic.toml"))


def test_a_model_is_fitted_saved_and_loaded(clinic: tuple[str, ...], tmp_path: Path) -> None:
    model, weights = tmp_path / "model.holdfast", tmp_path / "weights.json"
    shown = run(
        *clinic, "--target", "ill", "--epsilon", "2", "--delta", "1e-6", "-o", model, "--weights", weights
    )
    assert shown.exit_code == 0, shown.output
    assert "PrivateLogisticRegression" in shown.output
    assert "changing the data of one row" in shown.output
    loaded = load_model(model)
    assert loaded.predict({"age": [5, 95]}).tolist() == ["no", "yes"]
    assert loaded.release_.guarantee.epsilon(1e-6) == pytest.approx(2.0, rel=1e-3)
    assert json.loads(weights.read_text())["classes"] == ["no", "yes"]
    again = run(*clinic, "--target", "ill", "--epsilon", "2", "-o", model)
    assert again.exit_code == 2
    assert "--force" in again.output


def test_numbers_are_regressed(clinic: tuple[str, ...], tmp_path: Path) -> None:
    shown = run(*clinic, "--target", "age", "--epsilon", "5", "-o", tmp_path / "model.holdfast")
    assert shown.exit_code == 0, shown.output
    old, young = load_model(tmp_path / "model.holdfast").predict({"ill": ["yes", "no"]})
    assert young < 45
    assert old > 55


def test_a_ledger_pays_and_refuses(clinic: tuple[str, ...], tmp_path: Path) -> None:
    budget = tmp_path / "budget.db"
    with Ledger.create(budget) as ledger:
        ledger.dataset("clinic", limit=ApproxDP(1.0, 1e-6), currency="gdp", adjacency="replace")
    paid = ("--target", "ill", "--ledger", budget, "--dataset", "clinic", "--epsilon", "0.8")
    first = run(*clinic, *paid, "-o", tmp_path / "first.holdfast")
    assert first.exit_code == 0, first.output
    with Ledger.open(budget) as ledger:
        assert ledger.spent("clinic").epsilon(1e-6) == pytest.approx(0.8, rel=1e-3)
        ledger.verify().require()
    second = run(*clinic, *paid, "-o", tmp_path / "second.holdfast")
    assert second.exit_code == 3, second.output
    assert not (tmp_path / "second.holdfast").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--target", "ill"), "--epsilon must be given"),
        (("--target", "ill", "--epsilon", "0"), "epsilon must be > 0"),
        (("--target", "ill", "--epsilon", "1", "--delta", "0.1"), "delta must be < 1 / n"),
        (("--target", "height", "--epsilon", "1"), "columns must be among"),
        (("--target", "ill", "--epsilon", "1", "--model", "ridge"), "target must be a numeric column"),
        (("--target", "ill", "--epsilon", "1", "--dataset", "x"), "given together"),
    ],
)
def test_bad_input_exits_with_2(
    clinic: tuple[str, ...], tmp_path: Path, options: tuple[str, ...], words: str
) -> None:
    shown = run(*clinic, *options, "-o", tmp_path / "model.holdfast")
    assert shown.exit_code == 2, shown.output
    assert words in shown.output
    assert not (tmp_path / "model.holdfast").exists()

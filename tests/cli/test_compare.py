from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from click.testing import CliRunner, Result

from holdfast._cli.app import app
from holdfast.data import Categorical, Identifier, Numeric, Schema
from holdfast.privacy import PrivacyUnit
from tests.dossier.dossier_samples import counts, model


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_releases_side_by_side(tmp_path: Path) -> None:
    counts().save(tmp_path / "a.holdfast")
    model().save(tmp_path / "b.holdfast")
    shown = run("compare", tmp_path / "a.holdfast", tmp_path / "b.holdfast", "-o", tmp_path / "c.html")
    assert shown.exit_code == 0, shown.output
    assert "weight of age" in shown.output
    assert "Releases side by side" in (tmp_path / "c.html").read_text(encoding="utf-8")
    again = run("compare", tmp_path / "a.holdfast", tmp_path / "a.holdfast", "--json")
    assert json.loads(again.stdout)["names"] == ["a", "a (2)"]
    refused = run("compare", tmp_path / "a.holdfast", tmp_path / "b.holdfast", "-o", tmp_path / "c.html")
    assert refused.exit_code == 2
    assert "--force" in refused.output


def test_methods_on_own_data(tmp_path: Path) -> None:
    age = np.random.default_rng(3).integers(0, 100, 600)
    parquet.write_table(
        pa.table({"age": age, "ill": np.where(age > 50, "yes", "no")}), tmp_path / "t.parquet"
    )
    Schema([Numeric("age", 0, 100), Categorical("ill", ["no", "yes"])]).save(tmp_path / "t.toml")
    data = ("compare", "--data", tmp_path / "t.parquet", "--schema", tmp_path / "t.toml")
    shown = run(*data, "--target", "ill", "--methods", "output", "--fits", "1", "--json")
    assert shown.exit_code == 0, shown.output
    assert json.loads(shown.stdout)["audience"] == "internal"
    for wrong in (
        ("--target", "ill"),
        ("--target", "height", "--methods", "output"),
        ("--target", "ill", "--methods", "magic"),
    ):
        assert run(*data, *wrong).exit_code == 2


@pytest.mark.parametrize("arguments", [(), ("--methods", "output")])
def test_nothing_to_compare_exits_with_2(arguments: tuple[str, ...]) -> None:
    assert run("compare", *arguments).exit_code == 2


def test_several_epsilons_draw_a_curve(tmp_path: Path) -> None:
    age = np.random.default_rng(3).integers(0, 100, 300)
    parquet.write_table(
        pa.table({"age": age, "ill": np.where(age > 50, "yes", "no")}), tmp_path / "t.parquet"
    )
    Schema([Numeric("age", 0, 100), Categorical("ill", ["no", "yes"])]).save(tmp_path / "t.toml")
    data = ("compare", "--data", tmp_path / "t.parquet", "--schema", tmp_path / "t.toml", "--target", "ill")
    asked = (
        "--epsilon",
        "0.1,2",
        "--epsilon",
        "8",
        "--accuracy",
        "0.7",
        "--fits",
        "2",
        "--methods",
        "output",
    )
    shown = run(*data, *asked, "-o", tmp_path / "c.html")
    assert shown.exit_code == 0, shown.output
    assert "without privacy" in shown.output
    assert "output: " in shown.output
    page = (tmp_path / "c.html").read_text(encoding="utf-8")
    assert '<aside class="banner"' in page
    assert "Accuracy against epsilon" in page
    for wrong in (("--epsilon", "1,many"), ("--epsilon", "1,2", "--fits", "1"), ("--accuracy", "2")):
        assert run(*data, *wrong).exit_code == 2


@pytest.mark.parametrize("command", ["compare", "plan"])
def test_a_schema_with_identifiers_is_no_obstacle(tmp_path: Path, command: str) -> None:
    draw = np.random.default_rng(3)
    age = draw.integers(0, 100, 300)
    columns = {
        "who": [f"P{row // 2}" for row in range(300)],
        "age": age,
        "ill": np.where(age > 50, "yes", "no"),
    }
    parquet.write_table(pa.table(columns), tmp_path / "t.parquet")
    who, ill = Identifier("who"), Categorical("ill", ["yes", "no"])
    Schema([Numeric("age", 0, 100), who, ill], unit=PrivacyUnit.user("who", max_rows=2)).save(
        tmp_path / "t.toml"
    )
    given = "--data" if command == "compare" else "--public-data"
    more = ("--methods", "auto,additive", "--fits", "1", "--delta", "1e-4") if command == "compare" else ()
    shown = run(
        command, given, tmp_path / "t.parquet", "--schema", tmp_path / "t.toml", "--target", "ill", *more
    )
    assert shown.exit_code == 0, shown.output
    if command == "compare":
        assert "AUC" in shown.output
        assert "log loss" in shown.output

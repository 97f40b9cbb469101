from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from click.testing import CliRunner, Result

from holdfast._cli.app import app
from holdfast.data import Categorical, Numeric, Schema, open_table
from holdfast.dossier._stored_evidence import read_attacks
from holdfast.errors import FormatError
from holdfast.learn import PrivateLogisticRegression, PrivateRidge


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def _people(count: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 100, count)
    ill = np.where(age + rng.normal(0, 20, count) > 50, "yes", "no")
    return pa.table({"ill": ill, "age": age, "sex": rng.choice(["F", "M"], count)})


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """Members, others, a schema and a model of a table."""
    parquet.write_table(_people(1500, 1), tmp_path / "members.parquet")
    parquet.write_table(_people(400, 2), tmp_path / "other.parquet")
    schema = Schema(
        [Numeric("age", 0, 100), Categorical("ill", ["no", "yes"]), Categorical("sex", ["F", "M"])]
    )
    with open_table(tmp_path / "members.parquet", schema) as table:
        model = PrivateLogisticRegression(epsilon=1.0).fit(table, target="ill")
    assert model.release_ is not None
    model.release_.save(tmp_path / "m.holdfast")
    return tmp_path


def _attack(house: Path, *more: str | Path) -> Result:
    return run(
        "attack",
        "membership",
        house / "m.holdfast",
        "--members",
        house / "members.parquet",
        "--non-members",
        house / "other.parquet",
        "--target",
        "ill",
        *more,
    )


def test_a_saved_model_is_attacked_and_the_result_is_marked(house: Path) -> None:
    shown = _attack(house, "--plot", house / "roc.svg", "--exposed", "2")
    assert shown.exit_code == 0, shown.output
    assert "INTERNAL" in shown.stderr
    assert "SENSITIVE" in shown.stdout
    for name in ("loss", "entropy", "modified_entropy", "quantile", "correctness"):
        assert name in shown.stdout
    assert "not made: lira" in shown.stdout
    assert "verdict: consistent" in shown.stdout
    assert (house / "roc.svg").is_file()


def test_machine_readable_and_to_a_file(house: Path) -> None:
    shown = _attack(house, "--json", "--attacks", "loss,entropy")
    plain = json.loads(shown.stdout)
    assert plain["audience"] == "internal"
    assert [entry["attack"] for entry in plain["attacks"]] == ["loss", "entropy"]
    written = _attack(house, "--json", "-o", house / "found.json")
    assert written.exit_code == 0
    assert json.loads((house / "found.json").read_text())["verdict"] == "consistent"


def test_numbers_in_a_csv_file(house: Path) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 2))
    y = np.clip(X @ [0.5, 0.2], -1, 1)
    model = PrivateRidge(epsilon=1.0, target_bounds=(-1, 1)).fit(X, y)
    assert model.release_ is not None
    model.release_.save(house / "r.holdfast")
    for name, rows in (("a.csv", slice(0, 150)), ("b.csv", slice(150, 300))):
        lines = [f"{a},{b},{c}" for (a, b), c in zip(X[rows], y[rows], strict=True)]
        (house / name).write_text("\n".join(["u,v,dose", *lines]))
    shown = run(
        "attack",
        "membership",
        house / "r.holdfast",
        "--members",
        house / "a.csv",
        "--non-members",
        house / "b.csv",
        "--target",
        "dose",
        "--reference",
        house / "b.csv",
    )
    assert shown.exit_code == 0, shown.output
    assert "loss" in shown.stdout


def test_bad_usage_is_exit_code_2(house: Path) -> None:
    assert _attack(house, "--attacks", "gap").exit_code == 2
    assert (
        _attack(house, "--target", "sex").exit_code == 2
    )  # the model needs that column as a feature... and ill
    assert run("attack", "membership", house / "none", "--target", "ill").exit_code == 2
    lacking = _attack(house, "--target", "income")
    assert lacking.exit_code == 2
    assert "lacks the columns income" in lacking.stderr


def test_synthetic_rows_are_attacked(house: Path) -> None:
    Schema([Numeric("age", 0, 100), Categorical("ill", ["no", "yes"]), Categorical("sex", ["F", "M"])]).save(
        house / "s.toml"
    )
    people = ("--members", house / "members.parquet", "--non-members", house / "other.parquet")
    shown = run(
        "attack",
        "synthetic",
        house / "members.parquet",
        "--schema",
        house / "s.toml",
        *people,
        "--json",
    )
    assert shown.exit_code == 0, shown.output
    plain = json.loads(shown.stdout)
    assert [entry["attack"] for entry in plain["attacks"]] == [
        "density_ratio",
        "marginal_ratio",
        "nearest_row",
    ]
    assert plain["attacks"][0]["roc"]["found"][-1] == 1.0
    assert "INTERNAL" in shown.stderr
    words = run(
        "attack",
        "synthetic",
        house / "members.parquet",
        "--schema",
        house / "s.toml",
        *people,
        "--exposed",
        "1",
    )
    assert "measure little" in words.stdout
    assert "SENSITIVE" in words.stdout
    refused = run("attack", "synthetic", house / "members.parquet", *people)
    assert refused.exit_code == 2
    assert "--schema" in refused.stderr


def _guess(house: Path, *more: str | Path) -> Result:
    return run(
        "attack",
        "attribute",
        house / "m.holdfast",
        "--members",
        house / "members.parquet",
        "--fresh",
        house / "other.parquet",
        "--sensitive",
        "sex,age+sex",
        "--target",
        "ill",
        "--surest",
        "20",
        *more,
    )


def test_a_column_is_guessed_and_the_result_goes_to_the_internal_page_alone(house: Path) -> None:
    shown = _guess(house, "--plot", house / "risk.svg")
    assert shown.exit_code == 0, shown.output
    assert "epsilon does not limit this" in shown.stdout
    assert "age and sex" in shown.stdout
    assert "INTERNAL" in shown.stderr
    assert (house / "risk.svg").is_file()
    stored = house / "risk.json"
    assert _guess(house, "--json", "-o", stored).exit_code == 0
    assert [one["attack"] for one in json.loads(stored.read_text())["attacks"]] == [
        "inversion: sex",
        "inversion: age and sex",
    ]
    page = house / "internal.html"
    made = run("dossier", house / "m.holdfast", "-o", page, "--audience", "internal", "--attack", stored)
    assert made.exit_code == 0, made.output
    text = page.read_text()
    assert "Epsilon does not limit how well an attribute is guessed" in text
    assert "(inversion): not attacked here" not in text
    public = run("dossier", house / "m.holdfast", "-o", house / "p.html", "--attack", stored)
    assert public.exit_code == 2
    assert not (house / "p.html").exists()


def test_attribute_attacks_on_files_of_rows_need_a_schema(house: Path) -> None:
    refused = run(
        "attack",
        "attribute",
        house / "other.parquet",
        "--members",
        house / "members.parquet",
        "--fresh",
        house / "other.parquet",
        "--sensitive",
        "sex",
    )
    assert refused.exit_code == 2
    assert "--schema" in refused.stderr


def test_released_rows_are_attacked_for_whole_people_too(house: Path) -> None:
    schema = Schema(
        [Numeric("age", 0, 100, bins=10), Categorical("ill", ["no", "yes"]), Categorical("sex", ["F", "M"])]
    )
    schema.save(house / "s.toml")
    told = (house / "members.parquet", "--schema", house / "s.toml", "--members", house / "members.parquet")
    shown = run(
        "attack", "disclosure", *told, "--control", house / "other.parquet", "--number", "50", "--json"
    )
    assert shown.exit_code == 0, shown.output
    plain = json.loads(shown.stdout)
    assert plain["audience"] == "internal"
    assert {"linkability", "singling out"} <= {one["attack"].split(":")[0] for one in plain["attacks"]}
    assert plain["kind"] == "disclosure"
    (house / "disclosure.json").write_text(shown.stdout, encoding="utf-8")
    with pytest.raises(FormatError, match="a disclosure report has no curve to draw"):
        read_attacks(house / "disclosure.json")
    refused = run(
        "attack", "disclosure", house / "members.parquet", *told[3:], "--control", house / "other.parquet"
    )
    assert refused.exit_code == 2
    assert "--schema" in refused.stderr
    # In one report with the columns.
    both = run("attack", "attribute", *told, "--fresh", house / "other.parquet", "--sensitive", "sex")
    assert both.exit_code == 0, both.output
    assert "epsilon does not limit this" in both.stdout
    assert "disclosure by released rows" in both.stdout


def test_people_may_lie_in_a_database_and_labels_be_truth_values(tmp_path: Path) -> None:
    """As pandas writes them, True and False, for a model whose classes are truth values."""
    duckdb = pytest.importorskip("duckdb")
    people = _people(600, 1).to_pandas()
    people["ill"] = people["ill"] == "yes"
    others = people[400:]
    with duckdb.connect(str(tmp_path / "town.db")) as database:
        database.register("arrived", people[:400])
        database.execute("CREATE TABLE members AS FROM arrived")
    others.to_csv(tmp_path / "others.csv", index=False)
    schema = Schema(
        [Numeric("age", 0, 100), Categorical("ill", [False, True]), Categorical("sex", ["F", "M"])]
    )
    url = f"duckdb:///{tmp_path / 'town.db'}?table=members"
    with open_table(url, schema) as table:
        model = PrivateLogisticRegression(epsilon=1.0).fit(table, target="ill")
    assert model.release_ is not None
    model.release_.save(tmp_path / "m.holdfast")
    told = ("attack", "membership", tmp_path / "m.holdfast", "--target", "ill", "--attacks", "loss")
    shown = run(*told, "--members", url, "--non-members", tmp_path / "others.csv")
    assert shown.exit_code == 0, shown.output
    assert "400 members, 200 non-members" in shown.stdout
    for wrong, words in (
        ("nobody.csv", "file that exists, or a database URL, got 'nobody.csv'"),
        ("mysql://me:secret@host/db", "duckdb:// or postgresql:// URL, got a mysql URL"),
        (url.replace("=members", "=nobody"), "it holds members"),
    ):
        refused = run(*told, "--members", url, "--non-members", wrong)
        assert refused.exit_code == 2
        assert words in refused.stderr
        assert "secret" not in refused.stderr
    (tmp_path / "others.csv").write_text("age,sex,ill\n3,F,perhaps\n")
    refused = run(*told, "--members", url, "--non-members", tmp_path / "others.csv")
    assert "must hold the model's classes or numbers, and no row of it does" in refused.stderr
    assert "perhaps" not in refused.stderr


@pytest.mark.parametrize("name", ["roc.png", "roc.csv", "roc.svg.txt"])
def test_a_picture_is_svg_or_refused(house: Path, name: str) -> None:
    shown = _attack(house, "--plot", house / name)
    assert shown.exit_code == 2
    assert "end it in .svg" in shown.output
    assert not (house / name).exists()


def test_a_picture_without_an_ending_is_svg(house: Path) -> None:
    assert _attack(house, "--plot", house / "roc").exit_code == 0
    assert "<svg" in (house / "roc").read_text(encoding="utf-8")

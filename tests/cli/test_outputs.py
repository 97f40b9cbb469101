"""Every command asks whether its output can be written before it spends or computes anything."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from click.testing import CliRunner, Result

from holdfast._cli.app import app
from holdfast.data import Categorical, Numeric, Schema
from holdfast.ledger import Ledger
from holdfast.privacy import ApproxDP
from tests.dossier.dossier_samples import counts

Command = Callable[[Path], tuple[str | Path, ...]]


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    """A table, its schema, a ledger, two releases and a function, in one folder."""
    draw = np.random.default_rng(3)
    age = draw.integers(0, 100, 500)
    parquet.write_table(
        pa.table({"age": age, "ill": np.where(age > 50, "yes", "no")}), tmp_path / "clinic.parquet"
    )
    Schema([Numeric("age", 0, 100, bins=4), Categorical("ill", ["no", "yes"])]).save(tmp_path / "clinic.toml")
    with Ledger.create(tmp_path / "budget.db") as ledger:
        ledger.dataset("clinic", limit=ApproxDP(1.0, 1e-6), currency="zcdp")
    for name in ("a", "b"):
        counts().save(tmp_path / f"{name}.holdfast")
    return tmp_path


def _table(folder: Path) -> tuple[str | Path, ...]:
    return (
        folder / "clinic.parquet",
        "--schema",
        folder / "clinic.toml",
        "--ledger",
        folder / "budget.db",
        "--dataset",
        "clinic",
    )


WITH_FORCE: dict[str, Command] = {
    "fit": lambda at: ("fit", *_table(at), "--target", "ill", "-o"),
    "fit --weights": lambda at: (
        "fit",
        *_table(at),
        "--target",
        "ill",
        "-o",
        at / "m.holdfast",
        "--weights",
    ),
    "synth": lambda at: ("synth", *_table(at), "-o"),
    "synth --release": lambda at: ("synth", *_table(at), "--release"),
    "dossier": lambda at: ("dossier", at / "a.holdfast", "-o"),
    "compare": lambda at: ("compare", at / "a.holdfast", at / "b.holdfast", "-o"),
    "schema": lambda at: ("schema", "draft", at / "clinic.parquet", "-o"),
    "ledger export": lambda at: ("ledger", "export", at / "budget.db", "-o"),
    "curve": lambda at: ("curve", "gaussian:sigma=2", "--plot"),
    "attack": lambda at: (
        "attack",
        "synthetic",
        at / "clinic.parquet",
        "--schema",
        at / "clinic.toml",
        "--members",
        at / "clinic.parquet",
        "--non-members",
        at / "clinic.parquet",
        "-o",
    ),
    "audit": lambda at: (
        "audit",
        "nowhere:train",
        "--data",
        at / "clinic.parquet",
        "--epsilon",
        "1",
        "--adjacency",
        "replace",
        "--plot",
    ),
}
"""Up to the path of the output."""


def _refused(clinic: Path, *arguments: str | Path, because: str) -> None:
    before = sorted(clinic.rglob("*"))
    with Ledger.open(clinic / "budget.db") as ledger:
        entries = len(ledger.history())
        shown = run(*arguments)
        assert shown.exit_code == 2, shown.output
        assert because in shown.output
        assert len(ledger.history()) == entries
    assert sorted(path for path in clinic.rglob("*") if "budget.db-" not in path.name) == [
        path for path in before if "budget.db-" not in path.name
    ]


def written(arguments: tuple[str | Path, ...], folder: Path) -> tuple[str | Path, ...]:
    """The arguments, and a file in the folder, with an ending that the last option takes."""
    return (*arguments, folder / ("out.svg" if arguments[-1] == "--plot" else "out.csv"))


@pytest.mark.parametrize("name", WITH_FORCE)
def test_a_folder_that_is_not_there_is_refused_first(clinic: Path, name: str) -> None:
    command = WITH_FORCE[name]
    _refused(clinic, *written(command(clinic), clinic / "absent"), because="a folder that exists")


@pytest.mark.parametrize("name", WITH_FORCE)
def test_a_folder_that_takes_no_file_is_refused_first(
    clinic: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    command = WITH_FORCE[name]
    monkeypatch.setattr("holdfast.data._whole_file.os.fsync", full)
    _refused(clinic, *written(command(clinic), clinic), because="No space left on device")


@pytest.mark.parametrize("name", WITH_FORCE)
def test_a_file_that_is_there_is_refused_first(clinic: Path, name: str) -> None:
    arguments = written(WITH_FORCE[name](clinic), clinic)
    there = Path(arguments[-1])
    there.write_text("old")
    _refused(clinic, *arguments, because="--force")
    assert there.read_text() == "old"


PLAN = """
[plan]
ledger = "budget.db"
dataset = "clinic"
source = "clinic.parquet"
schema = "clinic.toml"

[[step]]
do = "fit"
name = "model"
target = "ill"
epsilon = 0.5
output = "{model}"

[[step]]
do = "dossier"
name = "page"
releases = ["model"]
output = "{page}"
"""


@pytest.mark.parametrize("places", [("absent/m.holdfast", "p.html"), ("m.holdfast", "absent/p.html")])
def test_a_plan_asks_for_all_its_outputs_first(clinic: Path, places: tuple[str, str]) -> None:
    (clinic / "plan.toml").write_text(PLAN.format(model=places[0], page=places[1]))
    _refused(clinic, "run", clinic / "plan.toml", because="a folder that exists")


@pytest.mark.parametrize("name", ["fit", "synth"])
def test_a_file_may_be_overwritten_on_request(clinic: Path, name: str) -> None:
    there = clinic / "there.csv"
    there.write_text("old")
    shown = run(*WITH_FORCE[name](clinic), there, "--force")
    assert shown.exit_code == 0, shown.output
    assert there.read_bytes() != b"old"

"""Commands that charge refuse what cannot be of use before they pay, or say it first of all."""

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
from holdfast.dossier import Dossier
from holdfast.errors import UselessReleaseWarning
from holdfast.ledger import Ledger
from holdfast.privacy import ApproxDP
from holdfast.release import Release

LIMIT = ApproxDP(1.0, 1e-6)


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    """A folder with 300 people, their schema, and a ledger."""
    rng = np.random.default_rng(3)
    table = pa.table({"age": rng.integers(0, 100, 300), "ill": rng.choice(["no", "yes"], 300)})
    parquet.write_table(table, tmp_path / "clinic.parquet")
    Schema([Numeric("age", 0, 100), Categorical("ill", ["no", "yes"])]).save(tmp_path / "clinic.toml")
    with Ledger.create(tmp_path / "budget.db") as ledger:
        ledger.dataset("clinic", limit=LIMIT, currency="zcdp")
    return tmp_path


def fit(folder: Path, *options: str | Path) -> Result:
    source = ("fit", folder / "clinic.parquet", "--schema", folder / "clinic.toml")
    return run(*source, "--target", "ill", "--delta", "1e-6", "-o", folder / "out.holdfast", *options)


def synth(folder: Path, *options: str | Path) -> Result:
    source = ("synth", folder / "clinic.parquet", "--schema", folder / "clinic.toml")
    return run(*source, "--delta", "1e-6", "--release", folder / "out.holdfast", *options)


def charges(folder: Path) -> int:
    with Ledger.open(folder / "budget.db") as ledger:
        return sum(entry.kind in ("charge", "account") for entry in ledger.history())


@pytest.mark.parametrize("command", [fit, synth])
def test_a_command_refuses_before_it_pays(command: Callable[..., Result], clinic: Path) -> None:
    pay = ("--ledger", clinic / "budget.db", "--dataset", "clinic")
    for options in ((), pay):
        shown = command(clinic, "--epsilon", "0.01", *options)
        assert shown.exit_code == 2, shown.output
        assert "cannot be of use" in shown.output
        assert "--even-if-useless" in shown.output
        assert not (clinic / "out.holdfast").exists()
    assert charges(clinic) == 0
    with pytest.warns(UselessReleaseWarning):
        shown = command(clinic, "--epsilon", "0.01", "--even-if-useless", *pay)
    assert shown.exit_code == 0, shown.output
    assert shown.stdout.startswith("OF NO USE: ")
    assert charges(clinic) > 0
    page = Dossier(Release.load(clinic / "out.holdfast")).html()
    assert page.index("OF NO USE") < page.index("In plain words")


@pytest.mark.parametrize("command", [fit, synth])
def test_a_full_ledger_is_refused_by_another_exit_code(command: Callable[..., Result], clinic: Path) -> None:
    with Ledger.open(clinic / "budget.db") as ledger:
        ledger.account("clinic", name="all but a crumb", limit=ApproxDP(1.0 - 1e-9, 1e-6))
    before = charges(clinic)
    for more in ((), ("--even-if-useless",)):
        shown = command(clinic, "--ledger", clinic / "budget.db", "--dataset", "clinic", *more)
        assert shown.exit_code == 3, shown.output
        assert "nothing is left of dataset" in shown.output
    assert charges(clinic) == before


PLAN = """
[plan]
ledger = "budget.db"
dataset = "clinic"
source = "clinic.parquet"
schema = "clinic.toml"
{more}

[[step]]
do = "fit"
name = "first"
target = "ill"
epsilon = 0.5
output = "first.holdfast"

[[step]]
do = "{kind}"
name = "second"
{target}
epsilon = 0.01
delta = 1e-6
output = "second.holdfast"
"""


@pytest.mark.parametrize("kind", ["fit", "synth"])
def test_a_plan_refuses_before_its_first_step_pays(kind: str, clinic: Path) -> None:
    target = 'target = "ill"' if kind == "fit" else ""
    plan = clinic / "plan.toml"
    plan.write_text(PLAN.format(more="", kind=kind, target=target))
    shown = run("run", plan)
    assert shown.exit_code == 2, shown.output
    assert "cannot be of use" in shown.output
    assert charges(clinic) == 0
    with pytest.warns(UselessReleaseWarning):
        shown = run("run", plan, "--even-if-useless")
    assert shown.exit_code == 0, shown.output
    assert "OF NO USE: " in shown.output


def test_a_plan_may_say_it_itself(clinic: Path) -> None:
    plan = clinic / "plan.toml"
    plan.write_text(PLAN.format(more="even_if_useless = true", kind="fit", target='target = "ill"'))
    with pytest.warns(UselessReleaseWarning):
        assert run("run", plan).exit_code == 0
    plan.write_text(PLAN.format(more='even_if_useless = "yes"', kind="fit", target='target = "ill"'))
    assert run("run", plan).exit_code == 2

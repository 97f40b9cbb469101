"""A limit that names no delta, and what is then paid from it without one: they fit each other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from holdfast._cli.app import app
from holdfast.data import Categorical, Numeric, Schema
from holdfast.learn import PrivateLinearRegression, load_model
from holdfast.ledger import Ledger


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    random = np.random.Generator(np.random.PCG64(0))
    rows = [f"{random.integers(18, 90)},{'FM'[random.integers(2)]}" for _ in range(3_000)]
    (tmp_path / "people.csv").write_text("\n".join(["age,sex", *rows]), encoding="utf-8")
    Schema([Numeric("age", 18, 90, bins=8), Categorical("sex", ["F", "M"])], adjacency="replace").save(
        tmp_path / "people.toml"
    )
    return tmp_path


def run(folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(app, [one.replace("@", f"{folder}/") for one in arguments])


@pytest.mark.parametrize("limit", [(), ("--delta", "0"), ("--delta", "1e-7"), ("--currency", "gdp")])
def test_a_ledger_and_the_commands_fit_each_other(folder: Path, limit: tuple[str, ...]) -> None:
    """Without --delta anywhere, whatever the ledger's own is; with and without a share of epsilon."""
    started = run(folder, "ledger", "init", "@b.db", "--dataset", "people", "--epsilon", "3", *limit)
    assert started.exit_code == 0, started.output
    assert ("delta is 1e-06" in started.output) == ("--delta" not in limit)
    paid = ("@people.csv", "--schema", "@people.toml", "--ledger", "@b.db", "--dataset", "people")
    for number, (command, target) in enumerate([("synth", ()), ("fit", ("--target", "sex"))]):
        for share in (("--epsilon", "0.5"),) if number == 0 else (("--epsilon", "0.5"), ()):
            output = "@rows.csv" if command == "synth" else "@model.holdfast"
            done = run(folder, command, *paid, *target, *share, "-o", output, "--force")
            assert done.exit_code == 0, done.output
            assert done.output.count("which --delta changes") == bool(share)


def test_a_named_delta_is_not_said_again(folder: Path) -> None:
    asked = ("fit", "@people.csv", "--schema", "@people.toml", "--target", "age", "--epsilon", "1")
    done = run(folder, *asked, "--delta", "1e-7", "-o", "@m.holdfast")
    assert done.exit_code == 0, done.output
    assert "which --delta changes" not in done.output
    assert isinstance(load_model(folder / "m.holdfast"), PrivateLinearRegression)


@pytest.mark.filterwarnings("default:this limit protects nobody")
def test_a_limit_for_many_people_has_a_smaller_delta(folder: Path) -> None:
    asked = ("ledger", "init", "@b.db", "--dataset", "people", "--epsilon", "1", "--n-public", "2000000")
    assert "delta is 1e-08" in run(folder, *asked).output
    with Ledger.open(folder / "b.db") as opened:
        assert opened.dataset("people").limit.epsilon(1e-8) == pytest.approx(1.0)
    with pytest.warns(UserWarning, match="protects nobody"):
        run(folder, "ledger", "init", "@w.db", "--dataset", "people", "--epsilon", "100", "--delta", "0.5")


@pytest.mark.parametrize(("rows", "delta"), [(3_000, "1e-06"), (2_000_000, "1e-08")])
@pytest.mark.parametrize("named", [False, True])
def test_forecasts_have_the_delta_of_what_they_forecast(
    folder: Path, rows: int, delta: str, named: bool
) -> None:
    more = ("--delta", "1e-7") if named else ()
    for asked in (("plan", "--columns", "9"), ("recommend", "@people.toml", "--target", "sex")):
        said = run(folder, *asked, "--rows", str(rows), *more)
        assert said.exit_code == 0, said.output
        assert (f"delta is {delta}, which --delta changes" in said.output) != named
        quiet = run(folder, *asked, "--rows", str(rows), *more, "--json")
        assert "which --delta changes" not in quiet.output

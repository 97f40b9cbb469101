"""Interrupts, pipes, full disks and unknown errors: each has its own exit code, and no traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import click
import duckdb
import pytest
from click.testing import CliRunner

from holdfast._cli.app import app
from holdfast._cli.ending import TRACEBACK_VARIABLE, errors_in_one_line
from holdfast.data import Categorical, Numeric, Schema
from holdfast.errors import BudgetExceeded, DataError, ParameterError
from holdfast.ledger import Ledger
from holdfast.privacy import ZCDP
from tests.paths import ROOT

COMMAND = [sys.executable, "-m", "holdfast._cli.app"]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT / "src")}


def ended(error: BaseException) -> tuple[int, str]:
    """The exit code and the words of a command that meets this error."""

    @click.command()
    def command() -> None:
        with errors_in_one_line():
            raise error

    shown = CliRunner().invoke(command)
    assert "Traceback" not in shown.output
    return shown.exit_code, shown.output


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (ParameterError("epsilon must be > 0"), 2, "epsilon must be > 0"),
        (BudgetExceeded("nothing is left"), 3, "nothing is left"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (click.Abort(), 130, "interrupted"),
        (EOFError(), 130, "interrupted"),
        (FileNotFoundError(2, "No such file", "x.csv"), 2, "No such file or directory: x.csv"),
        (OSError(28, "Frau Müller"), 2, "No space left on device"),
        (MemoryError(), 2, "not enough memory"),
        (click.ClickException("no file postgresql://a:hush@db"), 1, "***"),
    ],
)
def test_every_error_has_its_code_and_its_words(error: BaseException, code: int, words: str) -> None:
    found, said = ended(error)
    assert (found, words in said) == (code, True), said
    assert "hush" not in said
    assert "None" not in said


def test_nothing_behind_a_usage_error_shows_a_password() -> None:
    """As click does with a URL in the place of a file: the system's error, and its own on top of it."""
    url = "postgresql://a:hush@db"

    def checked() -> None:
        try:
            raise FileNotFoundError(2, "No such file", url)
        except OSError:
            raise click.BadParameter(f"file {url!r} does not exist")  # noqa: B904

    with pytest.raises(click.BadParameter) as met, errors_in_one_line():
        checked()
    shown = "".join(traceback.format_exception(met.value, limit=0))
    assert "does not exist" in shown
    assert "hush" not in f"{shown} {met.value.args}"


@pytest.mark.parametrize(
    "error",
    [
        ValueError("Frau Müller"),
        OSError("Original Line: Frau Müller"),
        UnicodeDecodeError("utf-8", b"M", 0, 1, "Frau Müller"),
        RecursionError("Frau Müller"),
        ZeroDivisionError("Frau Müller"),
        KeyError("Frau Müller"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_unknown_error_is_withheld(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(TRACEBACK_VARIABLE, raising=False)
    code, said = ended(error)
    assert code == 2
    assert type(error).__name__ in said
    assert "Müller" not in said


def test_whoever_asks_sees_an_unknown_error_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TRACEBACK_VARIABLE, "1")
    with pytest.raises(ZeroDivisionError), errors_in_one_line():
        raise ZeroDivisionError


def test_an_interrupt_that_a_library_hides_is_still_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB answers Ctrl-C with an error of its own, which arrives as one of ours."""
    from holdfast._cli import ending

    @click.command()
    def command() -> None:
        with errors_in_one_line():
            monkeypatch.setattr(ending._interruption, "happened", True)
            raise DataError("DuckDB could not read it")

    assert CliRunner().invoke(command).exit_code == 130


START = """
import os, signal, sys
from holdfast._cli import app
def interrupted(*_, **__):
    os.kill(os.getpid(), signal.SIGINT)
    for _ in range(10_000_000):
        pass
setattr(*{"arguments": (app.app, "parse_args"), "command": (app.app, "invoke"), "words": (app.click, "echo"),
          "loading": (app, "import_module"), "error": (app.click.ClickException, "show")}[sys.argv[1]], interrupted)
sys.argv = ["holdfast", *sys.argv[2:]]
app.main()
"""


@pytest.mark.parametrize("place", ["arguments", "command", "loading", "words", "error"])
def test_ctrl_c_at_any_time_exits_with_130(place: str) -> None:
    command = ["curve", "nothing"] if place == "error" else ["curve", "gaussian:sigma=2"]
    done = subprocess.run(
        [sys.executable, "-c", START, place, *command],
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        check=False,
    )
    assert (done.returncode, "Traceback" in done.stderr) == (130, False), done.stderr


def busy(folder: Path) -> list[str]:
    """A command that is busy inside DuckDB for a long time."""
    Schema([Numeric("a", 0, 1), Categorical("b", ["x", "y"])]).save(folder / "t.toml")
    with duckdb.connect(str(folder / "t.db")) as database:
        database.execute("CREATE TABLE r AS FROM range(100000)")
        database.execute(
            "CREATE VIEW t AS SELECT random() AS a, CASE WHEN random() < .5 THEN 'x' ELSE 'y' END AS b "
            "FROM r, r AS s"
        )
    return [
        *COMMAND,
        "fit",
        f"duckdb:///{folder / 't.db'}?table=t",
        "--schema",
        str(folder / "t.toml"),
        "--target",
        "b",
        "--epsilon",
        "1",
        "-o",
        str(folder / "m.holdfast"),
    ]


def test_ctrl_c_inside_a_query_exits_with_130(tmp_path: Path) -> None:
    with subprocess.Popen(
        busy(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT
    ) as running:
        deadline = time.monotonic() + 60
        while running.poll() is None and not _reads(running.pid, tmp_path / "t.db"):
            assert time.monotonic() < deadline, "it never opened the file"
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=60)
    assert (running.returncode, "Traceback" in said) == (130, False), said
    assert not (tmp_path / "m.holdfast").exists()


def _reads(process: int, path: Path) -> bool:
    """Whether the process has the file open; elsewhere than on Linux, whether it had the time to."""
    folder = Path(f"/proc/{process}/fd")
    if not folder.exists():
        time.sleep(5)
        return True
    return any(os.path.realpath(one) == str(path) for one in folder.iterdir())


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    with Ledger.create(tmp_path / "l.db") as made:
        for number in range(200):
            made.dataset(f"data {number}", limit=ZCDP(1.0))
    return tmp_path / "l.db"


@pytest.mark.parametrize(("arguments", "code"), [(("history",), 0), (("verify", "--head", "0" * 64), 1)])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_leaves_is_no_error_and_hides_no_finding(
    ledger: Path, arguments: tuple[str, ...], code: int, unbuffered: str
) -> None:
    gone, into = os.pipe()
    os.close(gone)
    done = subprocess.run(
        [*COMMAND, "ledger", arguments[0], str(ledger), *arguments[1:]],
        stdout=into,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT | {"PYTHONUNBUFFERED": unbuffered},
        check=False,
    )
    os.close(into)
    assert (done.returncode, done.stderr) == (code, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_an_output_that_takes_nothing_is_said(ledger: Path, unbuffered: str) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, "ledger", "show", str(ledger)],
            stdout=full,
            stderr=subprocess.PIPE,
            env=ENVIRONMENT | {"PYTHONUNBUFFERED": unbuffered},
            check=False,
        )
    assert done.returncode == 2
    assert b"standard output" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    "spec",
    [
        "pure:epsilon=abc",
        "pure:epsilon=1/0",
        "pure:epsilon=" + "9" * 5000,
        "gdp:mu=--",
        "gaussian:sigma=1e-320",
        "gaussian:sigma=true",
        "gaussian:sigma=2*" + "9" * 5000,
        "exponential:epsilon=1,monotone=1",
        "randomised_response:epsilon=1,categories=x",
        "approx:epsilon=1,delta=1/0",
        "subsampled_gaussian:sigma=1,rate=½",
    ],
)
def test_curves_that_cannot_be_read_are_refused(spec: str) -> None:
    shown: Any = CliRunner().invoke(app, ["curve", spec])
    assert shown.exit_code == 2, shown.output
    assert "Error: " in shown.output
    assert "unexpected" not in shown.output

"""Folders of engines: private, gone at the end, and swept by the next one after a kill."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from click.testing import CliRunner

from holdfast._cli.app import app
from holdfast.data._engines.duckdb.sealed import WORK_DATABASE, sealed_connection
from holdfast.data._work_folder import PREFIX, WorkFolder, remove_abandoned_folders
from tests.signals import hear_signals

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="no such locks")]
OPENED = """
import os, signal, sys, tempfile
tempfile.tempdir = sys.argv[1]
from holdfast.data import Identifier, Numeric, Schema, open_table
from holdfast.privacy import PrivacyUnit
table = open_table(sys.argv[2], Schema([Numeric("x", 0, 9), Identifier("who")], unit=PrivacyUnit("who", 2)))
print(table.count(), flush=True)
exec(sys.argv[3])
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "temporary"
    made.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(made))
    return made


def test_a_folder_is_private_and_goes(folder: Path) -> None:
    work = WorkFolder()
    assert work.path.parent == folder
    assert work.path.stat().st_mode & 0o777 == 0o700
    (work.path / "rows").write_bytes(b"data")
    work.delete()
    work.delete()
    assert not list(folder.iterdir())


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="no default permissions")
def test_files_are_for_their_owner_alone(folder: Path) -> None:
    try:
        os.setxattr(folder, "system.posix_acl_default", DEFAULT_RIGHTS)
    except OSError:
        pytest.skip("this disk has no access lists")
    os.removexattr(folder, "system.posix_acl_default")
    work, umask = WorkFolder(), os.umask(0o022)
    (work.path / "spilled").write_bytes(b"rows")
    os.umask(umask)
    assert (work.path / "spilled").stat().st_mode & 0o777 == 0o600
    work.delete()


def test_rows_have_no_name(folder: Path) -> None:
    """The database that holds them is open, and nobody can open it."""
    work = WorkFolder()
    connection = sealed_connection(str(work.path), work=f"{work.path}/work.db")
    connection.execute(
        f"CREATE TABLE {WORK_DATABASE}.kept AS SELECT 'patient ' || range AS who FROM range(1000)"
    )
    connection.execute(f"INSERT INTO {WORK_DATABASE}.kept SELECT 'patient ' || range FROM range(1000)")
    assert connection.execute(f"SELECT count(*) FROM {WORK_DATABASE}.kept").fetchone() == (2000,)
    assert not list(work.path.iterdir())
    connection.close()
    work.delete()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks")
def test_a_fork_removes_nothing(folder: Path) -> None:
    work = WorkFolder()
    child = os.fork()
    if child == 0:
        work.delete()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert work.path.is_dir()
    work.delete()


def _run(folder: Path, then: str) -> int:
    """A process that opens a table of ours and bounds its users, and then does this: how it ended."""
    who = [f"patient {place}" for place in range(10)]
    parquet.write_table(pa.table({"x": np.arange(10.0), "who": who}), folder.parent / "rows.parquet")
    run = [sys.executable, "-c", OPENED, str(folder), str(folder.parent / "rows.parquet"), then]
    return subprocess.run(
        run, check=False, capture_output=True, timeout=120, preexec_fn=hear_signals
    ).returncode


DEFAULT_RIGHTS = struct.pack("<I" + 3 * "HHI", 2, 1, 7, 2**32 - 1, 4, 5, 2**32 - 1, 32, 5, 2**32 - 1)
"""Everybody may read, as Linux stores it."""
KILL = "os.kill(os.getpid(), signal.{})"


@pytest.mark.parametrize(
    "then", [*(KILL.format(name) for name in ("SIGTERM", "SIGHUP", "SIGINT")), "1 / 0", "sys.exit(3)", "pass"]
)
def test_it_goes_with_every_ending_that_can_be_caught(folder: Path, then: str) -> None:
    codes = {"1 / 0": 1, "sys.exit(3)": 3, "pass": 0}
    codes |= {KILL.format(name): -getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGINT")}
    assert _run(folder, then) == codes[then]
    assert not list(folder.iterdir())


def test_what_a_killed_process_left_is_swept_by_the_next(folder: Path) -> None:
    assert _run(folder, KILL.format("SIGKILL")) == -signal.SIGKILL
    assert len(list(folder.iterdir())) == 1
    alive = WorkFolder()
    assert list(folder.iterdir()) == [alive.path], "its process lives"
    alive.delete()
    assert not list(folder.iterdir())


def test_every_command_sweeps_what_was_left(folder: Path) -> None:
    _run(folder, KILL.format("SIGKILL"))
    assert len(list(folder.iterdir())) == 1
    assert CliRunner().invoke(app, ["curve", "gaussian:sigma=2"]).exit_code == 0
    assert not list(folder.iterdir())


def test_what_is_not_ours_stays(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / f"{PREFIX}file").write_bytes(b"")
    (folder / "elsewhere").mkdir()
    (folder / f"{PREFIX}link").symlink_to(folder / "elsewhere", target_is_directory=True)
    (folder / f"{PREFIX}ours").mkdir()
    monkeypatch.setattr(os, "getuid", lambda: 123_456)
    remove_abandoned_folders()
    assert (folder / f"{PREFIX}ours").is_dir()
    monkeypatch.undo()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    remove_abandoned_folders()
    assert sorted(path.name for path in folder.iterdir()) == ["elsewhere", f"{PREFIX}file", f"{PREFIX}link"]

"""Folders of engines: private, gone at the end, and swept by the next one after a kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from holdfast.data import Numeric, Schema, open_table
from holdfast.data._engines import work_folder
from holdfast.data._engines.work_folder import LOCK, PREFIX, WorkFolder, abandoned_folders

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no such locks")
KILLED = """
import os, signal, sys, tempfile
tempfile.tempdir = sys.argv[1]
from holdfast.data import Numeric, Schema, open_table
table = open_table(sys.argv[2], Schema([Numeric("x", 0, 9)]))
print(table.count(), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
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


def test_what_a_killed_process_left_is_swept_by_the_next(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parquet.write_table(pa.table({"x": np.arange(10.0)}), tmp_path / "rows.parquet")
    run = [sys.executable, "-c", KILLED, str(folder), str(tmp_path / "rows.parquet")]
    ended = subprocess.run(run, check=False, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (-signal.SIGKILL, "10\n")
    left = list(folder.iterdir())
    assert len(left) == 1
    alive = WorkFolder()
    assert left[0].exists(), "too young to be sure"
    monkeypatch.setattr(work_folder, "SETTLED_S", -1.0)
    with open_table(tmp_path / "rows.parquet", Schema([Numeric("x", 0, 9)])) as table:
        assert table.count() == 10
        assert not left[0].exists()
        assert alive.path.exists(), "its process lives"
    alive.delete()
    assert not list(folder.iterdir())


def test_what_is_not_ours_stays(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_folder, "SETTLED_S", -1.0)
    (folder / f"{PREFIX}unlocked").mkdir()
    (folder / f"{PREFIX}file").write_bytes(b"")
    other = folder / "elsewhere"
    other.mkdir()
    (other / LOCK).write_bytes(b"")
    (folder / f"{PREFIX}link").symlink_to(other, target_is_directory=True)
    assert list(abandoned_folders(folder)) == []
    (folder / f"{PREFIX}unlocked" / LOCK).write_bytes(b"")
    assert [path.name for path in abandoned_folders(folder)] == [f"{PREFIX}unlocked"]
    monkeypatch.setattr(os, "getuid", lambda: 123_456)
    assert list(abandoned_folders(folder)) == []

"""A file appears whole or not at all, and what a killed process leaves is removed by the next one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from holdfast.data._whole_file import remove_abandoned, temporary_file, whole_file, write_new, write_whole
from holdfast.errors import ParameterError
from holdfast.ledger import Ledger
from holdfast.release._outputs import FileWritten

posix = pytest.mark.skipif(sys.platform == "win32", reason="no such locks")
KILLED = """
import os, signal, sys
from pathlib import Path
from holdfast.data._whole_file import temporary_file
with temporary_file(Path(sys.argv[1])) as temporary:
    temporary.write_bytes(b"half")
    Path(f"{temporary}-wal").write_bytes(b"a part of it")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@posix
def test_what_a_killed_process_left_is_removed_by_the_next_one_at_once(tmp_path: Path) -> None:
    ended = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "rows.csv")], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert len(_names(tmp_path)) == 2
    with temporary_file(tmp_path / "model.holdfast") as alive:
        write_whole(tmp_path / "rows.csv", b"all of it")
        assert _names(tmp_path) == sorted([alive.name, "rows.csv"]), "a file whose process lives stays"
    assert _names(tmp_path) == ["rows.csv"]


@posix
@pytest.mark.parametrize("door", ["ledger", "key", "nothing"])
def test_every_door_removes_what_was_left(tmp_path: Path, door: str) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "rows.csv")], check=False)
    if door == "ledger":
        Ledger.create(tmp_path / "new").close()
    elif door == "key":
        write_new(tmp_path / "new", b"key", mode=0o600)
    else:
        (tmp_path / "new").touch()
        remove_abandoned(tmp_path)
    assert _names(tmp_path) == ["new"]


@posix
def test_what_is_not_ours_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = f".holdfast-{'0' * 24}.tmp"
    (tmp_path / "elsewhere").write_bytes(b"precious")
    (tmp_path / f"{name}.csv").symlink_to(tmp_path / "elsewhere")
    (tmp_path / f"{name}.d").mkdir()
    os.mkfifo(tmp_path / f"{name}.fifo")
    others = [".holdfast-notes", ".holdfast-123.tmp", "x.tmp", ".tmp", f"x{name}"]
    for other in others:
        (tmp_path / other).write_bytes(b"")
    before = _names(tmp_path)
    remove_abandoned(tmp_path)
    assert _names(tmp_path) == before
    (tmp_path / name).write_bytes(b"")
    monkeypatch.setattr(os, "getuid", lambda: 123_456)
    remove_abandoned(tmp_path)
    assert (tmp_path / name).exists()
    monkeypatch.undo()
    remove_abandoned(tmp_path)
    assert _names(tmp_path) == before


@posix
def test_a_file_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "model.holdfast"
    path.write_bytes(b"old")
    path.chmod(0o640)
    write_whole(path, b"new", overwrite=True)
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", 0o640)
    write_whole(path, b"newer", mode=0o600)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_of_others_keeps_its_place(tmp_path: Path) -> None:
    """Also one that appears, or is written to, after this process wrote there or was told that it may."""
    path = tmp_path / "rows.csv"
    write_whole(path, b"mine")
    write_whole(path, b"mine again")
    for told in (False, True):
        path.write_bytes(b"of others")
        if told:
            FileWritten(name="output", path=path, replaces=True).require_new()
            time.sleep(0.01)  # the clock of files ticks
            path.write_bytes(b"by others")
        before = path.read_bytes()
        with pytest.raises(ParameterError, match="must be a new file"):
            write_whole(path, b"mine")
        assert (_names(tmp_path), path.read_bytes()) == (["rows.csv"], before)
    write_whole(path, b"by others")
    FileWritten(name="output", path=path, replaces=True).require_new()
    write_whole(path, b"mine")
    assert path.read_bytes() == b"mine"


@posix
def test_a_link_to_nothing_is_a_file_of_others(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.symlink_to(tmp_path / "absent")
    with pytest.raises(ParameterError, match="must be a new file"):
        write_whole(path, b"mine")
    assert path.is_symlink()
    write_whole(path, b"mine", overwrite=True)
    assert not path.is_symlink()


def _stop_halfway(path: Path) -> None:
    with whole_file(path) as temporary:
        assert temporary.suffix == ".csv"
        temporary.write_bytes(b"half")
        raise ValueError("halfway")


def test_an_error_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(b"old")
    with pytest.raises(ValueError, match="halfway"):
        _stop_halfway(path)
    assert (_names(tmp_path), path.read_bytes()) == (["rows.csv"], b"old")


def test_a_new_file_takes_no_place(tmp_path: Path) -> None:
    write_new(tmp_path / "key.pem", b"first", mode=0o600)
    with pytest.raises(FileExistsError):
        write_new(tmp_path / "key.pem", b"second", mode=0o600)
    assert (_names(tmp_path), (tmp_path / "key.pem").read_bytes()) == (["key.pem"], b"first")

"""Several files of one piece of work: what a killed process had written of them is known again, and nothing else is."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.data._file_set import was_interrupted, whole_files
from holdfast.data._whole_file import PREFIX
from holdfast.errors import ParameterError

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="no such locks")]
KILLED = """
import os, signal, sys
from pathlib import Path
from holdfast.data import _file_set
true = _file_set.take_place
def take_place(temporary, path):
    if path.name == sys.argv[1]:
        os.kill(os.getpid(), signal.SIGKILL)
    true(temporary, path)
_file_set.take_place = take_place
with _file_set.whole_files([Path("a.json"), Path("sub/b.svg")]) as files:
    for file in files:
        file.write_text("all of it")
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    return tmp_path


def _files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def _write() -> None:
    with whole_files([Path("a.json"), Path("sub/b.svg")]) as files:
        for file in files:
            file.write_text("all of it")


def test_all_are_written_and_nothing_else_is_left(folder: Path) -> None:
    _write()
    assert _files(folder) == ["a.json", "sub/b.svg"]
    assert not was_interrupted(Path("a.json"))


@pytest.mark.parametrize("before", ["a.json", "b.svg"])
def test_a_killed_process_leaves_what_the_next_one_knows(folder: Path, before: str) -> None:
    ended = subprocess.run([sys.executable, "-c", KILLED, before], check=False)
    assert ended.returncode == -signal.SIGKILL
    if before == "b.svg":
        assert was_interrupted(Path("a.json"))
        Path("a.json").write_text("of somebody else")
        assert not was_interrupted(Path("a.json"))
        with pytest.raises(ParameterError, match="must be a new file"):
            _write()
        assert Path("a.json").read_text() == "of somebody else"
        Path("a.json").unlink()
    assert not Path("sub/b.svg").exists()
    _write()
    assert _files(folder) == ["a.json", "sub/b.svg"]


def _stop_halfway() -> None:
    with whole_files([Path("a.json"), Path("sub/b.svg")]) as files:
        files[0].write_text("new")
        raise ValueError("halfway")


def test_an_error_leaves_what_was_there(folder: Path) -> None:
    Path("a.json").write_text("old")
    with pytest.raises(ValueError, match="halfway"):
        _stop_halfway()
    assert (_files(folder), Path("a.json").read_text()) == (["a.json"], "old")


@pytest.mark.parametrize("note", [b"[" * 60_000, b"{", b"\xff", b'"a' * 60_000, b"[1]", b'{"a.json": []}'])
def test_a_note_of_somebody_else_is_no_obstacle(folder: Path, note: bytes) -> None:
    (folder / f"{PREFIX}{'0' * 24}.set").write_bytes(note)
    (folder / "a.json").write_text("all of it")
    assert not was_interrupted(Path("a.json"))
    _write()
    assert (folder / "sub" / "b.svg").read_text() == "all of it"

"""Only regular files are read, at once, and no further than was known before."""

from __future__ import annotations

import hashlib
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from holdfast._regular_file import open_regular, other_kind, read_regular, require_regular, sha256_of
from holdfast.errors import FormatError, LedgerError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pipes and sockets have no names in folders")
KINDS = ("a folder", "a pipe", "a socket", "a device")


@contextmanager
def of_kind(kind: str, folder: Path) -> Iterator[Path]:
    """Something of that kind, by a name in the folder; nobody writes to the pipe."""
    path = folder / "place"
    match kind:
        case "a folder":
            path.mkdir()
            yield path
        case "a pipe":
            os.mkfifo(path)
            yield path
        case "a device":
            path.symlink_to("/dev/zero")
            yield path
        case _:
            with socket.socket(socket.AF_UNIX) as one:
                here = Path.cwd()
                os.chdir(folder)  # the path of a socket has 108 bytes
                try:
                    one.bind(path.name)
                finally:
                    os.chdir(here)
                yield path


@pytest.mark.parametrize("kind", KINDS)
def test_other_kinds_are_refused_at_once(kind: str, tmp_path: Path) -> None:
    with of_kind(kind, tmp_path) as path:
        assert other_kind(path) == kind
        with pytest.raises(FormatError, match=f"cannot read a thing from .*place': it is {kind}"):
            read_regular(path, what="a thing", most_bytes=100)
        with pytest.raises(LedgerError, match=f"it is {kind}, and only a regular file is read"):
            require_regular(path, what="a thing", error=LedgerError)
        with pytest.raises(FormatError, match=kind):
            sha256_of(path, what="a thing")


@pytest.mark.parametrize("kind", ["a pipe", "a folder"])
def test_what_is_exchanged_after_the_look_is_still_refused(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"1234")
    seen = os.stat(file)
    with of_kind(kind, tmp_path) as path:
        monkeypatch.setattr(os, "stat", lambda *_, **__: seen)
        with pytest.raises(FormatError, match=f"it is {kind}"):
            read_regular(path, what="a thing", most_bytes=100)
        monkeypatch.undo()


def test_a_file_is_read_up_to_the_size_that_it_had(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert read_regular(path, what="a thing", most_bytes=5) == b"12345"
    with pytest.raises(FormatError, match="it has 5 bytes, and at most 4 are read"):
        read_regular(path, what="a thing", most_bytes=4)
    with open_regular(path) as (file, size):
        with path.open("ab") as more:
            more.write(b"678")
        assert file.read(size) == b"12345"
    assert sha256_of(path, what="a thing") == hashlib.sha256(b"12345678").hexdigest()


def test_no_file_at_all_is_said(tmp_path: Path) -> None:
    assert other_kind(tmp_path / "nothing") == ""
    require_regular(tmp_path / "nothing", what="a thing")
    for name in ("nothing", "\0", "x" * 300):
        with pytest.raises(FormatError, match="cannot read a thing from"):
            read_regular(f"{tmp_path}/{name}", what="a thing", most_bytes=4)


@pytest.mark.skipif(sys.platform != "linux", reason="a folder of open files, as Linux has it")
def test_nothing_stays_open(tmp_path: Path) -> None:
    opened = len(os.listdir("/proc/self/fd"))
    for kind in KINDS:
        folder = tmp_path / kind
        folder.mkdir()
        with of_kind(kind, folder) as path, pytest.raises(FormatError):
            read_regular(path, what="a thing", most_bytes=4)
    (tmp_path / "file").write_bytes(b"12345")
    read_regular(tmp_path / "file", what="a thing", most_bytes=5)
    assert len(os.listdir("/proc/self/fd")) == opened


def test_no_device_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To open one can wind a tape back."""
    with of_kind("a device", tmp_path) as path:
        monkeypatch.setattr(os, "open", lambda *_, **__: pytest.fail("it was opened"))
        with pytest.raises(FormatError, match="a device"):
            read_regular(path, what="a thing", most_bytes=4)

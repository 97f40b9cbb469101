"""No output is what is read or written besides, however it is spelled, and whether or not it is there yet."""

from __future__ import annotations

import os
import random
import unicodedata
from pathlib import Path

import pytest

from holdfast.data._whole_file import write_whole
from holdfast.errors import ParameterError
from holdfast.ledger import Ledger, create_key
from holdfast.ledger._jobs.keeping import Shelf
from holdfast.release._outputs import DATABASE_PARTS, FileRead, FileWritten, Outputs, lies_outside

NAMES = ("budget.db", "Zürich daten.csv", "schema.TOML", "a.b.c", "rows")


def spelled(path: Path, draw: random.Random, *, freely: bool = True) -> Path:
    """The same place, written in another way; links are made where they are needed."""
    folder, token = path.parent, draw.randrange(10**9)
    ways = ["same", "dots", "relative", "up", "folder link"]
    ways += ["case", "composed"] if freely else []
    ways += ["link", "chain"] if path.exists() else ["link"]
    ways += ["hard link"] if path.exists() and freely else []
    match draw.choice(ways):
        case "dots":
            return folder / "." / path.name
        case "relative":
            return Path(os.path.relpath(path))
        case "up":
            (folder / "sub").mkdir(exist_ok=True)
            return folder / "sub" / ".." / path.name
        case "case":
            return folder / draw.choice([path.name.upper(), path.name.lower(), path.name.title()])
        case "composed":
            return folder / unicodedata.normalize("NFD", path.name)
        case "folder link":
            (folder.parent / f"link{token}").symlink_to(folder)
            return folder.parent / f"link{token}" / path.name
        case "link":
            (folder.parent / f"file{token}").symlink_to(path)
            return folder.parent / f"file{token}"
        case "hard link":
            os.link(path, folder.parent / f"hard{token}")
            return folder.parent / f"hard{token}"
        case "chain":
            (folder.parent / f"one{token}").symlink_to(path)
            (folder.parent / f"two{token}").symlink_to(folder.parent / f"one{token}")
            return folder.parent / f"two{token}"
    return path


@pytest.mark.parametrize("seed", range(120))
def test_what_is_read_is_never_written_however_it_is_spelled(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    folder = tmp_path / "work"
    folder.mkdir()
    path = folder / draw.choice(NAMES)
    there = draw.random() < 0.7
    if there:
        path.write_bytes(b"precious")
    if draw.random() < 0.3:  # what a database keeps beside itself need not be there
        target = path.with_name(path.name + draw.choice(DATABASE_PARTS))
    else:
        target = path
    read = FileRead(name="the ledger", path=spelled(path, draw, freely=False))
    output = FileWritten(name="output", path=spelled(target, draw), replaces=draw.random() < 0.5)
    with pytest.raises(ParameterError, match=r"output must be a file of its own, .*the ledger"):
        Outputs(reads=(read,), writes=(output,)).require()
    assert not there or path.read_bytes() == b"precious"


@pytest.mark.parametrize("seed", range(40))
def test_no_two_outputs_are_one(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    (tmp_path / "work").mkdir()
    path = tmp_path / "work" / draw.choice(NAMES)
    if draw.random() < 0.5:
        path.write_bytes(b"old")
    one = FileWritten(name="output", path=spelled(path, draw, freely=False), replaces=True)
    two = FileWritten(name="release", path=spelled(path, draw), replaces=True)
    with pytest.raises(ParameterError, match=r"release must be a file of its own, .* output"):
        Outputs(writes=(one, two)).require()


def test_another_name_of_a_file_is_the_file(tmp_path: Path) -> None:
    (tmp_path / "budget.db").write_bytes(b"precious")
    os.link(tmp_path / "budget.db", tmp_path / "another")
    with pytest.raises(ParameterError, match="file of its own"):
        _require_apart(FileRead(name="the ledger", path=tmp_path / "budget.db"), tmp_path / "another")


@pytest.mark.parametrize("target", ["nowhere", "missing/file", "itself"])
def test_a_link_to_nothing_is_there(tmp_path: Path, target: str) -> None:
    """Its place would be taken by the file, and the link lost."""
    path = tmp_path / "itself"
    path.symlink_to(target)
    output = FileWritten(name="output", path=path)
    for refuse in (output.require_new, output.require_writable, Outputs(writes=(output,)).require):
        with pytest.raises(ParameterError, match="output must be a new file"):
            refuse()
    assert path.is_symlink()
    FileWritten(name="output", path=path, replaces=True).require_new()


def test_what_is_apart_is_let_be(tmp_path: Path) -> None:
    for name in ("budget.db", "data.csv", "model.holdfast"):
        (tmp_path / name).write_text("x")
    read = [FileRead(name=name, path=tmp_path / name) for name in ("budget.db", "data.csv")]
    written = [
        FileWritten(name=name, path=tmp_path / name, replaces=True)
        for name in ("model.holdfast", "budget.db.html", "data.csv.holdfast", "budget", "x-wal")
    ]
    Outputs(reads=tuple(read), writes=tuple(written)).require()


def _require_apart(read: FileRead, output: Path) -> None:
    Outputs(reads=(read,), writes=(FileWritten(name="output", path=output, replaces=True),)).require_apart()


def _data(path: Path) -> bool:
    return path.suffix in (".csv", ".parquet")


@pytest.mark.parametrize("source", ["data", "data/*.csv", "data/**/*.csv", "da*/part-?.csv"])
def test_a_folder_or_pattern_that_is_read_takes_no_rows(tmp_path: Path, source: str) -> None:
    (tmp_path / "data" / "deep").mkdir(parents=True)
    (tmp_path / "elsewhere.csv").write_text("x")
    (tmp_path / "data" / "part-1.csv").symlink_to(tmp_path / "elsewhere.csv")
    read = FileRead(name="source", path=tmp_path / source, admits=_data)
    (tmp_path / "link").symlink_to(tmp_path / "data")
    for name in ("elsewhere.csv", "data/part-1.csv", "data/part-2.csv", "link/part-3.csv", "DATA/part-4.csv"):
        with pytest.raises(ParameterError, match="output must be a file of its own"):
            _require_apart(read, tmp_path / name)
    for name in ("data/model.holdfast", "other/part-1.csv", "synthetic.csv"):
        _require_apart(read, tmp_path / name)


def test_what_a_ledger_keeps_is_part_of_it(tmp_path: Path) -> None:
    kept = Shelf(tmp_path / "budget.db").place("model")
    read = FileRead(name="the ledger", path=tmp_path / "budget.db")
    with pytest.raises(ParameterError, match="file of its own"):
        _require_apart(read, kept)


def test_ledgers_and_private_keys_are_written_over_by_nothing(tmp_path: Path) -> None:
    """Also where nobody said that they are read: the one function that replaces files refuses."""
    Ledger.create(tmp_path / "other.db").close()
    create_key(tmp_path / "officer.pem")
    (tmp_path / "link").symlink_to(tmp_path / "other.db")
    for name in ("other.db", "officer.pem", "other.db-wal", "other.db-shm", "link"):
        before = (tmp_path / name).read_bytes() if (tmp_path / name).exists() else None
        with pytest.raises(ParameterError, match=r"is a (ledger|part of a ledger|private key)"):
            write_whole(tmp_path / name, b"<html>", overwrite=True)
        with pytest.raises(ParameterError, match=r"is a (ledger|part of a ledger|private key)"):
            Outputs(writes=(FileWritten(name="output", path=tmp_path / name, replaces=True),)).require()
        assert ((tmp_path / name).read_bytes() if (tmp_path / name).exists() else None) == before
    write_whole(tmp_path / "officer.pub", b"this may be", overwrite=True)


def test_what_lies_outside_is_told_by_its_real_place(tmp_path: Path) -> None:
    (tmp_path / "plan" / "sub").mkdir(parents=True)
    (tmp_path / "plan" / "link").symlink_to(tmp_path)
    inside = ("x", "sub/x", "sub/../x", "absent/x")
    assert not any(lies_outside(tmp_path / "plan" / name, tmp_path / "plan") for name in inside)
    away = ("../x", "link/x", "sub/../../x", str(tmp_path / "x"), "/x")
    assert all(lies_outside(tmp_path / "plan" / name, tmp_path / "plan") for name in away)

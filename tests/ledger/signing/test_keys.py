"""Keys are new files, both parts of them: nothing that is there is written over, whatever it is and is called."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from click.testing import CliRunner

from holdfast._cli.app import app
from holdfast.errors import ParameterError
from holdfast.ledger import Ledger, create_key

NAMES = (
    "officer",
    "officer.pem",
    "officer.key",
    "officer.pub",
    "officer.PUB",
    "officer.Pub",
    "officer.v1.pem",
    "officer.v1",
    "boss.pem",
    "boss.pub",
)


def _contents(folder: Path) -> dict[str, tuple[bool, bytes]]:
    return {
        path.name: (path.is_symlink(), path.read_bytes() if path.is_file() else b"")
        for path in sorted(folder.iterdir())
    }


def _put(folder: Path, draw: random.Random) -> None:
    """Something under one of the names: a file, a folder, a link to a file or to nowhere."""
    place = folder / draw.choice(NAMES)
    if os.path.lexists(place):
        return
    kind = draw.randrange(4)
    if kind == 0:
        place.write_bytes(draw.randbytes(20))
    elif kind == 1:
        place.mkdir()
    else:
        place.symlink_to(folder / ("nowhere" if kind == 2 else "target"))


@pytest.mark.parametrize("seed", range(20))
def test_whatever_is_there_stays(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    (tmp_path / "target").write_bytes(b"precious")
    for _ in range(draw.randrange(4)):
        _put(tmp_path, draw)
    for _ in range(6):
        path, before = tmp_path / draw.choice(NAMES), _contents(tmp_path)
        taken = any(os.path.lexists(one) for one in (path, path.with_suffix(".pub")))
        if taken or path.suffix.casefold() == ".pub":
            with pytest.raises(ParameterError, match="path must"):
                create_key(path)
            assert _contents(tmp_path) == before
        else:
            public = create_key(path)
            assert {name: held for name, held in _contents(tmp_path).items() if name in before} == before
            assert b"PRIVATE" in path.read_bytes()
            assert b"PUBLIC" in public.read_bytes()
            assert path.stat().st_mode & 0o777 == 0o600
            assert public.stat().st_mode & 0o133 == 0


def test_the_mode_does_not_follow_a_loose_mask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        create_key(tmp_path / "key.pem")
    finally:
        os.umask(before)
    assert (tmp_path / "key.pem").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "key.pub").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("name", ["officer.pub", "boss.pem", "absent/key.pem"])
def test_the_command_refuses_and_says_why(tmp_path: Path, name: str) -> None:
    create_key(tmp_path / "boss.old")
    before = _contents(tmp_path)
    shown = CliRunner().invoke(app, ["ledger", "key", str(tmp_path / name)])
    assert shown.exit_code == 2, shown.output
    assert "path must" in shown.output
    assert _contents(tmp_path) == before


def test_a_key_that_was_made_signs(tmp_path: Path) -> None:
    public = create_key(tmp_path / "key.pem")
    with Ledger.create(tmp_path / "ledger.db") as ledger:
        assert ledger.sign(tmp_path / "key.pem").verify(public)


@pytest.mark.parametrize("there", [True, False])
def test_a_call_that_was_ended_between_its_two_files_goes_on(tmp_path: Path, there: bool) -> None:
    public = create_key(tmp_path / "key.pem")
    private, wanted = (tmp_path / "key.pem").read_bytes(), public.read_bytes()
    public.unlink()
    if there:
        assert create_key(tmp_path / "key.pem").read_bytes() == wanted
        assert (tmp_path / "key.pem").read_bytes() == private
    else:
        (tmp_path / "key.pem").write_bytes(b"no key")
        with pytest.raises(ParameterError, match="path must be a new file"):
            create_key(tmp_path / "key.pem")
        assert [path.name for path in tmp_path.iterdir()] == ["key.pem"]

"""No file, however it was made, ends in anything but an error of holdfast's own, soon and in little memory."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from holdfast._regular_file import read_regular
from holdfast.errors import FormatError
from tests.contracts.bounded import ended
from tests.contracts.readers import READERS
from tests.paths import ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="memory is bounded by a limit of Linux"),
]


FILES = 12
"""For each reader in `make test`, always the same ones."""
DEEP_SECONDS = 600


def in_a_process(module: str, *arguments: str) -> tuple[int, str]:
    """In a process of its own, in which Arrow takes its memory where it is counted."""
    done = subprocess.run(
        [sys.executable, "-m", f"tests.contracts.{module}", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "ARROW_DEFAULT_MEMORY_POOL": "system"},
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_every_bomb_ends_in_an_error() -> None:
    code, told = in_a_process("hostile", "bombs")
    assert code == 0, told


def test_every_reader_stays_within_what_the_size_of_a_file_allows() -> None:
    """A few changed files and bombs for each, the same every time."""
    code, told = in_a_process("readers", "all", "--files", str(FILES))
    assert code == 0, told[-3000:]
    assert [json.loads(line)["reader"] for line in told.splitlines() if line.startswith("{")] == list(READERS)


@pytest.mark.deep
@pytest.mark.parametrize("reader", READERS)
def test_every_reader_stays_within_its_limits_for_ten_minutes(reader: str) -> None:
    """Of processor time; CONTRIBUTING.md has the command for longer."""
    code, told = in_a_process("readers", reader, "--seconds", str(DEEP_SECONDS))
    assert code == 0, told[-3000:]


def test_a_reader_that_takes_too_much_is_found(tmp_path: Path) -> None:
    """What the limits are worth: memory that is not touched, memory that an error hides, time, waiting, a crash."""

    def hide(path: Path) -> None:
        try:
            np.empty(2**27)
        except MemoryError as error:
            raise FormatError("not a file of ours") from error

    def work(path: Path) -> None:
        while True:
            hashlib.sha256(bytes(2**20))

    path = tmp_path / "file"
    path.write_bytes(b"1234")
    uses: dict[str, Callable[[Path], object]] = {
        "fine": lambda path: bytearray(2**24),
        "FormatError": lambda path: read_regular(path, what="a thing", most_bytes=3),
        "WRONG: too much memory": lambda path: np.empty(2**27),
        "WRONG: too much memory, and an error that hides it": hide,
        "WRONG: it took too long": work,
        "WRONG: ValueError: no": lambda path: (_ for _ in ()).throw(ValueError("no")),
        "WRONG: it SIGKILL": lambda path: os.kill(os.getpid(), signal.SIGKILL),
    }
    assert {words: ended(use, path).words for words, use in uses.items()} == {words: words for words in uses}


@pytest.mark.parametrize("number", [10**400, -(10**400), 10**309])
def test_whole_numbers_that_no_double_holds(number: int) -> None:
    from holdfast.audit._findings import finding_from_json
    from holdfast.data import Numeric
    from holdfast.errors import FormatError, ParameterError

    for given in ({"low": number}, {"high": number}, {"null": number}, {"bins": [0, number, 1]}):
        with pytest.raises(ParameterError):
            Numeric("age", **({"low": 0, "high": 1} | given))
    path = {"kind": "one-run-path", "canaries": 5, "right": "101", "rule": "exact", "every": 1}
    finding_from_json(path)
    for wrong in ({"every": 1.0}, {"canaries": 5.0}, {"canaries": True}):
        with pytest.raises(FormatError):
            finding_from_json(path | wrong)
    scores = {"kind": "one-run", "canaries": number, "guesses": 2.5, "correct": 1}
    with pytest.raises(FormatError):
        finding_from_json(scores)

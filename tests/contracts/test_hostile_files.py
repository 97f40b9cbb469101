"""No file, however it was made, ends in anything but an error of holdfast's own, soon and in little memory."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.paths import ROOT
from tests.studies.size import Study, trials

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="memory is bounded by a limit of Linux"),
]


def hostile(*arguments: str) -> tuple[int, str]:
    """In a process of its own, whose memory is bounded."""
    told = subprocess.run(
        [sys.executable, "-m", "tests.contracts.hostile", *arguments], cwd=ROOT, capture_output=True, text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}, check=False,
    )  # fmt: skip
    return told.returncode, told.stdout + told.stderr


def test_every_bomb_ends_in_an_error() -> None:
    code, told = hostile("bombs")
    assert code == 0, told


def test_changed_files_end_in_an_error_or_well(study: Study) -> None:
    count = trials(20_000)
    code, told = hostile(str(count), "1")
    study.note(trials=count, wrong=told.count(" number "))
    assert code == 0, told[-3000:]

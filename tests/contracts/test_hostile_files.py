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


BATCH = 2_000


def hostile(*arguments: str) -> tuple[int, str]:
    """In a process of its own, whose memory is bounded."""
    told = subprocess.run(
        [sys.executable, "-m", "tests.contracts.hostile", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    return told.returncode, told.stdout + told.stderr


def test_every_bomb_ends_in_an_error() -> None:
    code, told = hostile("bombs")
    assert code == 0, told


def test_changed_files_end_in_an_error_or_well(study: Study) -> None:
    """A process for every two thousand of them: memory is that of the files, not of ten thousand before them."""
    count = trials(20_000, share=40)
    batches = [hostile(str(min(BATCH, count - start)), str(1 + start)) for start in range(0, count, BATCH)]
    told = "".join(text for _, text in batches)
    study.note(trials=count, wrong=told.count(" number "))
    assert all(code == 0 for code, _ in batches), told[-3000:]


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

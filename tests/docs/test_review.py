"""The page "what a review broke": every finding is there, with tests that exist."""

from __future__ import annotations

import re

from tests.paths import ROOT

PAGE = (ROOT / "docs" / "review.md").read_text(encoding="utf-8")
FINDINGS = {"P": 12, "E": 10, "L": 8, "S": 10, "A": 7, "D": 8, "U": 8}


def test_every_finding_is_there_once() -> None:
    closed, _, still_open = PAGE.partition("## Still open")
    rows = re.findall(r"^\| ([PELSADU]\d+)\b", closed, flags=re.M)
    waiting = re.findall(r"\b([PELSADU]\d+) \(", still_open)
    wanted = [f"{room}{number}" for room, last in FINDINGS.items() for number in range(1, last + 1)]
    assert sorted([*rows, *waiting]) == sorted(wanted), (
        "each is closed with its tests, or said to be open, once"
    )


def test_every_row_names_checks_that_exist() -> None:
    for row in re.findall(r"^\| [PELSADU]\d+\b.*$", PAGE, flags=re.M):
        named = re.findall(r"`((?:tests|studies)/[^`]+)`", row.rsplit("|", 2)[1])
        assert named, row
        missing = [path for path in named if not (ROOT / path).is_file()]
        assert not missing, missing

"""Of everything that can be forged without the key, nothing passes."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.dossier.verification.forgeries import FORGERS, KINDS, Tally, counts, table, tallied
from tests.studies.size import Study, deep

SHARE = 180


@pytest.mark.slow
def test_nothing_passes_without_the_key(tmp_path: Path, study: Study) -> None:
    """One forgery of so many; all of them in a deep run. The owner, who holds ledger and key, is only counted."""
    found = tallied(1 if deep() else SHARE, Path(os.environ.get("HOLDFAST_KEPT", tmp_path)))
    noted = counts(found)
    sys.stdout.write(f"\n{table(noted)}\n")
    study.note(trials=sum(tally.tried for tally in found.values()), one_in=1 if deep() else SHARE, **noted)
    for (forger, what), tally in found.items():
        if forger != FORGERS[2]:
            assert not tally.passed, (forger, what)
            assert not tally.passed_stranger, (forger, what)


def test_what_was_tried_is_kept_and_the_work_is_shared(tmp_path: Path) -> None:
    half = tallied(1500, tmp_path, turn=1, turns=2)
    again = tallied(1500, tmp_path)
    tried = {forger: sum(t.tried for (f, _), t in again.items() if f == forger) for forger in FORGERS}
    assert 0 < sum(t.tried for t in half.values()) < sum(tried.values())
    lines = sum(len(path.read_text().splitlines()) for path in tmp_path.glob("tried-*.jsonl"))
    assert lines == sum(tried.values())
    assert counts(tallied(1500, tmp_path)) == counts(again)


def test_the_table_adds_up() -> None:
    found = {(FORGERS[2], what): Tally(tried=1000 + k, passed=["a"] * k) for k, what in enumerate(KINDS)}
    assert f"| {FORGERS[2]} | 1,000 | 1,001 | 1,002 | 1,003 | 6 | 0 |" in table(counts(found))
    assert f"| {FORGERS[0]} | - | - | - | - | 0 | 0 |" in table(counts(found))

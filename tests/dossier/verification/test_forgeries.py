"""Of everything that can be forged without the key, nothing passes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.dossier.verification.forgeries import FORGERS, GENERATED, table, tallied
from tests.studies.size import Study, deep

SHARE = 60


@pytest.mark.slow
def test_nothing_passes_without_the_key(tmp_path: Path, study: Study) -> None:
    """One forgery in sixty; all of them in a deep run. The owner, who holds ledger and key, is only counted."""
    found = tallied(1 if deep() else SHARE, tmp_path)
    sys.stdout.write(f"\n{table(found)}\n")
    passed = {
        forger: [w for (f, _), t in found.items() if f == forger for w in t.passed] for forger in FORGERS
    }
    study.note(
        trials=sum(tally.tried for tally in found.values()),
        without_ledger=len(passed[FORGERS[0]]), without_key=len(passed[FORGERS[1]]), owner=len(passed[FORGERS[2]]),
    )  # fmt: skip
    assert not passed[FORGERS[0]]
    assert not passed[FORGERS[1]]
    outside = [tally.passed_stranger for (forger, _), tally in found.items() if forger != FORGERS[2]]
    assert not any(outside), outside


def test_the_documentation_shows_the_counts() -> None:
    assert all(forger in GENERATED.read_text(encoding="utf-8") for forger in FORGERS)

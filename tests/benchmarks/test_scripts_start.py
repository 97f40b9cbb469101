"""Every reproduction and benchmark starts: its imports are right and it says how it is run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.paths import ROOT

STARTED_BY_OTHERS = {
    "additive_ebm_claim",
    "additive_peers_worker",
    "attack_peers_worker",
    "attribute_peers_worker",
    "disclosure_peers_worker",
    "learn_panel_worker",
    "nist_scorer_worker",
    "synth_runs",
}
"""One row each of another script's table, in a process or environment of its own."""
SCRIPTS = sorted(
    f"studies.{folder}.{path.stem}"
    for folder in ("benchmarks", "reproductions")
    for path in (ROOT / "studies" / folder).glob("*.py")
    if "__main__" in path.read_text(encoding="utf-8") and path.stem not in STARTED_BY_OTHERS
)


def test_there_are_scripts() -> None:
    assert len(SCRIPTS) >= 25


def started(*scripts: str) -> dict[str, dict[str, Any]]:
    """How each ends when it is asked for help."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.start_scripts", *scripts],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="scripts are started in forks")
def test_they_start() -> None:
    found = started(*SCRIPTS, "tests.benchmarks.no_such_script")
    assert found.pop("tests.benchmarks.no_such_script")["code"] != 0
    assert sorted(found) == SCRIPTS
    wrong = {
        script: end for script, end in found.items() if end["code"] != 0 or not end["out"].startswith("usage")
    }
    assert not wrong, "\n".join(f"{script}: {end['err'] or end['out']}" for script, end in wrong.items())

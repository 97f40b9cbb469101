"""Every reproduction and benchmark starts: its imports are right and it says how it is run."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.paths import ROOT

STARTED_BY_OTHERS = {
    "additive_ebm_claim",
    "additive_peers_worker",
    "attack_peers_worker",
    "attribute_peers_worker",
    "disclosure_peers_worker",
    "learn_panel_worker",
    "learn_peers_worker",
    "nist_scorer_worker",
    "synth_runs",
}
"""One row each of another script's table, in a process or environment of its own."""
SCRIPTS = sorted(
    f"{folder}.{path.stem}"
    for folder in ("benchmarks", "reproductions")
    for path in (ROOT / folder).glob("*.py")
    if "__main__" in path.read_text(encoding="utf-8") and path.stem not in STARTED_BY_OTHERS
)


def test_there_are_scripts() -> None:
    assert len(SCRIPTS) >= 25


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS)
def test_it_starts(script: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", script, "--help"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("usage")

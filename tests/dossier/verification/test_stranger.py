"""The verifier that shares no line with holdfast, and the public challenge."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from holdfast.dossier._renderer import renderer
from tests.dossier.verification import forging
from tests.dossier.verification.forgeries import extracted, passes_stranger, stranger
from tests.paths import ROOT

VERIFIER = ROOT / "verifier" / "holdfast_verify.py"


def test_it_needs_nothing_but_the_standard_library_and_a_signature_package() -> None:
    tree = ast.parse(VERIFIER.read_text(encoding="utf-8"))
    named = {
        name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [node.module or ""] if isinstance(node, ast.ImportFrom) else [one.name for one in node.names]
        )
    }
    assert named <= set(sys.stdlib_module_names) | {"cryptography"}


def test_a_stranger_finds_what_is_sound_sound(tmp_path: Path) -> None:
    case = forging.sound(tmp_path / "sound")
    extract = extracted(case, case.key, tmp_path / "extract.json")
    assert extract is not None
    found = stranger().verify(case.page, [case.release], extract, case.public, renderer=renderer())
    assert any("closed by the ledger as entry" in line for line in found.holds)
    assert not found.not_judged
    data = json.loads(extract.read_text(encoding="utf-8"))
    data["entries"] = data["entries"][:-1]
    extract.write_text(json.dumps(data), encoding="utf-8")
    assert not passes_stranger(case, extract)  # an entry left out


@pytest.mark.slow
def test_ours_scores_twenty() -> None:
    """The committed challenge: half of it sound, and the independent verifier tells all of it."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "studies" / "challenge" / "score.py"), "--ours"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "20 of 20\n", done.stderr
    answers = json.loads((ROOT / "studies" / "challenge" / "answers.json").read_text(encoding="utf-8"))
    assert sorted(answers.values()) == ["forged"] * 10 + ["sound"] * 10


def test_the_challenge_is_small_and_whole() -> None:
    with zipfile.ZipFile(ROOT / "studies" / "challenge" / "cases.zip") as packed:
        names = {Path(name).parts for name in packed.namelist()}
    assert names == {
        (f"{number:02d}", part)
        for number in range(1, 21)
        for part in ("page.html", "release.holdfast", "extract.json")
    }
    assert (ROOT / "studies" / "challenge" / "cases.zip").stat().st_size < 2**20

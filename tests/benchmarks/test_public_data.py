"""Where data come from is said in one place, and a script without its data or its packages ends with one line."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from studies.benchmarks.public_data import SOURCES, data_file, package

from tests.benchmarks.test_scripts_start import SCRIPTS, started
from tests.paths import ROOT

FILES = [
    path
    for folder in ("benchmarks", "reproductions")
    for path in sorted((ROOT / "studies" / folder).glob("*.py"))
]
READS_DATA = (
    "studies.reproductions.001_model_inversion",
    "studies.benchmarks.additive_size",
)
"""Some that need data before they do anything else."""


def one_line(text: str) -> bool:
    return text.count("\n") == 1 and "Traceback" not in text


@pytest.mark.parametrize("name", sorted(SOURCES))
@pytest.mark.parametrize("folder", ["no variable", "an empty folder"])
def test_what_is_missing_is_named_with_its_source(
    name: str,
    folder: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv("HOLDFAST_DATA", raising=False)
    if folder == "an empty folder":
        monkeypatch.setenv("HOLDFAST_DATA", str(tmp_path))
    with pytest.raises(SystemExit) as end:
        data_file(name)
    said = capsys.readouterr().err
    assert end.value.code == 2
    assert one_line(said)
    assert name in said
    assert SOURCES[name] in said
    assert "docs/data.md" in said


def test_a_package_that_is_missing_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        package("a_package_that_nobody_has")
    assert end.value.code == 2
    assert one_line(capsys.readouterr().err)


def test_data_are_read_through_one_function_and_every_file_is_on_the_page() -> None:
    page = (ROOT / "docs" / "data.md").read_text(encoding="utf-8")
    assert not [name for name in SOURCES if name not in page]
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        assert path.name == "public_data.py" or "environ" not in text or '"HOLDFAST_DATA"' not in text, (
            path.name
        )
        for name in re.findall(r'data_file\("([^"{]+)"\)', text):
            assert name in SOURCES, f"{path.name} reads {name}"
        if "_worker" not in path.name and path.name != "additive_ebm_claim.py":
            assert not re.findall(r"^import (?:pandas|psutil)\b", text, flags=re.M), path.name


@pytest.mark.slow
@pytest.mark.deep
@pytest.mark.skipif(not hasattr(os, "fork"), reason="scripts are started in forks")
def test_every_script_starts_or_ends_with_one_line_without_data_and_packages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("HOLDFAST_DATA", raising=False)
    monkeypatch.setenv("HOLDFAST_TEST_WITHOUT", "psutil,pandas")
    for script, end in started(*SCRIPTS).items():
        helped = end["code"] == 0 and end["out"].startswith("usage")
        assert helped or (end["code"] == 2 and one_line(end["err"])), f"{script}: {end}"


@pytest.mark.slow
@pytest.mark.parametrize("script", READS_DATA)
def test_a_script_without_its_data_ends_with_one_line(script: str, tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "HOLDFAST_DATA"}
    done = subprocess.run(
        [sys.executable, "-m", script],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 2, done.stderr
    assert one_line(done.stderr), done.stderr

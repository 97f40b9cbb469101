"""What holdfast rests on is written down: versions, licences, a bill of materials, and what each may do to rows."""

from __future__ import annotations

import json
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.paths import ROOT

SCRIPT = ROOT / "docs" / "make_dependencies.py"
PAGE = (ROOT / "docs" / "decisions" / "dependencies.md").read_text(encoding="utf-8")


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[^A-Za-z0-9_.-]", line)[0].lower() for line in requirements}


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    declared: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return declared


@pytest.fixture(scope="module")
def used(project: dict[str, Any]) -> set[str]:
    """What a user may have installed with holdfast, by name."""
    extras = project["optional-dependencies"]
    (everything,) = re.findall(r"\[(.*)\]", extras["all"][0])
    return names(project["dependencies"]).union(*(names(extras[extra]) for extra in everything.split(",")))


def test_every_dependency_is_in_the_lock_and_among_the_licences(used: set[str]) -> None:
    lock = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    locked = dict(line.split("==") for line in lock if not line.startswith("#"))
    assert used <= set(locked)
    assert "holdfast" not in locked
    licences = (ROOT / "docs" / "_generated" / "licences.md").read_text(encoding="utf-8")
    assert all(f"| {name} |" in licences for name in used)


def test_the_lock_with_hashes_has_the_versions_of_the_lock() -> None:
    texts = [(ROOT / name).read_text(encoding="utf-8") for name in ("constraints.txt", "requirements.lock")]
    plain, hashed = ([line for line in text.splitlines() if not line.startswith("#")] for text in texts)
    assert [line.split(" ")[0] for line in hashed] == plain
    assert all(re.fullmatch(r"\S+ --hash=sha256:[0-9a-f]{64}", line) for line in hashed)


def test_what_each_dependency_can_do_to_rows_is_said_once(used: set[str]) -> None:
    table = PAGE.split("**What each can do to rows.**")[1].split("**What was tested.**")[0]
    said = re.findall(r"^\| ([a-z0-9-]+) \|", table, flags=re.MULTILINE)
    assert sorted(set(said) - {"package"}) == sorted(used)
    assert len(said) == len(set(said))


def test_the_bill_of_materials_is_whole(used: set[str], project: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "holdfast.cdx.json"
    subprocess.run([sys.executable, str(SCRIPT), "--sbom", str(file)], check=True, capture_output=True)
    bill = json.loads(file.read_text(encoding="utf-8"))
    assert (bill["bomFormat"], bill["specVersion"], bill["version"]) == ("CycloneDX", "1.6", 1)
    parts = {part["name"]: part for part in bill["components"]}
    assert used <= set(parts)
    assert names(project["dependencies"]) <= {n for n, part in parts.items() if part["scope"] == "required"}
    assert all(
        part["version"] and part["licenses"] and part["purl"] == part["bom-ref"] for part in parts.values()
    )
    known = {part["bom-ref"] for part in parts.values()}
    root = bill["metadata"]["component"]["bom-ref"]
    edges = {edge["ref"]: edge["dependsOn"] for edge in bill["dependencies"]}
    assert set(edges) == known | {root}
    reached, waiting = set[str](), [root]
    while waiting:
        ref = waiting.pop()
        if ref not in reached:
            reached.add(ref)
            waiting += edges[ref]
    assert reached == known | {root}


def test_the_release_makes_it() -> None:
    workflow = (ROOT / ".github" / "workflows" / "wheels.yml").read_text(encoding="utf-8")
    assert "python docs/make_dependencies.py --sbom" in workflow
    assert re.search(r"needs: \[.*sbom.*\]", workflow)


def test_extras_of_extras_count() -> None:
    needs_of = runpy.run_path(str(SCRIPT))["needs_of"]
    requires = ["a", 'b[c] ; extra == "x"', 'holdfast[x] ; extra == "all"', 'd ; python_version < "3"']
    assert needs_of(requires) == {"a": set()}
    assert needs_of(requires, ["all"]) == {"a": set(), "b": {"c"}}

"""Names and paths that pages mention are there: what moved is followed."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

from tests.paths import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(
    path
    for path in [*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / "examples").glob("*.py")]
    if "_build" not in path.parts
)
IN_THE_DATABASE = {"holdfast.sgd_epochs"}
ENTRY_POINTS = {
    f"holdfast.{group}"
    for group in (
        "mechanisms",
        "methods",
        "synthesizers",
        "attacks",
        "rows_attacks",
        "attribute_attacks",
        "disclosures",
        "engines",
        "columns",
    )
}
"""Groups in which packages register: no names of modules."""
OF_THE_READER = {
    "out/demo/dossier.html",
    "visits/",
    "data/GSS_15235.csv",
    "data/adult.csv",
    "national/national2019.csv",
    "national/national2019.json",
    "nist_acs/",
}
"""Files of the reader, not of the repository."""


def _resolves(name: str) -> bool:
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found: object = import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_names_of_the_package_exist(page: Path) -> None:
    names = set(re.findall(r"(?<![/\w.-])holdfast(?:\.[A-Za-z_]\w*)+", page.read_text(encoding="utf-8")))
    gone = sorted(name for name in names - IN_THE_DATABASE - ENTRY_POINTS if not _resolves(name))
    assert not [name for name in gone if not name.endswith(("readthedocs.io", ".md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_paths_of_the_repository_exist(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    paths = set(re.findall(r"`([\w.]+/[\w./]*)`", text)) - OF_THE_READER
    package = ROOT / "src" / "holdfast"
    bases = (ROOT, package, page.parent, *(init.parent for init in package.glob("*/__init__.py")))
    gone = [path for path in sorted(paths) if not any((base / path).exists() for base in bases)]
    assert not gone

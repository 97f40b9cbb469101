"""The tree stays a map: tests mirror the package, one name for one thing."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.paths import ROOT

SOURCES = ROOT / "src" / "holdfast"

#: Folders of tests that mirror no folder of the package.
OTHERS = {
    "adding": "toys that are added to a copy of the tree",
    "benchmarks": "what benchmarks compute",
    "contracts": "one suite for all methods, mechanisms, attacks or engines",
    "docs": "pages, examples and the site",
    "kills": "commands that are killed between two system calls",
    "layouts": "files of public layouts, made up from their documentation",
    "golden": "stored numbers and files, with the scripts that made them",
    "mutants": "planted faults",
    "mutation": "faults drawn at random in paying code",
    "reproductions": "code of papers that the product does not call",
    "review": "findings of reviews, as expected failures",
    "servers": "PostgreSQL and Spark for tests",
    "studies": "how many trials, and the results of all",
}
#: Public names with several homes, and why they are one thing. Commands, too, may be named like what they call.
SHARED = {
    "answer": "questions about a table, and queries about synthetic rows",
    "connect": "every engine has one, called by open_table",
    "clip": "the kernel's two implementations and the function that chooses",
    "epsilon_lower": "every audit bound has one",
    "mu_lower": "every audit bound has one",
    "p_value": "every audit bound has one",
}


def files() -> list[Path]:
    return sorted(SOURCES.rglob("*.py"))


def name(path: Path) -> str:
    return path.relative_to(SOURCES).as_posix()


def folders(root: Path) -> Iterator[Path]:
    """All folders below, without caches."""
    for path in sorted(root.rglob("*")):
        if path.is_dir() and "__pycache__" not in path.parts:
            yield path.relative_to(root)


def test_tests_mirror_the_package() -> None:
    tests = {path for path in folders(ROOT / "tests") if path.parts[0] not in OTHERS}
    rooms = {Path(*(part.removeprefix("_") for part in folder.parts)) for folder in folders(SOURCES)}
    strangers = sorted(path.as_posix() for path in tests - rooms)
    assert not strangers, f"no folder of src/holdfast is called {', '.join(strangers)}"


def test_every_other_folder_is_there() -> None:
    assert not [folder for folder in OTHERS if not (ROOT / "tests" / folder).is_dir()]


def test_one_name_one_thing() -> None:
    twice = {public: places for public, places in homes().items() if len(places) > 1 and public not in SHARED}
    assert not twice, "\n".join(f"{public}: {', '.join(places)}" for public, places in sorted(twice.items()))


def test_shared_names_are_still_shared() -> None:
    """A reason that nothing needs any more is taken out."""
    assert not [public for public in SHARED if len(homes()[public]) < 2]


@cache
def homes() -> dict[str, list[str]]:
    """Where every public class and function is defined; commands, which carry decorators, left out."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in files():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            command = name(path).startswith("_cli/") and bool(getattr(node, "decorator_list", ()))
            if (
                isinstance(node, ast.ClassDef | ast.FunctionDef)
                and not node.name.startswith("_")
                and not command
            ):
                found[node.name].append(name(path))
    return found

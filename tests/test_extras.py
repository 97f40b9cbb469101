"""Packages of extras: one door, which says the extra; nothing else of the source imports what is not declared."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast._extras import EXTRAS, import_optional
from holdfast.errors import MissingExtra
from tests.paths import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MODULE_OF = {"scikit_learn": "sklearn"}
"""Where a package is imported by another name than it is installed by."""
OF_THE_CALLER = {"torch"}
"""Only imported where the caller has handed in an object of it."""
OWN = {"holdfast", "setuptools", "markupsafe"}
"""And what builds it; markupsafe is the part of jinja2 that escapes."""
FOR_CONTRIBUTORS = ("docs", "dev", "all")


def modules(requirements: list[str]) -> set[str]:
    """The names by which required packages are imported."""
    names = {re.split(r"[\[<>=!;]", wanted)[0].strip().replace("-", "_") for wanted in requirements}
    return {MODULE_OF.get(name, name) for name in names}


def imported(tree: ast.AST) -> Iterator[str]:
    """The packages that a file imports when it runs, by statement or by a literal name."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield (node.module or "").partition(".")[0]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            if isinstance(node.args[0], ast.Constant):
                yield str(node.args[0].value).partition(".")[0]
        yield from imported(node)


def undeclared(text: str) -> set[str]:
    """What a file imports that neither Python, nor holdfast, nor a declared dependency brings."""
    allowed = sys.stdlib_module_names | modules(PROJECT["dependencies"]) | OWN | OF_THE_CALLER
    return set(imported(ast.parse(text))) - allowed


def test_the_extras_of_the_code_are_those_of_the_project() -> None:
    declared = {
        (module, extra)
        for extra, wanted in PROJECT["optional-dependencies"].items()
        if extra not in FOR_CONTRIBUTORS
        for module in modules(wanted)
    }
    assert declared | {("adbc_driver_manager", "postgres")} == set(EXTRAS.items())
    every = {extra for extra in PROJECT["optional-dependencies"] if extra not in FOR_CONTRIBUTORS}
    for bundle in PROJECT["optional-dependencies"]["all"]:
        assert set(bundle.partition("[")[2].rstrip("]").split(",")) == every


@pytest.mark.slow
def test_nothing_is_imported_past_the_door() -> None:
    found = {
        str(path.relative_to(ROOT / "src")): undeclared(path.read_text(encoding="utf-8"))
        for path in (ROOT / "src").rglob("*.py")
    }
    assert len(found) > 400
    assert not {name: packages for name, packages in found.items() if packages}


def test_an_import_past_the_door_would_be_seen() -> None:
    assert undeclared("def f():\n    import pandas as pd\n") == {"pandas"}
    assert undeclared("try:\n    from polars.x import y\nexcept ImportError: pass\n") == {"polars"}
    assert undeclared("import_module('jax.numpy')") == {"jax"}
    assert not undeclared("if TYPE_CHECKING:\n    import pandas\nimport sklearn.base, json")


@pytest.mark.parametrize("package", sorted(EXTRAS))
def test_without_a_package_the_error_names_the_extra_and_the_way_without(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra) as error:
        import_optional(f"{package}.part", instead="do it by hand")
    extra = EXTRAS[package]
    assert str(error.value) == (
        f"{package} is not installed; install it with: pip install 'holdfast[{extra}]'; or do without: do it by hand"
    )


def test_a_package_that_is_there_and_broken_is_not_called_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "polars.py").write_text("import a_library_that_is_gone")
    monkeypatch.delitem(sys.modules, "polars", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(MissingExtra, match="polars cannot be imported"):
        import_optional("polars")

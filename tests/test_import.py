"""What `import holdfast` costs, what it offers, and that no name of an earlier version is lost."""

from __future__ import annotations

import inspect
import pkgutil
import subprocess
import sys
from importlib import import_module

import pytest

import holdfast

HEAVY = {
    "scipy",
    "sklearn",
    "jax",
    "pyspark",
    "duckdb",
    "pyarrow",
    "pandas",
    "polars",
    "psycopg",
    "matplotlib",
    "numpy",
    "click",
    "jinja2",
    "tqdm",
    "mpmath",
    "sqlite3",
}
HEADLINE = """
    Schema Numeric Categorical Identifier Encoder open_table adult counts_l1 counts_l2 sum_l2
    Account Adjacency PrivacyUnit Guarantee TradeOff PureDP ApproxDP compose
    Ledger Release Certificate
    PrivateLogisticRegression PrivateLinearSVC PrivateLinearRegression PrivateRidge PrivateLasso PrivateSearch
    PrivateAdditiveClassifier PrivateAdditiveRegressor PrivateHuberRegression attribute_risk
    load_model Synthesizer Workload Marginal membership Dossier verify_dossier
""".split()
ROOMS = "attack audit data dossier errors learn ledger plan privacy refute release statistics synth testing".split()


def _loaded(statement: str) -> set[str]:
    code = f"import sys\n{statement}\nprint('\\n'.join(sorted(sys.modules)))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(shown.stdout.split())


def test_importing_loads_nothing_heavy() -> None:
    """Under a tenth of a second: no library, and no room, is loaded before a name is used."""
    names = _loaded("import holdfast")
    assert names.isdisjoint(HEAVY)
    assert {name for name in names if name.startswith("holdfast")} == {"holdfast"}


def test_the_vocabulary_needs_no_database_or_model_library() -> None:
    names = _loaded("from holdfast import Account, ApproxDP, Schema, TradeOff, counts_l2")
    assert names.isdisjoint(HEAVY - {"numpy", "scipy"})


def test_the_face_is_the_headline_names_and_the_rooms() -> None:
    assert sorted(import_module("holdfast").__all__) == sorted([*HEADLINE, *ROOMS])
    for name in ROOMS:
        assert getattr(holdfast, name) is import_module(f"holdfast.{name}")
    assert inspect.isfunction(holdfast.audit.audit)


@pytest.mark.parametrize("room", ["holdfast", *(f"holdfast.{name}" for name in ROOMS)])
def test_every_exported_name_resolves(room: str) -> None:
    module = import_module(room)
    for name in getattr(module, "__all__", ()):
        assert getattr(module, name) is not None
        assert name in dir(module) or "__dir__" not in vars(module)


def _packages() -> list[str]:
    found = pkgutil.walk_packages(holdfast.__path__, "holdfast.")
    return ["holdfast", *sorted(each.name for each in found if each.ispkg)]


@pytest.mark.parametrize("package", _packages())
def test_no_exported_name_is_hidden_by_a_file_of_its_name(package: str) -> None:
    module = import_module(package)
    files = {each.name for each in pkgutil.iter_modules(module.__path__)}
    exported = set(getattr(module, "__all__", ()))
    assert exported & files == (set(ROOMS) if package == "holdfast" else set())

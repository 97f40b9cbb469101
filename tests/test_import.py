"""What `import holdfast` costs and what it must not drag in."""

from __future__ import annotations

import subprocess
import sys

HEAVY = [
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
]


def loaded(statement: str) -> set[str]:
    code = f"import sys\n{statement}\nprint('\\n'.join(sorted(sys.modules)))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(shown.stdout.split())


def test_importing_loads_nothing_heavy() -> None:
    assert loaded("import holdfast").isdisjoint(HEAVY)


def test_the_vocabulary_needs_no_database_or_model_library() -> None:
    names = loaded("from holdfast.privacy import Account, ApproxDP, TradeOff; from holdfast import Schema")
    assert names.isdisjoint(set(HEAVY) - {"numpy", "scipy"})


def test_every_public_name_resolves() -> None:
    import holdfast.data
    import holdfast.privacy

    for module in (holdfast, holdfast.privacy, holdfast.data):
        for name in module.__all__:
            assert getattr(module, name) is not None
            assert name in dir(module)

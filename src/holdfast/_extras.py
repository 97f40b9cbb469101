"""Optional packages, and the error that names the extra that installs a missing one."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from holdfast.errors import MissingExtra

EXTRAS = {
    "adbc_driver_manager": "postgres",
    "adbc_driver_postgresql": "postgres",
    "cryptography": "sign",
    "jax": "gan",
    "matplotlib": "plot",
    "optax": "gan",
    "pandas": "pandas",
    "polars": "polars",
    "psycopg": "postgres",
    "pyspark": "spark",
}
"""Each optional package, and the extra that installs it."""


def import_optional(module: str, *, instead: str = "") -> Any:
    """Import a module of an optional package.

    Parameters
    ----------
    module
        The name of the module, as in an import statement.
    instead
        What to do without the package, for the error.

    Raises
    ------
    MissingExtra
        If the package is not installed or cannot be imported.

    >>> import_optional("matplotlib.figure").Figure.__name__
    'Figure'
    """
    package = module.partition(".")[0]
    extra = EXTRAS[package]
    try:
        return import_module(module)
    except ImportError as error:
        absent = isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] == package
        problem = "is not installed" if absent else f"cannot be imported ({type(error).__name__})"
        raise MissingExtra(
            f"{package} {problem}; install it with: pip install 'holdfast[{extra}]'"
            + (f"; or do without: {instead}" if instead else "")
        ) from error

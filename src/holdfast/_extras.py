"""Packages that an installation may lack, and the error that names the extra which brings one."""

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
"""Each package that is imported only where it is needed, and the extra that brings it."""


def optional(module: str, *, instead: str = "") -> Any:
    """A module of a package that only an extra brings.

    Parameters
    ----------
    module
        The name of the module, as in an import statement.
    instead
        What does the same without the package, for the error.

    Raises
    ------
    MissingExtra
        Where the package is not there, or is there and cannot be imported.

    >>> optional("matplotlib.figure").Figure.__name__
    'Figure'
    """
    package = module.partition(".")[0]
    extra = EXTRAS[package]
    try:
        return import_module(module)
    except ImportError as error:
        absent = isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] == package
        fault = "is not installed" if absent else f"cannot be imported ({type(error).__name__})"
        raise MissingExtra(
            f"{package} {fault}; install it with: pip install 'holdfast[{extra}]'"
            + (f"; or do without: {instead}" if instead else "")
        ) from error

"""Names of a package that are loaded when they are first used, so that importing the package stays cheap."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def exported(
    package: str, homes: Mapping[str, Sequence[str]]
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """`__all__`, `__getattr__` and `__dir__` of a package whose names live in these modules of it.

    >>> names, load, _ = exported("holdfast.data", {"columns": ("Numeric", "Categorical")})
    >>> names, load("Numeric").__name__
    (['Categorical', 'Numeric'], 'Numeric')
    """
    home = {name: module for module, names in homes.items() for name in names}
    public = sorted(home)

    def load(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{home[name]}"), name)
        setattr(sys.modules[package], name, value)  # also where a submodule of the same name was bound first
        return value

    return public, load, lambda: public

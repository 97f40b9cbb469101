"""holdfast: publish a model or a synthetic table with a promise people can check.

The dozen names a user types. Everything is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from holdfast.data import Categorical as Categorical
    from holdfast.data import Encoder as Encoder
    from holdfast.data import Numeric as Numeric
    from holdfast.data import Schema as Schema
    from holdfast.data import open_table as open_table
    from holdfast.ledger import Ledger as Ledger
    from holdfast.privacy import Account as Account
    from holdfast.privacy import Adjacency as Adjacency
    from holdfast.privacy import Guarantee as Guarantee
    from holdfast.privacy import PrivacyUnit as PrivacyUnit
    from holdfast.privacy import TradeOff as TradeOff
    from holdfast.release import Release as Release

__version__ = "0.1.0.dev0"

_HOMES = {
    "holdfast.data": ("Categorical", "Encoder", "Numeric", "Schema", "open_table"),
    "holdfast.ledger": ("Ledger",),
    "holdfast.privacy": ("Account", "Adjacency", "Guarantee", "PrivacyUnit", "TradeOff"),
    "holdfast.release": ("Release",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}
__all__ = sorted([*_HOME, "__version__"])


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__

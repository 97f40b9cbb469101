"""The contracts that every mechanism, method, attack, engine and column kind keeps, to call on your own."""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

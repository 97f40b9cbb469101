"""The page that a privacy officer reads: what was released, what is promised, and why."""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

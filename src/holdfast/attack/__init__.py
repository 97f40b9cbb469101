"""Membership attacks: can someone tell that a record was in the training data? Results are for its owner only."""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

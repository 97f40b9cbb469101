"""Attacks: was a record in the training data, and what is an attribute of a person? Results are for the owner only."""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""Declared data: schemas, tables wherever they live, and how far one privacy unit moves what is computed."""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""Numeric accounting: privacy losses on a grid, composed by Fourier transforms, with certified errors."""

from __future__ import annotations

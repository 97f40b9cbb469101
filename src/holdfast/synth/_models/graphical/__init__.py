"""Graphical models on NumPy: junction trees, belief propagation, estimation from noisy tables, sampling of rows."""

from __future__ import annotations

"""Graphical models on NumPy: junction trees, belief propagation, estimation from noisy tables, rows."""

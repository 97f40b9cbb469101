"""Nodes and weights of Gauss-Legendre quadrature, computed once for each number of nodes."""

from __future__ import annotations

from functools import cache

import numpy as np

from holdfast._arrays import Floats


@cache
def legendre(count: int) -> tuple[Floats, Floats]:
    """Nodes in (-1, 1) and their weights; with n of them every polynomial of degree 2 n - 1 is integrated exactly.

    >>> nodes, weights = legendre(3)
    >>> round(float(weights @ nodes**4), 12)
    0.4
    """
    nodes, weights = np.polynomial.legendre.leggauss(count)
    for array in (nodes, weights):
        array.flags.writeable = False  # every caller gets the same arrays
    return nodes, weights

"""Polytopes given by their corners: the L1 ball, or any list."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import require

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class L1Ball:
    """|w|_1 <= radius: the corners are radius times plus or minus each axis.

    >>> L1Ball(radius=2.0, dimension=3).corner(4).tolist()
    [0.0, -2.0, 0.0]
    """

    radius: float
    dimension: int

    def __post_init__(self) -> None:
        require(0 < self.radius < math.inf, "l1_radius", self.radius, "> 0 and finite")
        require(self.dimension >= 1, "dimension", self.dimension, ">= 1")

    @property
    def corners(self) -> int:
        """Their number."""
        return 2 * self.dimension

    @property
    def l1_norm(self) -> float:
        """The largest L1 norm of a point."""
        return self.radius

    def centre(self) -> Floats:
        """A point to start from."""
        return np.zeros(self.dimension)

    def products(self, gradient: Floats) -> Floats:
        """The inner product of each corner with a gradient."""
        return np.concatenate([self.radius * gradient, -self.radius * gradient])

    def corner(self, index: int) -> Floats:
        """One corner."""
        point = np.zeros(self.dimension)
        point[index % self.dimension] = self.radius if index < self.dimension else -self.radius
        return point


@dataclass(frozen=True, kw_only=True, eq=False)
class Corners:
    """The convex hull of a public list of points, one per row."""

    points: Floats

    def __post_init__(self) -> None:
        require(self.points.ndim == 2, "vertices.ndim", self.points.ndim, "2")
        require(self.points.shape[0] >= 2, "len(vertices)", self.points.shape[0], ">= 2")
        require(bool(np.all(np.isfinite(self.points))), "vertices", "...", "finite")

    @property
    def corners(self) -> int:
        """Their number."""
        return int(self.points.shape[0])

    @property
    def l1_norm(self) -> float:
        """The largest L1 norm of a point."""
        return float(np.max(np.sum(np.abs(self.points), axis=1)))

    def centre(self) -> Floats:
        """A point to start from."""
        return np.asarray(self.points.mean(axis=0))

    def products(self, gradient: Floats) -> Floats:
        """The inner product of each corner with a gradient."""
        return np.asarray(self.points @ gradient)

    def corner(self, index: int) -> Floats:
        """One corner."""
        return np.asarray(self.points[index])


Polytope = L1Ball | Corners

"""The one-run audit of a noisy sum, simulated exactly at a cost that does not depend on the dimension.

The mechanism: sum the included canaries, uniform on the unit sphere of R^d, and add N(0, sigma^2 I). The
score of a canary is its inner product with the result. The law of all scores, jointly, needs no vector
of length d:

1. In the basis that Gram and Schmidt make of the n included canaries, canary i is a row of a lower
   triangular matrix, normals left of the diagonal and the root of a chi-square with d - i degrees of
   freedom on it (Bartlett 1933), divided by its length: n (n+1)/2 draws in place of n d.
2. The noise is n normals in that basis and, across it, a length: the root of a chi-square with d - n.
3. A canary that is left out knows nothing of the result, so its score is the result's length times one
   coordinate of a uniform point of the sphere, independently for each.

For studies of the audit only: a mechanism in a black box still needs real canaries.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast._arrays import Floats
from holdfast.audit._canaries.design import as_coins
from holdfast.errors import require

ROWS = 256
"""Rows of the triangle that are made at a time; they are made twice rather than kept."""


@dataclass(frozen=True, kw_only=True)
class GaussianSum:
    """m canaries in d dimensions, and the standard deviation of the noise in each coordinate.

    >>> game = GaussianSum(count=200, dimension=10**9, sigma=1e-3)
    >>> coins = np.arange(200) % 2 == 0
    >>> scores = game.scores(coins, generator=np.random.default_rng(1))
    >>> bool(np.all((scores > 0.5) == coins))
    True
    """

    count: int
    dimension: int
    sigma: float

    def __post_init__(self) -> None:
        require(self.count >= 1, "count", self.count, ">= 1")
        require(self.dimension >= 2, "dimension", self.dimension, ">= 2")
        require(math.isfinite(self.sigma) and self.sigma >= 0, "sigma", self.sigma, "finite and >= 0")

    def scores(self, coins: ArrayLike, *, generator: np.random.Generator) -> Floats:
        """All scores of one run with these coins, in law exactly those of random unit canaries."""
        member = as_coins(coins, self.count)
        included, rank = int(member.sum()), min(int(member.sum()), self.dimension)
        seeds = generator.integers(0, 2**63, size=-(-included // ROWS), dtype=np.int64)
        result = self.sigma * generator.standard_normal(rank)
        for rows in self._triangle(included, seeds):
            result[: rows.shape[1]] += rows.sum(axis=0)
        across = generator.chisquare(self.dimension - rank) if self.dimension > rank else 0.0
        length = math.sqrt(float(result @ result) + self.sigma**2 * across)
        made = np.empty(self.count)
        parts = [rows @ result[: rows.shape[1]] for rows in self._triangle(included, seeds)]
        made[member] = np.concatenate([np.empty(0), *parts])
        made[~member] = length * self._coordinate(self.count - included, generator)
        return made

    def orthogonal_scores(self, coins: ArrayLike, *, generator: np.random.Generator) -> Floats:
        """All scores of one run with orthogonal unit canaries: each is its coin plus its own noise."""
        require(self.count <= self.dimension, "count", self.count, f"at most dimension={self.dimension}")
        member = as_coins(coins, self.count)
        return member + self.sigma * generator.standard_normal(self.count)

    def dense_scores(self, coins: ArrayLike, *, generator: np.random.Generator) -> Floats:
        """All scores of one run by the definition: m d draws, the whole matrix in memory; the reference in tests."""
        member = as_coins(coins, self.count)
        canaries = generator.standard_normal((self.count, self.dimension))
        canaries /= np.linalg.norm(canaries, axis=1, keepdims=True)
        noise = self.sigma * generator.standard_normal(self.dimension)
        return np.asarray(canaries @ (canaries[member].sum(axis=0) + noise))

    def _triangle(self, included: int, seeds: NDArray[np.int64]) -> Iterator[Floats]:
        """The included canaries in their own basis, a few rows at a time; the same at every call."""
        for start, seed in zip(range(0, included, ROWS), seeds.tolist(), strict=True):
            generator = np.random.Generator(np.random.PCG64(seed))
            index = np.arange(start, min(start + ROWS, included))
            width = min(int(index[-1]) + 1, self.dimension)
            rows = generator.standard_normal((len(index), width))
            # Row i: i normals, the rest of its length on the diagonal; from row d on there is no rest.
            rows[np.arange(width)[None, :] > index[:, None]] = 0.0
            inside = index[index < self.dimension]
            rows[inside - start, inside] = np.sqrt(generator.chisquare(self.dimension - inside))
            rows /= np.linalg.norm(rows, axis=1, keepdims=True)
            yield rows

    def _coordinate(self, size: int, generator: np.random.Generator) -> Floats:
        """One coordinate of uniform points of the sphere: a normal over the length of d normals."""
        first = generator.standard_normal(size)
        others = generator.chisquare(self.dimension - 1, size=size)
        return np.asarray(first / np.sqrt(first**2 + others))

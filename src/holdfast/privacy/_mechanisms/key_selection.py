"""Which keys exist, without their counts: the best rule where each unit has one key."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import checked
from holdfast.errors import AdjacencyError, require
from holdfast.noise._bernoulli import bernoulli
from holdfast.noise._source import Source
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._curves.curve import ApproxDP, PrivacyCurve
from holdfast.privacy._grid import difference, nearest_whole
from holdfast.privacy._mechanisms.mechanism import Mechanism, Output, Value
from holdfast.privacy._mechanisms.thresholded import one_way
from holdfast.privacy._rounding import Number, as_written

GRID_BITS = 80
"""Chances are whole multiples of 2^-80, rounded down."""


@checked
@dataclass(frozen=True, kw_only=True)
class KeySelection(Mechanism):
    """Of each key 1 with a chance pi(n) that grows with the number n of its units as fast as privacy allows, else 0.

    pi(0) = 0 and pi(n) = min(e^epsilon pi(n-1) + delta, 1 - e^-epsilon (1 - pi(n-1) - delta), 1): no rule releases more
    keys. One coin a key is thrown; a second one would be a second release.

    Parameters
    ----------
    epsilon : int, float or Fraction
        The epsilon of the selection.
    delta : float or Fraction
        With which probability a key of one unit may be released.
    adjacency : Adjacency, optional
        Under which neighbours it is used; 'replace' has to be named, and is kept as two steps.
    arithmetic : {'strict'}
        Coins are exact.

    Formal guarantees
    -----------------
    * Neighbours: one unit added or removed, which has one key at most.
    * Privacy: (epsilon, delta) (Desfontaines, Voss, Gipson and Mandayam 2022).
    * Public: the parameters. Which keys exist is not, and neither is their number.
    * Assumed: each unit has one key at most, chosen by its own rows and by coins that stay secret.

    Examples
    --------
    >>> selection = KeySelection(epsilon=1.0, delta=1e-5)
    >>> [round(float(selection.chance(n)), 4) for n in (10, 11, 12, 23)]
    [0.1282, 0.3484, 0.7603, 1.0]
    """

    epsilon: Number
    delta: Number

    theorem: ClassVar[str] = "optimal partition selection (Desfontaines, Voss, Gipson and Mandayam 2022)"
    admissible: ClassVar[frozenset[Adjacency]] = frozenset({Adjacency.add_remove, Adjacency.replace})

    def validate(self) -> None:
        """Both positive; epsilon not so small that no table of chances could be kept."""
        require(1e-4 <= self.epsilon <= 700, "epsilon", self.epsilon, ">= 0.0001 and at most 700")
        require(0 < self.delta < 1, "delta", self.delta, "in (0, 1)")
        require(self.arithmetic == "strict", "arithmetic", self.arithmetic, "'strict'")

    def require_adjacency(self, adjacency: Adjacency) -> None:
        """Refuse an account under 'replace' where the mechanism does not name it: it costs two steps there."""
        super().require_adjacency(adjacency)
        if adjacency is Adjacency.replace and self.adjacency is None:
            raise AdjacencyError(
                f"{self.name} is charged for one step; under adjacency='replace' name it, adjacency='replace'"
            )

    @property
    def curve(self) -> PrivacyCurve:
        """(epsilon, delta)."""
        return ApproxDP(as_written(self.epsilon), as_written(self.delta))

    @property
    def _chances(self) -> tuple[Fraction, ...]:
        return _chances(*one_way(as_written(self.epsilon), as_written(self.delta), self.adjacency))

    def chance(self, units: int) -> Fraction:
        """With which probability a key of so many `units` is released."""
        chances = self._chances
        return chances[min(max(int(units), 0), len(chances) - 1)]

    def check(self, value: Any) -> NDArray[Any]:
        """Whole counts that are not negative."""
        counts = nearest_whole(super().check(value))
        return np.asarray(np.where(counts > 0, counts, 0 * counts))

    def sample(self, value: Value, source: Source) -> NDArray[np.int64]:
        """A coin for each key."""
        released = np.zeros(value.shape, dtype=np.int64)
        flat = released.reshape(-1)
        counts = np.minimum(value.ravel(), len(self._chances) - 1).astype(np.int64)
        for count in np.unique(counts).tolist():
            places = np.flatnonzero(counts == count)
            flat[places] = bernoulli(source, p=self._chances[count], size=len(places))
        return released

    def cdf(self, value: Value, at: NDArray[np.float64]) -> NDArray[np.float64]:
        """Of a coin."""
        chance = float(self.chance(int(value.flat[0])))
        return np.where(at < 0, 0.0, np.where(at < 1, 1.0 - chance, 1.0))

    def distance(self, first: Value, second: Value, *, at: Output | None = None) -> float:
        """How many units more or fewer."""
        return float(np.abs(difference(first, second)).sum())

    def log_ratio(self, first: Value, second: Value, output: Output) -> float:
        """The sum over the keys; infinite where one of the values cannot give this release."""
        total = 0.0
        for near, far, seen in zip(first.flat, second.flat, np.asarray(output).flat, strict=True):
            if near != far:
                total += self._log_law(int(near), seen > 0) - self._log_law(int(far), seen > 0)
        return total

    def _log_law(self, count: int, seen: bool) -> float:
        chance = self.chance(count) if seen else 1 - self.chance(count)
        return math.log(chance) if chance > 0 else -math.inf

    @property
    def independent_coordinates(self) -> bool:
        """Each key has a coin of its own."""
        return True

    def worst_pair(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """A key of one unit, and of two."""
        return np.array([1]), np.array([2])

    def probes(self) -> tuple[NDArray[np.int64], ...]:
        """Two, one and no units, and several keys."""
        return np.array([2]), np.array([1]), np.array([0]), np.full(3, 2)

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """A delta that is large enough for its keys to be seen."""
        return (cls(epsilon=1.0, delta=0.05),)


@lru_cache(maxsize=64)
def _chances(epsilon: Fraction, delta: Fraction) -> tuple[Fraction, ...]:
    """pi(0), pi(1), ... up to the first that is 1; each is rounded down, so that both bounds hold exactly.

    Rounding pi(n) down keeps pi(n) <= e^epsilon pi(n-1) + delta and 1 - pi(n-1) <= e^epsilon (1 - pi(n)) + delta.
    """
    growth = Fraction(math.exp(float(epsilon) * (1 - 2.0**-52)) * (1 - 2.0**-50))
    decay = Fraction(math.exp(-float(epsilon) * (1 - 2.0**-52)) * (1 + 2.0**-50))
    unit = 1 << GRID_BITS
    chances = [Fraction(0)]
    while chances[-1] < 1:
        last = chances[-1]
        following = min(growth * last + delta, 1 - decay * max(1 - last - delta, Fraction(0)), Fraction(1))
        rounded = Fraction(math.floor(following * unit), unit)
        if rounded <= last:  # no further steps on the grid
            break
        chances.append(rounded)
    return tuple(chances)

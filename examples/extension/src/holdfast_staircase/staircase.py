"""Staircase noise: of all pure noise on a count, the one with the least error (Geng and Viswanath 2014)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import ParameterError, require
from holdfast.noise._bernoulli import bernoulli, bernoulli_exp
from holdfast.noise._source import Source
from holdfast.noise._uniform import integers
from holdfast.privacy import Mechanism, PureDP
from holdfast.privacy._grid import exact_sum, in_64_bits, nearest_whole
from holdfast.privacy._rounding import Number, as_written


@dataclass(frozen=True, kw_only=True)
class Staircase(Mechanism):
    """One whole number plus noise k, P[k] = a e^(-epsilon s), where s is the stair of |k|.

    The first stair has the `width` numbers 0, ..., width - 1, every further one `sensitivity` of them: moving the value
    by the sensitivity climbs one stair and no more.
    """

    epsilon: Number
    sensitivity: int
    width: int

    theorem: ClassVar[str] = "staircase mechanism (Geng and Viswanath 2014, theorem 1)"

    def validate(self) -> None:
        """Whole numbers in their ranges; the error names the parameter."""
        require(0 < self.epsilon < math.inf, "epsilon", self.epsilon, "> 0 and finite")
        whole = isinstance(self.sensitivity, int) and self.sensitivity >= 1
        require(whole, "sensitivity", self.sensitivity, "a whole number >= 1")
        inside = isinstance(self.width, int) and 1 <= self.width <= self.sensitivity
        require(inside, "width", self.width, f"a whole number from 1 to the sensitivity, {self.sensitivity}")

    @property
    def curve(self) -> PureDP:
        """Pure: no two values within the sensitivity differ by more than one stair."""
        return PureDP(self.epsilon)

    def check(self, value: Any) -> NDArray[np.int64]:
        """One number, the nearest whole one; only the shape is refused, since an error would tell of the value."""
        array: NDArray[Any] = super().check(value)
        if array.size != 1:
            raise ParameterError("value must be one number: in more dimensions the proof does not hold")
        return nearest_whole(array)

    def sample(self, value: NDArray[Any], source: Source) -> NDArray[np.int64]:
        """Exact: coins of probability e^-epsilon and uniform numbers, no floating point."""
        gamma, period = as_written(self.epsilon), self.sensitivity
        while True:
            rest = int(integers(source, bound=period, size=1)[0])
            # Of a period, the numbers beyond the width stand one stair further out.
            if rest >= self.width and not bernoulli_exp(source, gamma=gamma, size=1)[0]:
                continue
            periods = 0
            while bernoulli_exp(source, gamma=gamma, size=1)[0]:
                periods += 1
            negative = bool(bernoulli(source, p=Fraction(1, 2), size=1)[0])
            size = periods * period + rest
            if size or not negative:  # zero has one sign only
                return in_64_bits(exact_sum(value, np.full(value.shape, -size if negative else size)))

    def worst_pair(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """One sensitivity apart."""
        return np.array([0]), np.array([self.sensitivity])

    def cdf(self, value: NDArray[np.int64], at: NDArray[np.float64]) -> NDArray[np.float64]:
        """From the declared law, not from the sampler: holdfast compares the two."""
        steps = np.floor(at) - float(value[0])
        above = self._tail(np.where(steps < 0, -steps, steps + 1))  # P[|k| >= so much], one side
        return np.where(steps < 0, above, 1.0 - above)

    def _tail(self, start: NDArray[np.float64]) -> NDArray[np.float64]:
        """P[k >= start] for start >= 1, or for 0, where the law is symmetric."""
        b, period, width = math.exp(-float(self.epsilon)), self.sensitivity, self.width
        top = (1 - b) / (2 * width + 2 * b * (period - width) - (1 - b))
        whole, rest = np.floor_divide(start, period), np.mod(start, period)
        left = np.maximum(width - rest, 0.0) + b * (period - np.maximum(rest, width))
        mass = top * b**whole * (left + b * (width + b * (period - width)) / (1 - b))
        return np.asarray(mass)

    def distance(self, first: Any, second: Any, *, at: Any = None) -> float:
        """In units of the sensitivity."""
        return abs(float(first[0]) - float(second[0])) / self.sensitivity

    def log_ratio(self, first: Any, second: Any, output: Any) -> float:
        """epsilon for each stair between them."""
        return float(self.epsilon) * (self._stair(output, second) - self._stair(output, first))

    def _stair(self, output: Any, centre: Any) -> int:
        periods, rest = divmod(abs(int(output[0]) - int(centre[0])), self.sensitivity)
        return periods + (rest >= self.width)

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """On these the contract and the refutations run."""
        return (cls(epsilon=2.0, sensitivity=3, width=2),)

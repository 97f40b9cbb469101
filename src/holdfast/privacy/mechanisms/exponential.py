"""Choosing by score: the exponential mechanism, which is report-noisy-max with Gumbel noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from holdfast.noise.choose import choose
from holdfast.noise.continuous import gumbel
from holdfast.noise.source import Source
from holdfast.privacy.bounded_range import BoundedRange
from holdfast.privacy.curve import PureDP
from holdfast.privacy.mechanism import index_cdf
from holdfast.privacy.mechanisms.selection import Selection
from holdfast.privacy.rounding import as_written


@dataclass(frozen=True, kw_only=True)
class Exponential(Selection):
    """The index i with probability proportional to exp(epsilon score_i / (2 sensitivity)).

    `sensitivity` bounds how far one unit moves each score, up or down. With `monotone` scores (one
    unit moves all of them the same way, as counts under add_remove) the 2 falls away.

    >>> Exponential(epsilon=1.0, sensitivity=1.0).curve.as_zcdp()
    Fraction(1, 8)
    """

    theorem: ClassVar[str] = (
        "exponential mechanism (McSherry and Talwar 2007); bounded range: Cesar and Rogers 2021"
    )

    @property
    def curve(self) -> PureDP:
        """Bounded range epsilon: pure epsilon, and epsilon^2 / 8 in zCDP."""
        return BoundedRange(as_written(self.epsilon))

    def sample(self, value: NDArray[Any], source: Source) -> int:
        """One index."""
        if self.arithmetic == "idealised":
            return int(np.argmax(value + self.noise_scale * gumbel(source, size=value.size)))
        steps, factor = self.on_grid(value)
        return choose(source, scores=steps, factor=factor)

    def worst_pair(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """One candidate overtakes the other: odds go from e^(-epsilon/2) to e^(epsilon/2)."""
        step = float(self.sensitivity)
        if self.monotone:
            return np.array([step / 2, 0.0]), np.array([step / 2, step])
        return np.array([step, 0.0]), np.array([0.0, step])

    def cdf(self, value: NDArray[Any], at: NDArray[np.float64]) -> NDArray[np.float64]:
        """The law of the chosen index."""
        return index_cdf(self.declared_odds(value), at)

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Both arithmetics, and monotone scores."""
        return (
            cls(epsilon=1.0, sensitivity=1.0),
            cls(epsilon=2.0, sensitivity=0.5, arithmetic="idealised"),
            cls(epsilon=1.0, sensitivity=1.0, monotone=True),
        )

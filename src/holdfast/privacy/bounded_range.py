"""The exponential mechanism's own curve: likelihood ratios in an interval of length epsilon."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from holdfast.privacy.curve import PureDP


@dataclass(frozen=True, init=False, repr=False)
class BoundedRange(PureDP):
    """Pure epsilon, and an eighth of epsilon^2 in zCDP (Dong, Durfee and Rogers 2020; Cesar and Rogers 2021).

    >>> BoundedRange(1.0).as_zcdp()
    Fraction(1, 8)
    """

    pairs_are_tight = False  # its pure pair ignores that the range is bounded

    def as_zcdp(self) -> Fraction:
        """epsilon^2 / 8; in the Gaussian currency only the pure conversion is proved."""
        return self.as_pure() ** 2 / 8

    def renyi(self, order: float) -> float:
        """The better of the bounded-range and the pure bound."""
        from holdfast.privacy.rounding import round_up

        return min(order * round_up(self.as_zcdp()), super().renyi(order))

    def group(self, size: int) -> PureDP:
        """A group of k has range k epsilon: k log-ratios, each in an interval of length epsilon."""
        return BoundedRange(size * self.as_pure())

    def __repr__(self) -> str:
        return f"BoundedRange(epsilon={float(self.bound):g})"

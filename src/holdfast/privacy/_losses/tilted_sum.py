"""The sum of many losses under an exponential tilt, which makes the rare losses that are asked about the common ones.

A Fourier transform's rounding error is the same for every mass, so it hides those that are far smaller, and these
decide delta. Under the tilt t the masses p(l) become p(l) e^(t l) / M(t): a law again, whose mean grows with t. The
tilt of a sum is the sum of the tilted, so the sum is computed there, and each mass is taken back by the factor
e^(K(t) - t l), K(t) = log M(t) of the whole sum. Around the tilt's own mean it is exact to many digits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from holdfast._arrays import Floats
from holdfast.privacy._losses.cumulants import Cumulants
from holdfast.privacy._losses.fourier_sum import UNIT, LawOnWindow, Summand, law_of_sum
from holdfast.privacy._losses.grid_losses import GridLosses

Parts = Sequence[tuple[GridLosses, int]]
"""Losses on one grid, each with how often it is added."""

_LARGEST_FACTOR_DOUBT = 1e-6
_NEARLY_ONE = 1e-3


@dataclass(frozen=True)
class TiltedLaw:
    """The tilted masses of one loss, the log of their sum before they were divided by it, and their error in all."""

    masses: Floats
    log_moment: float
    doubt: float

    @classmethod
    def of(cls, part: GridLosses, tilt: float) -> TiltedLaw:
        """The masses times e^(tilt loss), divided by their sum."""
        if tilt == 0.0:
            total = float(np.sum(part.masses))
            if abs(total - 1.0) < _NEARLY_ONE:
                return cls(part.masses, 0.0, 0.0)  # exact: nothing is divided
            return cls(part.masses / total, math.log(total), 8 * UNIT)
        shifts = tilt * part.losses
        exponents = shifts + part.log_masses
        top = float(np.max(exponents))
        with np.errstate(under="ignore"):
            log_moment = top + math.log(float(np.sum(np.exp(exponents - top))))
            exponents -= log_moment
            masses = np.exp(exponents)
        # Each exponent is off by a unit of its terms' sizes; the error of the sum weighs them with the masses.
        sizes = np.where(masses > 0, np.abs(exponents) + 3 * np.abs(shifts), 0.0)
        units = 2 * abs(log_moment) + float(np.sum(masses * sizes)) + 8.0
        return cls(masses, log_moment, UNIT * units)


def log_moment(parts: Parts, tilt: float) -> float:
    """K(tilt) = log E e^(tilt loss) of the sum."""
    if tilt == 0.0:
        return sum(times * math.log(float(np.sum(part.masses))) for part, times in parts)
    return sum(times * TiltedLaw.of(part, tilt).log_moment for part, times in parts)


@dataclass(frozen=True)
class TiltedSum:
    """The law of the tilted sum on a window of the grid, and K(tilt)."""

    tilt: float
    law: LawOnWindow
    log_moment: float

    @classmethod
    def of(cls, parts: Parts, tilt: float, low: int, high: int) -> TiltedSum:
        """The sum under this tilt, at the grid points `low` to `high`."""
        laws = [(TiltedLaw.of(part, tilt), part.first, times) for part, times in parts]
        summands = [Summand(law.masses, first, times, law.doubt) for law, first, times in laws]
        total = sum(times * law.log_moment for law, _, times in laws)
        return cls(tilt, law_of_sum(summands, low, high), total)

    @property
    def low(self) -> int:
        """The first grid point of the window."""
        return self.law.low

    @property
    def end(self) -> int:
        """The grid point after the window's last."""
        return self.law.low + self.law.masses.size

    def factors(self, losses: Floats) -> tuple[Floats, float] | None:
        """What takes masses at these losses back, and how far that may be off, relatively; None if hopelessly."""
        exponents = self.log_moment - self.tilt * losses
        largest = float(max(abs(exponents[0]), abs(exponents[-1])))
        doubt = 8 * UNIT * (largest + abs(self.log_moment) + 4.0)
        if doubt > _LARGEST_FACTOR_DOUBT:
            return None
        with np.errstate(under="ignore", over="ignore"):
            return np.exp(np.minimum(exponents, 700.0)), doubt


def mass_wrapped(parts: Parts, cumulants: Cumulants, each: TiltedSum) -> float:
    """A Chernoff bound on the tilted mass that lies outside the circle, and so was added to masses inside."""
    total, spacing = 0.0, parts[0][0].spacing
    for sign, edge in ((1.0, each.low + each.law.size), (-1.0, each.low - 1)):
        step = cumulants.chernoff_step(each.tilt, sign, edge)
        moment = log_moment(parts, each.tilt + sign * step)
        rounding = 1e-13 * abs(moment) + 1e-9
        total += math.exp(min(0.0, moment - each.log_moment - sign * step * edge * spacing + rounding))
    return total


def mass_below(parts: Parts, cumulants: Cumulants, low: int) -> float:
    """A Chernoff bound on the mass below this grid point."""
    step = cumulants.chernoff_step(0.0, -1.0, low - 1)
    exponent = log_moment(parts, -step) + step * (low - 1) * parts[0][0].spacing
    return math.exp(min(0.0, exponent + 1e-9))

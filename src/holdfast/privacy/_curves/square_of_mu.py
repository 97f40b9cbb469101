"""The cost of pure DP in Gaussian DP: the Gaussian curve that lies under a trade-off curve with one corner."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from holdfast.privacy._rounding import as_written


def square_of_mu(log_odds: float) -> Fraction:
    """mu^2 of the Gaussian curve under a trade-off with one corner, at odds e^-l and e^l: mu = 2 Phi^-1(sigmoid(l)).

    Rounded up. The Gaussian curve is convex, so it lies under the chords wherever it lies under their corner.
    """
    from scipy.special import log_ndtr, ndtri_exp

    # Phi(mu/2) >= sigmoid(l), i.e. log Phi(-mu/2) <= -log(1 + e^l); round mu up until it holds.
    target = -float(np.logaddexp(0.0, log_odds))
    mu = -2.0 * float(ndtri_exp(target))
    while float(log_ndtr(-mu / 2)) > target - 1e-13 * abs(target):
        mu = max(math.nextafter(mu, math.inf), mu * (1 + 1e-14))
    return as_written(mu) ** 2

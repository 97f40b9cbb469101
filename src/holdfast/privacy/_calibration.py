"""The least noise within a target, rounded towards privacy.

`calibrate` serves every family of curves; the Gaussian has its own, exact and classical, by name.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from holdfast._arguments import checked
from holdfast.errors import ParameterError, require
from holdfast.privacy._curves.curve import ApproxDP, PrivacyCurve
from holdfast.privacy._curves.gaussian import GaussianDP
from holdfast.privacy._rounding import Number, as_written, round_up
from holdfast.privacy._safe_side import safe_side

TOLERANCE = 1e-9
"""How far above the least admissible noise the answer may be, relatively."""


@checked
def calibrate(
    make: Callable[[float], PrivacyCurve],
    target: PrivacyCurve,
    *,
    low: float = 1e-6,
    high: float = 1e9,
    tolerance: float = TOLERANCE,
) -> float:
    """The least noise level whose curve is within the target; more noise must mean more privacy.

    Parameters
    ----------
    make : callable
        The curve that a noise level proves, such as ``lambda sigma: GaussianDP(1 / sigma)``.
    target : PrivacyCurve
        The limit.
    low, high : float
        The noise levels between which the answer is looked for.
    tolerance : float
        How far above the least level the answer may be, relatively.

    Returns
    -------
    float
        A noise level that was checked: ``make(answer).within(target)`` is true.

    Examples
    --------
    >>> from holdfast.privacy._curves.gaussian import GaussianDP
    >>> round(calibrate(lambda sigma: GaussianDP(1 / sigma), ApproxDP(1.0, 1e-6)), 4)
    4.2247
    """
    require(0 < low < high < math.inf, "low", low, f"> 0 and below high={high:g}")

    cached_excess: dict[float, float] = {}

    def excess(noise: float) -> float:
        if noise not in cached_excess:
            cached_excess[noise] = target.excess(make(noise))
        return cached_excess[noise]

    unsafe, safe = _bracket(excess, low, high)
    if safe is None:
        raise ParameterError(
            f"even noise {high:g} is not within {target!r}; raise high=, or relax the target"
        )
    if unsafe is None:
        return safe
    unsafe, safe = _narrower_bracket(excess, unsafe, safe, tolerance)
    return safe_side(excess, unsafe, safe, tolerance=tolerance)


def _bracket(excess: Callable[[float], float], low: float, high: float) -> tuple[float | None, float | None]:
    """An unsafe level and a safe one above it, a factor 2 apart if possible; from 1 outwards."""
    level = min(max(1.0, low), high)
    if excess(level) <= 0:
        while level > low:
            lower = max(level / 2, low)
            if excess(lower) > 0:
                return lower, level
            level = lower
        return None, level
    while level < high:
        higher = min(level * 2, high)
        if excess(higher) <= 0:
            return level, higher
        level = higher
    return level, None


def _narrower_bracket(
    excess: Callable[[float], float], unsafe: float, safe: float, tolerance: float
) -> tuple[float, float]:
    """A smaller bracket by interpolation, where the target says by how much it is missed.

    An inverse parabola through three points guesses the root. It is approached alternately from just above and just
    below, so that the bracket closes after few evaluations. Bisection does the rest.
    """
    third: float | None = None
    for attempt in range(30):
        ends = [unsafe, safe] if third is None else [unsafe, safe, third]
        values = [excess(end) for end in ends]
        if safe - unsafe <= tolerance * safe or len(set(values)) < len(values):
            break
        root = _interpolate_root(values, [math.log(end) for end in ends])
        side = 0.4 * tolerance * (1 if attempt % 2 == 0 else -1)
        guess = math.exp(root) * (1 + side) if math.log(unsafe) < root < math.log(safe) else 0.0
        if not unsafe < guess < safe or attempt % 6 == 5:
            guess = math.sqrt(unsafe) * math.sqrt(safe)
        if not unsafe < guess < safe:
            break
        if excess(guess) <= 0:
            third, safe = safe, guess
        else:
            third, unsafe = unsafe, guess
    return unsafe, safe


def _interpolate_root(values: list[float], points: list[float]) -> float:
    """Lagrange interpolation of the point at value 0."""
    total = 0.0
    for i, point in enumerate(points):
        weight = 1.0
        for j, other in enumerate(values):
            if j != i:
                weight *= -other / (values[i] - other)
        total += weight * point
    return total


def gaussian_sigma(epsilon: Number, delta: Number, *, l2_sensitivity: Number = 1.0) -> float:
    """The least standard deviation for (epsilon, delta), by the exact curve (Balle and Wang 2018).

    >>> round(gaussian_sigma(16.0, 1e-6), 4)
    0.3686
    """
    require(0 < l2_sensitivity < math.inf, "l2_sensitivity", l2_sensitivity, "> 0 and finite")
    require(0 < delta < 1, "delta", delta, "in (0, 1)")
    target, distance = ApproxDP(epsilon, delta), as_written(l2_sensitivity)
    ratio = calibrate(lambda sigma: GaussianDP(1 / as_written(sigma)), target, tolerance=1e-12)
    sigma = round_up(as_written(ratio) * distance)
    while not GaussianDP(distance / as_written(sigma)).within(target):  # the product was rounded
        sigma *= 1 + 1e-12
    return sigma


def classical_gaussian_sigma(epsilon: float, delta: float, *, l2_sensitivity: float = 1.0) -> float:
    """sqrt(2 ln(1.25/delta)) / epsilon, for teaching; proved only for epsilon <= 1, and refused above.

    >>> round(classical_gaussian_sigma(1.0, 1e-6), 4)
    5.2988
    """
    require(
        0 < epsilon <= 1, "epsilon", epsilon, "in (0, 1]", "use gaussian_sigma, which holds for every epsilon"
    )
    require(0 < delta < 1, "delta", delta, "in (0, 1)")
    return l2_sensitivity * math.sqrt(2 * math.log(1.25 / delta)) / epsilon

"""TemperedRisk: a risk that can sample its tempered density; and the share of the density below a point."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

import numpy as np

from holdfast._arrays import Floats
from holdfast.noise._source import Source

QUADRATURE_NODES = 257
"""The nodes of the quadrature along a coordinate, which refutations use."""


class TemperedRisk(Protocol):
    """A mean f of convex losses with a sampler of exp(-k [f + (penalty/2)|x|^2]), within the declared constants."""

    @property
    def dimension(self) -> int:
        """The number of weights."""

    @property
    def inverse_temperature(self) -> float:
        """k."""

    @property
    def penalty(self) -> float:
        """Of the square of the weights' norm."""

    @property
    def half_side(self) -> float:
        """The weights are within [-half_side, half_side]; infinite for the whole space."""

    @property
    def total_variation(self) -> float:
        """How far the sampler's law may be from the density's, for every table: rounds, caps and all."""

    def draw(self, source: Source) -> Floats:
        """One sample."""

    def gradient(self, at: Floats) -> Floats:
        """Of f. Private: asked by whoever replays a run, never by a release."""

    def values(self, points: Floats) -> Floats:
        """f at each of these points, one in each row. Private, as the gradient is."""

    def log_normaliser(self) -> float:
        """About ln of the density's integral. Private, as the gradient is."""


def share_below(risk: TemperedRisk, at: Floats, place: int) -> float:
    """How much of the density lies below `at` along one coordinate, the others held: Simpson's rule.

    The exponent is strongly convex or the box is bounded, so the mass is near the least value; the interval is
    halved around it until its ends hold next to nothing.
    """
    k, penalty = risk.inverse_temperature, risk.penalty
    spread = 1.0 / math.sqrt(k * penalty) if penalty > 0 else math.inf
    low, high = -risk.half_side, risk.half_side
    if not math.isfinite(high):
        reach = float(np.linalg.norm(k * risk.gradient(at) + k * penalty * at)) * spread**2 + 12.0 * spread
        low, high = float(at[place]) - reach, float(at[place]) + reach

    def exponent(steps: Floats) -> Floats:
        points = np.repeat(at[None, :], steps.size, axis=0)
        points[:, place] = steps
        return np.asarray(-k * (risk.values(points) + 0.5 * penalty * steps**2))

    for _ in range(40):
        coarse = np.linspace(low, high, 33)
        heights = exponent(coarse)
        has_mass = np.flatnonzero(heights > heights.max() - 40.0)
        left, right = coarse[max(has_mass[0] - 1, 0)], coarse[min(has_mass[-1] + 1, 32)]
        if right - left > 0.7 * (high - low):
            break
        low, high = float(left), float(right)
    middle = min(max(float(at[place]), low), high)
    top = float(heights.max())
    parts = [_simpson(exponent, a, b, top) for a, b in ((low, middle), (middle, high))]
    return parts[0] / (parts[0] + parts[1])


def _simpson(exponent: Callable[[Floats], Floats], low: float, high: float, top: float) -> float:
    if high <= low:
        return 0.0
    nodes = np.linspace(low, high, QUADRATURE_NODES)
    weights = np.where(np.arange(QUADRATURE_NODES) % 2 == 1, 4.0, 2.0)
    weights[0] = weights[-1] = 1.0
    return (
        float(np.sum(weights * np.exp(exponent(nodes) - top))) * (high - low) / (3.0 * (QUADRATURE_NODES - 1))
    )

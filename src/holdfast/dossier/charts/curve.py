"""The privacy curve: delta against epsilon."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from holdfast.dossier.charts.frame import TOP, WIDTH, Series, axes, frame, legend, svg_lines
from holdfast.privacy.curves.curve import PrivacyCurve

_POINTS = 121
LEAST_DELTA = 1e-12


def sampled(curves: Sequence[tuple[str, PrivacyCurve]]) -> dict[str, Any]:
    """delta of each curve on one grid of epsilons: plain numbers, ready to draw."""
    ends = [curve.epsilon(1e-10) for _, curve in curves]
    top = max([end for end in ends if np.isfinite(end)] + [1e-3]) * 1.05
    grid = np.array([float(f"{x:.6g}") for x in np.linspace(0.0, top, _POINTS)])
    return {
        "epsilon": grid.tolist(),
        "series": [
            {"name": name, "delta": [float(f"{d:.6g}") for d in curve.deltas(grid)]} for name, curve in curves
        ],
    }


def drawn(points: Mapping[str, Any]) -> str:
    """delta against epsilon, delta on a log scale."""
    epsilons = np.asarray(points["epsilon"], float)
    x, y = axes("epsilon", "delta", (0.0, float(epsilons[-1])), (LEAST_DELTA, 1.0), log=True)
    series = [
        Series(name=one["name"], x=epsilons, y=np.asarray(one["delta"], float)) for one in points["series"]
    ]
    body = svg_lines(x, y, series) + legend(series, (WIDTH * 0.56, TOP + 18))
    words = "; ".join(
        f"{one.name}: delta {one.y[0]:.3g} at epsilon 0, {one.y[len(one.y) // 2]:.3g} at epsilon "
        f"{epsilons[len(epsilons) // 2]:.3g}"
        for one in series
    )
    return frame("Privacy curve", words, x, y, body)


def curve_chart(curves: Sequence[tuple[str, PrivacyCurve]]) -> str:
    """The chart of these curves."""
    return drawn(sampled(curves))

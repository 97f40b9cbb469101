"""A small two-world test: can draws from two neighbouring values disprove a claimed curve?

Half of the draws choose the events (bins ordered by their likelihood ratio), the other half test
them with exact binomial bounds, corrected over all events. A true claim is refuted with
probability at most `error`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from holdfast.privacy import PrivacyCurve

BINS = 40


def _at_least(hits: int, draws: int, error: float) -> float:
    return 0.0 if hits == 0 else float(beta.ppf(error, hits, draws - hits + 1))


def _at_most(hits: int, draws: int, error: float) -> float:
    return 1.0 if hits == draws else float(beta.ppf(1 - error, hits + 1, draws - hits))


def refuted(
    claim: PrivacyCurve, world: NDArray[np.float64], other: NDArray[np.float64], *, error: float = 1e-6
) -> bool:
    """Whether some event is likelier in one world than the claim allows."""
    half = world.size // 2
    pooled = np.concatenate([world[:half], other[:half]])
    values = np.unique(pooled)
    edges = (
        values if values.size <= BINS else np.unique(np.quantile(pooled, np.linspace(0, 1, BINS + 1)[1:-1]))
    )

    def binned(draws: NDArray[np.float64]) -> NDArray[np.int64]:
        return np.bincount(np.searchsorted(edges, draws, side="right"), minlength=edges.size + 1)

    pilot = [binned(world[:half]), binned(other[:half])]
    test = [binned(world[half:]), binned(other[half:])]
    trade_off = claim.trade_off()
    per_event = error / (4 * (edges.size + 1))
    for first, second in ((0, 1), (1, 0)):
        order = np.argsort(-(pilot[first] + 0.5) / (pilot[second] + 0.5))
        for size in range(1, order.size):
            event = order[:size]
            found = _at_least(int(test[first][event].sum()), world.size - half, per_event)
            alarms = _at_most(int(test[second][event].sum()), other.size - half, per_event)
            if found > trade_off.detection_at(alarms) + 1e-9:
                return True
    return False

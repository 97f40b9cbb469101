"""The hot loops of the sampler in NumPy: the oracle that bregman.c is tested against, and the fallback without it.

Fed with the same words it meets the same rows at the same times; gaps differ by rounding only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from holdfast._kernel.bregman import FloatArray, KeptRows, ThinnedTest, WordArray

BLOCK = 2_048
LARGEST_WORD = 2**64 - 1


class ReferenceGaps:
    """A `Gaps` in NumPy."""

    def __init__(self, kept: KeptRows) -> None:
        self.kept = kept

    def gradient(self, w: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The sum of slope times row, and the predictions."""
        predictions, total = np.empty(self.kept.count), np.zeros(self.kept.dimension, dtype=np.longdouble)
        for start in range(0, self.kept.count, BLOCK):
            places = np.arange(start, min(start + BLOCK, self.kept.count))
            rows = _rows(self.kept, places)
            predictions[places] = rows @ w
            total += slopes(self.kept, predictions[places], self.kept.labels[places]) @ rows
        return total.astype(np.float64), predictions

    def total(self, predictions: FloatArray, v: FloatArray) -> float:
        """The sum of all gaps."""
        total = np.longdouble(0.0)
        for start in range(0, self.kept.count, BLOCK):
            places = np.arange(start, min(start + BLOCK, self.kept.count))
            total += np.sum(self._gaps(predictions, v, places), dtype=np.longdouble)
        return float(total)

    def thinned(
        self,
        predictions: FloatArray,
        v: FloatArray,
        *,
        bound: float,
        until: float,
        words: WordArray,
        clock: float,
    ) -> tuple[ThinnedTest, float, int]:
        """Whether a row fired, how far the clock came, and how many words it took."""
        count = self.kept.count
        whole = words[: len(words) // 3 * 3].reshape(-1, 3)
        counted = np.flatnonzero(whole[:, 1] <= np.uint64(LARGEST_WORD - (LARGEST_WORD % count + 1) % count))
        meetings = whole[counted]
        waits = -np.log(((meetings[:, 0] >> np.uint64(11)).astype(np.float64) + 1.0) * 2.0**-53)
        times = np.cumsum(np.concatenate([[clock], waits]))[1:]
        within = int(np.searchsorted(times, until, side="right"))
        places = (meetings[:within, 1] % np.uint64(count)).astype(np.int64)
        chances = (meetings[:within, 2] >> np.uint64(11)).astype(np.float64) * 2.0**-53
        fired = np.flatnonzero(chances * bound < self._gaps(predictions, v, places))
        if fired.size:
            return ThinnedTest.FIRED, float(times[fired[0]]), 3 * (int(counted[fired[0]]) + 1)
        if within < len(times):
            return ThinnedTest.PASSED, float(times[within]), 3 * (int(counted[within]) + 1)
        return ThinnedTest.MORE_WORDS, float(times[-1]) if len(times) else clock, 3 * len(whole)

    def _gaps(self, predictions: FloatArray, v: FloatArray, places: NDArray[np.int64]) -> FloatArray:
        return row_gaps(
            self.kept, predictions[places], _rows(self.kept, places) @ v, self.kept.labels[places]
        )


def _rows(kept: KeptRows, places: NDArray[np.int64]) -> FloatArray:
    """These rows, with their zeros."""
    if kept.starts is None or kept.columns is None:
        return np.asarray(kept.values.reshape(-1, kept.dimension)[places])
    rows = np.zeros((len(places), kept.dimension))
    lengths = kept.starts[places + 1] - kept.starts[places]
    owner = np.repeat(np.arange(len(places)), lengths)
    first = np.repeat(kept.starts[places] - np.cumsum(lengths) + lengths, lengths)
    entries = first + np.arange(len(owner))
    rows[owner, kept.columns[entries]] = kept.values[entries]
    return rows


def slopes(kept: KeptRows, p: FloatArray, y: FloatArray) -> FloatArray:
    """The loss's derivative at each prediction."""
    if kept.loss == "logistic":
        return np.asarray(-y * _below(y * p))
    if kept.loss == "huber":
        return np.asarray(y * _hinge_slope(y * p, kept.width))
    return np.clip(p - y, -kept.width, kept.width)


def row_gaps(kept: KeptRows, p: FloatArray, u: FloatArray, y: FloatArray) -> FloatArray:
    """loss(p + u) - loss(p) - slope(p) u, never below 0."""
    if kept.loss == "logistic":
        turned = np.where(y * u >= 0, y, -y)
        found = _logistic_gap(turned * p, turned * u)
    elif kept.loss == "huber":
        m, t = y * p, y * u
        found = _hinge(m + t, kept.width) - _hinge(m, kept.width) - _hinge_slope(m, kept.width) * t
    else:
        e, width = p - y, kept.width
        found = _huber(e + u, width) - _huber(e, width) - np.clip(e, -width, width) * u
    return np.maximum(found, 0.0)


def _below(m: FloatArray) -> FloatArray:
    """1 / (1 + e^m)."""
    small = np.exp(-np.abs(m))
    return np.asarray(np.where(m >= 0, small, 1.0) / (1.0 + small))


def _logistic_gap(m: FloatArray, t: FloatArray) -> FloatArray:
    """Of ln(1 + e^-m) along t >= 0; where m < 0 that of ln(1 + e^m), which is the same: no logarithm near 0."""
    q = _below(np.abs(m))
    up = q * t + np.log1p(q * np.expm1(-t))
    near = np.log1p(q * np.expm1(np.minimum(t, 1.0)))
    far = np.logaddexp(0.0, m + t) - np.logaddexp(0.0, m)
    return np.where(m >= 0, up, np.where(t < 1, near, far) - q * t)


def _hinge(m: FloatArray, width: float) -> FloatArray:
    gap = 1.0 - m
    return np.where(
        gap >= width, gap, np.where(gap <= -width, 0.0, (gap + width) * (gap + width) / (4.0 * width))
    )


def _hinge_slope(m: FloatArray, width: float) -> FloatArray:
    return np.asarray(-np.clip((1.0 - m + width) / (2.0 * width), 0.0, 1.0))


def _huber(e: FloatArray, width: float) -> FloatArray:
    size = np.abs(e)
    return np.where(size <= width, 0.5 * e * e, width * (size - 0.5 * width))

"""ReferenceGaps: sums of Bregman gaps in NumPy, which bregman.c is tested against and which replace it where needed.

With the same random words both meet the same rows at the same times; their gaps differ by rounding only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from holdfast._kernel.bregman import FloatArray, SamplerRows, ThinnedTest, WordArray

BLOCK_ROWS = 2_048
LARGEST_WORD = 2**64 - 1


class ReferenceGaps:
    """A `BregmanGaps` in NumPy."""

    def __init__(self, rows: SamplerRows) -> None:
        self.rows = rows

    def gradient(self, w: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The sum of slope times row, and the predictions."""
        predictions, total = np.empty(self.rows.count), np.zeros(self.rows.dimension, dtype=np.longdouble)
        for start in range(0, self.rows.count, BLOCK_ROWS):
            places = np.arange(start, min(start + BLOCK_ROWS, self.rows.count))
            rows = _dense_rows(self.rows, places)
            predictions[places] = rows @ w
            total += slopes(self.rows, predictions[places], self.rows.labels[places]) @ rows
        return total.astype(np.float64), predictions

    def total(self, predictions: FloatArray, v: FloatArray) -> float:
        """The sum of all gaps."""
        total = np.longdouble(0.0)
        for start in range(0, self.rows.count, BLOCK_ROWS):
            places = np.arange(start, min(start + BLOCK_ROWS, self.rows.count))
            total += np.sum(self._gaps(predictions, v, places), dtype=np.longdouble)
        return float(total)

    def thinned_test(
        self,
        predictions: FloatArray,
        v: FloatArray,
        *,
        bound: float,
        until: float,
        random_words: WordArray,
        clock: float,
    ) -> tuple[ThinnedTest, float, int]:
        """The result of the test, the clock's time, and how many words were used."""
        count = self.rows.count
        # Three words for each meeting: waiting time, row, chance. Words that would favour some rows are left out.
        triples = random_words[: len(random_words) // 3 * 3].reshape(-1, 3)
        accepted = np.flatnonzero(
            triples[:, 1] <= np.uint64(LARGEST_WORD - (LARGEST_WORD % count + 1) % count)
        )
        meetings = triples[accepted]
        waits = -np.log(((meetings[:, 0] >> np.uint64(11)).astype(np.float64) + 1.0) * 2.0**-53)
        times = np.cumsum(np.concatenate([[clock], waits]))[1:]
        within = int(np.searchsorted(times, until, side="right"))
        places = (meetings[:within, 1] % np.uint64(count)).astype(np.int64)
        chances = (meetings[:within, 2] >> np.uint64(11)).astype(np.float64) * 2.0**-53
        fired = np.flatnonzero(chances * bound < self._gaps(predictions, v, places))
        if fired.size:
            return ThinnedTest.FIRED, float(times[fired[0]]), 3 * (int(accepted[fired[0]]) + 1)
        if within < len(times):
            return ThinnedTest.PASSED, float(times[within]), 3 * (int(accepted[within]) + 1)
        return ThinnedTest.MORE_WORDS, float(times[-1]) if len(times) else clock, 3 * len(triples)

    def _gaps(self, predictions: FloatArray, v: FloatArray, places: NDArray[np.int64]) -> FloatArray:
        return row_gaps(
            self.rows, predictions[places], _dense_rows(self.rows, places) @ v, self.rows.labels[places]
        )


def _dense_rows(rows: SamplerRows, places: NDArray[np.int64]) -> FloatArray:
    """The rows at these places as a dense matrix."""
    if rows.starts is None or rows.columns is None:
        return np.asarray(rows.values.reshape(-1, rows.dimension)[places])
    dense = np.zeros((len(places), rows.dimension))
    lengths = rows.starts[places + 1] - rows.starts[places]
    owner = np.repeat(np.arange(len(places)), lengths)
    first = np.repeat(rows.starts[places] - np.cumsum(lengths) + lengths, lengths)
    entries = first + np.arange(len(owner))
    dense[owner, rows.columns[entries]] = rows.values[entries]
    return dense


def slopes(rows: SamplerRows, p: FloatArray, y: FloatArray) -> FloatArray:
    """The derivative of the rows' loss at each prediction p with label y."""
    if rows.loss == "logistic":
        return np.asarray(-y * _sigmoid_of_minus(y * p))
    if rows.loss == "huber":
        return np.asarray(y * _hinge_slope(y * p, rows.width))
    return np.clip(p - y, -rows.width, rows.width)


def row_gaps(rows: SamplerRows, p: FloatArray, u: FloatArray, y: FloatArray) -> FloatArray:
    """loss(p + u) - loss(p) - slope(p) u, never below 0."""
    if rows.loss == "logistic":
        sign = np.where(y * u >= 0, y, -y)
        gap = _logistic_gap(sign * p, sign * u)
    elif rows.loss == "huber":
        m, t = y * p, y * u
        gap = _hinge(m + t, rows.width) - _hinge(m, rows.width) - _hinge_slope(m, rows.width) * t
    else:
        e, width = p - y, rows.width
        gap = _huber(e + u, width) - _huber(e, width) - np.clip(e, -width, width) * u
    return np.maximum(gap, 0.0)


def _sigmoid_of_minus(m: FloatArray) -> FloatArray:
    """1 / (1 + e^m)."""
    small = np.exp(-np.abs(m))
    return np.asarray(np.where(m >= 0, small, 1.0) / (1.0 + small))


def _logistic_gap(m: FloatArray, t: FloatArray) -> FloatArray:
    """The gap of ln(1 + e^-m) where m grows by t >= 0, without a logarithm of a number near 1.

    Where m < 0 it is computed as the gap of ln(1 + e^m), which is the same.
    """
    q = _sigmoid_of_minus(np.abs(m))
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

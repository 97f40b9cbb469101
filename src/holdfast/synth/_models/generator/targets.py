"""Targets: the noisy values that a generator is trained on, and the distance of a mixture of products from them.

In a mixture of K equally likely products with distributions p_ki of the columns i, the joint distribution of columns A
is the mean over k of the outer product of p_ki over i in A: exact, no sampling. A linear map F of each p_ki passes
through the product, so the same code answers tables (F the identity) and residuals (F the rows of `helmert`), whose
noise is independent from one coordinate to the next: there the squared distance over sigma^2 is the likelihood.

Sets of columns that share all but their last two columns make one block, which is one matrix product: all pairs of any
number of columns are one block, all triples are one block for each first column.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Protocol

import numpy as np

from holdfast._arrays import Codes, Floats
from holdfast.errors import require
from holdfast.synth._models.generator.heads import Heads, Singles
from holdfast.synth._models.model import Measurement

#: Where a smaller share of the pairs in a block was measured, the block is split by columns. All pairs have half.
DENSE_SHARE = 0.3


class Objective(Protocol):
    """A loss that a generator minimises by gradient descent."""

    def gradient(self, probabilities: Singles) -> tuple[float, Singles]:
        """The value, and its derivative in each component's probabilities."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Block:
    """Noisy values of sets that share a prefix of columns.

    The axes of `wanted` and `precision` are the features of the prefix, of the next column, and of the last column.
    """

    prefix: tuple[slice, ...]
    left: Codes
    right: Codes
    wanted: Singles
    precision: Singles
    """1 / sigma^2 in units of proportions; 0 where nothing was measured."""


class Targets:
    """Noisy values as proportions, and the precision of each: what a generator is to agree with.

    `features` gives the linear map F of a column with so many cells: `np.eye` for tables, `helmert` for residuals.

    >>> pair = Measurement(columns=("a", "b"), values=[[4.0, 2.0], [2.0, 2.0]], noise_std=1.0)
    >>> targets = Targets(Heads.of({"a": 2, "b": 2}), [pair], np.eye, total=10.0)
    >>> even = np.full((1, 4), 0.5, dtype=np.float32)
    >>> round(targets.distance(even), 4)  # (4 - 2.5)^2 + 3 (2 - 2.5)^2
    3.0
    """

    def __init__(
        self,
        heads: Heads,
        measured: Sequence[Measurement],
        features: Callable[[int], Floats],
        *,
        total: float,
    ) -> None:
        require(total > 0, "total", total, "> 0")
        self.heads, self.total = heads, float(total)
        self.maps = {size: np.asarray(features(size), dtype=np.float32) for size in set(heads.sizes)}
        # Identity: d features of d cells; residuals: one fewer.
        self._less = heads.sizes[0] - len(self.maps[heads.sizes[0]])
        self._places = heads.slices(self._less)
        self.width = heads.width - self._less * len(heads.names)
        held = [_in_order(measurement, self._places) for measurement in measured]
        self.count = sum(measurement.values.size for measurement in held if measurement.columns)
        self.wanted, self.precision = (np.zeros(self.width, dtype=np.float32) for _ in range(2))
        joint: dict[tuple[str, ...], list[Measurement]] = {}
        for measurement in held:
            if len(measurement.columns) == 1:
                self._average_in(
                    self.wanted, self.precision, self._places[measurement.columns[0]], measurement
                )
            elif measurement.columns:
                joint.setdefault(tuple(measurement.columns[:-2]), []).append(measurement)
        self.blocks = [
            block for prefix, measurements in joint.items() for block in self._blocks_of(prefix, measurements)
        ]

    def distance(self, probabilities: Singles) -> float:
        """The sum of squared distances from the noisy values, each over its sigma^2."""
        features = self._features(probabilities)
        gap = features.mean(axis=0) - self.wanted
        loss = float(np.dot(gap * self.precision, gap))
        return loss + sum(_distance(block, features) for block in self.blocks)

    def gradient(self, probabilities: Singles) -> tuple[float, Singles]:
        """The distance, and its derivative in each component's probabilities."""
        features = self._features(probabilities)
        share = np.float32(1.0 / len(features))
        gap = features.mean(axis=0) - self.wanted
        loss = float(np.dot(gap * self.precision, gap))
        slope = np.tile(2.0 * share * self.precision * gap, (len(features), 1)).astype(np.float32)
        for block in self.blocks:
            loss += _descend(block, features, slope)
        back = self.heads.by_size(slope, self._transpose, less=self._less)
        return loss, back

    def _features(self, probabilities: Singles) -> Singles:
        return np.asarray(self.heads.by_size(probabilities, lambda block: self.maps[block.shape[1]] @ block))

    def _transpose(self, block: Singles) -> Singles:
        return np.asarray(self.maps[block.shape[1] + self._less].T @ block)

    def _average_in(self, wanted: Singles, held: Singles, at: Any, measurement: Measurement) -> None:
        """Average a measurement into the values at some place, weighted by precision."""
        precision = (self.total / measurement.noise_std) ** 2
        values = measurement.values.reshape(wanted[at].shape) / self.total
        both = held[at] + precision
        wanted[at] = (held[at] * wanted[at] + precision * values) / both
        held[at] = both

    def _blocks_of(self, prefix: tuple[str, ...], measurements: list[Measurement]) -> list[Block]:
        """One block where most pairs of last columns are wanted, else one for each column before the last."""
        lefts = {measurement.columns[-2] for measurement in measurements}
        rights = {measurement.columns[-1] for measurement in measurements}
        pairs = {(measurement.columns[-2], measurement.columns[-1]) for measurement in measurements}
        # All pairs of m columns are nearly half of (m - 1)^2: that is as dense as ordered columns can be.
        if len(pairs) >= DENSE_SHARE * len(lefts) * len(rights):
            return [self._block(prefix, measurements)]
        return [
            self._block(
                prefix, [measurement for measurement in measurements if measurement.columns[-2] == left]
            )
            for left in sorted(lefts)
        ]

    def _block(self, prefix: tuple[str, ...], measurements: list[Measurement]) -> Block:
        lefts = list(dict.fromkeys(measurement.columns[-2] for measurement in measurements))
        rights = list(dict.fromkeys(measurement.columns[-1] for measurement in measurements))
        rows, across = self._lengths(lefts), self._lengths(rights)
        depth = math.prod(self._length(name) for name in prefix)
        shape = (depth, sum(map(self._length, lefts)), sum(map(self._length, rights)))
        wanted, held = np.zeros(shape, dtype=np.float32), np.zeros(shape, dtype=np.float32)
        for measurement in measurements:
            self._average_in(
                wanted,
                held,
                (slice(None), rows[measurement.columns[-2]], across[measurement.columns[-1]]),
                measurement,
            )
        return Block(
            prefix=tuple(self._places[name] for name in prefix),
            left=np.concatenate([np.arange(self.width)[self._places[name]] for name in lefts]),
            right=np.concatenate([np.arange(self.width)[self._places[name]] for name in rights]),
            wanted=wanted,
            precision=held,
        )

    def _length(self, name: str) -> int:
        return len(range(self.width)[self._places[name]])

    def _lengths(self, names: Sequence[str]) -> dict[str, slice]:
        ends = list(accumulate(map(self._length, names), initial=0))
        return {name: slice(ends[place], ends[place + 1]) for place, name in enumerate(names)}


def _distance(block: Block, features: Singles) -> float:
    left, right, lead = features[:, block.left], features[:, block.right], _leading(features, block.prefix)
    loss = 0.0
    for cell in range(lead.shape[1]):
        gap = (lead[:, cell : cell + 1] / np.float32(len(features)) * left).T @ right - block.wanted[cell]
        loss += float(np.vdot(block.precision[cell] * gap, gap))
    return loss


def _descend(block: Block, features: Singles, slope: Singles) -> float:
    """Add the block's part of the derivative to `slope`, and return its part of the loss."""
    left, right = features[:, block.left], features[:, block.right]
    share = np.float32(1.0 / len(features))
    loss = 0.0
    back_left, back_right = np.zeros_like(left), np.zeros_like(right)
    lead = _leading(features, block.prefix)
    back_lead = np.zeros_like(lead)
    for cell in range(lead.shape[1]):
        weight = share * lead[:, cell : cell + 1]
        weighted = weight * left
        gap = weighted.T @ right - block.wanted[cell]
        force = block.precision[cell] * gap
        loss += float(np.vdot(force, gap))
        force *= np.float32(2.0)
        through = right @ force.T  # d loss / d (weighted left)
        back_left += weight * through
        back_right += weighted @ force
        if block.prefix:
            back_lead[:, cell] = share * np.einsum("kl,kl->k", left, through)
    slope[:, block.left] += back_left
    slope[:, block.right] += back_right
    _back_leading(features, block.prefix, back_lead, slope)
    return loss


def _leading(features: Singles, prefix: Sequence[slice]) -> Singles:
    """Products of the prefix's features, in the order of its cells; ones where there is no prefix."""
    lead = np.ones((len(features), 1), dtype=np.float32)
    for place in prefix:
        lead = (lead[:, :, None] * features[:, None, place]).reshape(len(features), -1)
    return lead


def _back_leading(features: Singles, prefix: Sequence[slice], back: Singles, slope: Singles) -> None:
    """Add the derivative in each factor of the prefix's products to `slope`."""
    for at, place in enumerate(prefix):
        before, after = _leading(features, prefix[:at]), _leading(features, prefix[at + 1 :])
        cube = back.reshape(len(features), before.shape[1], -1, after.shape[1])
        slope[:, place] += np.einsum("kb,kbca,ka->kc", before, cube, after, optimize=True)


def _in_order(measurement: Measurement, places: Mapping[str, slice]) -> Measurement:
    """The measurement with its axes in the order of the heads; columns of one cell have no head and are left out."""
    axes = [axis for axis, name in enumerate(measurement.columns) if name in places]
    axes.sort(key=lambda axis: places[measurement.columns[axis]].start)
    gone = [axis for axis in range(len(measurement.columns)) if axis not in axes]
    return Measurement(
        columns=[measurement.columns[axis] for axis in axes],
        values=measurement.values.transpose([*axes, *gone]).reshape(
            [measurement.values.shape[axis] for axis in axes]
        ),
        noise_std=measurement.noise_std,
    )

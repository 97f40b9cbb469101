"""Heads: the place of each column's logits and features in one array, and the softmax over each column.

All m columns of d cells are one (K, d, m) array: first cell 0 of every column, then cell 1. So a hundred small columns
cost a few operations on large arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Singles = NDArray[np.float32]


@dataclass(frozen=True)
class Heads:
    """One softmax for each column of the domain.

    >>> heads = Heads.of({"a": 3, "b": 2})
    >>> heads.names, heads.width
    (('b', 'a'), 5)
    """

    names: tuple[str, ...]
    """Smallest columns first."""
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, domain: Mapping[str, int]) -> Heads:
        """The heads of a domain; a column of one cell needs none."""
        names = tuple(sorted((name for name in domain if domain[name] > 1), key=domain.__getitem__))
        return cls(names, tuple(domain[name] for name in names))

    @property
    def width(self) -> int:
        """The number of logits of one component."""
        return sum(self.sizes)

    def slices(self, less: int = 0) -> dict[str, slice]:
        """The places of each column's cells; or of its features, which are `less` fewer than cells.

        >>> Heads.of({"a": 2, "b": 2, "c": 3}).slices()
        {'a': slice(0, 3, 2), 'b': slice(1, 4, 2), 'c': slice(4, 7, 1)}
        """
        slices, first = {}, 0
        for size, alike in self._by_size().items():
            for place, name in enumerate(alike):
                last = first + place + (size - less - 1) * len(alike)
                slices[name] = slice(first + place, last + 1, len(alike))
            first += (size - less) * len(alike)
        return slices

    def softmax(self, logits: Singles) -> Singles:
        """Every column's distribution, in every component."""
        return np.asarray(self.by_size(logits, _softmax))

    def softmax_slope(self, probabilities: Singles, slope: Singles) -> Singles:
        """The derivative in the logits, from that in the probabilities: p (s - <p, s>)."""
        weighted = probabilities * slope
        sums = self.by_size(weighted, _spread_sum)
        return np.asarray(weighted - probabilities * sums)

    def by_size(
        self,
        values: Any,
        change: Callable[[Any], Any],
        *,
        less: int = 0,
        join: Callable[..., Any] = np.concatenate,
    ) -> Any:
        """Apply a change to all columns of one size at once; the axis of their cells may change its length.

        Arrays of another library bring their own `join`.
        """
        parts, first = [], 0
        for size, alike in self._by_size().items():
            width = (size - less) * len(alike)
            block = values[:, first : first + width].reshape(len(values), size - less, len(alike))
            parts.append(change(block).reshape(len(values), -1))
            first += width
        return join(parts, axis=1) if len(parts) > 1 else parts[0]

    def _by_size(self) -> dict[int, list[str]]:
        groups: dict[int, list[str]] = {}
        for name, size in zip(self.names, self.sizes, strict=True):
            groups.setdefault(size, []).append(name)
        return groups


def _softmax(logits: Singles) -> Singles:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def _spread_sum(values: Singles) -> Singles:
    return np.broadcast_to(values.sum(axis=1, keepdims=True), values.shape)

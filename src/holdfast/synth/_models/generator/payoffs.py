"""Payoffs: a loss that raises a generator's answers to signed queries whose exact answers it does not know."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from holdfast._arrays import Floats
from holdfast.synth._models.generator.heads import Heads, Singles


class Payoffs:
    """- mean over signed queries s q of s q(g): the generator's loss against the query player, up to a constant.

    Each query is a sum of cells, and a cell's probability is the mean over components of a product of probabilities of
    single columns: the loss is linear in the mixture, and in the probabilities of every single column.

    >>> heads = Heads.of({"a": 2, "b": 2})
    >>> both = Payoffs(heads, [(("a", "b"), np.array([[0.0, 0.0], [0.0, 1.0]]), 1.0)])
    >>> round(both.gradient(np.full((3, 4), 0.5, dtype=np.float32))[0], 3)
    -0.25
    """

    def __init__(self, heads: Heads, queries: Iterable[tuple[Sequence[str], Floats, float]]) -> None:
        places = {name: np.arange(heads.width)[at] for name, at in heads.slices().items()}
        by_size: dict[int, tuple[list[list[int]], list[float]]] = {}
        total = 0
        for columns, values, sign in queries:
            total += 1
            for cell in np.argwhere(values):
                # A column of one cell has no head: its factor is 1.
                at = [
                    int(places[name][code])
                    for name, code in zip(columns, cell.tolist(), strict=True)
                    if name in places
                ]
                factors, weights = by_size.setdefault(len(at), ([], []))
                factors.append(at)
                weights.append(sign * float(values[tuple(cell)]))
        self._terms = [
            (np.array(factors, dtype=np.int64), np.array(weights, dtype=np.float32) / total, heads.width)
            for size, (factors, weights) in by_size.items()
            if size
        ]
        self._alone = sum(sum(weights) for size, (_, weights) in by_size.items() if not size) / max(1, total)

    def gradient(self, probabilities: Singles) -> tuple[float, Singles]:
        """The loss, and its derivative in each component's probabilities."""
        slope = np.zeros_like(probabilities)
        loss = -self._alone
        share = np.float32(1.0 / len(probabilities))
        for factors, weights, width in self._terms:
            parts = [probabilities[:, at] for at in factors.T]
            loss -= float((np.prod(parts, axis=0) @ weights).mean())
            for place, at in enumerate(factors.T):
                others = np.ones_like(parts[0])
                for other, part in enumerate(parts):
                    if other != place:
                        others *= part
                spread = np.zeros((len(at), width), dtype=np.float32)
                spread[np.arange(len(at)), at] = weights * share
                slope -= others @ spread
        return loss, slope

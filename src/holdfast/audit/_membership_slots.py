"""Slots: the records of a membership game, each with a coin that decides what is trained on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Bools, Floats
from holdfast.attack._records import Records
from holdfast.errors import require
from holdfast.privacy._adjacency import Adjacency

PAIRS_STREAM = 14
"""The purpose that keeps the stream of pairs apart from every other."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Slots:
    """One coin per slot: the record or nothing (`add_remove`), the record or its alternative (`replace`)."""

    pool: Records
    rows: NDArray[np.int64]
    """Which rows of the owner's pool these are."""
    alternatives: Records | None
    base: Records | None

    @classmethod
    def of(cls, pool: Any, *, alternatives: Any, base: Any, adjacency: Adjacency, seed: int | None) -> Slots:
        """The slots of a game that compares neighbours of this adjacency."""
        records = Records.of(pool, "pool")
        always = None if base is None else Records.of(base, "base")
        rows = np.arange(records.count)
        if adjacency is Adjacency.add_remove:
            require(
                alternatives is None, "alternatives", "...", "None under add_remove: a record is in or not"
            )
            return cls(pool=records, rows=rows, alternatives=None, base=always)
        require(
            adjacency is Adjacency.replace,
            "adjacency",
            adjacency.value,
            "'replace' or 'add_remove'",
            "audit zero_out with holdfast.audit.audit, which plants null records",
        )
        if alternatives is None:
            require(records.count >= 2, "pool", records.count, "2 records or more")
            # A stream of its own: the pairs must know nothing of the coins, which come from the same seed.
            stream = np.random.default_rng(None if seed is None else [seed, PAIRS_STREAM])
            pairs = stream.permutation(records.count)[: records.count // 2 * 2].reshape(2, -1)
            first, second = records.take(pairs[0]), records.take(pairs[1])
            return cls(pool=first, rows=pairs[0], alternatives=second, base=always)
        replacements = Records.of(alternatives, "alternatives")
        require(
            replacements.count == records.count,
            "alternatives",
            replacements.count,
            f"one for each of {records.count} records",
        )
        return cls(pool=records, rows=rows, alternatives=replacements, base=always)

    @property
    def records(self) -> Records:
        """Everybody who may be trained on, except the base."""
        return self.pool if self.alternatives is None else self.pool.join(self.alternatives)

    def inclusion(self, coins: Bools) -> Bools:
        """A mask of the `records` that are trained on."""
        return coins if self.alternatives is None else np.concatenate([coins, ~coins])

    def draw(self, random: np.random.Generator, _: int) -> Bools:
        """A mask of the `records` that a reference model is trained on, by the attacker's own coins."""
        return self.inclusion(random.random(self.pool.count) < 0.5)

    def data(self, coins: Bools) -> tuple[Any, NDArray[Any]]:
        """The data to train on; under `replace` every slot keeps its place."""
        count = self.pool.count
        rows = np.flatnonzero(coins) if self.alternatives is None else np.arange(count) + count * ~coins
        chosen = self.records.take(rows)
        return (chosen if self.base is None else self.base.join(chosen)).data()

    def values(self, scores: Floats) -> Floats:
        """One number per slot, larger where the coin looks like heads."""
        count = self.pool.count
        return scores if self.alternatives is None else scores[:count] - scores[count:]

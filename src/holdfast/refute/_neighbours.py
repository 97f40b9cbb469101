"""PointNeighbours: pairs of neighbouring tables of labelled rows, built from the learning problem alone.

The pairs are those that should move a learner most. Rows lie on the sphere of the declared norm, or far outside it, or
are not finite; labels take extreme values. All other records agree with each other (the crowd), so that one record that
goes against them moves the result most. A unit that owns several rows changes all of them at once.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from holdfast._arrays import Floats
from holdfast.learn._problem import Problem
from holdfast.privacy._adjacency import Adjacency
from holdfast.refute._replay import World

Pair = tuple[World, World]
CHANGES_OF_A_UNIT = 11
"""How many kinds of changes of one unit `_changes` yields."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Points:
    """The rows of a learner's table: features and labels."""

    features: Floats
    labels: Floats


@dataclass(frozen=True, kw_only=True)
class PointNeighbours:
    """Neighbouring tables for one problem: `others` records that stay, and one unit that changes."""

    problem: Problem
    adjacency: Adjacency
    others: int
    rows_per_unit: int = 1
    strange_rows: bool = True
    """Whether some rows are not finite or far too long; False for estimators, whose checks of arrays refuse them."""
    swap_places: bool = False
    """Whether a blanked record also swaps places with another: for batches of fixed size, whose proof compares batches
    that hold a record with batches that hold another in its place (`_swap_places`)."""

    # Tables.

    def pairs(self, random: np.random.Generator) -> Iterator[Pair]:
        """Every crowd with every change; early among them rows that are not finite and a table of the unit alone."""
        changes, crowds = list(self._changes()), list(self._crowds(random))
        order = sorted(itertools.product(range(len(crowds)), range(len(changes))), key=self._diagonal)
        for place, (crowd, change) in enumerate(order):
            pair = self._pair(*crowds[crowd], changes[change], first=place % 3 == 2)
            yield pair
            if self.swap_places:
                yield self._swap_places(pair)
            if self.strange_rows and place < len(self._strange_rows):
                strange = self._block(self._strange_rows[place], self._labels[0])
                yield self._pair(*crowds[0], (strange, changes[0][1]), first=False)
            if place == 1 and not self.adjacency.count_is_public:
                yield self._pair(np.empty((0, self.problem.dimension)), np.empty(0), changes[0], first=False)

    @staticmethod
    def _diagonal(places: tuple[int, int]) -> tuple[int, int]:
        """The sort key that walks along diagonals, so that every crowd and every change comes early."""
        return (places[1] - places[0]) % CHANGES_OF_A_UNIT, places[0]

    def _swap_places(self, pair: Pair) -> Pair:
        """The pair with the blank record of the neighbour and the record before it swapped.

        A batch of fixed size draws places, every set of places with the same probability, so swapping two rows of a
        table changes no distribution. With the same coins on both sides, a batch with the record is then compared with
        the batch that has another record in its place, as in the proof of amplification (Wang, Balle and
        Kasiviswanathan 2019).
        """
        whole, blank = pair
        blank_place = int(np.flatnonzero(blank.identifiers >= self.others)[0])
        order = np.arange(len(blank.identifiers))
        order[[blank_place, blank_place - 1]] = order[[blank_place - 1, blank_place]]
        swapped = Points(features=blank.rows.features[order], labels=blank.rows.labels[order])
        return whole, World(rows=swapped, identifiers=blank.identifiers[order])

    @property
    def _strange_rows(self) -> list[Floats]:
        """Rows that a schema's clipping would remove; methods must not rely on it."""
        return [np.full(self.problem.dimension, bad) for bad in (np.nan, 1e200, np.inf)]

    def vary(self, random: np.random.Generator, pair: Pair) -> Pair:
        """A pair near this one: a row of the crowd, or the unit's rows on one side, moved a little or replaced."""
        first, second = (world.rows for world in pair)
        ids = [world.identifiers for world in pair]
        mine = [identifiers >= self.others for identifiers in ids]
        x, y = first.features.copy(), first.labels.copy()
        other_x, other_y = second.features.copy(), second.labels.copy()
        choice = int(random.integers(4))
        if choice == 0 and (~mine[0]).any():
            place = int(random.choice(ids[0][~mine[0]]))
            new_row = self._nearby_row(random, x[ids[0] == place][0])
            label = float(random.choice(self._labels))
            for features, labels, names in ((x, y, ids[0]), (other_x, other_y, ids[1])):
                features[names == place], labels[names == place] = new_row, label
        elif choice == 1 and mine[1].any() and self.adjacency is Adjacency.replace:
            other_x[mine[1]] = self._nearby_row(random, other_x[mine[1]][0])
            other_y[mine[1]] = random.choice(self._labels)
        elif mine[0].any():
            x[mine[0]] = self._nearby_row(random, x[mine[0]][0])
            if choice == 2:
                y[mine[0]] = random.choice(self._labels)
        return (
            World(rows=Points(features=x, labels=y), identifiers=ids[0]),
            World(rows=Points(features=other_x, labels=other_y), identifiers=ids[1]),
        )

    def plain(self, rows: int) -> World:
        """Random rows with random labels."""
        random = np.random.Generator(np.random.PCG64(rows))
        x = np.stack([self._sphere(random) for _ in range(rows)]) * random.uniform(0.3, 1.0, size=(rows, 1))
        y = random.choice(self._labels, size=rows)
        return World(rows=Points(features=x, labels=y), identifiers=np.arange(rows))

    def change_record(self, world: World, place: int) -> list[World]:
        """The table with the record blanked, and with its features negated, since a loss may be flat on one side."""
        changed = []
        for factor in (0.0, -1.0):
            x = world.rows.features.copy()
            x[place] *= factor
            changed.append(dataclasses.replace(world, rows=Points(features=x, labels=world.rows.labels)))
        return changed

    # Parts of tables.

    @property
    def _labels(self) -> list[float]:
        """Every class, or both ends of the range of targets."""
        if self.problem.outputs == "several":
            return [float(k) for k in range(self.problem.predictions)]
        bound = self.problem.loss.largest_target
        return [bound, -bound]

    def _crowds(self, random: np.random.Generator) -> Iterator[tuple[Floats, Floats]]:
        """Features and labels of the records that stay."""
        d, n, norm = self.problem.dimension, self.others, self.problem.row_norm
        axis = np.zeros((n, d))
        axis[:, 0] = norm
        corner = np.full((n, d), norm / math.sqrt(d))
        yield axis, np.full(n, self._labels[1])
        yield np.zeros((n, d)), np.full(n, self._labels[0])
        yield corner, np.full(n, self._labels[1])
        yield axis, np.resize(self._labels, n)
        if d > 1:
            last = np.zeros((n, d))
            last[:, -1] = norm
            yield last, np.full(n, self._labels[0])
            # No record in one direction, so that a single row there decides the smallest eigenvalue.
            yield norm * np.eye(d)[np.arange(n) % (d - 1)], np.full(n, self._labels[0])
        yield (
            np.stack([self._sphere(random) for _ in range(n)]) if n else axis,
            random.choice(self._labels, size=n),
        )

    def _changes(self) -> Iterator[tuple[tuple[Floats, Floats], tuple[Floats, Floats]]]:
        """The unit's rows before and after: negated, at a right angle, along the diagonal, across."""
        d, norm, labels = self.problem.dimension, self.problem.row_norm, self._labels
        axis, last = np.zeros(d), np.zeros(d)
        axis[0], last[-1] = norm, norm
        corner = np.full(d, norm / math.sqrt(d))
        other = np.where(np.arange(d) % 2, -1.0, 1.0) * corner
        # Almost at right angles to the direction in which constant outputs have pushed the weights, and far along it.
        side = (axis - last) / math.sqrt(2.0)
        slant, mirrored = (
            (0.1 * corner + sign * math.sqrt(0.99) * side) if d > 1 else axis for sign in (1.0, -1.0)
        )
        across = 0.5 * axis + math.sqrt(0.75) * last if d > 1 else axis
        # Two rows whose product is 1/8, one in the last direction: second moments move the most (`adassp`).
        turn = 0.5 * (math.pi / 2.0 - math.acos(1.0 / 8.0))
        leaning = math.sin(turn) * axis + math.cos(turn) * last if d > 1 else axis
        for own_row, own_label, their_row, their_label in (
            (slant, labels[0], mirrored, labels[0]),
            (axis, labels[0], -axis, labels[0]),
            (slant, labels[-1], mirrored, labels[-1]),
            (axis, labels[0], last if d > 1 else 0.0 * axis, labels[-1]),
            (corner, labels[0], -corner, labels[0]),
            (leaning, labels[0], leaning[::-1], labels[-1]),
            (self._halves(0.096), labels[0], self._halves(0.934), labels[-1]),
            (self._halves(0.34), labels[0], self._halves(0.34 + math.pi / 2.0), labels[-1]),
            (corner, labels[0], corner, labels[-1]),
            (corner, labels[-1], other, labels[0]),
            (across, labels[0], across * np.where(np.arange(d) == d - 1, -1.0, 1.0), labels[0]),
        ):
            yield self._block(own_row, own_label), self._block(their_row, their_label)

    def _halves(self, angle: float) -> Floats:
        """A row of two numbers, one in each half of the columns: such rows move products of columns most."""
        d = self.problem.dimension
        first = (d + 1) // 2
        row = np.full(d, math.cos(angle) / math.sqrt(first))
        row[first:] = math.sin(angle) / math.sqrt(max(1, d - first))
        return self.problem.row_norm * row

    def _block(self, row: Floats, label: float) -> tuple[Floats, Floats]:
        return np.tile(row, (self.rows_per_unit, 1)), np.full(self.rows_per_unit, label)

    def _pair(
        self,
        x: Floats,
        y: Floats,
        change: tuple[tuple[Floats, Floats], tuple[Floats, Floats]],
        *,
        first: bool,
    ) -> Pair:
        """A table and its neighbour, in which the unit's rows are replaced, blanked or absent."""
        (own_rows, own_labels), (their_rows, their_labels) = change
        if self.adjacency is Adjacency.zero_out:
            their_rows, their_labels = np.zeros_like(own_rows), np.zeros_like(own_labels)
        elif self.adjacency is Adjacency.add_remove:
            their_rows, their_labels = own_rows[:0], own_labels[:0]
        names, own = np.arange(len(y)), np.arange(self.others, self.others + self.rows_per_unit)

        def world(rows: Floats, labels: Floats) -> World:
            parts = [(x, y, names), (rows, labels, own[: len(labels)])]
            ordered = parts[::-1] if first else parts
            features, targets, identifiers = (np.concatenate(part) for part in zip(*ordered, strict=True))
            return World(rows=Points(features=features, labels=targets), identifiers=identifiers)

        return world(own_rows, own_labels), world(their_rows, their_labels)

    def _sphere(self, random: np.random.Generator) -> Floats:
        row = random.normal(size=self.problem.dimension)
        return np.asarray(self.problem.row_norm * row / np.linalg.norm(row))

    def _nearby_row(self, random: np.random.Generator, row: Floats) -> Floats:
        """A row near this one, or anywhere on the sphere."""
        if not np.abs(row).max(initial=0.0) <= 10.0 * self.problem.row_norm or random.random() < 0.2:
            return self._sphere(random)
        moved = row / self.problem.row_norm + random.choice([0.03, 0.3]) * random.normal(size=row.size)
        return np.asarray(self.problem.row_norm * moved / max(float(np.linalg.norm(moved)), 1e-12))

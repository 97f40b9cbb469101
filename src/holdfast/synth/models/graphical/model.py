"""GraphicalModel: a calibrated junction tree as a released distribution.

Rows from a calibrated tree by controlled rounding: drawing adds as little error as whole records allow.

Independent draws add the bootstrap error. Here a clique's new columns are dealt out by systematic sampling among
the rows that agree on the columns already drawn: in every such group each cell gets its expected number, rounded up
or down, and its expectation is exact (Madow 1949). Rows of a group are ordered by the columns they already have and
take the points of a van der Corput sequence, so that pairs with columns outside the clique are spread evenly too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from holdfast.noise.source import Source
from holdfast.synth.models.graphical.belief_propagation import Beliefs, Elimination
from holdfast.synth.models.graphical.factors import Columns, shape_of, sum_onto
from holdfast.synth.models.graphical.junction_tree import JunctionTree

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


def draw_rows(tree: JunctionTree, beliefs: Beliefs, rows: int, source: Source) -> Codes:
    """That many records as cell codes, one column per column of the domain, in random order."""
    names = list(tree.domain)
    made = np.zeros((rows, len(names)), dtype=np.int64)
    drawn: list[str] = []
    for place, clique in enumerate(tree.cliques):
        shared = tree.separator(place)
        fresh = tuple(name for name in clique if name not in shared)
        if not fresh:
            continue
        table = sum_onto(beliefs.tables[place], clique, (*shared, *fresh))
        shares = table.reshape(math.prod(shape_of(shared, tree.domain)), -1)
        group = _codes(made[:, [names.index(name) for name in shared]], shape_of(shared, tree.domain))
        others = [name for name in reversed(drawn) if name not in shared]
        picked = deal(shares, group, _order(made[:, [names.index(n) for n in others]], group, source), source)
        for name, code in zip(fresh, np.unravel_index(picked, shape_of(fresh, tree.domain)), strict=True):
            made[:, names.index(name)] = code
        drawn += fresh
    return made[_shuffle(rows, source)]


def deal(shares: Floats, group: Codes, order: Codes, source: Source) -> Codes:
    """A cell for each row: within each group, every cell its expected number, rounded up or down.

    `order` lists the rows group by group; `shares[g]` are the (not normalised) shares of group g.
    """
    rows = len(group)
    sorted_groups = group[order]
    starts = (
        np.flatnonzero(np.r_[True, sorted_groups[1:] != sorted_groups[:-1]]) if rows else np.zeros(0, int)
    )
    sizes = np.diff(np.r_[starts, rows])
    within = np.arange(rows) - np.repeat(starts, sizes)
    present = sorted_groups[starts]
    cumulated = np.cumsum(shares[present], axis=1)
    weight = cumulated[:, -1:]
    # A group the model gives no mass (numerically): spread evenly rather than failing.
    even = np.arange(1, shares.shape[1] + 1) / shares.shape[1]
    cumulated = np.where(weight > 0, cumulated / np.where(weight > 0, weight, 1.0), even)
    offset = row_uniforms(len(starts), source)
    # Systematic sampling: one point in each of m equal intervals, dealt out in the order of the bit-reversed rank.
    # Turned round by a random amount, each row's point is uniform whatever its place.
    turned = np.floor(row_uniforms(len(starts), source) * sizes).astype(np.int64)
    many = np.repeat(sizes, sizes)
    slot = (bit_reversed_rank(within, many) + np.repeat(turned, sizes)) % np.maximum(many, 1)
    point = (slot + np.repeat(offset, sizes)) / many
    ladder = (cumulated + np.arange(len(starts))[:, None]).ravel()
    which = np.searchsorted(ladder, point + np.repeat(np.arange(len(starts)), sizes), side="right")
    cell = which - np.repeat(np.arange(len(starts)), sizes) * shares.shape[1]
    # Rounding at the far end must not pass the last cell that has any mass.
    full = shares[present] > 0
    last = np.where(
        weight[:, 0] > 0, shares.shape[1] - 1 - np.argmax(full[:, ::-1], axis=1), shares.shape[1] - 1
    )
    picked = np.empty(rows, dtype=np.int64)
    picked[order] = np.minimum(np.maximum(cell, 0), np.repeat(last, sizes))
    return picked


def bit_reversed_rank(within: Codes, sizes: Codes) -> Codes:
    """A permutation of 0..m-1 in which every run of neighbours is spread over the whole range.

    >>> bit_reversed_rank(np.arange(6), np.full(6, 6)).tolist()
    [0, 3, 2, 5, 1, 4]
    """
    bits = max(1, int(sizes.max()).bit_length()) if len(sizes) else 1
    value, key = within.copy(), np.zeros_like(within)
    for _ in range(bits):
        key = (key << 1) | (value & 1)
        value >>= 1
    begin = np.arange(len(within)) - within
    order = np.lexsort((key, begin))
    rank = np.empty_like(within)
    rank[order] = np.arange(len(within))
    return np.asarray(rank - begin)


def row_uniforms(count: int, source: Source) -> Floats:
    """Uniform numbers in [0, 1) from the source's coins."""
    return np.asarray((source.words(count) >> np.uint64(11)) * 2.0**-53)


def _codes(columns: Codes, shape: tuple[int, ...]) -> Codes:
    """Each row's cell as one number; 0 where there are no columns."""
    if not shape:
        return np.zeros(len(columns), dtype=np.int64)
    return np.asarray(np.ravel_multi_index(tuple(columns.T), shape), dtype=np.int64)


def _order(columns: Codes, group: Codes, source: Source) -> Codes:
    """Rows by group, then by the columns given (the first one first), then at random."""
    keys = [
        source.words(len(group)),
        *(columns[:, place] for place in range(columns.shape[1] - 1, -1, -1)),
        group,
    ]
    return np.lexsort(keys)


def _shuffle(rows: int, source: Source) -> Codes:
    return np.argsort(source.words(rows), kind="stable")


#: Rows that stand for the model where an exact table would be too large.
DRAWN_ROWS = 2**17


@dataclass(frozen=True, kw_only=True, eq=False)
class GraphicalModel:
    """A distribution that factors over the cliques of a junction tree (`holdfast.synth.models.model.Model`)."""

    tree: JunctionTree
    beliefs: Beliefs
    total: float

    @property
    def domain(self) -> Mapping[str, int]:
        """Columns in order, with their numbers of cells."""
        return self.tree.domain

    def project(self, columns: Sequence[str]) -> Floats:
        """The expected joint count: a sum inside a clique, else variable elimination along the tree.

        Where elimination would need a table of more than 16 million cells, rows drawn from the model are counted.
        """
        wanted = tuple(columns)
        home = self.tree.home(wanted)
        if home is not None:
            return self.total * sum_onto(self.beliefs.tables[home], self.tree.cliques[home], wanted)
        exact = self._elimination.joint(wanted)
        return self.total * (self._counted(wanted) if exact is None else exact)

    def sample(self, rows: int, source: Source) -> Codes:
        """Rows by controlled rounding along the tree: cliques' counts are within rounding of their expectation."""
        return draw_rows(self.tree, self.beliefs, rows, source)

    @cached_property
    def _elimination(self) -> Elimination:
        return Elimination(self.tree, self.beliefs)

    @cached_property
    def _drawn(self) -> Codes:
        """Rows for tables that are too large to compute: public coins, for the model is public."""
        return self.sample(DRAWN_ROWS, Source(0))

    def _counted(self, wanted: Columns) -> Floats:
        """The table of rows drawn from the model."""
        shape, names = shape_of(wanted, self.domain), list(self.domain)
        codes = self._drawn[:, [names.index(name) for name in wanted]]
        found = np.bincount(np.ravel_multi_index(tuple(codes.T), shape), minlength=math.prod(shape))
        return found.reshape(shape) / len(codes)

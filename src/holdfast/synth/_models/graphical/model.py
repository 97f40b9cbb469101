"""GraphicalModel: a calibrated junction tree as a released distribution; its marginals, and rows sampled from it.

Independent draws would add a sampling error; `draw_rows` adds as little as whole records allow. It goes through the
cliques. Among the rows that agree on the columns drawn so far, the new columns of a clique are drawn by systematic
sampling: each cell gets its expected number of rows, rounded up or down without bias (Madow 1949). Rows of a group are
ordered by the columns they already have and take the points of a van der Corput sequence, so that pairs with columns
outside the clique are spread evenly too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from holdfast._arrays import Codes, Floats
from holdfast.noise._source import Source
from holdfast.synth._models.graphical.junction_tree import Beliefs, Columns, JunctionTree, shape_of, sum_onto

#: Rows sampled from the model to estimate a marginal whose exact computation would be too large.
SAMPLED_ROWS = 2**17
#: The most cells of a table that elimination may make (128 MB); beyond, rows sampled from the model are counted.
MOST_JOINT_CELLS = 2**24
#: The most products that elimination may sum for one table, in multiples of `MOST_JOINT_CELLS`.
MOST_PRODUCTS = 8
#: The most cells of all cached messages together; the cache is cleared when it is full.
MOST_CACHED_CELLS = 2**22
#: Products over at most so many cells are computed without a search for the best order.
SMALL_PRODUCT_CELLS = 2**15


@dataclass(frozen=True, kw_only=True, eq=False)
class GraphicalModel:
    """A distribution that factors over the cliques of a junction tree (`holdfast.synth._models.model.Model`)."""

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
        return self.total * (self._sample_table(wanted) if exact is None else exact)

    def sample(self, rows: int, source: Source) -> Codes:
        """Rows whose counts in every clique are within rounding of their expectation (`draw_rows`)."""
        return draw_rows(self.tree, self.beliefs, rows, source)

    @cached_property
    def _elimination(self) -> Elimination:
        return Elimination(self.tree, self.beliefs)

    @cached_property
    def _public_sample(self) -> Codes:
        """Rows for marginals that are too large to compute. The seed is public, as the model is."""
        return self.sample(SAMPLED_ROWS, Source(0))

    def _sample_table(self, wanted: Columns) -> Floats:
        """The marginal, estimated from rows sampled from the model."""
        shape, names = shape_of(wanted, self.domain), list(self.domain)
        codes = self._public_sample[:, [names.index(name) for name in wanted]]
        counts = np.bincount(np.ravel_multi_index(tuple(codes.T), shape), minlength=math.prod(shape))
        return counts.reshape(shape) / len(codes)


# Marginals of columns that no clique holds together.


class Elimination:
    """Variable elimination on a calibrated tree, with a cache of messages.

    A message from a clique to its parent is the conditional distribution of some columns below it, given the columns
    that the two share. Marginals of many sets of columns have most messages in common.
    """

    def __init__(self, tree: JunctionTree, beliefs: Beliefs) -> None:
        self._tree, self._beliefs = tree, beliefs
        self._shared = [tree.separator(place) for place in range(len(tree.cliques))]
        self._cliques = [frozenset(clique) for clique in tree.cliques]
        self._children: list[list[int]] = [[] for _ in tree.cliques]
        own: list[set[str]] = [set(clique) for clique in tree.cliques]
        for place in range(len(tree.cliques) - 1, 0, -1):
            self._children[tree.parents[place]].append(place)
            own[tree.parents[place]] |= own[place]
        #: The columns at or below a clique that its parent does not have.
        self._below = [
            frozenset(names) - set(shared) for names, shared in zip(own, self._shared, strict=True)
        ]
        self._messages: dict[tuple[int, Columns], tuple[Columns, Floats] | None] = {}
        self._cells = 0

    def joint(self, wanted: Columns, *, most_cells: int = MOST_JOINT_CELLS) -> Floats | None:
        """The probability of every cell of these columns; None where an intermediate table would be too large."""
        top = 0
        while lower := [
            child
            for child in self._children[top]
            if self._below[child] | set(self._shared[child]) >= set(wanted)
        ]:
            top = lower[0]
        return self._combine(top, wanted, wanted, most_cells)

    def _combine(self, place: int, wanted: Sequence[str], keep: Columns, most_cells: int) -> Floats | None:
        """This clique's marginal times its children's messages about the wanted columns, summed onto `keep`."""
        messages = []
        for child in self._children[place]:
            shared = tuple(name for name in wanted if name in self._below[child])
            if shared:
                message = self._message(child, shared, most_cells)
                if message is None:
                    return None
                messages.append(message)
        clique, needed = (
            self._tree.cliques[place],
            {*keep, *(name for names, _ in messages for name in names)},
        )
        used = tuple(name for name in clique if name in needed)
        # With one message the product is summed at once; with more, an intermediate table may have all cells.
        result_cells, product_cells = (_cells(self._tree.domain, names) for names in (set(keep), needed))
        largest = result_cells if len(messages) < 2 else product_cells
        if largest > most_cells or product_cells > MOST_PRODUCTS * most_cells:
            return None
        return product([(used, sum_onto(self._beliefs.tables[place], clique, used)), *messages], keep)

    def _message(self, place: int, columns: Columns, most_cells: int) -> tuple[Columns, Floats] | None:
        """The distribution of these columns given what the clique shares with its parent, as a joint table."""
        key = (place, tuple(sorted(columns)))
        if key not in self._messages:
            keep = (*self._shared[place], *key[1])
            joint = self._combine(place, columns, keep, most_cells)
            answer = None
            if joint is not None:
                shared = self._shared[place]
                known = sum_onto(self._beliefs.tables[place], self._tree.cliques[place], shared)
                bottom = known.reshape(known.shape + (1,) * (joint.ndim - known.ndim))
                answer = (keep, np.divide(joint, bottom, out=np.zeros_like(joint), where=bottom > 0))
                self._make_room(joint.size)
            self._messages[key] = answer
            return answer
        return self._messages[key]

    def _make_room(self, cells: int) -> None:
        if self._cells + cells > MOST_CACHED_CELLS:
            self._messages.clear()
            self._cells = 0
        self._cells += cells


def _cells(domain: Mapping[str, int], names: set[str]) -> int:
    return math.prod(domain[name] for name in names)


def product(tables: Sequence[tuple[Columns, Floats]], keep: Sequence[str]) -> Floats:
    """The product of tables, summed over every column that is not in `keep`: one step of variable elimination.

    >>> a, b = np.array([[1.0, 2.0]]), np.array([3.0, 4.0])
    >>> product([(("x", "y"), a), (("y",), b)], ("x",)).tolist()
    [11.0]
    """
    number = {
        name: place for place, name in enumerate(dict.fromkeys(n for names, _ in tables for n in names))
    }
    operands: list[Any] = []
    for names, values in tables:
        operands += [values, [number[name] for name in names]]
    if len(tables) == 1 and set(keep) == set(tables[0][0]):
        return sum_onto(tables[0][1], tables[0][0], keep)
    # A search for the best order costs more than a small product itself.
    sizes = {name: size for names, values in tables for name, size in zip(names, values.shape, strict=True)}
    order: Any = "greedy" if math.prod(sizes.values()) > SMALL_PRODUCT_CELLS else False
    return np.asarray(np.einsum(*operands, [number[name] for name in keep], optimize=order))


# Rows.


def draw_rows(tree: JunctionTree, beliefs: Beliefs, rows: int, source: Source) -> Codes:
    """`rows` records as cell codes, one column per column of the domain, in random order."""
    names = list(tree.domain)
    codes = np.zeros((rows, len(names)), dtype=np.int64)
    drawn: list[str] = []
    for place, clique in enumerate(tree.cliques):
        shared = tree.separator(place)
        fresh = tuple(name for name in clique if name not in shared)
        if not fresh:
            continue
        table = sum_onto(beliefs.tables[place], clique, (*shared, *fresh))
        shares = table.reshape(math.prod(shape_of(shared, tree.domain)), -1)
        group = _codes(codes[:, [names.index(name) for name in shared]], shape_of(shared, tree.domain))
        others = [name for name in reversed(drawn) if name not in shared]
        picked = systematic_cells(
            shares, group, _order(codes[:, [names.index(n) for n in others]], group, source), source
        )
        for name, code in zip(fresh, np.unravel_index(picked, shape_of(fresh, tree.domain)), strict=True):
            codes[:, names.index(name)] = code
        drawn += fresh
    return codes[_shuffle(rows, source)]


def systematic_cells(shares: Floats, group: Codes, order: Codes, source: Source) -> Codes:
    """Draw a cell for each row, so that in each group every cell gets its expected number, rounded up or down.

    `order` lists the rows group by group; `shares[g]` are the (not normalised) shares of the cells in group g.
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
    # A group to which the model gives no mass, by rounding: its rows are spread evenly over the cells.
    even = np.arange(1, shares.shape[1] + 1) / shares.shape[1]
    cumulated = np.where(weight > 0, cumulated / np.where(weight > 0, weight, 1.0), even)
    offset = row_uniforms(len(starts), source)
    # Systematic sampling: one point in each of m equal intervals, assigned in the order of the bit-reversed rank.
    # The assignment is rotated by a random number, so that each row's point is uniform.
    rotation = np.floor(row_uniforms(len(starts), source) * sizes).astype(np.int64)
    group_size = np.repeat(sizes, sizes)
    slot = (bit_reversed_rank(within, group_size) + np.repeat(rotation, sizes)) % np.maximum(group_size, 1)
    point = (slot + np.repeat(offset, sizes)) / group_size
    thresholds = (cumulated + np.arange(len(starts))[:, None]).ravel()
    which = np.searchsorted(thresholds, point + np.repeat(np.arange(len(starts)), sizes), side="right")
    cell = which - np.repeat(np.arange(len(starts)), sizes) * shares.shape[1]
    # Rounding must not go beyond the last cell that has any mass.
    has_mass = shares[present] > 0
    last = np.where(
        weight[:, 0] > 0, shares.shape[1] - 1 - np.argmax(has_mass[:, ::-1], axis=1), shares.shape[1] - 1
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

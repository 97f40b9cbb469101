"""JunctionTree: the cliques of a triangulated graph of columns as a tree, and belief propagation along it.

Lauritzen and Spiegelhalter (1988). Joint tables are plain arrays whose axes are columns. The same tables give the same
tree: columns are eliminated greedily by the size of the clique that this makes, ties broken by their order.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from holdfast._arrays import Floats

Columns = tuple[str, ...]
#: Probabilities below this share of the largest are taken as 0, so that no quotient overflows.
LEAST_MESSAGE_SHARE = 1e-200

# Tables.


def shape_of(columns: Sequence[str], domain: Mapping[str, int]) -> tuple[int, ...]:
    """The number of cells of each column."""
    return tuple(domain[name] for name in columns)


def spread(values: Floats, columns: Sequence[str], onto: Sequence[str]) -> Floats:
    """A view with one axis per column of `onto`, of length 1 where the table has no such column.

    >>> spread(np.ones((2, 3)), ("b", "a"), ("a", "c", "b")).shape
    (3, 1, 2)
    """
    place = {name: axis for axis, name in enumerate(columns)}
    ordered = values.transpose([place[name] for name in onto if name in place])
    return ordered.reshape([values.shape[place[name]] if name in place else 1 for name in onto])


def sum_onto(values: Floats, columns: Sequence[str], onto: Sequence[str]) -> Floats:
    """The marginal table of some of the columns, in their order.

    >>> sum_onto(np.ones((2, 3)), ("a", "b"), ("b",)).tolist()
    [2.0, 2.0, 2.0]
    """
    summed_axes = tuple(axis for axis, name in enumerate(columns) if name not in onto)
    remaining = [name for name in columns if name in onto]
    summed = values.sum(axis=summed_axes) if summed_axes else values
    return summed.transpose([remaining.index(name) for name in onto])


# The tree. Sets of columns are bit masks.


def maximal_cliques(domain: Mapping[str, int], tables: Iterable[Sequence[str]]) -> list[Columns]:
    """The maximal cliques of the triangulated graph, their columns in the domain's order.

    >>> maximal_cliques({"a": 2, "b": 2, "c": 2, "d": 2}, [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")])
    [('a', 'b', 'd'), ('b', 'c', 'd')]
    """
    names = list(domain)
    cliques = Triangulation(domain, tables).cliques
    return [tuple(names[place] for place in _members(clique)) for clique in cliques]


class Triangulation:
    """A greedy elimination of columns, which can tell what adding one more table would cost without starting again.

    The elimination with one more table is the same until the first column of that table is eliminated: only its
    columns get new neighbours and so a higher cost, and the cheapest column stays the cheapest.
    """

    def __init__(self, domain: Mapping[str, int], tables: Iterable[Sequence[str]]) -> None:
        self._sizes = list(domain.values())
        self._number = {name: place for place, name in enumerate(domain)}
        self._weights: dict[int, float] = {}
        neighbours = [1 << place for place in range(len(self._sizes))]
        for columns in tables:
            self._join(neighbours, columns)
        #: Before each step: the columns that are left, neighbours, costs, and the number of cliques.
        self._steps: list[tuple[int, list[int], dict[int, float], int]] = []
        self._step_of: dict[int, int] = {}
        self.cliques: list[int] = []
        self._run((1 << len(neighbours)) - 1, neighbours, {}, self.cliques, record=True)

    def cells_with(self, more: Sequence[str]) -> int:
        """The cells of all cliques together if one more table were joined; public, as it depends on sizes only.

        >>> Triangulation({"a": 10, "b": 10, "c": 10}, [("a", "b"), ("b", "c")]).cells_with(("a", "c"))
        1000
        """
        places = [self._number[name] for name in more]
        if not places:
            return sum(self._cells(clique) for clique in self.cliques)
        left, neighbours, costs, count = self._steps[min(self._step_of[place] for place in places)]
        neighbours, cliques = list(neighbours), self.cliques[:count]
        self._join(neighbours, more)
        costs = {place: cost for place, cost in costs.items() if place not in places}
        self._run(left, neighbours, costs, cliques, record=False)
        return sum(self._cells(clique) for clique in cliques)

    def _run(
        self, left: int, neighbours: list[int], costs: dict[int, float], cliques: list[int], *, record: bool
    ) -> None:
        """Eliminate the columns that are left, the cheapest first; append the maximal cliques to `cliques`."""
        while left:
            for place in _members(left):
                if place not in costs:
                    costs[place] = self._weight(neighbours[place] & left)
            best = min(costs, key=lambda place: (costs[place], place))
            if record:
                self._step_of[best] = len(self._steps)
                self._steps.append((left, list(neighbours), dict(costs), len(cliques)))
            clique = neighbours[best] & left
            for other in cliques:
                if clique & other == clique:
                    break
            else:
                cliques.append(clique)
            left &= ~(1 << best)
            for place in _members(clique & left):
                neighbours[place] |= clique
                del costs[place]
            del costs[best]

    def _join(self, neighbours: list[int], columns: Sequence[str]) -> None:
        mask = 0
        for name in columns:
            mask |= 1 << self._number[name]
        for place in _members(mask):
            neighbours[place] |= mask

    def _weight(self, mask: int) -> float:
        """The logarithm of the number of cells."""
        if mask not in self._weights:
            self._weights[mask] = sum(math.log(max(1, self._sizes[place])) for place in _members(mask))
        return self._weights[mask]

    def _cells(self, mask: int) -> int:
        return math.prod(self._sizes[place] for place in _members(mask))


@lru_cache(maxsize=2**16)
def _members(mask: int) -> tuple[int, ...]:
    """The places of the bits that are set; cached, since one round needs the same few masks many times."""
    places = []
    while mask:
        low = mask & -mask
        places.append(low.bit_length() - 1)
        mask ^= low
    return tuple(places)


@dataclass(frozen=True, kw_only=True)
class JunctionTree:
    """Cliques in an order in which each comes after its parent, and shares with it what earlier cliques have.

    >>> tree = JunctionTree.of({"a": 2, "b": 3, "c": 2}, [("a", "b"), ("b", "c")])
    >>> tree.cliques, tree.parents
    ((('a', 'b'), ('b', 'c')), (-1, 0))
    """

    domain: Mapping[str, int]
    cliques: tuple[Columns, ...]
    parents: tuple[int, ...]

    @classmethod
    def of(cls, domain: Mapping[str, int], tables: Iterable[Sequence[str]]) -> JunctionTree:
        """The tree over all columns in which every one of the tables is inside a clique."""
        cliques = maximal_cliques(domain, tables)
        # A maximum spanning tree by separator size has the running intersection property (Jensen and Jensen
        # 1994); Prim's algorithm from the largest clique also gives the order.
        sizes = [math.prod(domain[name] for name in clique) for clique in cliques]
        start = max(range(len(cliques)), key=lambda i: (sizes[i], -i))
        order, above = [start], [-1]
        waiting = [i for i in range(len(cliques)) if i != start]
        while waiting:
            shared, place, child = max(
                (len(set(cliques[i]) & set(cliques[j])), -k, -i) for i in waiting for k, j in enumerate(order)
            )
            del shared
            order.append(-child)
            above.append(-place)
            waiting.remove(-child)
        return cls(domain=dict(domain), cliques=tuple(cliques[i] for i in order), parents=tuple(above))

    def separator(self, place: int) -> Columns:
        """The columns that a clique shares with its parent; empty for the root."""
        if self.parents[place] < 0:
            return ()
        parent = set(self.cliques[self.parents[place]])
        return tuple(name for name in self.cliques[place] if name in parent)

    @property
    def cells(self) -> int:
        """The cells of all cliques together: what a pass over the tree costs in time and memory."""
        return sum(math.prod(self.domain[name] for name in clique) for clique in self.cliques)

    def home(self, columns: Iterable[str]) -> int | None:
        """The smallest clique that holds all of these columns, or None."""
        wanted = set(columns)
        fitting = [place for place, clique in enumerate(self.cliques) if wanted <= set(clique)]
        return min(
            fitting,
            key=lambda place: (math.prod(self.domain[name] for name in self.cliques[place]), place),
            default=None,
        )


# Belief propagation (Hugin): clique potentials in, clique marginals out.


@dataclass(frozen=True, kw_only=True, eq=False)
class Beliefs:
    """The probability of every cell of every clique, and the logarithm of the normaliser."""

    tables: tuple[Floats, ...]
    log_normaliser: float


def propagate(tree: JunctionTree, potentials: Sequence[Floats]) -> Beliefs:
    """Exact clique marginals of the density proportional to exp(sum of the cliques' log potentials).

    A potential of -inf is a cell that cannot occur. Each clique is scaled by its own largest cell, so nothing
    overflows; what is below 1e-200 of the largest is taken as impossible.

    >>> tree = JunctionTree.of({"a": 2, "b": 2}, [("a", "b")])
    >>> propagate(tree, [np.log([[1.0, 2.0], [3.0, 4.0]])]).tables[0].round(12).tolist()
    [[0.1, 0.2], [0.3, 0.4]]
    """
    log_scale = 0.0
    tables: list[Floats] = []
    for potential in potentials:
        top = float(potential.max())
        log_scale += top
        tables.append(np.exp(potential - top))
    messages: list[Floats] = [np.ones(())] * len(tables)
    # Towards the root: each clique is multiplied by its children's marginals of the columns they share.
    for place in range(len(tables) - 1, 0, -1):
        parent, shared = tree.parents[place], tree.separator(place)
        message = sum_onto(tables[place], tree.cliques[place], shared)
        top = float(message.max()) or 1.0
        messages[place] = message = np.where(message > LEAST_MESSAGE_SHARE * top, message, 0.0)
        log_scale += float(np.log(top))
        tables[parent] *= spread(message / top, shared, tree.cliques[parent])
    total = float(tables[0].sum())
    tables[0] /= total if total > 0 else 1.0
    # Away from the root: each clique is multiplied by its parent's marginal over the message it had sent.
    for place in range(1, len(tables)):
        parent, shared = tree.parents[place], tree.separator(place)
        known = sum_onto(tables[parent], tree.cliques[parent], shared)
        ratio = np.divide(known, messages[place], out=np.zeros_like(known), where=messages[place] > 0)
        tables[place] *= spread(ratio, shared, tree.cliques[place])
    return Beliefs(
        tables=tuple(tables), log_normaliser=log_scale + (float(np.log(total)) if total > 0 else -np.inf)
    )

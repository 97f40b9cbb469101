"""JunctionTree: cliques of a triangulated graph, so arranged that marginals can be passed along.

Lauritzen and Spiegelhalter (1988). The elimination order is greedy by the size of the clique that a column's
elimination makes, with ties broken by the order of the columns: the same tables give the same tree.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from holdfast.synth.graphical.tables import Columns


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
        found = maximal_cliques(domain, tables)
        # A maximum spanning tree by separator size has the running intersection property (Jensen and Jensen
        # 1994); Prim's algorithm from the largest clique also gives the order.
        sizes = [math.prod(domain[name] for name in clique) for clique in found]
        start = max(range(len(found)), key=lambda i: (sizes[i], -i))
        order, above = [start], [-1]
        waiting = [i for i in range(len(found)) if i != start]
        while waiting:
            shared, place, child = max(
                (len(set(found[i]) & set(found[j])), -k, -i) for i in waiting for k, j in enumerate(order)
            )
            del shared
            order.append(-child)
            above.append(-place)
            waiting.remove(-child)
        return cls(domain=dict(domain), cliques=tuple(found[i] for i in order), parents=tuple(above))

    def separator(self, place: int) -> Columns:
        """What a clique shares with its parent; empty for the root."""
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


def maximal_cliques(domain: Mapping[str, int], tables: Iterable[Sequence[str]]) -> list[Columns]:
    """The maximal cliques of the triangulated graph, their columns in the domain's order.

    >>> maximal_cliques({"a": 2, "b": 2, "c": 2, "d": 2}, [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")])
    [('a', 'b', 'd'), ('b', 'c', 'd')]
    """
    names = list(domain)
    weight = [math.log(domain[name]) if domain[name] > 0 else 0.0 for name in names]
    number = {name: place for place, name in enumerate(names)}
    around = [1 << place for place in range(len(names))]
    for columns in tables:
        mask = 0
        for name in columns:
            mask |= 1 << number[name]
        for name in columns:
            around[number[name]] |= mask
    made: list[int] = []
    left = (1 << len(names)) - 1
    costs: dict[int, float] = {}
    while left:
        for place in _members(left):
            if place not in costs:
                costs[place] = sum(weight[other] for other in _members(around[place] & left))
        best = min(_members(left), key=lambda place: (costs[place], place))
        clique = around[best] & left
        if not any(clique & ~other == 0 for other in made):
            made.append(clique)
        left &= ~(1 << best)
        for place in _members(clique & left):
            around[place] |= clique
        for place in _members(clique & left):
            costs.pop(place, None)
        costs.pop(best, None)
    return [tuple(names[place] for place in _members(clique)) for clique in made]


def _members(mask: int) -> list[int]:
    """The places of the ones."""
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found


def cells_with(domain: Mapping[str, int], tables: Sequence[Sequence[str]], more: Sequence[str]) -> int:
    """The cells a model would have with one more table; public, so a candidate list may depend on it.

    >>> cells_with({"a": 10, "b": 10, "c": 10}, [("a", "b"), ("b", "c")], ("a", "c"))
    1000
    """
    return sum(
        math.prod(domain[name] for name in clique) for clique in maximal_cliques(domain, [*tables, more])
    )

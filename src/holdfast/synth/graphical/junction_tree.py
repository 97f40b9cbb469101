"""JunctionTree: cliques of a triangulated graph, so arranged that marginals can be passed along.

Lauritzen and Spiegelhalter (1988). The same tables give the same tree (`triangulation`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from holdfast.synth.graphical.tables import Columns
from holdfast.synth.graphical.triangulation import maximal_cliques


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

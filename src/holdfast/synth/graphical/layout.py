"""Layout: where the measured tables sit in a junction tree, so that one pass serves all of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from holdfast.synth.graphical.junction_tree import JunctionTree
from holdfast.synth.graphical.propagation import Beliefs
from holdfast.synth.graphical.tables import Columns, shape_of, spread, sum_onto

Floats = NDArray[np.float64]


class Layout:
    """Distinct column sets as one long vector; a set inside another is handled through the larger one.

    Only sets that no other contains touch the cliques, which are large; everything else is a sum of those.
    """

    def __init__(self, tree: JunctionTree, sets: Sequence[Columns]) -> None:
        self.tree = tree
        self.sets = tuple(sets)
        self.shapes = [shape_of(columns, tree.domain) for columns in sets]
        sizes = [math.prod(shape) for shape in self.shapes]
        self._ends = np.cumsum([0, *sizes]).tolist()
        # From the largest number of columns down: hosts come before what they hold.
        self._order = sorted(range(len(sets)), key=lambda i: (-len(sets[i]), i))
        self._host: list[int | None] = []
        self._home: list[int] = []
        for i, columns in enumerate(sets):
            above = [j for j, other in enumerate(sets) if set(columns) < set(other) and sizes[j] >= sizes[i]]
            self._host.append(min(above, key=lambda j: (sizes[j], j), default=None))
            home = tree.home(columns)
            assert home is not None  # the tree was built from these sets
            self._home.append(home)

    @property
    def size(self) -> int:
        """Cells of all sets together."""
        return int(self._ends[-1])

    def joined(self, tables: Mapping[Columns, Floats]) -> Floats:
        """One long vector of the sets' tables; zero where a set has none."""
        made = np.zeros(self.size)
        for place, columns in enumerate(self.sets):
            if columns in tables:
                self.part(made, place)[...] = tables[columns]
        return made

    def part(self, vector: Floats, place: int) -> Floats:
        """One set's table, a view."""
        return vector[self._ends[place] : self._ends[place + 1]].reshape(self.shapes[place])

    def potentials(self, vector: Floats, fixed: Mapping[int, Floats] | None = None) -> list[Floats]:
        """Clique potentials: every set's table added where it belongs, on top of what is fixed."""
        tables = [self.part(vector, place).copy() for place in range(len(self.sets))]
        cliques = [np.zeros(shape_of(clique, self.tree.domain)) for clique in self.tree.cliques]
        for place, values in (fixed or {}).items():
            cliques[place] += values
        for place in reversed(self._order):
            host = self._host[place]
            if host is None:
                home = self._home[place]
                cliques[home] += spread(tables[place], self.sets[place], self.tree.cliques[home])
            else:
                tables[host] += spread(tables[place], self.sets[place], self.sets[host])
        return cliques

    def marginals(self, beliefs: Beliefs) -> Floats:
        """Every set's marginal, as one long vector."""
        made = np.empty(self.size)
        for place in self._order:
            host = self._host[place]
            if host is None:
                home = self._home[place]
                source, names = beliefs.tables[home], self.tree.cliques[home]
            else:
                source, names = self.part(made, host), self.sets[host]
            self.part(made, place)[...] = sum_onto(source, names, self.sets[place])
        return made

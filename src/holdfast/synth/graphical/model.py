"""GraphicalModel: a calibrated junction tree as a released distribution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast.noise.source import Source
from holdfast.synth.graphical.junction_tree import JunctionTree
from holdfast.synth.graphical.propagation import Beliefs
from holdfast.synth.graphical.rows import draw_rows
from holdfast.synth.graphical.tables import Columns, product, sum_onto

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class GraphicalModel:
    """A distribution that factors over the cliques of a junction tree (`holdfast.synth.model.Model`)."""

    tree: JunctionTree
    beliefs: Beliefs
    total: float

    @property
    def domain(self) -> Mapping[str, int]:
        """Columns in order, with their numbers of cells."""
        return self.tree.domain

    def project(self, columns: Sequence[str]) -> Floats:
        """The expected joint count: a sum inside a clique, else variable elimination along the tree."""
        wanted = tuple(columns)
        home = self.tree.home(wanted)
        if home is not None:
            return self.total * sum_onto(self.beliefs.tables[home], self.tree.cliques[home], wanted)
        return self.total * self._eliminate(wanted)

    def sample(self, rows: int, source: Source) -> Codes:
        """Rows by controlled rounding along the tree: cliques' counts are within rounding of their expectation."""
        return draw_rows(self.tree, self.beliefs, rows, source)

    def _eliminate(self, wanted: Columns) -> Floats:
        """From the leaves: each clique sends the joint of the wanted columns seen so far and its separator."""
        tree = self.tree
        inbox: list[list[tuple[Columns, Floats]]] = [[] for _ in tree.cliques]
        seen: list[set[str]] = [set() for _ in tree.cliques]
        for place in range(len(tree.cliques) - 1, -1, -1):
            clique, shared = tree.cliques[place], tree.separator(place)
            below = {name for name in clique if name in wanted and name not in shared} | seen[place]
            if not below and place:
                continue  # what this branch says is already in its parent's marginal
            here = below | {name for name in shared if name in wanted}
            done = place == 0 or here == set(wanted)
            keep = wanted if done else (*shared, *(name for name in wanted if name in below))
            used = tuple(
                name for name in clique if name in keep or any(name in names for names, _ in inbox[place])
            )
            joint = product([(used, sum_onto(self.beliefs.tables[place], clique, used)), *inbox[place]], keep)
            if done:  # every wanted column is at or below this clique
                return joint
            # Divide by the separator's marginal: the message is a conditional distribution.
            known = sum_onto(self.beliefs.tables[place], clique, shared)
            bottom = known.reshape(known.shape + (1,) * (joint.ndim - known.ndim))
            parent = tree.parents[place]
            inbox[parent].append((keep, np.divide(joint, bottom, out=np.zeros_like(joint), where=bottom > 0)))
            seen[parent] |= below
        raise AssertionError("the root answers")

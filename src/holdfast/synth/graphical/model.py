"""GraphicalModel: a calibrated junction tree as a released distribution."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from holdfast.noise.source import Source
from holdfast.synth.graphical.elimination import Elimination
from holdfast.synth.graphical.junction_tree import JunctionTree
from holdfast.synth.graphical.propagation import Beliefs
from holdfast.synth.graphical.rows import draw_rows
from holdfast.synth.graphical.tables import Columns, shape_of, sum_onto

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
#: Rows that stand for the model where an exact table would be too large.
DRAWN_ROWS = 2**17


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

"""Elimination: joint tables of columns that no clique holds together, by messages that are kept between questions.

A clique tells its parent the conditional distribution of some columns below it, given what the two share. Questions
about many sets of columns have most of these messages in common. No table larger than `MOST_CELLS` is ever made.

Belief propagation on a junction tree (Hugin): clique potentials in, clique marginals out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast.synth.models.graphical.factors import Columns, product, spread, sum_onto
from holdfast.synth.models.graphical.junction_tree import JunctionTree

Floats = NDArray[np.float64]
#: What is below this share of the largest is taken as impossible, so that no quotient overflows.
LEAST = 1e-200


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
    # Towards the root: each clique absorbs what its children say about the columns they share.
    for place in range(len(tables) - 1, 0, -1):
        parent, shared = tree.parents[place], tree.separator(place)
        message = sum_onto(tables[place], tree.cliques[place], shared)
        top = float(message.max()) or 1.0
        messages[place] = message = np.where(message > LEAST * top, message, 0.0)
        log_scale += float(np.log(top))
        tables[parent] *= spread(message / top, shared, tree.cliques[parent])
    total = float(tables[0].sum())
    tables[0] /= total if total > 0 else 1.0
    # Away from it: what the parent now knows, over what it was told.
    for place in range(1, len(tables)):
        parent, shared = tree.parents[place], tree.separator(place)
        known = sum_onto(tables[parent], tree.cliques[parent], shared)
        ratio = np.divide(known, messages[place], out=np.zeros_like(known), where=messages[place] > 0)
        tables[place] *= spread(ratio, shared, tree.cliques[place])
    return Beliefs(
        tables=tuple(tables), log_normaliser=log_scale + (float(np.log(total)) if total > 0 else -np.inf)
    )


#: The largest table that elimination may make, in cells (128 MB); beyond, rows of the model are counted.
MOST_CELLS = 2**24
#: The most products that a table may be the sum of, in multiples of that.
MOST_WORK = 8
#: Messages kept, in cells all together; they start anew when there are more.
KEPT_CELLS = 2**22


class Elimination:
    """Variable elimination on a calibrated tree."""

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

    def joint(self, wanted: Columns, *, most_cells: int = MOST_CELLS) -> Floats | None:
        """The probability of every cell of these columns; None where a table on the way would be too large."""
        top = 0
        while lower := [
            child
            for child in self._children[top]
            if self._below[child] | set(self._shared[child]) >= set(wanted)
        ]:
            top = lower[0]
        return self._combined(top, wanted, wanted, most_cells)

    def _combined(self, place: int, wanted: Sequence[str], keep: Columns, most_cells: int) -> Floats | None:
        """This clique's marginal times what its children say of the wanted columns, summed onto `keep`."""
        told = []
        for child in self._children[place]:
            asked = tuple(name for name in wanted if name in self._below[child])
            if asked:
                message = self._message(child, asked, most_cells)
                if message is None:
                    return None
                told.append(message)
        clique, needed = self._tree.cliques[place], {*keep, *(name for names, _ in told for name in names)}
        used = tuple(name for name in clique if name in needed)
        # With one message the product is summed as it is taken; with more, a table on the way has at most all cells.
        largest, work = (_cells(self._tree.domain, names) for names in (set(keep), needed))
        if (largest if len(told) < 2 else work) > most_cells or work > MOST_WORK * most_cells:
            return None
        return product([(used, sum_onto(self._beliefs.tables[place], clique, used)), *told], keep)

    def _message(self, place: int, asked: Columns, most_cells: int) -> tuple[Columns, Floats] | None:
        """The distribution of these columns given what the clique shares with its parent, as a joint table."""
        key = (place, tuple(sorted(asked)))
        if key not in self._messages:
            keep = (*self._shared[place], *key[1])
            joint = self._combined(place, asked, keep, most_cells)
            made = None
            if joint is not None:
                shared = self._shared[place]
                known = sum_onto(self._beliefs.tables[place], self._tree.cliques[place], shared)
                bottom = known.reshape(known.shape + (1,) * (joint.ndim - known.ndim))
                made = (keep, np.divide(joint, bottom, out=np.zeros_like(joint), where=bottom > 0))
                self._make_room(joint.size)
            self._messages[key] = made
            return made
        return self._messages[key]

    def _make_room(self, cells: int) -> None:
        if self._cells + cells > KEPT_CELLS:
            self._messages.clear()
            self._cells = 0
        self._cells += cells


def _cells(domain: Mapping[str, int], names: set[str]) -> int:
    return math.prod(domain[name] for name in names)

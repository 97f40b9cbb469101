"""Belief propagation on a junction tree (Hugin): clique potentials in, clique marginals out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast.synth.graphical.junction_tree import JunctionTree
from holdfast.synth.graphical.tables import spread, sum_onto

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

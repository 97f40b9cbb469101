"""Candidates: the tables that a round may choose from, by what is public or already released."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations

from holdfast.synth.graphical.junction_tree import JunctionTree
from holdfast.synth.graphical.tables import Columns
from holdfast.synth.graphical.triangulation import Triangulation
from holdfast.synth.workload import Workload

#: Subsets of more columns than this are candidates only where a query group asks for exactly them.
WIDEST_SUBSET = 3
#: Candidates that are scored in one round; a longer list is gone through in turn.
MOST_CANDIDATES = 600


def in_order(columns: Sequence[str], domain: Mapping[str, int]) -> Columns:
    """The columns in the domain's order, so that one set has one name."""
    return tuple(name for name in domain if name in set(columns))


def downward_closure(workload: Workload, domain: Mapping[str, int]) -> dict[Columns, float]:
    """Every set of at least two columns that some query group contains, with its weight.

    The weight is the square root of the summed weights of the groups that contain the set: a table counts for more
    the more answers it helps, and how much it helps does not grow as fast.

    >>> work = Workload.of([("a", "b", "c"), ("b", "c")])
    >>> {"".join(c): round(w, 3) for c, w in downward_closure(work, {"a": 2, "b": 2, "c": 2}).items()}
    {'ab': 1.0, 'ac': 1.0, 'bc': 1.414, 'abc': 1.0}
    """
    summed: dict[Columns, float] = {}
    for group in workload.groups:
        columns = in_order(group.columns, domain)
        widths = {*range(2, min(WIDEST_SUBSET, len(columns)) + 1), len(columns)} - {0, 1}
        for width in sorted(widths):
            for subset in combinations(columns, width):
                summed[subset] = summed.get(subset, 0.0) + group.weight
    return {subset: math.sqrt(weight) for subset, weight in summed.items()}


def affordable(
    tree: JunctionTree,
    listed: Sequence[Columns],
    measured: Sequence[Columns],
    *,
    most_cells: float,
    round_number: int,
) -> list[Columns]:
    """The candidates after which the model would still be small enough; those inside a clique always are."""
    if len(listed) > MOST_CANDIDATES:
        first = (round_number * MOST_CANDIDATES) % len(listed)
        listed = [*listed[first:], *listed[:first]][:MOST_CANDIDATES]
    cliques = [set(clique) for clique in tree.cliques]
    graph = Triangulation(tree.domain, list(dict.fromkeys(measured)))
    return [
        columns
        for columns in listed
        if any(clique.issuperset(columns) for clique in cliques) or graph.cells_with(columns) <= most_cells
    ]

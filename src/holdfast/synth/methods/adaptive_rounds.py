"""Candidates: the tables that a round may choose from, by what is public or already released.

Schedule: how an adaptive synthesiser divides its budget, from public quantities only.

The numbers were chosen on Adult (benchmarks/synth_tuning.py) at epsilon 0.1, 1 and 10. What they depend on is the
*strength* n sqrt(rho) / sensitivity: n over the noise that the whole budget would leave on one table, up to sqrt(2).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from holdfast.errors import require
from holdfast.synth.models.graphical.factors import Columns
from holdfast.synth.models.graphical.junction_tree import JunctionTree, Triangulation
from holdfast.synth.workload import Workload

#: Of a round's budget, what measuring takes; the rest selects (McKenna et al. 2022 use the same).
MEASURE = 0.9
#: A sweep for less than this share of the budget is left out.
LEAST_SWEEP = 0.1
MOST_SWEEP = 0.9


@dataclass(frozen=True, kw_only=True)
class RoundSchedule:
    """Shares of the budget, and the number of rounds it is first divided into."""

    one_way: float
    """Of what is left after the sweep, for the 1-way tables."""
    sweep: float
    """Of the whole, for the workload's own tables at the end."""
    rounds: int
    """The most rounds there can be; annealing makes them fewer."""

    def __post_init__(self) -> None:
        require(0 < self.one_way <= 1, "one_way", self.one_way, "in (0, 1]")
        require(0 <= self.sweep < 1, "sweep", self.sweep, "in [0, 1)")
        require(self.rounds >= 1, "rounds", self.rounds, ">= 1")

    @classmethod
    def of(cls, strength: float, *, columns: int, tables: int) -> RoundSchedule:
        """The schedule for so many columns and so many workload tables that a sweep would measure.

        Adult at epsilon 1, where n sqrt(rho) is 5,977, with its 64 tables:

        >>> Schedule.of(5977.0, columns=14, tables=64)
        Schedule(one_way=0.16, sweep=0.3, rounds=50)
        """
        # A sweep over K tables is worth its share where n stands well above its noise, n sqrt(rho / K) >> 1: none at
        # a quotient of 260, three tenths at 750, nine tenths from 6,300 on.
        apart = strength / math.sqrt(tables) if tables else 0.0
        sweep = 0.65 * math.log10(apart / 258.0) if apart > 258.0 else 0.0
        sweep = 0.0 if sweep < LEAST_SWEEP else min(MOST_SWEEP, round(sweep, 2))
        left = strength * math.sqrt(1.0 - sweep)
        return cls(
            one_way=round(min(0.5, max(0.1, 11.5 / math.sqrt(max(left, 1.0)))), 2),
            sweep=sweep,
            rounds=max(1, round(columns * min(4.0, max(0.5, math.sqrt(left) / 20.0)))),
        )


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

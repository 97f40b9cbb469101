"""A junction tree grown from noisy residuals: each turn holds a forest of the tables that the model gets most wrong.

The other decoder of a workload that was measured at once. A generator holds every table and a little of the noise of
each; where few tables say something of their own, a graphical model of just those knows more. The first turn is the
tree of Chow and Liu (1968), later ones add what no tree can say. Reads released values only: no privacy cost.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from holdfast._arrays import Floats
from holdfast.synth._models.graphical.estimation import column_centres, estimate_model
from holdfast.synth._models.graphical.junction_tree import Columns, Triangulation
from holdfast.synth._models.graphical.model import GraphicalModel
from holdfast.synth._models.model import Measurement

MOST_TURNS = 8
MOST_FOREST_CELLS = 2**14
"""Of a grown tree: few tables need few cells, and a generator is there for what needs more."""
TRIALS_PER_COLUMN = 4
"""Tables that are held against the room left in the tree in one turn, in multiples of the number of columns."""


@dataclass(frozen=True, kw_only=True, eq=False)
class GrownTree:
    """A model, and the tables of two columns or more that it was made from."""

    model: GraphicalModel
    held: tuple[Columns, ...]
    residuals: Sequence[Floats]
    """What the model says of each residual that was measured."""


def grown_trees(
    domain: Mapping[str, int],
    parts: Sequence[Measurement],
    table: Callable[[Columns], Measurement],
    residual_table: Callable[[Floats], Floats],
    *,
    total: float,
    most_cells: int = MOST_FOREST_CELLS,
) -> Iterator[GrownTree]:
    """Models of more and more tables, from independent columns on, as long as some table stands out of the noise.

    `parts` are noisy residuals, `table` makes the noisy table of some columns from them, and `residual_table` the
    residual of a table.
    """
    sets = [tuple(part.columns) for part in parts]
    single = [table(columns) for columns in sets if len(columns) == 1]
    centre = column_centres(single, total)
    candidates = {columns: _subsets(columns) for columns in sets if len(columns) > 1}
    held: list[Columns] = []
    theta = None
    for _ in range(MOST_TURNS + 1):
        measured = [*single, *(table(columns) for columns in held)]
        fitted = estimate_model(domain, measured, total=total, centre=centre, start=theta)
        theta = fitted.theta
        residuals = [residual_table(fitted.model.project(columns)) for columns in sets]
        yield GrownTree(model=fitted.model, held=tuple(held), residuals=residuals)
        gaps = {
            columns: (float(np.sum((part.values - model) ** 2)) / part.noise_std**2, part.values.size)
            for columns, part, model in zip(sets, parts, residuals, strict=True)
        }
        scores = {
            columns: _standing_out([gaps[inner] for inner in below if inner in gaps], len(candidates))
            for columns, below in candidates.items()
            if columns not in held
        }
        more = _forest(domain, scores, [*((name,) for name in domain), *held], most_cells)
        if not more:
            return
        held += more


def _standing_out(gaps: Sequence[tuple[float, int]], candidates: int) -> float:
    """By how much squared distances, in units of the noise, exceed what the largest of so many of pure noise reaches.

    A chi square of k degrees exceeds k + 2 sqrt(k x) + 2 x with a chance of at most exp(-x) (Laurent and Massart 2000,
    lemma 1); with x = log(candidates) about one table of pure noise is held.
    """
    distance, degrees = math.fsum(gap for gap, _ in gaps), sum(size for _, size in gaps)
    chance = math.log(max(1, candidates))
    return distance - degrees - 2.0 * math.sqrt(degrees * chance) - 2.0 * chance


class Forest:
    """Which columns are joined by some table, so that no two tables join the same."""

    def __init__(self, names: Iterable[str]) -> None:
        self._above = {name: name for name in names}

    def is_apart(self, columns: Sequence[str]) -> bool:
        """Whether no two of these are joined yet."""
        return len({self._root(name) for name in columns}) == len(columns)

    def join(self, columns: Sequence[str]) -> None:
        """From now on these are."""
        roots = [self._root(name) for name in columns]
        for root in roots:
            self._above[root] = min(roots)

    def _root(self, name: str) -> str:
        while self._above[name] != name:
            name = self._above[name]
        return name


def _forest(
    domain: Mapping[str, int], scores: Mapping[Columns, float], held: Sequence[Columns], most_cells: int
) -> list[Columns]:
    """Of the tables that stand out, the best first, those that join columns which the turn has not joined yet."""
    joined = Forest(domain)
    chosen: list[Columns] = []
    graph = Triangulation(domain, held)
    tried = 0
    for columns in sorted(
        (columns for columns in scores if scores[columns] > 0), key=lambda columns: -scores[columns]
    ):
        if not joined.is_apart(columns):
            continue
        tried += 1
        if tried > TRIALS_PER_COLUMN * len(domain):
            break
        if graph.cells_with(columns) > most_cells:
            continue
        chosen.append(columns)
        graph = Triangulation(domain, [*held, *chosen])
        joined.join(columns)
    return chosen


def _subsets(columns: Columns) -> list[Columns]:
    return [inner for size in range(1, len(columns) + 1) for inner in combinations(columns, size)]

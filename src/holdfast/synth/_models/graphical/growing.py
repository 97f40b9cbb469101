"""Junction trees grown from noisy residuals: each round adds a forest of the tables that the model gets most wrong.

An alternative to a generator where the whole workload was measured at once. A generator fits every table, and with it
some of the noise of each; where few tables hold all dependences, a graphical model of just those is more accurate. The
first round adds the tree of Chow and Liu (1968), later rounds add dependences that no tree can hold. Reads released
values only: no privacy cost.
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

MOST_GROWTH_ROUNDS = 8
MOST_FOREST_CELLS = 2**14
"""The most cells of a grown tree. Few tables need few cells; where more are needed, a generator is used instead."""
TRIALS_PER_COLUMN = 4
"""Tables that one round tries to fit into the tree, in multiples of the number of columns."""


@dataclass(frozen=True, kw_only=True, eq=False)
class GrownTree:
    """A model, and the tables of two or more columns that it was fitted to."""

    model: GraphicalModel
    held: tuple[Columns, ...]
    residuals: Sequence[Floats]
    """The model's value of each residual that was measured."""


def grown_trees(
    domain: Mapping[str, int],
    noisy_residuals: Sequence[Measurement],
    table: Callable[[Columns], Measurement],
    residual_table: Callable[[Floats], Floats],
    *,
    total: float,
    most_cells: int = MOST_FOREST_CELLS,
) -> Iterator[GrownTree]:
    """Models of more and more tables, beginning with independent columns, until no table stands out of the noise.

    `noisy_residuals` were measured, `table` makes the noisy table of some columns from them, and `residual_table`
    makes the residual of a table.
    """
    sets = [tuple(residual.columns) for residual in noisy_residuals]
    single = [table(columns) for columns in sets if len(columns) == 1]
    centre = column_centres(single, total)
    candidates = {columns: _subsets(columns) for columns in sets if len(columns) > 1}
    held: list[Columns] = []
    theta = None
    for _ in range(MOST_GROWTH_ROUNDS + 1):
        measured = [*single, *(table(columns) for columns in held)]
        fitted = estimate_model(domain, measured, total=total, centre=centre, start=theta)
        theta = fitted.theta
        residuals = [residual_table(fitted.model.project(columns)) for columns in sets]
        yield GrownTree(model=fitted.model, held=tuple(held), residuals=residuals)
        gaps = {
            columns: (
                float(np.sum((noisy.values - modelled) ** 2)) / noisy.noise_std**2,
                noisy.values.size,
            )
            for columns, noisy, modelled in zip(sets, noisy_residuals, residuals, strict=True)
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
    """By how much a squared distance, in units of the noise, exceeds the largest one that pure noise would give.

    Of `candidates` tables of pure noise, about one has a score above 0: a chi square of k degrees exceeds
    k + 2 sqrt(k x) + 2 x with probability at most exp(-x) (Laurent and Massart 2000, lemma 1), and x = log(candidates).
    """
    distance, degrees = math.fsum(gap for gap, _ in gaps), sum(size for _, size in gaps)
    chance = math.log(max(1, candidates))
    return distance - degrees - 2.0 * math.sqrt(degrees * chance) - 2.0 * chance


class Forest:
    """Which columns are joined by some table, so that each new table can join columns that none has joined."""

    def __init__(self, names: Iterable[str]) -> None:
        self._above = {name: name for name in names}

    def is_apart(self, columns: Sequence[str]) -> bool:
        """Whether no two of these columns are joined yet."""
        return len({self._root(name) for name in columns}) == len(columns)

    def join(self, columns: Sequence[str]) -> None:
        """Join these columns with each other."""
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
    """The tables to add in one round: those of positive score, best first, if they join columns not joined before."""
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

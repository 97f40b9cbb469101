"""Estimates of a graphical model from noisy tables: maximum entropy, regularised where the noise is large.

The potentials theta, one table per measured set of columns c, solve

    maximise  sum_c <theta_c, y_c> - n log Z(theta) - sum_c sigma_c^2 / (2 kappa_c) |theta_c - theta0_c|^2,

whose dual says: of all distributions p, take the one with the least

    sum_c |mu_c(p) - y_c|^2 / (2 sigma_c^2)  +  (n / kappa) KL(p | p0)

(relaxed maximum entropy: Dudik, Phillips and Schapire 2007; p0 has the potentials theta0). With kappa = 1 this
is the most likely table behind the noisy ones if its records were drawn from p0; a larger kappa gives more weight
to what was measured and less to p0. Noisy cells that are negative, or many and nearly empty, need no threshold:
where the noise exceeds the variation of counts under p0, the model stays close to p0. Post-processing of released
values: no privacy cost.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from holdfast._arrays import Floats
from holdfast.errors import require
from holdfast.synth._models.graphical.junction_tree import (
    Beliefs,
    Columns,
    JunctionTree,
    propagate,
    shape_of,
    spread,
    sum_onto,
)
from holdfast.synth._models.graphical.model import GraphicalModel
from holdfast.synth._models.model import Measurement, on_simplex

Tables = Mapping[Columns, Floats]
#: kappa is at most this many times the noise. Noisy tables contradict each other: without a limit on kappa no model
#: fits them, and the search diverges.
MOST_KAPPA_RATIO = 3.0
#: Declared impossible cells are left out of the estimate where they would make the junction tree larger than this.
MOST_ESTIMATED_CELLS = 2**22
#: Value and gradient at a point.
Function = Callable[[Floats], tuple[float, Floats]]
#: Pairs of steps and gradient changes that L-BFGS remembers.
LBFGS_MEMORY = 8
#: A step must gain at least this share of what the slope promises (Armijo's condition).
SUFFICIENT_DECREASE = 1e-4
SHORTEST_STEP = 2.0**-30


@dataclass(frozen=True, kw_only=True, eq=False)
class GraphicalEstimate:
    """A fitted model, and its potentials for the next estimate to start from."""

    model: GraphicalModel
    theta: Tables


def merge(measurements: Sequence[Measurement], total: float) -> dict[Columns, Measurement]:
    """One measurement per column set: the average weighted by precision, its sum set to the total.

    >>> twice = [Measurement(columns=("a",), values=[v, 0.0], noise_std=1.0) for v in (4.0, 6.0)]
    >>> merged = merge(twice, 5.0)[("a",)]
    >>> merged.values.tolist(), round(merged.noise_std**2, 9)
    ([5.0, 0.0], 0.5)
    """
    precision: dict[Columns, float] = {}
    weighted: dict[Columns, Floats] = {}
    for entry in measurements:
        columns, weight = tuple(entry.columns), entry.noise_std**-2
        precision[columns] = precision.get(columns, 0.0) + weight
        weighted[columns] = weighted.get(columns, np.zeros(entry.values.shape)) + weight * entry.values
    merged = {}
    for columns, summed in weighted.items():
        values = summed / precision[columns]
        values = values + (total - values.sum()) / values.size
        merged[columns] = Measurement(columns=columns, values=values, noise_std=precision[columns] ** -0.5)
    return merged


def estimate_model(
    domain: Mapping[str, int],
    measurements: Sequence[Measurement],
    *,
    total: float,
    centre: Tables | None = None,
    start: Tables | None = None,
    iterations: int = 60,
    gain: float = 1.0,
    zeros: Sequence[tuple[Columns, Floats]] = (),
) -> GraphicalEstimate:
    """The model of these measurements, for a known or estimated number of records.

    `centre` holds theta0 (absent: uniform), `start` the potentials to begin with; kappa is `variance_factor`.
    Stops when a step promises less than `gain` in log-likelihood. `zeros` are log potentials (0 or -inf) of
    declared impossible cells: they get no mass at all, but for those that would join too many columns
    (`zeros_that_fit`).
    """
    require(total > 0, "total", total, "> 0")
    merged = merge(measurements, total)
    sets = tuple(merged)
    zeros = zeros_that_fit(domain, sets, zeros)
    tree = JunctionTree.of(domain, [*sets, *(columns for columns, _ in zeros)])
    layout = CliqueLayout(tree, sets)
    wanted = layout.one_vector({columns: entry.values for columns, entry in merged.items()})
    ridge = layout.one_vector(
        {
            columns: np.full(
                entry.values.shape,
                entry.noise_std**2 / variance_factor(entry.noise_std, entry.values.size, total=total),
            )
            for columns, entry in merged.items()
        }
    )
    centre_vector = layout.one_vector(centre or {})
    fixed = _tables_of_zeros(tree, zeros)

    def negative_log_likelihood(vector: Floats) -> tuple[float, Floats]:
        beliefs = propagate(tree, layout.potentials(vector, fixed))
        if not np.isfinite(beliefs.log_normaliser):  # overflow: the line search takes a shorter step
            return np.inf, vector
        offset = vector - centre_vector
        value = total * beliefs.log_normaliser - wanted @ vector + 0.5 * (ridge * offset) @ offset
        return float(value), total * layout.marginals(beliefs) - wanted + ridge * offset

    theta = layout.one_vector({**(centre or {}), **(start or {})})
    first = propagate(tree, layout.potentials(theta, fixed))
    # The diagonal of the Hessian is at most the expected counts plus the ridge.
    curvature = total * layout.marginals(first) + ridge + 1.0
    theta = lbfgs(negative_log_likelihood, theta, curvature=curvature, iterations=iterations, tolerance=gain)
    beliefs = propagate(tree, layout.potentials(theta, fixed))
    return GraphicalEstimate(
        model=GraphicalModel(tree=tree, beliefs=beliefs, total=total),
        theta={columns: layout.part(theta, place).copy() for place, columns in enumerate(sets)},
    )


def zeros_that_fit(
    domain: Mapping[str, int], sets: Sequence[Columns], zeros: Sequence[tuple[Columns, Floats]]
) -> list[tuple[Columns, Floats]]:
    """The impossible cells that the junction tree has room for; the others are respected when rows are drawn."""
    joined = {tuple(columns) for columns, _ in zeros}
    if JunctionTree.of(domain, [*sets, *joined]).cells <= MOST_ESTIMATED_CELLS:
        return list(zeros)
    possible: list[Columns] = []
    for columns in sorted(joined):
        if JunctionTree.of(domain, [*sets, *possible, columns]).cells <= MOST_ESTIMATED_CELLS:
            possible.append(columns)
    return [pair for pair in zeros if tuple(pair[0]) in possible]


def variance_factor(noise_std: float, cells: int, *, total: float) -> float:
    """kappa of a table: the assumed variance of its counts about the model, in variances of a Poisson count.

    In a table worth measuring, cells differ from the model by about their mean count, n / N for N cells: a
    variance of (n / N)^2, which is n / N times that of a Poisson count.

    >>> variance_factor(100.0, 50, total=1000.0)
    20.0
    """
    return max(1.0, min(total / cells, MOST_KAPPA_RATIO * noise_std))


def column_centres(single: Sequence[Measurement], total: float) -> dict[Columns, Floats]:
    """theta0 of independent columns, from their noisy tables change to counts >= 0."""
    return {
        tuple(measurement.columns): log_shares(on_simplex(measurement.values, total=total), total)
        for measurement in single
    }


def log_shares(values: Floats, total: float) -> Floats:
    """Potentials of one column's cells from its counts >= 0; a cell of count 0 still gets a finite potential."""
    return np.asarray(np.log(np.maximum(values, min(0.3, 0.1 * total / values.size))))


def _tables_of_zeros(tree: JunctionTree, zeros: Sequence[tuple[Columns, Floats]]) -> dict[int, Floats]:
    placed: dict[int, Floats] = {}
    for columns, values in zeros:
        home = tree.home(columns)
        assert home is not None  # the tree was built from these sets
        placed[home] = placed.get(home, np.zeros(())) + spread(values, columns, tree.cliques[home])
    return placed


class CliqueLayout:
    """The measured tables as one long vector, and their places in the cliques of a junction tree.

    Cliques are large, so only sets that no other set contains are added to them or summed out of them; a set inside
    another one is summed out of that one.
    """

    def __init__(self, tree: JunctionTree, sets: Sequence[Columns]) -> None:
        self.tree = tree
        self.sets = tuple(sets)
        self.shapes = [shape_of(columns, tree.domain) for columns in sets]
        sizes = [math.prod(shape) for shape in self.shapes]
        self._ends = np.cumsum([0, *sizes]).tolist()
        # From the largest number of columns down, so that a set comes after the larger one it is summed out of.
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

    def one_vector(self, tables: Mapping[Columns, Floats]) -> Floats:
        """One long vector of the sets' tables; zero where a set has none."""
        vector = np.zeros(self.size)
        for place, columns in enumerate(self.sets):
            if columns in tables:
                self.part(vector, place)[...] = tables[columns]
        return vector

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
        vector = np.empty(self.size)
        for place in self._order:
            host = self._host[place]
            if host is None:
                home = self._home[place]
                source, names = beliefs.tables[home], self.tree.cliques[home]
            else:
                source, names = self.part(vector, host), self.sets[host]
            self.part(vector, place)[...] = sum_onto(source, names, self.sets[place])
        return vector


def lbfgs(
    function: Function, start: Floats, *, curvature: Floats, iterations: int, tolerance: float
) -> Floats:
    """L-BFGS with a diagonal start (Liu and Nocedal 1989): a point of no larger value, at most `iterations` steps away.

    `curvature` is a positive guess at the diagonal of the Hessian. Stops when a step promises to gain less
    than `tolerance`.

    >>> bowl = lambda x: (float(((x - 3.0) ** 2).sum()), 2.0 * (x - 3.0))
    >>> lbfgs(bowl, np.zeros(2), curvature=np.ones(2), iterations=20, tolerance=1e-12).round(6).tolist()
    [3.0, 3.0]
    """
    point = start
    value, gradient = function(point)
    pairs: deque[tuple[Floats, Floats, float]] = deque(maxlen=LBFGS_MEMORY)
    for _ in range(iterations):
        direction = -_newton_direction(gradient, pairs, curvature)
        slope = float(gradient @ direction)
        if -slope <= tolerance:
            break
        step = 1.0
        while True:
            next_point = point + step * direction
            next_value, next_gradient = function(next_point)
            if next_value <= value + SUFFICIENT_DECREASE * step * slope or step < SHORTEST_STEP:
                break
            step /= 2.0
        if next_value > value:
            break
        change, gradient_change = next_point - point, next_gradient - gradient
        if (curvature_along := float(change @ gradient_change)) > 0:
            pairs.append((change, gradient_change, 1.0 / curvature_along))
        point, value, gradient = next_point, next_value, next_gradient
    return point


def _newton_direction(
    gradient: Floats, pairs: deque[tuple[Floats, Floats, float]], curvature: Floats
) -> Floats:
    """The two loops of L-BFGS: an approximate inverse Hessian times the gradient."""
    direction = gradient.copy()
    shares = []
    for change, gradient_change, inverse in reversed(pairs):
        share = inverse * float(change @ direction)
        direction -= share * gradient_change
        shares.append(share)
    direction /= curvature
    if pairs:  # scale the diagonal to the curvature along the last step
        change, gradient_change, inverse = pairs[-1]
        direction *= 1.0 / (inverse * float(gradient_change @ (gradient_change / curvature)))
    for (change, gradient_change, inverse), share in zip(pairs, reversed(shares), strict=True):
        direction += (share - inverse * float(gradient_change @ direction)) * change
    return direction

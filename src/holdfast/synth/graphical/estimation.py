"""From noisy tables to a graphical model: maximum entropy, held back where the noise is large.

The potentials theta, one table per measured set of columns c, solve

    maximise  sum_c <theta_c, y_c> - n log Z(theta) - sum_c sigma_c^2 / (2 kappa_c) |theta_c - theta0_c|^2,

whose dual says: of all distributions p, take the one with the least

    sum_c |mu_c(p) - y_c|^2 / (2 sigma_c^2)  +  (n / kappa) KL(p | p0)

(relaxed maximum entropy: Dudik, Phillips and Schapire 2007; p0 has the potentials theta0). With kappa = 1 this is the
most likely table behind the noisy ones if its records were drawn from p0; a larger kappa believes more in what was
measured and less in p0. Noisy cells that are negative, or many and nearly empty, need no threshold: where
the noise exceeds what p0 lets vary they hardly move. Post-processing of released values: no privacy cost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import require
from holdfast.synth.graphical.junction_tree import JunctionTree
from holdfast.synth.graphical.layout import Layout
from holdfast.synth.graphical.minimise import minimise
from holdfast.synth.graphical.model import GraphicalModel
from holdfast.synth.graphical.propagation import propagate
from holdfast.synth.graphical.tables import Columns, spread
from holdfast.synth.measurement import Measurement

Floats = NDArray[np.float64]
Tables = Mapping[Columns, Floats]
#: kappa is at most this many times the noise. Noisy tables contradict each other: believed without restraint they have
#: no model, and the search runs away.
MOST_TRUST = 3.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimate:
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
    made = {}
    for columns, summed in weighted.items():
        values = summed / precision[columns]
        values = values + (total - values.sum()) / values.size
        made[columns] = Measurement(columns=columns, values=values, noise_std=precision[columns] ** -0.5)
    return made


def estimate(
    domain: Mapping[str, int],
    measurements: Sequence[Measurement],
    *,
    total: float,
    centre: Tables | None = None,
    start: Tables | None = None,
    iterations: int = 60,
    gain: float = 1.0,
    zeros: Sequence[tuple[Columns, Floats]] = (),
) -> Estimate:
    """The model of these measurements, for a known or estimated number of records.

    `centre` holds theta0 (absent: uniform), `start` the potentials to begin with; kappa is `believed`. Stops when a
    step promises less than `gain` in log-likelihood. `zeros` are log potentials (0 or -inf) of declared impossible
    cells: they get no mass at all.
    """
    require(total > 0, "total", total, "> 0")
    merged = merge(measurements, total)
    sets = tuple(merged)
    tree = JunctionTree.of(domain, [*sets, *(columns for columns, _ in zeros)])
    layout = Layout(tree, sets)
    wanted = layout.joined({columns: entry.values for columns, entry in merged.items()})
    ridge = layout.joined(
        {
            columns: np.full(
                entry.values.shape,
                entry.noise_std**2 / believed(entry.noise_std, entry.values.size, total=total),
            )
            for columns, entry in merged.items()
        }
    )
    middle = layout.joined(centre or {})
    fixed = _placed(tree, zeros)

    def negative(vector: Floats) -> tuple[float, Floats]:
        beliefs = propagate(tree, layout.potentials(vector, fixed))
        if not np.isfinite(beliefs.log_normaliser):  # beyond what floats can hold: the search steps back
            return np.inf, vector
        away = vector - middle
        value = total * beliefs.log_normaliser - wanted @ vector + 0.5 * (ridge * away) @ away
        return float(value), total * layout.marginals(beliefs) - wanted + ridge * away

    theta = layout.joined({**(centre or {}), **(start or {})})
    first = propagate(tree, layout.potentials(theta, fixed))
    # The diagonal of the Hessian is at most the expected counts plus the ridge.
    curvature = total * layout.marginals(first) + ridge + 1.0
    theta = minimise(negative, theta, curvature=curvature, iterations=iterations, tolerance=gain)
    beliefs = propagate(tree, layout.potentials(theta, fixed))
    return Estimate(
        model=GraphicalModel(tree=tree, beliefs=beliefs, total=total),
        theta={columns: layout.part(theta, place).copy() for place, columns in enumerate(sets)},
    )


def believed(noise_std: float, cells: int, *, total: float) -> float:
    """kappa of a table: how far its counts may be from the model, in variances of a Poisson count.

    In a table worth measuring, cells differ from the model by about what they hold, n / N of N cells: a variance of
    (n / N)^2, which is n / N times that of a Poisson count.

    >>> believed(100.0, 50, total=1000.0)
    20.0
    """
    return max(1.0, min(total / cells, MOST_TRUST * noise_std))


def log_shares(values: Floats, total: float) -> Floats:
    """Potentials of one column's cells from its (non-negative) counts; no cell is given up for lost."""
    return np.asarray(np.log(np.maximum(values, min(0.3, 0.1 * total / values.size))))


def _placed(tree: JunctionTree, zeros: Sequence[tuple[Columns, Floats]]) -> dict[int, Floats]:
    placed: dict[int, Floats] = {}
    for columns, values in zeros:
        home = tree.home(columns)
        assert home is not None  # the tree was built from these sets
        placed[home] = placed.get(home, np.zeros(())) + spread(values, columns, tree.cliques[home])
    return placed

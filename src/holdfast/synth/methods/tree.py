"""A noisy spanning tree of pairs: every column is measured, and joined to a column on which it depends strongly.

After McKenna, Miklau and Sheldon, "Winning the NIST contest: a scalable and general approach to differentially private
synthetic data" (2021), known as MST, with the estimate of `graphical.estimation` and rows by controlled rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from holdfast.data._sensitivity import counts_l1
from holdfast.privacy._account import Account
from holdfast.privacy._account.remaining import fractions_of_rest, selection_epsilon
from holdfast.privacy._mechanisms.selection import Exponential
from holdfast.synth._exact_counts import ExactCounts
from holdfast.synth._models.graphical.estimation import column_centres, estimate_model
from holdfast.synth._models.graphical.junction_tree import Columns
from holdfast.synth._models.model import Measurement, on_simplex
from holdfast.synth._rows.impossible_rows import Zeros
from holdfast.synth._workload import Workload
from holdfast.synth.methods.measure import measure_tables
from holdfast.synth.methods.method import Synthesis, SynthesisMethod, SynthesisRank

THEOREM = (
    "noisy 1-way tables, d - 1 exponential-mechanism selections of an edge, noisy 2-way tables, composed ("
    "McKenna, Miklau and Sheldon 2021; bounded range: Cesar and Rogers 2021); the model and its rows are "
    "post-processing"
)
#: The most cells of a pair of columns that may be an edge of the tree.
MOST_PAIR_CELLS = 2**20


def tree(
    data: ExactCounts,
    workload: Workload,
    *,
    account: Account,
    constraints: Sequence[Zeros] = (),
) -> Synthesis:
    """A third of the budget each on the columns, on choosing d - 1 pairs that connect them, and on the pairs.

    Private for rows and for users: tables have the sensitivities of `data._sensitivity`, the score
    |x_ab - model_ab|_1 moves by at most 1 (2 under `replace`) per row of a unit (soundness, sections 18 and 20).
    The workload is not used: the tree is about all columns.
    """
    pairs = [
        pair
        for pair in combinations(data.names, 2)
        if data.domain[pair[0]] * data.domain[pair[1]] <= MOST_PAIR_CELLS
    ]
    names = [(name,) for name in data.names]
    if not pairs:  # one column, or columns too large to be counted together
        measured = measure_tables(data, names, account=account, label="1-way tables")
        return _synthesis(data, measured, (), constraints)
    columns, choosing, joint = account.split(*fractions_of_rest(account, 1 / 3, 1 / 3, 1 / 3))
    measured = measure_tables(data, names, account=columns, label="1-way tables")
    edges = _spanning_edges(data, pairs, measured, account=choosing)
    measured += measure_tables(data, edges, account=joint, label="2-way tables of the tree")
    return _synthesis(data, measured, edges, constraints)


def _spanning_edges(
    data: ExactCounts, pairs: Sequence[Columns], measured: Sequence[Measurement], *, account: Account
) -> list[Columns]:
    """Kruskal's algorithm, with each edge drawn by the exponential mechanism among those that connect two parts."""
    total = _total(data, measured)
    shares = {
        measurement.columns[0]: on_simplex(measurement.values, total=total) / total
        for measurement in measured
    }
    # How far each pair is from independence, as the noisy tables of single columns describe it; these are public.
    scores = np.array(
        [
            np.abs(exact - total * np.multiply.outer(shares[pair[0]], shares[pair[1]])).sum()
            for pair, exact in zip(pairs, data.counts(pairs), strict=True)
        ]
    )
    component = {name: place for place, name in enumerate(data.names)}
    mechanism = Exponential(
        epsilon=selection_epsilon(account, len(data.names) - 1),
        sensitivity=counts_l1(data.adjacency, data.unit),
        adjacency=account.adjacency,
    )
    edges: list[Columns] = []
    while open_pairs := [place for place, (a, b) in enumerate(pairs) if component[a] != component[b]]:
        drawn = account.release(mechanism, scores[open_pairs], label=f"edge {len(edges) + 1}")
        a, b = pairs[open_pairs[int(drawn)]]
        edges.append((a, b))
        merged, remaining = component[b], component[a]
        component = {name: remaining if place == merged else place for name, place in component.items()}
    return edges


def _synthesis(
    data: ExactCounts, measured: Sequence[Measurement], edges: Sequence[Columns], constraints: Sequence[Zeros]
) -> Synthesis:
    total = _total(data, measured)
    fitted = estimate_model(
        data.domain,
        measured,
        total=total,
        centre=column_centres(
            [measurement for measurement in measured if len(measurement.columns) == 1], total
        ),
        zeros=[zeros.potential(data.domain) for zeros in constraints],
    )
    return Synthesis(
        model=fitted.model,
        theorem=THEOREM,
        measurements=tuple(measured),
        parameters={"edges": [list(edge) for edge in edges]},
    )


def _total(data: ExactCounts, measured: Sequence[Measurement]) -> float:
    """The public number of rows, or its estimate from the noisy tables: the sum of one has variance cells sigma^2."""
    if data.public_rows is not None:
        return max(1.0, float(data.public_rows))
    weights = [1.0 / (measurement.values.size * measurement.noise_std**2) for measurement in measured]
    return max(1.0, float(np.average([measurement.total for measurement in measured], weights=weights)))


METHOD = SynthesisMethod(
    name="tree",
    run=tree,
    paper="MMS21",
    pure=True,
    zeros=True,
    ranks=(SynthesisRank(place=2.0, reason="each column with the one that it depends on most"),),
    seconds=(1.0, 1.0),
)

"""Synthesisers as subjects: two tiny tables that differ in one record, synthesised many times.

Every entry of `holdfast.synth.METHODS` is picked up without further code. All other records lie in one cell of two
binary columns; the record in question is alone in the opposite one, or is not. What is looked at is the model's own
count of that cell: an attack on the whole path of selection, noise and post-processing. It is small, so that it finds
gross mistakes (no noise, noise without its sensitivity, a charge that is not made), not fine ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.audit.refutation.subject import Subject
from holdfast.audit.refutation.two_worlds import TwoWorlds
from holdfast.data import Categorical, Schema, open_table
from holdfast.noise.source import Source
from holdfast.privacy.account import Account
from holdfast.privacy.adjacency import Adjacency
from holdfast.privacy.curves.curve import ApproxDP, PrivacyCurve
from holdfast.synth.exact_counts import ExactCounts
from holdfast.synth.methods import METHODS
from holdfast.synth.methods.method import SynthesisMethod
from holdfast.synth.workload import Workload

ROWS, DRAWS = 24, 200
LIMIT = ApproxDP(1.0, 1e-3)
COLUMNS = ("first", "second")
ROUNDS: dict[str, dict[str, Any]] = {
    "dqrs": {"rounds": 6, "samples": 2},
    "dual_query": {"rounds": 6, "samples": 2},
    "fem": {"rounds": 4, "samples": 4},
    "frank_wolfe_dual": {"rounds": 4},
    "mwem": {"rounds": 4},
    "sep_fem": {"rounds": 4, "samples": 4},
}
"""Few rounds: each then has much of the budget, which is what an attack can see."""
Floats = NDArray[np.float64]


def counted_table(present: bool, adjacency: Adjacency) -> ExactCounts:
    """The records of one cell, and at the end the record in question or, under `replace`, one more of the others."""
    kept = ROWS if present or adjacency is Adjacency.replace else ROWS - 1
    codes = [0] * kept
    if present:
        codes[-1] = 1
    schema = Schema([Categorical(name, ["a", "b"]) for name in COLUMNS], adjacency=adjacency)
    n_public = None if adjacency.count_is_public else ROWS
    words = ["ab"[code] for code in codes]
    return ExactCounts(open_table({name: words for name in COLUMNS}, schema, n_public=n_public))


def synthesised(method: SynthesisMethod, limit: PrivacyCurve, data: ExactCounts, seed: int) -> float:
    """What one run, through an account of its own, makes of the cell in question."""
    account = Account(limit, adjacency=data.adjacency, currency=method.currency, seed=seed)
    made = method.fit(data, Workload.of([COLUMNS]), account=account, **ROUNDS.get(method.name, {}))
    return float(made.model.project(COLUMNS)[1, 1] / made.model.total)


def synthesiser_subject(method: SynthesisMethod) -> Subject:
    """The method, run with and without one record, in the first adjacency that it is proved for."""
    adjacency = Adjacency.of(method.adjacencies[0])

    def cell_shares(present: bool, source: Source, size: int) -> Floats:
        data = counted_table(present, adjacency)
        return np.array([synthesised(method, LIMIT, data, int(word) >> 1) for word in source.words(size)])

    audit = TwoWorlds(
        what=f"a synthetic table with and without one record ({adjacency.value})",
        without=partial(cell_shares, False),
        present=partial(cell_shares, True),
        claim=LIMIT,
        draws=DRAWS,
    )
    return Subject(name=f"synthesiser {method.name}", claim=repr(LIMIT), trials=(audit,))


def synth_subjects() -> Iterable[Subject]:
    """Every synthesiser."""
    return (synthesiser_subject(method) for method in METHODS)

"""Public pairs of neighbouring tables on which linear learners come as close to their declared sensitivity as they can.

The records that both tables share lie along the first axis with balanced labels, so they do not affect the second
axis. The records in which the tables differ lie along the second axis, with one label in the first table and the
opposite one, or nothing, in the second table. Under the hinge loss such a record has the full slope as long as its
margin is small, whichever its label: replacing it changes a sum of gradients by twice the Lipschitz constant, which is
the declared sensitivity.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from holdfast.errors import ParameterError, require
from holdfast.learn._catalogue import LEARNERS
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import HuberHinge
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.privacy._account import Account
from holdfast.privacy._adjacency import Adjacency

HINGE = Problem(loss=HuberHinge(width=0.1), dimension=2)
"""A problem whose loss has the full slope for both labels."""
PENALISED_HINGE = Problem(loss=HuberHinge(width=0.1), dimension=2, penalty=2.0)
"""Such a problem for methods that need a penalty, which is strong so that margins stay small."""


def opposite_records(
    *, rows: int, group: int = 1, adjacency: Adjacency | str = Adjacency.replace
) -> tuple[ArrayExamples, ArrayExamples]:
    """Two tables of `rows` rows that differ in a group of opposite records, for learners of two weights.

    >>> first, second = opposite_records(rows=10, group=2)
    >>> first.labels[-2:].tolist(), second.labels[-2:].tolist()
    ([1.0, 1.0], [-1.0, -1.0])
    """
    require(1 <= group < rows, "group", group, f"in [1, rows={rows})")
    relation = Adjacency.of(adjacency)
    features = np.zeros((rows, 2))
    features[:-group, 0], features[-group:, 1] = 1.0, 1.0
    labels = np.where(np.arange(rows) % 2 == 0, 1.0, -1.0)
    labels[-group:] = 1.0
    other_features, other_labels = features.copy(), labels.copy()
    match relation:
        case Adjacency.replace:
            other_labels[-group:] = -1.0
        case Adjacency.zero_out:
            other_features[-group:] = 0.0
        case Adjacency.add_remove:
            other_features, other_labels = other_features[:-group], other_labels[:-group]
    return (
        ArrayExamples(features=features, labels=labels, adjacency=relation, public_count=rows),
        ArrayExamples(features=other_features, labels=other_labels, adjacency=relation, public_count=rows),
    )


def learner_under_audit(name: str, **options: Any) -> tuple[Callable[[Any, Account], Any], str]:
    """A learning method of holdfast as code for a transcript audit, and the currency of the account that it needs.

    >>> from holdfast.privacy import GaussianDP
    >>> train, currency = learner_under_audit("noisy_gd", preconditioner="none", steps=4)
    >>> account = Account(GaussianDP(1.0), adjacency="replace", seed=1)
    >>> train(opposite_records(rows=20)[0], account).weights.shape, currency
    ((2,), 'gdp')
    """
    methods = {method.name: method for method in LEARNERS}
    if name not in methods:
        raise ParameterError(
            f"function must be MODULE:FUNCTION or a learning method, one of {', '.join(methods)}, got {name!r}"
        )
    method = methods[name]
    problem = PENALISED_HINGE if "strongly_convex" in method.needs else HINGE
    return lambda table, account: method.fit(table, problem, account=account, **options), method.currency

"""Methods on the owner's own data, side by side. Un-noised, so for the owner's eyes only."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.dossier.comparison import Comparison
from holdfast.errors import AssumptionWarning, BudgetWarning, NotPrivateWarning, require

NOTES = (
    "NOT PRIVATE: seeded noise, exact scores on held-out records. Nothing was charged, and nothing here may leave.",
    "choosing a method by this table is itself a use of the data that no budget covers; try data that are public "
    "(holdfast plan --public-data), or pay for the choice (holdfast.learn.PrivateSearch)",
)


def compare_methods(
    columns: Mapping[str, NDArray[Any]],
    schema: Any,
    *,
    target: str,
    methods: Sequence[str],
    epsilon: float,
    delta: float,
    fits: int = 3,
    holdout: float = 0.3,
) -> Comparison:
    """Accuracy of a logistic regression by each method, without privacy, and by the majority class alone."""
    require(fits >= 1, "fits", fits, ">= 1")
    require(0 < holdout < 1, "holdout", holdout, "in (0, 1)")
    require(bool(methods), "methods", methods, "one or more names")
    order = np.random.default_rng(0).permutation(len(next(iter(columns.values()))))
    held = max(1, int(holdout * order.size))
    train, test = (
        {name: values[chosen] for name, values in columns.items()} for chosen in (order[held:], order[:held])
    )
    wanted = np.asarray(test.pop(target))
    scores = {
        method: [
            _score(train, test, wanted, schema, target, method, epsilon, delta, seed) for seed in range(fits)
        ]
        for method in methods
    }
    scores["without privacy"] = [_score(train, test, wanted, schema, target, "auto", math.inf, delta, 0)]
    labels, counts = np.unique(np.asarray(train[target]).astype(str), return_counts=True)
    majority = labels[int(np.argmax(counts))]
    scores["majority class"] = [float(np.mean(wanted.astype(str) == majority))]
    return Comparison(
        title=f"Methods side by side: {target} at epsilon {epsilon:g}, delta {delta:g}",
        names=tuple(scores),
        rows=(
            ("accuracy", tuple(f"{np.mean(found):.4f}" for found in scores.values())),
            ("spread", tuple(f"{np.std(found):.4f}" if len(found) > 1 else "-" for found in scores.values())),
            ("fits", tuple(str(len(found)) for found in scores.values())),
            ("held-out records", (str(held),) * len(scores)),
        ),
        notes=NOTES,
        audience="internal",
    )


def _score(
    train: Mapping[str, NDArray[Any]],
    test: Mapping[str, NDArray[Any]],
    wanted: NDArray[Any],
    schema: Any,
    target: str,
    method: str,
    epsilon: float,
    delta: float,
    seed: int,
) -> float:
    from scipy.linalg import LinAlgWarning
    from sklearn.exceptions import ConvergenceWarning

    from holdfast.data.table import open_table
    from holdfast.learn import PrivateLogisticRegression

    table = open_table(train, schema)
    with warnings.catch_warnings():
        for told in (AssumptionWarning, BudgetWarning, NotPrivateWarning, ConvergenceWarning, LinAlgWarning):
            warnings.simplefilter("ignore", told)
        model = PrivateLogisticRegression(
            epsilon=epsilon, delta=delta, method=method, adjacency=table.adjacency, random_state=seed
        ).fit(table, target=target)
        return float(np.mean(model.predict(test) == wanted))

"""Methods side by side on the owner's own data: fits with seeded noise, scored exactly. Internal."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.arguments import Seed, checked
from holdfast.data.rows import column_names
from holdfast.data.schema import Schema
from holdfast.dossier.comparison.releases import Comparison
from holdfast.errors import AssumptionWarning, BudgetWarning, NotPrivateWarning, require

Columns = Mapping[str, NDArray[Any]]
NOTES = (
    "NOT PRIVATE: seeded noise, exact scores on held-out records. Nothing was charged, and nothing here may leave.",
    "choosing a method by this table is itself a use of the data that no budget covers; try data that are public "
    "(holdfast plan --public-data), or pay for the choice (holdfast.learn.PrivateSearch)",
)


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """The owner's rows, a share of them held out; every score is exact, so all of it is internal."""

    train: Columns
    test: Columns
    wanted: NDArray[Any]
    schema: Schema
    target: str

    @classmethod
    def of(cls, columns: Any, schema: Schema, target: str, *, holdout: float, seed: Seed = 0) -> HeldOut:
        """Split by a seed; of a data frame or an Arrow table the columns are taken."""
        if not isinstance(columns, Mapping):
            names = column_names(columns)
            columns = {name: columns[name].to_numpy() for name in names if name in schema}
        require(0 < holdout < 1, "holdout", holdout, "in (0, 1)")
        require(target in schema.names, "target", target, f"one of the columns {list(schema.names)}")
        order = np.random.default_rng(seed).permutation(len(next(iter(columns.values()))))
        require(order.size >= 2, "rows", int(order.size), ">= 2")
        held = max(1, int(holdout * order.size))
        train, test = (
            {name: values[chosen] for name, values in columns.items()}
            for chosen in (order[held:], order[:held])
        )
        wanted = np.asarray(test.pop(target))
        return cls(train=train, test=test, wanted=wanted, schema=schema, target=target)

    def majority(self) -> float:
        """Accuracy of the commonest class."""
        labels, counts = np.unique(np.asarray(self.train[self.target]).astype(str), return_counts=True)
        return float(np.mean(self.wanted.astype(str) == labels[int(np.argmax(counts))]))

    def accuracy(self, method: str, *, epsilon: float, delta: float, seed: Seed) -> float:
        """Of one logistic regression with seeded noise; without privacy where epsilon is infinite."""
        from scipy.linalg import LinAlgWarning
        from sklearn.exceptions import ConvergenceWarning

        from holdfast.data.encode import cells_of
        from holdfast.data.engines import open_table
        from holdfast.learn import PrivateLogisticRegression

        with warnings.catch_warnings():
            for told in (
                AssumptionWarning, BudgetWarning, NotPrivateWarning, ConvergenceWarning, LinAlgWarning,
            ):  # fmt: skip
                warnings.simplefilter("ignore", told)
            table = open_table(self.train, self.schema)
            model = PrivateLogisticRegression(
                epsilon=epsilon, delta=delta, method=method, adjacency=table.adjacency, random_state=seed
            ).fit(table, target=self.target)
            # As cells: a label may be the text "1" in a file and the number 1 in a frame.
            column = self.schema[self.target]
            return float(np.mean(cells_of(column, model.predict(self.test)) == cells_of(column, self.wanted)))


@checked
def compare_methods(
    columns: Any,
    schema: Schema,
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
    require(bool(methods), "methods", methods, "one or more names")
    rows = HeldOut.of(columns, schema, target, holdout=holdout)
    scores = {
        method: [rows.accuracy(method, epsilon=epsilon, delta=delta, seed=seed) for seed in range(fits)]
        for method in methods
    }
    scores["without privacy"] = [rows.accuracy("auto", epsilon=math.inf, delta=delta, seed=0)]
    scores["majority class"] = [rows.majority()]
    return Comparison(
        title=f"Methods side by side: {target} at epsilon {epsilon:g}, delta {delta:g}",
        names=tuple(scores),
        rows=(
            ("accuracy", tuple(f"{np.mean(found):.4f}" for found in scores.values())),
            ("spread", tuple(f"{np.std(found):.4f}" if len(found) > 1 else "-" for found in scores.values())),
            ("fits", tuple(str(len(found)) for found in scores.values())),
            ("held-out records", (str(len(rows.wanted)),) * len(scores)),
        ),
        notes=NOTES,
        audience="internal",
    )

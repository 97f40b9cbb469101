"""Quantile regression: how high a record's signal is for records like it (Bertran et al. 2023); no shadow models.

On records that are known not to be members, boosted trees learn the median and the 90 % quantile of the target's
signal from the features and the label. A member's signal is high for its kind.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast.attack._attack import Attack
from holdfast.attack._models.model_case import ModelCase
from holdfast.attack._models.target import finite_signals, largest_finite
from holdfast.attack._records import Records

UPPER_QUANTILE = 0.9
TREES, LEAVES, LEAST_ROWS = 60, 8, 20
ROWS_FOR_THREADS = 50_000


def quantile(case: ModelCase) -> Floats:
    """(signal - median) / (90 % quantile - median): above 1 for one non-member in ten."""
    population = case.known_population()
    known, wanted = _design(case, population), _design(case, case.records)
    signal, target = _signals(case, population), _signals(case, case.records)
    median, upper = (_fitted_model(known, signal, level).predict(wanted) for level in (0.5, UPPER_QUANTILE))
    # Where the quantiles cross or meet, the overall spread stands in.
    usual = float(np.quantile(signal, UPPER_QUANTILE) - np.quantile(signal, 0.5))
    spread = np.maximum(upper - median, 0.1 * usual + 1e-9)
    return np.asarray((target - median) / spread)


def _signals(case: ModelCase, records: Records) -> Floats:
    """Log-odds, or minus the logarithm of a regression's absolute error: larger for members."""
    signal = case.target.signal(records)
    if case.target.task == "regression":
        return -np.log(np.abs(signal) + 1e-12)
    return finite_signals(signal, largest=largest_finite(case.target.signal(case.known_population())))


def _design(case: ModelCase, records: Records) -> NDArray[np.float64]:
    label = records.labels if case.target.task == "regression" else case.target.label_columns(records)
    return np.column_stack([case.target.matrix(records), label.astype(np.float64)])


def _fitted_model(rows: NDArray[np.float64], signal: Floats, level: float) -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor
    from threadpoolctl import threadpool_limits

    trees = HistGradientBoostingRegressor(
        loss="quantile",
        quantile=level,
        max_iter=TREES,
        max_leaf_nodes=LEAVES,
        min_samples_leaf=LEAST_ROWS,
        early_stopping=False,
    )
    # Threads on few rows wait for each other: on a busy machine, thirty times longer than the work takes.
    with threadpool_limits(1 if len(rows) < ROWS_FOR_THREADS else None, user_api="openmp"):
        return trees.fit(rows, signal)


ATTACK = Attack(
    name="quantile", kind="model", guess=quantile, paper="BTKMRW23", knows=("scores", "population")
)

"""Declared bounds of an array's columns: units do not matter, and a saved model keeps them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from holdfast.errors import ParameterError
from holdfast.learn import PrivateLinearRegression, PrivateLogisticRegression

pytestmark = [
    pytest.mark.filterwarnings("ignore::holdfast.errors.NotPrivateWarning"),
    pytest.mark.filterwarnings("ignore::holdfast.errors.BudgetWarning"),
]
UNITS = np.array([1e-4, 1.0, 1e5])


@pytest.fixture(scope="module")
def rows() -> tuple[Any, Any]:
    draw = np.random.default_rng(1).normal(size=(8_000, 3))
    return draw * UNITS, np.where(draw.sum(axis=1) > 0, 1, 0)


def bounds() -> list[tuple[float, float]]:
    return [(-4.0 * unit, 4.0 * unit) for unit in UNITS]


def test_badly_scaled_columns_do_not_matter(rows: tuple[Any, Any], tmp_path: Path) -> None:
    X, y = rows
    told: Any = {"epsilon": 1.0, "delta": 1e-6, "classes": [0, 1], "adjacency": "zero_out", "random_state": 0}
    model = PrivateLogisticRegression(bounds=bounds(), **told).fit(X, y)
    assert model.score(X, y) > 0.95
    assert PrivateLogisticRegression(row_norm=1e6, **told).fit(X, y).score(X, y) < 0.8
    assert model.release_ is not None
    model.release_.save(tmp_path / "m.holdfast")
    again = PrivateLogisticRegression.load(tmp_path / "m.holdfast")
    assert np.array_equal(again.predict(X[:50]), model.predict(X[:50]))


def test_bounds_are_one_pair_or_one_each(rows: tuple[Any, Any]) -> None:
    X, _ = rows
    told: Any = {"target_bounds": (-1, 1), "adjacency": "zero_out", "random_state": 0}
    with pytest.raises(ParameterError, match="bounds"):
        PrivateLinearRegression(bounds=[(0, 1)] * 2, **told).fit(X, X[:, 1])
    model = PrivateLinearRegression(epsilon=8.0, bounds=(-4, 4), **told).fit(X[:, 1:2], np.tanh(X[:, 1]))
    assert model.score(X[:, 1:2], np.tanh(X[:, 1])) > 0.7

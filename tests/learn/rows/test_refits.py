"""Refits are noticed: the same rows, most of the same rows, the same table, a caller that will come again."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.model_selection import cross_val_score

from holdfast.errors import BudgetWarning
from holdfast.learn.rows.prepare import REMEMBERED, Refits, inside_model_selection, sketch, warn_refit


def rows(seed: int, n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 4)), rng.integers(0, 2, n).astype(float)


def test_the_same_rows_are_known_in_any_order_and_in_most_parts() -> None:
    x, y = rows(0)
    seen = Refits()
    assert not seen.rows(x, y)
    assert seen.rows(x, y)
    assert seen.rows(x[::-1].copy(), y[::-1])
    assert seen.rows(x[60:], y[60:])


def test_other_rows_and_other_labels_are_not_known() -> None:
    seen = Refits()
    for seed in range(20):
        assert not seen.rows(*rows(seed))
    x, y = rows(0)
    assert not seen.rows(x, 1 - y)
    assert not seen.rows(x[:5], 7 + y[:5])


def test_a_sketch_is_small_and_handles_few_rows() -> None:
    x, y = rows(0)
    assert len(sketch(x, y)) == 32
    assert len(sketch(x[:3], y[:3])) == 3
    assert len(sketch(np.ones((50, 2)), np.ones(50))) == 1


def test_memory_is_bounded() -> None:
    seen = Refits()
    x, y = rows(0)
    seen.rows(x, y)
    for seed in range(1, REMEMBERED + 1):
        seen.rows(*rows(seed, n=40))
    assert not seen.rows(x, y)


class Probe(BaseEstimator):  # type: ignore[misc]
    """Scores 1 where it is called by a cross-validation."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Probe:
        self.inside_ = inside_model_selection()
        return self

    def score(self, X: np.ndarray, y: np.ndarray) -> float:
        return float(self.inside_)


def test_a_cross_validation_is_recognised() -> None:
    x, y = rows(0)
    assert cross_val_score(Probe(), x, y, cv=3).tolist() == [1.0, 1.0, 1.0]
    assert not inside_model_selection()


def test_the_warning_names_the_way_out() -> None:
    warn_refit(False)
    with pytest.warns(BudgetWarning, match=r"pass account=\.\.\. to fit"):
        warn_refit(True)

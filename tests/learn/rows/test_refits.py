"""Refits are noticed by the object that is fitted and by a caller that will come again, never by its rows."""

from __future__ import annotations

import weakref

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.model_selection import cross_val_score

from holdfast.errors import BudgetWarning
from holdfast.learn._rows.prepare import REMEMBERED, Refits, inside_model_selection, warn_refit


def rows(seed: int, n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 4)), rng.integers(0, 2, n).astype(float)


def test_the_very_object_is_known_and_no_other() -> None:
    x, _ = rows(0)
    seen = Refits()
    assert not seen.again(x)
    assert seen.again(x)
    assert not seen.again(x.copy())
    assert not seen.again(x[::-1])


def test_nothing_of_the_rows_is_looked_at() -> None:
    class Untouchable:
        """Whoever looks at it fails."""

        def __getattribute__(self, name: str) -> object:
            raise AssertionError(f"{name} was looked at")

        __eq__ = __len__ = __iter__ = __array__ = None  # type: ignore[assignment]
        __hash__ = None  # type: ignore[assignment]

    data, seen = Untouchable(), Refits()
    assert [seen.again(data), seen.again(data)] == [False, True]


def test_a_list_cannot_be_recognised_and_is_not() -> None:
    seen = Refits()
    data = [[1.0, 2.0]]
    assert [seen.again(data), seen.again(data)] == [False, False]


def test_memory_is_bounded_and_keeps_nothing_alive() -> None:
    seen = Refits()
    x, _ = rows(0)
    seen.again(x)
    others = [np.zeros(1) for _ in range(REMEMBERED)]
    for other in others:
        seen.again(other)
    assert not seen.again(x)
    gone = weakref.ref(x)
    del x
    assert gone() is None


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

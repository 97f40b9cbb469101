"""Rows, labels and estimators that the tests of the scikit-learn faces share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast.learn import (
    PrivateHuberRegression,
    PrivateLasso,
    PrivateLinearRegression,
    PrivateLinearSVC,
    PrivateLogisticRegression,
    PrivateRidge,
)

BOUNDS = (-10.0, 10.0)


QUIET = [
    pytest.mark.filterwarnings("ignore::holdfast.errors.BudgetWarning"),
    pytest.mark.filterwarnings("ignore::holdfast.errors.NotPrivateWarning"),
]
"""Seeds and refits are what these tests are made of; those that test the warnings ask for them."""


def rows(n: int = 400, d: int = 3, *, seed: int = 0) -> tuple[Floats, Floats]:
    """Rows within the unit ball, and scores that a line explains."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    x = 0.95 * x / np.maximum(1.0, np.linalg.norm(x, axis=1))[:, None]
    return x, x @ np.linspace(3.0, -2.0, d) + 0.4 + 0.3 * rng.normal(size=n)


def labelled(n: int = 400, *, seed: int = 0) -> tuple[Floats, NDArray[np.int64]]:
    x, score = rows(n, seed=seed)
    return x, (score > 0).astype(np.int64)


def every() -> list[Any]:
    """One of each, with nothing declared."""
    return [
        PrivateLogisticRegression(),
        PrivateLinearSVC(),
        PrivateLinearRegression(),
        PrivateRidge(),
        PrivateLasso(),
        PrivateHuberRegression(),
    ]


def declared(made: Any, **changes: Any) -> Any:
    """The estimator with everything declared, so that nothing is read from the data."""
    own = {"classes": [0, 1]} if hasattr(made, "classes") else {"target_bounds": BOUNDS}
    return type(made)(**(made.get_params(deep=False) | own | changes))


def data_for(made: Any, n: int = 400) -> tuple[Floats, Any]:
    return labelled(n) if hasattr(made, "classes") else rows(n)


def classifier(**changes: Any) -> Any:
    return PrivateLogisticRegression(**({"classes": [0, 1]} | changes))

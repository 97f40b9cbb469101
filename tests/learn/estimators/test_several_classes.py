"""Several classes through the estimators: every method that takes them, on the plain hinge too."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from holdfast.learn import PrivateLinearSVC, PrivateLogisticRegression

METHODS = ("bolt_on", "bst14", "dp_sgd", "output", "scs13", "softmax")
pytestmark = [
    pytest.mark.filterwarnings(f"ignore::holdfast.errors.{name}")
    for name in ("AssumptionWarning", "BudgetWarning", "NotPrivateWarning")
]


def labelled(count: int = 6_000) -> tuple[Any, Any]:
    """Three bundles of rows around three directions."""
    random = np.random.default_rng(4)
    y = random.integers(3, size=count)
    directions = np.array([[1.0, 0.0], [-0.5, 0.9], [-0.5, -0.9]])
    x = 0.7 * directions[y] + 0.25 * random.normal(size=(count, 2))
    return x / np.maximum(1.0, np.linalg.norm(x, axis=1))[:, None], y


@pytest.mark.parametrize("kind", [PrivateLogisticRegression, PrivateLinearSVC])
@pytest.mark.parametrize("method", METHODS)
def test_every_method_learns_several_classes(kind: Any, method: str) -> None:
    x, y = labelled()
    told: dict[str, Any] = {
        "adjacency": "zero_out",
        "random_state": 0,
        "method": method,
        "classes": [0, 1, 2],
    }
    model = kind(epsilon=4.0, radius=20.0, **told).fit(x, y)
    assert model.coef_.shape == (3, 2)
    assert model.score(x, y) > 0.85
    assert model.release_.guarantee.curve.epsilon(1e-6) <= 4.0 + 1e-9


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_the_plain_hinge_through_the_estimator(classes: int, delta: float) -> None:
    x, y = labelled()
    x, y = (x, y) if classes == 3 else (x[y < 2], y[y < 2])
    told: dict[str, Any] = {
        "loss": "hinge",
        "classes": list(range(classes)),
        "adjacency": "replace",
        "random_state": 0,
    }
    plain = PrivateLinearSVC(epsilon=math.inf, penalty=1e-3, **told).fit(x, y).score(x, y)
    auto = PrivateLinearSVC(epsilon=2.0, delta=delta, **told).fit(x, y)
    assert auto.score(x, y) > plain - 0.05
    if classes == 2:
        output: Any = PrivateLinearSVC(epsilon=2.0, delta=delta, method="output", **told).fit(x, y)
        assert output.release_.provenance.parameters["loss"] == "hinge"
        assert output.score(x, y) > plain - 0.05

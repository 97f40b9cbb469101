"""LinearInside: a linear model's weights beside those that the attacker fits to people of their own."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast.attack._models.fitted import linear_model

NEWTON_STEPS = 8


@dataclass(frozen=True, kw_only=True, eq=False)
class LinearInside:
    """A linear model's weights, the features of the attacker's own people, and of the others under each candidate.

    `designs` has the axes candidates, people, features, the intercept last; `labels` are own people's first.
    """

    weights: Floats
    own_design: Floats
    designs: Floats
    labels: Floats
    """The responses: 0 or 1 for two classes, or numbers."""
    loss: Literal["logistic", "squared"]
    trained_on: int
    penalty: float = 0.0
    """lambda, where lambda / 2 |w|^2 is added to the mean loss."""
    noise_std: float = 0.0
    fits: dict[tuple[int, bytes], tuple[Floats, Floats, float]] = field(default_factory=dict)
    """Earlier fits to own people, which do not depend on the sensitive column."""

    def usual_weights(self, own: int) -> tuple[Floats, Floats, float]:
        """The weights fitted to the attacker's `own` people, the curvature there, and the variance of a response."""
        key = own, self.labels[:own].tobytes()
        if key not in self.fits:
            self.fits[key] = _usual_weights(self.own_design, self.labels[:own], self.loss, self.penalty)
        return self.fits[key]

    def take(self, rows: NDArray[np.intp]) -> LinearInside:
        """The same with some of the people only: some of the attacker's own, and all others."""
        own_rows = rows[rows < len(self.own_design)]
        return replace(self, own_design=self.own_design[own_rows], labels=self.labels[rows])


def loss_slope(loss: str, scores: Floats, labels: Floats) -> Floats:
    """The derivative of the loss in the score."""
    return scores - labels if loss == "squared" else 0.5 * (1.0 + np.tanh(0.5 * scores)) - labels


def _usual_weights(design: Floats, labels: Floats, loss: str, penalty: float) -> tuple[Floats, Floats, float]:
    """The attacker's own fit by Newton's method, its mean curvature, and the variance of a response."""
    count, width = design.shape
    floor = penalty + 1.0 / count
    weights = np.zeros(width)
    for _ in range(NEWTON_STEPS if loss == "logistic" else 1):
        scores = design @ weights
        second_derivative = np.ones(count)
        if loss == "logistic":
            p = 0.5 * (1.0 + np.tanh(0.5 * scores))
            second_derivative = np.maximum(p * (1.0 - p), 1e-3)
        curvature = design.T @ (design * second_derivative[:, None]) / count + floor * np.eye(width)
        gradient = design.T @ loss_slope(loss, scores, labels) / count + floor * weights
        weights = weights - np.linalg.solve(curvature, gradient)
    residual_variance = float(np.mean(np.square(loss_slope(loss, design @ weights, labels))))
    return weights, curvature, residual_variance + 1e-12 if loss == "squared" else 1.0


def inside_of(model: Any, *, trained_on: int, classes: int) -> dict[str, Any] | None:
    """Weights (intercept last), loss, penalty and noise of a fitted linear model; None for any other model."""
    if not (hasattr(model, "coef_") and hasattr(model, "intercept_")) or classes > 2:
        return None
    coef, intercept = model.coef_, model.intercept_
    weights = np.append(np.ravel(np.asarray(coef, dtype=np.float64)), np.ravel(intercept)[:1])
    if weights.size != np.size(coef) + 1 or np.size(intercept) > 1:
        return None
    name = type(model).__name__
    squared = hasattr(model, "predict") and not hasattr(model, "classes_")
    if not squared and "Logistic" not in name:
        return None
    if hasattr(model, "penalty") and isinstance(model.penalty, int | float):
        penalty = float(model.penalty)
    elif hasattr(model, "alpha") and name == "Ridge":
        penalty = float(model.alpha) / trained_on
    else:
        penalty = 1.0 / (float(model.C) * trained_on) if hasattr(model, "C") else 0.0
    released = linear_model(model)
    return {
        "weights": weights,
        "loss": "squared" if squared else "logistic",
        "penalty": penalty,
        "noise_std": 0.0 if released is None else float(released.noise_std or 0.0),
        "trained_on": trained_on,
    }

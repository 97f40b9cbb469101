"""Forecasts of a fit at each epsilon, before anything is spent.

`forecast` is a rule of thumb from public quantities alone, which assumes that rows point in all directions equally
often. `rehearse` makes seeded fits on data that the user declares public, by the same rule that chooses the method.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import AssumptionWarning, BudgetWarning, NotPrivateWarning, require
from holdfast.learn._choice import LearnerChoice, choose_learner
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Logistic
from holdfast.learn._risk.descent import gaussian_square, schedule_for
from holdfast.learn._whitened_examples import SHARE
from holdfast.learn.methods.objective import objective_mechanism
from holdfast.learn.methods.pure_rows import TYPICAL_SIZE, noise_spread
from holdfast.privacy._account.request import limit_of, require_small_delta
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._curves.curve import PrivacyCurve, PureDP
from holdfast.privacy._mechanisms.objective import PureObjectivePerturbation

CURVATURE = 0.25
"""Of the logistic loss, at its largest."""


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """The forecast for one epsilon: noise in a coefficient and in a prediction, and the sampling error.

    Predictions are log-odds of a typical row. `accuracy` is None where no accuracy without privacy was named.
    """

    epsilon: float
    method: str
    coefficient_noise: float
    prediction_noise: float
    sampling_error: float
    accuracy: float | None = None

    @property
    def verdict(self) -> str:
        """One line that compares the noise with log-odds of size 2 (about 0.8 accuracy) and with the sampling error."""
        if self.prediction_noise > 2.0:
            return "noise drowns the signal"
        if self.prediction_noise > 3.0 * self.sampling_error:
            return "noise costs accuracy"
        return "little beyond the sampling error"


def forecast(
    *,
    rows: int,
    columns: int,
    epsilons: Sequence[float],
    delta: float,
    adjacency: Adjacency | str = "replace",
    row_norm: float = 1.0,
    accuracy: float | None = None,
) -> tuple[Forecast, ...]:
    """Logistic regression by method='auto' from public quantities: the size of the table and the promise.

    The mean loss of rows that point in all directions alike has curvature row_norm^2 / (4 d); noise in a gradient,
    divided by it, is noise in a coefficient. Real tables have directions that few rows see: there it is more.

    >>> [round(f.prediction_noise, 2) for f in forecast(rows=10_000, columns=20, epsilons=[0.1, 1.0], delta=1e-6)]
    [0.72, 0.08]
    """
    require(rows >= 1, "rows", rows, ">= 1")
    require(columns >= 1, "columns", columns, ">= 1")
    require(
        accuracy is None or 0.5 < accuracy < 1,
        "accuracy",
        accuracy,
        "in (0.5, 1)",
        "name what a fit without privacy reaches",
    )
    problem, relation = (
        Problem(loss=Logistic(), dimension=columns, row_norm=row_norm),
        Adjacency.of(adjacency),
    )
    return tuple(
        _forecast(problem, rows=rows, epsilon=epsilon, delta=delta, adjacency=relation, accuracy=accuracy)
        for epsilon in epsilons
    )


def _forecast(
    problem: Problem, *, rows: int, epsilon: float, delta: float, adjacency: Adjacency, accuracy: float | None
) -> Forecast:
    limit = limit_of(epsilon, delta)
    require_small_delta(limit, rows)
    choice = choose_learner(problem, count=rows, limit=limit, adjacency=adjacency)
    curvature = CURVATURE * problem.row_norm**2 / problem.dimension
    noise = _coefficient_noise(
        choice, problem, rows=rows, limit=limit, adjacency=adjacency, curvature=curvature
    )
    # A row of norm X turns independent noise of deviation s in each coefficient into X s.
    prediction = problem.row_norm * noise
    return Forecast(
        epsilon=epsilon,
        method=choice.method,
        coefficient_noise=noise,
        prediction_noise=prediction,
        # Maximum likelihood: covariance (n curvature)^-1 in each coefficient.
        sampling_error=problem.row_norm / math.sqrt(rows * curvature),
        accuracy=None if accuracy is None else noisy_accuracy(accuracy, noise=prediction),
    )


def _coefficient_noise(
    choice: LearnerChoice,
    problem: Problem,
    *,
    rows: int,
    limit: PrivacyCurve,
    adjacency: Adjacency,
    curvature: float,
) -> float:
    """The standard deviation of privacy noise in each coefficient, for the methods that 'auto' picks here."""
    if choice.method == "objective":
        whitened = choice.options.get("preconditioner") == "diagonal"
        # Rows that point in all directions alike gain nothing by whitening, but pay for it.
        pure = limit.as_pure()
        objective_limit = PureDP(float(pure) * (1.0 - SHARE)) if whitened and pure is not None else limit
        mechanism = objective_mechanism(
            problem, limit=objective_limit, adjacency=adjacency, public_count=rows
        )
        # The minimiser moves by b / (n curvature + penalty); b is normal, or independent Laplace for rows whose sizes
        # add up to what is usual; there the penalty only shrinks what noise hides.
        if isinstance(mechanism, PureObjectivePerturbation):
            spread = TYPICAL_SIZE * noise_spread(problem.dimension, None, arithmetic="strict")
            return spread * float(mechanism.scale) / (rows * curvature)
        return float(mechanism.sigma) / (rows * curvature + float(mechanism.penalty))
    mu = math.sqrt(gaussian_square(limit))
    setting = schedule_for(mu, count=rows, dimension=problem.dimension, factor=adjacency.gradient_factor)
    # Steps that average T noisy gradients of deviation sqrt(T) each: one gradient of the whole budget's noise.
    left = mu * math.sqrt(1.0 - setting.moment_share)
    return problem.gradient_change(adjacency) / (rows * left * curvature)


def noisy_accuracy(accuracy: float, *, noise: float) -> float:
    """The accuracy that remains when log-odds, normally distributed around 0, get independent noise.

    >>> round(noisy_accuracy(0.85, noise=0.0), 3), round(noisy_accuracy(0.85, noise=1e9), 3)
    (0.85, 0.5)
    """
    from scipy.optimize import brentq
    from scipy.special import expit, ndtr

    nodes = np.linspace(-8.0, 8.0, 4001)
    weights = np.exp(-0.5 * nodes**2)
    weights /= weights.sum()

    def accuracy_at(size: float, spread: float) -> float:
        odds = size * nodes
        up = ndtr(odds / spread) if spread > 0 else np.heaviside(odds, 0.5)
        return float(np.sum(weights * (up * expit(odds) + (1.0 - up) * expit(-odds))))

    size = brentq(lambda s: accuracy_at(s, 0.0) - accuracy, 1e-3, 1e3)
    return accuracy_at(float(size), noise)


@dataclass(frozen=True, kw_only=True)
class Rehearsal:
    """Seeded fits on public data: accuracy on the part that was held out."""

    epsilon: float
    method: str
    accuracy: float
    spread: float


def rehearse(
    columns: Mapping[str, NDArray[Any]],
    schema: Any,
    *,
    target: str,
    epsilons: Sequence[float],
    delta: float,
    fits: int = 3,
    holdout: float = 0.3,
) -> tuple[Rehearsal, ...]:
    """Fit `PrivateLogisticRegression` to data that the user declares public, and score it on held-out rows.

    Rows without a value of the target are left out of both.

    NOT PRIVATE: noise is seeded, and the scores are exact. The last line, epsilon = inf, is without privacy.
    """
    from scipy.linalg import LinAlgWarning
    from sklearn.exceptions import ConvergenceWarning

    from holdfast.data._encode import cells_of, with_value
    from holdfast.data._engines import open_table
    from holdfast.learn._estimators.classifiers import PrivateLogisticRegression

    schema.require_confirmed()
    require(fits >= 1, "fits", fits, ">= 1")
    require(0 < holdout < 1, "holdout", holdout, "in (0, 1)")
    labelled = np.flatnonzero(with_value(schema[target], columns[target]))
    require(labelled.size >= 2, "rows", int(labelled.size), f">= 2 with a value of {target!r}")
    order = labelled[np.random.default_rng(0).permutation(labelled.size)]
    held = max(1, int(holdout * order.size))
    parts = [
        {name: values[chosen] for name, values in columns.items()} for chosen in (order[held:], order[:held])
    ]
    table = open_table(parts[0], schema)
    wanted = cells_of(schema[target], parts[1].pop(target))
    rehearsals = []
    for epsilon in (*epsilons, math.inf):
        scores = []
        for seed in range(1 if math.isinf(epsilon) else fits):
            with warnings.catch_warnings():
                for category in (
                    AssumptionWarning,
                    BudgetWarning,
                    NotPrivateWarning,
                    ConvergenceWarning,
                    LinAlgWarning,
                ):
                    warnings.simplefilter("ignore", category)
                model = PrivateLogisticRegression(
                    epsilon=epsilon, delta=delta, adjacency=table.adjacency, random_state=seed
                ).fit(table, target=target)
            scores.append(float(np.mean(cells_of(schema[target], model.predict(parts[1])) == wanted)))
        rehearsals.append(
            Rehearsal(
                epsilon=epsilon,
                method=model.method_,
                accuracy=float(np.mean(scores)),
                spread=float(np.std(scores)),
            )
        )
    return tuple(rehearsals)

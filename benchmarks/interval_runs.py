"""Simulated fits with known coefficients, for coverage: public generators, the shipped methods, seeded noise.

A run draws a table, fits it by `ssp` or `newton` as an estimator would (a constant column of half the row norm), and
asks whether each interval holds the population's coefficient. Where rows or targets are clipped, that is the coefficient of
the clipped regression, found from many rows. The oracle knows design, coefficients and both variances.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, norm

from holdfast.errors import NoIntervals, NotPrivateWarning
from holdfast.learn.estimators.intervals import stored_score
from holdfast.learn.inference.coefficients import coefficient_intervals
from holdfast.learn.inference.inversion import ScoreTest
from holdfast.learn.inference.score import NoisyScore
from holdfast.learn.methods import newton, ssp
from holdfast.learn.methods.method import Fit
from holdfast.learn.problem import Problem
from holdfast.learn.problem.losses import Logistic, Squared
from holdfast.learn.rows.examples import ArrayExamples
from holdfast.learn.rows.prepare import design_norm
from holdfast.privacy import Account, Adjacency, ApproxDP
from holdfast.privacy.rounding import clip_rows

Floats = NDArray[np.float64]
CONSTANT = 0.5
MANY = 2_000_000
"""Rows from which a population is known."""


def _flat(random: np.random.Generator, n: int, columns: int) -> Floats:
    return random.uniform(-1.0, 1.0, (n, columns)) / math.sqrt(columns)


def _narrow(random: np.random.Generator, n: int, columns: int) -> Floats:
    return random.uniform(-0.1, 0.1, (n, columns))


def _long(random: np.random.Generator, n: int, columns: int) -> Floats:
    """Correlated normal rows of which about a fifth are clipped."""
    drawn = random.normal(size=(n, columns)) + 0.7 * random.normal(size=(n, 1))
    return np.asarray(clip_rows(drawn / (1.6 * math.sqrt(columns)), 1.0))


@dataclass(frozen=True, kw_only=True)
class Design:
    """How rows and targets come about; the last coefficient is that of the constant column."""

    loss: str
    rows: Callable[[np.random.Generator, int, int], Floats]
    coefficients: tuple[float, ...]
    spread: float = 0.3
    """Half the width of the uniform noise of a number; targets beyond [-1, 1] are clipped."""

    def draw(self, random: np.random.Generator, n: int) -> tuple[Floats, Floats]:
        """Rows with their constant, and labels as losses take them."""
        truth = np.array(self.coefficients)
        x = np.column_stack([self.rows(random, n, truth.size - 1), np.full(n, CONSTANT)])
        score = x @ truth
        if self.loss == "squared":
            return x, np.clip(score + self.spread * random.uniform(-1.0, 1.0, n), -1.0, 1.0)
        return x, np.where(random.random(n) < 0.5 * (1.0 + np.tanh(0.5 * score)), 1.0, -1.0)

    @property
    def clips(self) -> bool:
        """Whether targets are, so that the coefficients of the draw are not those of the regression."""
        return self.loss == "squared" and self.rows is _long


DESIGNS = {
    "linear": Design(loss="squared", rows=_flat, coefficients=(0.5, -0.3, 0.4)),
    "linear, 5 columns": Design(loss="squared", rows=_flat, coefficients=(0.5, -0.3, 0.2, 0.0, 0.0, 0.2)),
    "linear, clipped": Design(loss="squared", rows=_long, coefficients=(0.9, -0.4, 0.6), spread=0.4),
    "linear, narrow": Design(loss="squared", rows=_narrow, coefficients=(6.0, 0.4), spread=0.2),
    "logistic": Design(loss="logistic", rows=_flat, coefficients=(2.0, -1.0, 0.5)),
    "logistic, strong": Design(loss="logistic", rows=_flat, coefficients=(6.0, -4.0, 2.0)),
    "logistic, 5 columns": Design(loss="logistic", rows=_flat, coefficients=(2.0, -1.0, 0.5, 0.0, 0.0, 0.5)),
}


@dataclass(frozen=True, kw_only=True)
class Population:
    """What the oracle knows, per row: the regression, E h x x^T and the residual variance."""

    truth: Floats
    curvature: Floats
    variance: float


@cache
def population(name: str) -> Population:
    """From many rows."""
    made = DESIGNS[name]
    d = len(made.coefficients)
    gram, cross, square, rows = np.zeros((d, d)), np.zeros(d), 0.0, 200_000
    random, truth = np.random.default_rng(2026), np.array(made.coefficients)
    for _ in range(MANY // rows):
        x, y = made.draw(random, rows)
        h = np.ones(rows) if made.loss == "squared" else 0.25 * (1.0 - np.tanh(0.5 * (x @ truth)) ** 2)
        gram, cross, square = (
            gram + x.T @ (h[:, None] * x) / MANY,
            cross + y @ x / MANY,
            square + y @ y / MANY,
        )
    if made.loss == "logistic":
        return Population(truth=truth, curvature=gram, variance=1.0)
    if made.clips:
        truth = np.linalg.solve(gram, cross)
    return Population(
        truth=truth, curvature=gram, variance=square - 2 * float(cross @ truth) + float(truth @ gram @ truth)
    )


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One place of the grid."""

    design: str
    adjacency: str
    rows: int
    epsilon: float
    method: str = "wald"

    @property
    def key(self) -> str:
        return f"{self.design}|{self.adjacency}|{self.rows}|{self.epsilon:g}|{self.method}"


def fitted(cell: Cell, seed: int) -> Fit:
    """One table and its fit."""
    design = DESIGNS[cell.design]
    x, y = design.draw(np.random.default_rng([seed, 26]), cell.rows)
    data = ArrayExamples(features=x, labels=y, adjacency=Adjacency(cell.adjacency), public_count=cell.rows)
    loss: Any = Squared(target_bound=1.0) if design.loss == "squared" else Logistic()
    problem = Problem(loss=loss, dimension=x.shape[1], row_norm=design_norm(1.0, fit_intercept=True))
    learner = ssp.METHOD if design.loss == "squared" else newton.METHOD
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        account = Account(
            ApproxDP(cell.epsilon, cell.rows**-1.5), adjacency=cell.adjacency, currency="gdp", seed=seed
        )
        return learner.fit(data, problem, account=account)


def oracle(cell: Cell, score: NoisyScore) -> Floats:
    """Deviations of an estimator with this noise by someone who knows the population."""
    known = population(cell.design)
    curvature = cell.rows * known.curvature
    # Known centres: the origin for least squares, the truth for Newton steps that have arrived.
    near = score.noise_covariance(known.truth)
    if score.loss == "logistic":
        near = np.eye(score.dimension) * float(np.sum((score.weights * score.gradient_noise) ** 2))
    inverse = np.linalg.inv(curvature)
    return np.sqrt(np.diag(inverse @ (known.variance * curvature + near) @ inverse))


def simulate(cell: Cell, runs: int, *, level: float = 0.95, seed: int = 0) -> dict[str, Any]:
    """Coverage of each coefficient among intervals issued, how many were, and the mean width against the oracle's."""
    truth, reach = population(cell.design).truth, float(norm.ppf(0.5 + 0.5 * level))
    names = tuple(f"x{place}" for place in range(truth.size))
    covered, widths, issued = np.zeros(truth.size, dtype=int), np.zeros(truth.size), 0
    for run in range(runs):
        fit = fitted(cell, seed + run)
        assert fit.score is not None
        if cell.method == "test_inversion":
            test, quantile = ScoreTest(fit.score), float(chi2.ppf(level, 1))
            issued += 1
            covered += np.array([test.least(place, truth[place]) <= quantile for place in range(truth.size)])
            continue
        stored = stored_score(fit, unit=1.0, origin=0.0, constant=0.0)
        assert stored is not None
        try:
            found = coefficient_intervals(stored, names=names, level=level)
        except NoIntervals:
            continue
        issued += 1
        covered += (found.low <= truth) & (truth <= found.high)
        widths += (found.high - found.low) / (2.0 * reach * oracle(cell, fit.score))
    most = max(issued, 1)
    return {
        "runs": runs, "issued": issued, "level": level, "coverage": (covered / most).round(5).tolist(),
        "width": (widths / most).round(5).tolist() if cell.method == "wald" else None,
    }  # fmt: skip


def shortfall(found: dict[str, Any]) -> float:
    """How many standard errors the worst coefficient is below nominal; at most 0 where none is."""
    level, issued = found["level"], found["issued"]
    if not issued:
        return 0.0
    return float((level - min(found["coverage"])) / math.sqrt(level * (1 - level) / issued))

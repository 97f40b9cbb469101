"""Simulated fits with known coefficients, for coverage: thousands of tables at once, as stacked arrays.

Rows take finitely many values, so that a table of any size is a vector of counts, its sums are exact, and the
population is known without simulation. Noise is drawn by NumPy at the deviation that the shipped mechanisms have. The
releases of `ssp` and `newton` are computed once more here, for stacks; `tests/learn/inference` holds them against the
shipped code, draw by draw. What is made of them, decision and intervals, is the shipped code. Rows carry a constant
column of half the row norm, as in an estimator. Where rows or targets are clipped, what must be covered is the
regression of the clipped ones. The oracle knows design, coefficients and both variances.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, norm

from holdfast.data._clipped_rows import clip_rows
from holdfast.learn._inference.inversion import ScoreTest
from holdfast.learn._inference.score import NoisyScore
from holdfast.learn._risk.descent import gaussian_square
from holdfast.learn._rows.design import design_norm
from holdfast.learn._whitening import second_moment_sensitivity
from holdfast.learn.methods.newton import (
    ESTIMATE_STEPS,
    FLOOR_FACTOR,
    LONGEST_STEP,
    PILOT_STEPS,
    POOLED_RELEASES,
    STEP_SHARES,
    JointScore,
)
from holdfast.learn.methods.ssp import PILOT_SHARE
from holdfast.privacy import Adjacency, ApproxDP

Floats = NDArray[np.float64]
CONSTANT, NORM = 0.5, design_norm(1.0, fit_intercept=True)


@dataclass(frozen=True, kw_only=True)
class Design:
    """How rows and targets come about; the last coefficient is that of the constant column.

    Features are independent and uniform on five values (three beyond two columns, two beyond six) within `reach` /
    sqrt(columns), then clipped to norm 1; a number's noise is uniform on five values within `spread`, and the number is
    clipped to [-1, 1]. `mixed` is the first column's share in the others; `power` draws the values, then nine, towards
    zero: heavy tails; `skewed` draws them towards one side; `outlying` noise is zero in three of five cases.
    """

    loss: str
    coefficients: tuple[float, ...]
    reach: float = 1.0
    spread: float = 0.3
    mixed: float = 0.0
    power: float = 1.0
    skewed: bool = False
    outlying: bool = False

    @cached_property
    def support(self) -> tuple[Floats, Floats]:
        """Every pair of a row and a target, all equally likely; for classes the target is the chance of +1."""
        columns = len(self.coefficients) - 1
        values = np.linspace(
            -1.0, 1.0, 9 if self.power != 1 else 5 if columns <= 2 else 3 if columns <= 6 else 2
        )
        if self.skewed:
            values = 2.0 * (0.5 + 0.5 * values) ** 3 - 1.0
        values = np.sign(values) * np.abs(values) ** self.power * self.reach / math.sqrt(columns)
        raw = np.array(list(itertools.product(values, repeat=columns)))
        raw[:, 1:] = (1.0 - self.mixed) * raw[:, 1:] + self.mixed * raw[:, :1]
        rows = np.column_stack([clip_rows(raw, 1.0), np.full(len(raw), CONSTANT)])
        score = np.column_stack([raw, np.full(len(raw), CONSTANT)]) @ np.array(self.coefficients)
        if self.loss == "logistic":
            return rows, 0.5 * (1.0 + np.tanh(0.5 * score))
        noise = self.spread * (np.array([-1.0, 0, 0, 0, 1]) if self.outlying else np.linspace(-1.0, 1.0, 5))
        return np.repeat(rows, 5, axis=0), np.clip(score[:, None] + noise, -1.0, 1.0).ravel()


DESIGNS = {
    "linear": Design(loss="squared", coefficients=(0.5, -0.3, 0.4)),
    "linear, 5 columns": Design(loss="squared", coefficients=(0.5, -0.3, 0.2, 0.0, 0.0, 0.2)),
    "linear, clipped": Design(loss="squared", coefficients=(0.6, -0.4, 0.6), reach=1.5, spread=0.5),
    "linear, narrow": Design(loss="squared", coefficients=(6.0, 0.4), reach=0.1, spread=0.2),
    "logistic": Design(loss="logistic", coefficients=(2.0, -1.0, 0.5)),
    "logistic, strong": Design(loss="logistic", coefficients=(6.0, -4.0, 2.0)),
    "logistic, 5 columns": Design(loss="logistic", coefficients=(2.0, -1.0, 0.5, 0.0, 0.0, 0.5)),
    "logistic, 5 % positive": Design(loss="logistic", coefficients=(2.0, -1.0, -6.0)),
    "logistic, 1 column, 5 % positive": Design(loss="logistic", coefficients=(2.0, -6.0)),
    "logistic, 3 columns, correlated": Design(loss="logistic", coefficients=(1.5, 1.0, 0.0, -1.0), mixed=0.4),
    "logistic, heavy tails": Design(loss="logistic", coefficients=(4.0, -2.0, -1.0), power=3.0),
    "logistic, 3 columns, 8 % positive": Design(loss="logistic", coefficients=(3.0, 0.0, -1.0, -6.0)),
    "linear, 1 column": Design(loss="squared", coefficients=(0.4, 0.2), spread=0.6),
    "linear, correlated": Design(loss="squared", coefficients=(0.4, 0.4, -0.2), mixed=0.5),
    "linear, heavy tails": Design(loss="squared", coefficients=(0.6, -0.3, 0.2), power=3.0),
    "logistic, 4 columns": Design(loss="logistic", coefficients=(1.0, -1.5, 0.5, 0.0, 0.3)),
    "logistic, 15 % positive, correlated": Design(loss="logistic", coefficients=(1.0, 2.0, -4.0), mixed=0.3),
    "linear, strongly correlated": Design(loss="squared", coefficients=(0.4, 0.3, 0.2), mixed=0.8),
    "linear, 8 columns": Design(loss="squared", coefficients=(0.4, -0.3, 0.2, 0.0, 0.0, 0.1, 0.0, 0.3, 0.2)),
    "linear, skewed, outlying noise": Design(
        loss="squared", coefficients=(0.5, -0.3, 0.3), skewed=True, spread=0.6, outlying=True
    ),
    "logistic, strongly correlated": Design(loss="logistic", coefficients=(1.0, 1.0, 0.3), mixed=0.8),
    "logistic, 8 columns": Design(
        loss="logistic", coefficients=(1.0, -1.0, 0.5, 0.0, 0.0, 0.0, 0.5, -0.5, 0.3)
    ),
    "logistic, 10 % positive": Design(loss="logistic", coefficients=(1.5, -1.0, -4.6)),
    "logistic, skewed": Design(loss="logistic", coefficients=(3.0, -2.0, 1.0), skewed=True),
}
UNSEEN = {
    "linear, 3 columns, skewed, correlated": Design(
        loss="squared", coefficients=(0.5, -0.2, 0.1, -0.2), skewed=True, mixed=0.3
    ),
    "logistic, 1 column, 20 % positive": Design(loss="logistic", coefficients=(3.0, -3.2)),
    "logistic, 6 columns": Design(loss="logistic", coefficients=(1.5, -1.0, 1.0, 0.0, 0.5, 0.0, -0.8)),
    "logistic, 3 columns, strong, skewed": Design(
        loss="logistic", coefficients=(4.0, -3.0, 2.0, 1.0), skewed=True
    ),
}
"""Designs that were not looked at while the rule of refusal was made."""
DESIGNS |= UNSEEN


@dataclass(frozen=True, kw_only=True)
class Population:
    """What the oracle knows, per row: the regression, E h x x^T and the residual variance."""

    truth: Floats
    curvature: Floats
    variance: float


@cache
def population(name: str) -> Population:
    """Exactly."""
    made = DESIGNS[name]
    rows, targets = made.support
    if made.loss == "logistic":
        curvature = rows.T @ ((targets * (1.0 - targets))[:, None] * rows) / len(rows)
        return Population(truth=np.array(made.coefficients), curvature=curvature, variance=1.0)
    curvature = rows.T @ rows / len(rows)
    truth: Floats = np.asarray(np.linalg.solve(curvature, targets @ rows / len(rows)), dtype=np.float64)
    return Population(
        truth=truth, curvature=curvature, variance=float(np.mean((targets - rows @ truth) ** 2))
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

    @cached_property
    def mu(self) -> float:
        """At delta n^-1.5."""
        return math.sqrt(gaussian_square(ApproxDP(self.epsilon, self.rows**-1.5)))


def symmetric(random: np.random.Generator, runs: int, d: int, deviation: float) -> Floats:
    """Noise matrices with this deviation on the diagonal and less off it."""
    above = np.triu(random.normal(size=(runs, d, d)) * (deviation / math.sqrt(2.0)), 1)
    made = above + above.transpose(0, 2, 1)
    made[:, np.arange(d), np.arange(d)] = random.normal(size=(runs, d)) * deviation
    return np.asarray(made)


def squared_runs(cell: Cell, runs: int, random: np.random.Generator) -> NoisyScore:
    """So many tables, and what `ssp` releases of each."""
    rows, targets = DESIGNS[cell.design].support
    counts = random.multinomial(cell.rows, np.full(len(rows), 1.0 / len(rows)), size=runs)
    joined, d = np.column_stack([rows, NORM * targets]), rows.shape[1]
    outer = np.einsum("ci,cj->cij", joined, joined).reshape(len(rows), -1)
    alone = second_moment_sensitivity(Adjacency(cell.adjacency), row_norm=NORM)
    s = 2.0 * alone / (cell.mu * math.sqrt(1 - PILOT_SHARE))
    joint = (counts @ outer).reshape(runs, d + 1, d + 1) + symmetric(random, runs, d + 1, s)
    # The same rows once more, with noise of their own; `joint` is noisy by now.
    first = np.einsum("ci,cj->cij", rows, rows).reshape(len(rows), -1)
    pilot = (counts @ first).reshape(runs, d, d)
    pilot_noise = alone / (cell.mu * math.sqrt(PILOT_SHARE))
    pilot = pilot + symmetric(random, runs, d, pilot_noise)
    return NoisyScore(
        loss="squared",
        curvature=joint[:, :d, :d],
        target=joint[:, :d, d] / NORM,
        centres=np.zeros((runs, 1, d)),
        weights=np.ones(1),
        gradient_noise=np.array([s / (math.sqrt(2.0) * NORM)]),
        curvature_noise=np.array([s]),
        count=cell.rows,
        square=joint[:, d, d] / NORM**2,
        pilot=pilot,
        pilot_noise=pilot_noise,
    )


def logistic_runs(
    cell: Cell, runs: int, random: np.random.Generator, log: list[Any] | None = None
) -> NoisyScore:
    """So many tables, and what `newton` releases of each; `log` is given every released pair."""
    rows, chances = DESIGNS[cell.design].support
    counts = random.multinomial(cell.rows, np.full(len(rows), 1.0 / len(rows)), size=runs)
    positive = random.binomial(counts, chances)
    d = rows.shape[1]
    outer = np.einsum("ci,cj->cij", rows, rows).reshape(len(rows), -1)
    joint = JointScore.of(Adjacency(cell.adjacency), row_norm=NORM)
    shares = np.array(STEP_SHARES) / 100
    t = joint.l2_sensitivity / (cell.mu * np.sqrt(shares))
    s = t / joint.lift
    theta = np.zeros((runs, d))
    points, gradients, curvatures, tilts = list[Floats](), list[Floats](), list[Floats](), list[Floats]()
    for step in range(len(STEP_SHARES)):
        chance = 0.5 * (1.0 + np.tanh(0.5 * (theta @ rows.T)))
        points.append(theta)
        gradients.append((counts * chance - positive) @ rows + t[step] * random.normal(size=(runs, d)))
        exact = (counts * chance * (1.0 - chance)) @ outer
        curvatures.append(exact.reshape(runs, d, d) + symmetric(random, runs, d, s[step]))
        tilt = np.zeros((runs, 0))
        if step >= ESTIMATE_STEPS.start:
            along = np.linalg.eigh(pool(shares[PILOT_STEPS], s[PILOT_STEPS], curvatures[PILOT_STEPS])[0])[1][
                ..., 0
            ]
            bent = counts * chance * (1.0 - chance) * (1.0 - 2.0 * chance) * (along @ rows.T) ** 2
            tilt = bent @ rows + t[step] / joint.tilt_lift * random.normal(size=(runs, d))
        tilts.append(tilt)
        if log is not None:
            log.append((theta, gradients[-1], curvatures[-1], tilt))
        last = slice(max(0, step + 1 - POOLED_RELEASES), step + 1)
        mean, deviation = pool(shares[last], s[last], curvatures[last])
        slopes = [
            gradient + np.einsum("rij,rj->ri", curvature, theta - point)
            for gradient, curvature, point in zip(
                gradients[last], curvatures[last], points[last], strict=True
            )
        ]
        slope = pool(shares[last], s[last], slopes)[0]
        values, basis = np.linalg.eigh(mean)
        floored = np.maximum(values, FLOOR_FACTOR * math.sqrt(2.0 * d) * deviation)
        turned = np.einsum("rji,rj->ri", basis, slope) / floored
        move = np.einsum("rij,rj->ri", basis, turned)
        length = NORM * np.linalg.norm(move, axis=1)
        theta = theta - move * np.minimum(1.0, LONGEST_STEP / np.maximum(length, 1e-300))[:, None]
    used = range(len(STEP_SHARES))[ESTIMATE_STEPS]
    weights = shares[ESTIMATE_STEPS] / shares[ESTIMATE_STEPS].sum()
    target = sum(
        weight * (np.einsum("rij,rj->ri", curvatures[k], points[k]) - gradients[k])
        for weight, k in zip(weights, used, strict=True)
    )
    pilot, pilot_noise = pool(shares[PILOT_STEPS], s[PILOT_STEPS], curvatures[PILOT_STEPS])
    return NoisyScore(
        loss="logistic",
        curvature=pool(shares[ESTIMATE_STEPS], s[ESTIMATE_STEPS], curvatures[ESTIMATE_STEPS])[0],
        target=np.asarray(target),
        centres=np.stack(points[ESTIMATE_STEPS], axis=1),
        weights=weights,
        gradient_noise=t[ESTIMATE_STEPS],
        curvature_noise=s[ESTIMATE_STEPS],
        count=cell.rows,
        pilot=pilot,
        pilot_noise=pilot_noise,
        bend=NORM,
        tilt=pool(shares[ESTIMATE_STEPS], s[ESTIMATE_STEPS], tilts[ESTIMATE_STEPS])[0],
    )


def pool(shares: Floats, deviations: Floats, matrices: list[Floats]) -> tuple[Floats, float]:
    """The mean of what was released by what each cost, and the deviation of its noise."""
    weights = shares / shares.sum()
    return np.tensordot(weights, np.stack(matrices), axes=1), float(np.linalg.norm(weights * deviations))


def oracle(cell: Cell, stack: NoisyScore) -> Floats:
    """Deviations of an estimator with this noise by someone who knows the population."""
    known = population(cell.design)
    curvature = cell.rows * known.curvature
    # Known centres: the origin for least squares, the truth for Newton steps that have arrived.
    near = stack[0].noise_covariance(known.truth)
    if stack.loss == "logistic":
        near = np.eye(known.truth.size) * float(np.sum((stack.weights * stack.gradient_noise) ** 2))
    inverse = np.linalg.inv(curvature)
    return np.asarray(np.sqrt(np.diag(inverse @ (known.variance * curvature + near) @ inverse)))


def simulate(cell: Cell, runs: int, *, level: float = 0.95, seed: int = 0) -> dict[str, Any]:
    """Coverage of each coefficient among intervals issued, how many were, and the mean width against the oracle's."""
    truth = population(cell.design).truth
    random = np.random.default_rng([seed, cell.rows, round(1000 * cell.epsilon)])
    draw = squared_runs if DESIGNS[cell.design].loss == "squared" else logistic_runs
    stack = draw(cell, runs, random)
    found: dict[str, Any] = {"runs": runs, "issued": runs, "level": level, "width": None}
    if cell.method == "test_inversion":
        quantile, tests = float(chi2.ppf(level, 1)), [ScoreTest(stack[run]) for run in range(runs)]
        kept = [
            [test.profile(place, truth[place]) <= quantile for place in range(truth.size)] for test in tests
        ]
        return found | {"coverage": np.mean(kept, axis=0).round(5).tolist()}
    issued = ~stack.strength.too_low_for_intervals
    if not issued.any():
        return found | {"issued": 0, "coverage": [], "width": []}
    those = stack[issued]
    error = np.sqrt(np.diagonal(those.covariance(), axis1=1, axis2=2))
    covered = np.abs(those.solution - truth) <= float(norm.ppf(0.5 + 0.5 * level)) * error
    width = error.mean(axis=0) / oracle(cell, stack)
    # Of one interval nobody knows how far such means are apart.
    apart = (
        error.std(axis=0, ddof=1) / math.sqrt(len(error)) / oracle(cell, stack) if len(error) > 1 else width
    )
    return found | {
        "issued": int(issued.sum()),
        "coverage": covered.mean(axis=0).round(5).tolist(),
        "width": width.round(5).tolist(),
        "width_error": apart.round(5).tolist(),
    }


def excess(found: dict[str, Any], most: float) -> float:
    """How many standard errors the largest mean width is above so many of the oracle's."""
    if not found["width"]:
        return 0.0
    judged = zip(found["width"], found["width_error"], strict=True)
    return float(max((one - most) / by for one, by in judged))


def shortfall(found: dict[str, Any]) -> float:
    """How many standard errors the worst coefficient is below nominal; at most 0 where none is."""
    level, issued = found["level"], found["issued"]
    if not issued:
        return 0.0
    return float((level - min(found["coverage"])) / math.sqrt(level * (1 - level) / issued))

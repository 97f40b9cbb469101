"""Simulated fits with known coefficients, for coverage: thousands of tables at once, as stacked arrays.

Rows take finitely many values, so that a table of any size is a vector of counts, its sums are exact, and the
population is known without simulation. Noise is drawn by NumPy at the deviation that the shipped mechanisms have. The
arithmetic of `ssp`, `newton` and `conf_int` is written once more here, for stacks; `tests/learn/inference` holds it
against the shipped code, draw by draw. Rows carry a constant column of half the row norm, as in an estimator. Where
rows or targets are clipped, what must be covered is the regression of the clipped ones. The oracle knows design,
coefficients and both variances.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, norm

from holdfast.learn.inference.inversion import ScoreTest
from holdfast.learn.inference.score import (
    LEAST_STRENGTH,
    LEAST_USED,
    SECOND_ORDER,
    VARIANCE_MARGIN,
    NoisyScore,
)
from holdfast.learn.methods.newton import ESTIMATED, FLOOR, LONGEST, PILOTS, SHARES, JointScore
from holdfast.learn.methods.ssp import PILOT_SHARE
from holdfast.learn.risk.descent import gaussian_square
from holdfast.learn.rows.prepare import design_norm
from holdfast.learn.whitening import second_moment_sensitivity
from holdfast.privacy import Adjacency, ApproxDP
from holdfast.privacy.rounding import clip_rows

Floats = NDArray[np.float64]
CONSTANT, NORM = 0.5, design_norm(1.0, fit_intercept=True)


@dataclass(frozen=True, kw_only=True)
class Design:
    """How rows and targets come about; the last coefficient is that of the constant column.

    Features are independent and uniform on five values (three beyond two columns) within `reach` / sqrt(columns), then
    clipped to norm 1; a number's noise is uniform on five values within `spread`, and the number is clipped to [-1, 1].
    """

    loss: str
    coefficients: tuple[float, ...]
    reach: float = 1.0
    spread: float = 0.3

    @cached_property
    def support(self) -> tuple[Floats, Floats]:
        """Every pair of a row and a target, all equally likely; for classes the target is the chance of +1."""
        columns = len(self.coefficients) - 1
        values = np.linspace(-1.0, 1.0, 5 if columns <= 2 else 3) * self.reach / math.sqrt(columns)
        raw = np.array(list(itertools.product(values, repeat=columns)))
        rows = np.column_stack([clip_rows(raw, 1.0), np.full(len(raw), CONSTANT)])
        score = np.column_stack([raw, np.full(len(raw), CONSTANT)]) @ np.array(self.coefficients)
        if self.loss == "logistic":
            return rows, 0.5 * (1.0 + np.tanh(0.5 * score))
        noise = np.linspace(-self.spread, self.spread, 5)
        return np.repeat(rows, 5, axis=0), np.clip(score[:, None] + noise, -1.0, 1.0).ravel()


DESIGNS = {
    "linear": Design(loss="squared", coefficients=(0.5, -0.3, 0.4)),
    "linear, 5 columns": Design(loss="squared", coefficients=(0.5, -0.3, 0.2, 0.0, 0.0, 0.2)),
    "linear, clipped": Design(loss="squared", coefficients=(0.6, -0.4, 0.6), reach=1.5, spread=0.5),
    "linear, narrow": Design(loss="squared", coefficients=(6.0, 0.4), reach=0.1, spread=0.2),
    "logistic": Design(loss="logistic", coefficients=(2.0, -1.0, 0.5)),
    "logistic, strong": Design(loss="logistic", coefficients=(6.0, -4.0, 2.0)),
    "logistic, 5 columns": Design(loss="logistic", coefficients=(2.0, -1.0, 0.5, 0.0, 0.0, 0.5)),
}


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


@dataclass(frozen=True, kw_only=True, eq=False)
class Stack:
    """The fields of `NoisyScore` for many runs at once; noise and weights are the same in all of them."""

    loss: Literal["squared", "logistic"]
    curvature: Floats
    target: Floats
    centres: Floats
    weights: Floats
    gradient_noise: Floats
    curvature_noise: Floats
    count: int
    pilot: Floats | None = None
    square: Floats | None = None

    def one(self, run: int) -> NoisyScore:
        """Of one run."""
        told = {
            name: getattr(self, name)
            for name in ("loss", "weights", "gradient_noise", "curvature_noise", "count")
        }
        of_run = {"curvature": self.curvature[run], "target": self.target[run], "centres": self.centres[run]}
        pilot = None if self.pilot is None else self.pilot[run]
        return NoisyScore(
            **told, **of_run, pilot=pilot, square=None if self.square is None else float(self.square[run])
        )


def symmetric(random: np.random.Generator, runs: int, d: int, deviation: float) -> Floats:
    """Noise matrices with this deviation on the diagonal and less off it."""
    above = np.triu(random.normal(size=(runs, d, d)) * (deviation / math.sqrt(2.0)), 1)
    made = above + above.transpose(0, 2, 1)
    made[:, np.arange(d), np.arange(d)] = random.normal(size=(runs, d)) * deviation
    return np.asarray(made)


def squared_runs(cell: Cell, runs: int, random: np.random.Generator) -> Stack:
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
    pilot = pilot + symmetric(random, runs, d, alone / (cell.mu * math.sqrt(PILOT_SHARE)))
    return Stack(
        loss="squared", curvature=joint[:, :d, :d], target=joint[:, :d, d] / NORM, centres=np.zeros((runs, 1, d)),
        weights=np.ones(1), gradient_noise=np.array([s / (math.sqrt(2.0) * NORM)]), curvature_noise=np.array([s]),
        count=cell.rows, square=joint[:, d, d] / NORM**2, pilot=pilot,
    )  # fmt: skip


def logistic_runs(cell: Cell, runs: int, random: np.random.Generator, log: list[Any] | None = None) -> Stack:
    """So many tables, and what `newton` releases of each; `log` is given every released pair."""
    rows, chances = DESIGNS[cell.design].support
    counts = random.multinomial(cell.rows, np.full(len(rows), 1.0 / len(rows)), size=runs)
    positive = random.binomial(counts, chances)
    d = rows.shape[1]
    outer = np.einsum("ci,cj->cij", rows, rows).reshape(len(rows), -1)
    joint = JointScore.of(Adjacency(cell.adjacency), row_norm=NORM)
    shares = np.array(SHARES) / 100
    t = joint.l2_sensitivity / (cell.mu * np.sqrt(shares))
    s = t / joint.lift
    theta = np.zeros((runs, d))
    points, gradients, curvatures = list[Floats](), list[Floats](), list[Floats]()
    for step in range(len(SHARES)):
        chance = 0.5 * (1.0 + np.tanh(0.5 * (theta @ rows.T)))
        points.append(theta)
        gradients.append((counts * chance - positive) @ rows + t[step] * random.normal(size=(runs, d)))
        exact = (counts * chance * (1.0 - chance)) @ outer
        curvatures.append(exact.reshape(runs, d, d) + symmetric(random, runs, d, s[step]))
        if log is not None:
            log.append((theta, gradients[-1], curvatures[-1]))
        last = slice(max(0, step - 1), step + 1)
        mean, deviation = pool(shares[last], s[last], curvatures[last])
        values, basis = np.linalg.eigh(mean)
        floored = np.maximum(values, FLOOR * math.sqrt(2.0 * d) * deviation)
        turned = np.einsum("rji,rj->ri", basis, gradients[-1]) / floored
        move = np.einsum("rij,rj->ri", basis, turned)
        length = NORM * np.linalg.norm(move, axis=1)
        theta = theta - move * np.minimum(1.0, LONGEST / np.maximum(length, 1e-300))[:, None]
    used = range(len(SHARES))[ESTIMATED]
    weights = shares[ESTIMATED] / shares[ESTIMATED].sum()
    target = sum(
        weight * (np.einsum("rij,rj->ri", curvatures[k], points[k]) - gradients[k])
        for weight, k in zip(weights, used, strict=True)
    )
    return Stack(
        loss="logistic", curvature=pool(shares[ESTIMATED], s[ESTIMATED], curvatures[ESTIMATED])[0],
        target=np.asarray(target), centres=np.stack(points[ESTIMATED], axis=1), weights=weights,
        gradient_noise=t[ESTIMATED], curvature_noise=s[ESTIMATED], count=cell.rows,
        pilot=pool(shares[PILOTS], s[PILOTS], curvatures[PILOTS])[0],
    )  # fmt: skip


def pool(shares: Floats, deviations: Floats, matrices: list[Floats]) -> tuple[Floats, float]:
    """The mean of noisy matrices by what each cost, and the deviation of its noise."""
    weights = shares / shares.sum()
    return np.tensordot(weights, np.stack(matrices), axes=1), float(np.linalg.norm(weights * deviations))


def walds(stack: Stack) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Estimates, standard errors, and which runs are issued."""
    d = stack.target.shape[1]
    unit = float(np.linalg.norm(stack.weights * stack.curvature_noise)) * math.sqrt(d)
    own = np.linalg.eigvalsh(stack.curvature)[:, 0] / unit
    strength = own if stack.pilot is None else np.linalg.eigvalsh(stack.pilot)[:, 0] / unit
    estimate: Floats = np.linalg.solve(stack.curvature, stack.target[:, :, None])[:, :, 0].astype(np.float64)
    inverse = np.linalg.inv(stack.curvature)
    away = estimate[:, None, :] - stack.centres
    w, t, s = stack.weights, stack.gradient_noise, stack.curvature_noise
    flat = ((w * t) ** 2).sum() + np.einsum("k,rki->r", 0.5 * (w * s) ** 2, away**2)
    noise = flat[:, None, None] * np.eye(d) + np.einsum("k,rki,rkj->rij", 0.5 * (w * s) ** 2, away, away)
    variance = np.ones(len(estimate))
    if stack.square is not None:
        rest = stack.square - np.einsum("ri,ri->r", stack.target, estimate)
        spread = s[0] * np.einsum("ri,ri->r", estimate, estimate) + 2.0 * t[0] ** 2 / s[0]
        below = np.einsum("rij,rji->r", inverse, noise)
        variance = (np.maximum(0.0, rest + VARIANCE_MARGIN * spread) + below) / max(1.0, stack.count - d)
    middle = variance[:, None, None] * stack.curvature + noise
    spread = (
        np.einsum("rij,rjk,rki->ri", inverse, middle, inverse) * (1.0 + SECOND_ORDER / strength**2)[:, None]
    )
    issued = (strength >= LEAST_STRENGTH) & (own >= LEAST_USED)
    return estimate, np.sqrt(np.maximum(spread, 0.0)), issued


def oracle(cell: Cell, stack: Stack) -> Floats:
    """Deviations of an estimator with this noise by someone who knows the population."""
    known = population(cell.design)
    curvature = cell.rows * known.curvature
    # Known centres: the origin for least squares, the truth for Newton steps that have arrived.
    near = stack.one(0).noise_covariance(known.truth)
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
        quantile, tests = float(chi2.ppf(level, 1)), [ScoreTest(stack.one(run)) for run in range(runs)]
        kept = [
            [test.least(place, truth[place]) <= quantile for place in range(truth.size)] for test in tests
        ]
        return found | {"coverage": np.mean(kept, axis=0).round(5).tolist()}
    estimate, error, issued = walds(stack)
    estimate, error = estimate[issued], error[issued]
    covered = np.abs(estimate - truth) <= float(norm.ppf(0.5 + 0.5 * level)) * error
    if not issued.any():
        return found | {"issued": 0, "coverage": [], "width": []}
    width = error.mean(axis=0) / oracle(cell, stack)
    return found | {
        "issued": int(issued.sum()), "coverage": covered.mean(axis=0).round(5).tolist(),
        "width": width.round(5).tolist(),
    }  # fmt: skip


def shortfall(found: dict[str, Any]) -> float:
    """How many standard errors the worst coefficient is below nominal; at most 0 where none is."""
    level, issued = found["level"], found["issued"]
    if not issued:
        return 0.0
    return float((level - min(found["coverage"])) / math.sqrt(level * (1 - level) / issued))

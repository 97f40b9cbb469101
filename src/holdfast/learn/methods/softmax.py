"""Several classes, one softmax model or K yes-or-no ones: noisy gradient descent, objective or output perturbation.

All rest on the same two facts: a row's gradient, a (K, d) matrix, has Frobenius norm at most sqrt(2) X for the
softmax and sqrt(K) X for one-vs-all, and noise on the stacked K d numbers is one release (soundness, section 2).
Objective perturbation, for the softmax under pure epsilon, has its own file.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import ParameterError, require
from holdfast.learn.methods.method import Fit, Learner
from holdfast.learn.methods.softmax_objective import covers, softmax_objective
from holdfast.learn.problem import Problem
from holdfast.learn.problem.losses import Multiclass, OneVsAll, Softmax
from holdfast.learn.problem.problem import NORM_SLACK
from holdfast.learn.risk.descent import (
    Preconditioner,
    gaussian_for,
    gaussian_square,
    plain_schedule,
    schedule_for,
)
from holdfast.learn.risk.minimise import NotCertified
from holdfast.learn.rows.clipped_blocks import UNIT_ROUNDOFF, ClippedBlocks, rounding_of_sum
from holdfast.learn.rows.examples import Examples
from holdfast.learn.rows.moments import largest_count
from holdfast.learn.spending import admit, refuse_users
from holdfast.learn.whitening import Whitener, no_whitening, release_whitener
from holdfast.privacy.account import Account
from holdfast.privacy.account.remaining import is_pure, noise_within
from holdfast.privacy.mechanisms.mechanism import Arithmetic
from holdfast.progress import progress

Floats = NDArray[np.float64]
Engine = Literal["noisy_gd", "objective", "output"]
INEXACTNESS = 1e-3
"""The solver's tolerance in units of L / n."""


def multiclass(
    examples: Examples,
    problem: Problem,
    *,
    account: Account,
    engine: Engine | None = None,
    preconditioner: Preconditioner | None = None,
    steps: int | None = None,
    step: float | None = None,
    momentum: float | None = None,
    arithmetic: Arithmetic = "strict",
    **options: Any,
) -> Fit:
    """Weights of shape (classes, columns), for a problem whose loss is `Softmax` or `OneVsAll`.

    `engine`: "noisy_gd" (Gaussian noise in every step; what the problem's rule in public quantities gives),
    "objective" (noise inside the objective, for the softmax under pure epsilon) or "output" (noise on the minimiser,
    for a penalised loss); the first of them that the account allows and the proof covers.
    """
    require(not options, "options", sorted(options), "empty", "see the parameters of multiclass")
    require(
        engine in (None, "noisy_gd", "objective", "output"),
        "engine",
        engine,
        "'noisy_gd', 'objective' or 'output'",
    )
    loss = _loss(problem)
    admit(examples, problem, account, method=loss.name, outputs=("several",))
    refuse_users(examples, method=loss.name)
    pure = is_pure(account.remaining())
    by = engine or (pure_engine(problem) if pure else "noisy_gd")
    if by == "objective":
        return softmax_objective(examples, problem, account=account, arithmetic=arithmetic)
    if by == "output":
        return _output(examples, problem, loss, account, arithmetic=arithmetic)
    if pure:
        raise ParameterError("engine='noisy_gd' needs delta > 0: its noise is Gaussian; leave engine out")
    chosen = {"preconditioner": preconditioner, "steps": steps, "step": step, "momentum": momentum}
    return _descent(examples, problem, loss, account, chosen, arithmetic=arithmetic)


def pure_engine(problem: Problem) -> Engine:
    """Without delta: objective perturbation where its proof and its solver cover the problem, else the output's."""
    return "objective" if covers(problem) else "output"


def _loss(problem: Problem) -> Multiclass:
    loss: Any = problem.loss
    if not isinstance(loss, Softmax | OneVsAll):
        raise ParameterError(
            f"the multi-class method needs loss=Softmax(classes=...) or OneVsAll(classes=...), got {problem.loss.name}"
        )
    return loss


# Noisy gradient descent, preconditioned by a private second moment (soundness, section 20).
def _descent(
    examples: Examples,
    problem: Problem,
    loss: Multiclass,
    account: Account,
    chosen: dict[str, Any],
    *,
    arithmetic: Arithmetic,
) -> Fit:
    square, count = gaussian_square(account.remaining()), examples.public_count
    rule = plain_schedule if chosen["preconditioner"] == "none" else schedule_for
    setting = rule(
        math.sqrt(square),
        count=count,
        dimension=problem.dimension,
        factor=account.adjacency.gradient_factor * loss.slope,
    ).changed(chosen)
    most, assumptions = largest_count(examples, None)
    passes = ClippedBlocks(examples, problem)
    whitening, norm = no_whitening(problem.dimension), problem.row_norm
    if setting.preconditioner != "none":
        whitening = release_whitener(
            passes, problem, setting, account, square=square, count=count, most=most,
            arithmetic=arithmetic, label="multiclass: second moment",
        )  # fmt: skip
        norm = setting.clip * math.sqrt(max(1.0, whitening.effective_dimension))
    gradients = Gradients(passes=passes, loss=loss, whitening=whitening, norm=norm)
    sensitivity = account.adjacency.gradient_factor * loss.slope * norm * (1.0 + NORM_SLACK)
    error = rounding_of_sum(most) + 4.0 * (problem.dimension + loss.classes + 16) * UNIT_ROUNDOFF
    sensitivity += 2.0 * most * problem.norm_bound * loss.slope * whitening.size * error
    mechanism = gaussian_for(
        square * (1 - Fraction(setting.moment_share)) / setting.steps,
        l2_sensitivity=sensitivity, adjacency=account.adjacency, arithmetic=arithmetic,
    )  # fmt: skip
    permit = account.permit(mechanism, times=setting.steps, label=f"{loss.name}: gradients")
    # The rule's step is for curvature 1/4. With K classes p is near 1 / K, where the softmax curves by 1 / K and
    # one-vs-all by about as much: steps grow accordingly, up to twice the rule's.
    step = setting.step * 0.25 * min(max(loss.classes, 2), 8) * (1.0 - setting.momentum)
    if setting.preconditioner == "none":
        step /= problem.row_norm**2
    weights = np.zeros((loss.classes, problem.dimension))
    velocity, mean = np.zeros_like(weights), np.zeros_like(weights)
    for number in progress(range(setting.steps), desc=loss.name):
        noisy = permit.release(gradients.at(weights))
        velocity = setting.momentum * velocity + noisy / count
        moved = weights - step * velocity
        weights = np.stack([whitening.shrunk(row, step * problem.penalty) for row in moved])
        length = float(np.linalg.norm(gradients.backward(weights)))
        weights = weights * min(1.0, problem.radius / max(length, 1e-300))
        if number >= setting.steps - setting.averaged:
            mean += weights / setting.averaged
    return Fit(
        weights=gradients.backward(mean),
        theorem="Noisy gradient descent on stacked class gradients: composed Gaussian mechanisms",
        parameters={
            "engine": "noisy_gd", "steps": setting.steps, "preconditioner": setting.preconditioner,
            "gradient_sensitivity": sensitivity, "gradient_noise_std": float(mechanism.sigma),
        },
        assumptions=assumptions,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False)
class Gradients:
    """Sums of slopes times rows, each row whitened and then clipped to `norm`; private before noise."""

    passes: ClippedBlocks
    loss: Multiclass
    whitening: Whitener
    norm: float
    _kept: list[Floats] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.passes.resident:  # every pass meets the same blocks in the same order
            self._kept.extend(self._scales(rows) for rows, _ in self.passes.blocks())

    def _scales(self, rows: Floats) -> Floats:
        """min(1, norm / |P x|): what clipping multiplies a whitened row with."""
        return np.asarray(self.norm / np.maximum(self.whitening.norms(rows), self.norm))

    def at(self, weights: Floats) -> Floats:
        """The (K, d) sum, in whitened coordinates."""
        raw, total = self.backward(weights), np.zeros_like(weights)
        for place, (rows, labels) in enumerate(self.passes.blocks()):
            scales = self._kept[place] if self._kept else self._scales(rows)
            slopes = self.loss.slopes(scales[:, None] * (rows @ raw.T), labels)
            total += (scales[:, None] * slopes).T @ rows
        return np.stack([self.whitening.forward(row) for row in total])

    def backward(self, weights: Floats) -> Floats:
        """Weights of whitened rows as weights of the rows themselves."""
        return np.stack([self.whitening.backward(row) for row in weights])


# Output perturbation (soundness, section 3).
def _output(
    examples: Examples, problem: Problem, loss: Multiclass, account: Account, *, arithmetic: Arithmetic
) -> Fit:
    problem.require_strongly_convex(f"{loss.name} with engine='output'")
    count = examples.public_count
    tolerance = INEXACTNESS * problem.lipschitz / count
    # Both strong-convexity inequalities: G / (penalty n); each neighbour's point is within tolerance / penalty.
    sensitivity = (problem.gradient_change(account.adjacency) / count + 2.0 * tolerance) / problem.penalty
    numbers = loss.classes * problem.dimension
    noise = noise_within(account, l2_sensitivity=sensitivity, dimension=numbers, arithmetic=arithmetic)
    centre = minimiser(
        ClippedBlocks(examples, problem), problem, loss, divisor=float(count), tolerance=tolerance
    )
    weights = np.asarray(account.release(noise.mechanism, centre, label=f"{loss.name}: output"))
    length = float(np.linalg.norm(weights))
    return Fit(
        weights=weights * min(1.0, problem.radius / max(length, 1e-300)),
        theorem="Output perturbation of a strongly convex risk on stacked classes (CMS11, Corollary 8)",
        parameters={"engine": "output", "l2_sensitivity": sensitivity},
        noise_std=noise.deviation,
    )


def minimiser(
    passes: ClippedBlocks, problem: Problem, loss: Multiclass, *, divisor: float, tolerance: float
) -> Floats:
    """A point with |gradient| <= tolerance, rounding included: within tolerance / penalty of the minimiser.

    L-BFGS first; where its point has no certificate, gradient descent of a length that theory fixes.
    """
    from scipy.optimize import minimize

    shape = (loss.classes, problem.dimension)
    rows = sum(labels.size for _, labels in passes.blocks())

    def both(flat: Any) -> tuple[float, Any]:
        weights = np.reshape(np.asarray(flat, dtype=np.float64), shape)
        value, gradient = 0.0, np.zeros(shape)
        for features, labels in passes.blocks():
            z = features @ weights.T
            value += float(np.sum(loss.values(z, labels)))
            gradient += loss.slopes(z, labels).T @ features
        total = gradient / divisor + problem.penalty * weights
        return value / divisor + 0.5 * problem.penalty * float(np.sum(weights**2)), total.ravel()

    def certified(flat: Any) -> bool:
        """|gradient| with a first-order bound on its rounding error (Higham 2002, chapter 3)."""
        gradient, size = both(flat)[1], float(np.linalg.norm(flat))
        products = (problem.dimension + loss.classes + 16) * UNIT_ROUNDOFF * (1.0 + problem.norm_bound * size)
        error = rows / divisor * problem.lipschitz * (rounding_of_sum(rows) + 4.0 * products)
        return (
            float(np.linalg.norm(gradient)) + error + 8.0 * UNIT_ROUNDOFF * problem.penalty * size
            <= tolerance
        )

    settings: Any = {"maxiter": 5_000, "maxfun": 10_000, "gtol": tolerance / 10, "ftol": 0.0, "maxcor": 30}
    found: Any = minimize(
        both, np.zeros(shape).ravel().tolist(), jac=True, method="L-BFGS-B", options=settings
    )
    point = np.asarray(found.x, dtype=np.float64)
    if not certified(point):
        beta = rows / divisor * problem.smoothness + problem.penalty
        reach = rows / divisor * problem.lipschitz / problem.penalty
        steps = math.ceil(
            beta / problem.penalty * max(1.0, math.log(max(4.0 * beta * reach / tolerance, 1.0)))
        )
        point = np.zeros(loss.classes * problem.dimension)
        for _ in range(steps):
            point = point - both(point)[1] / beta
    if not certified(point):
        raise NotCertified(
            f"tolerance={tolerance!r} is below what this machine's arithmetic can certify; use a larger penalty"
        )
    return point.reshape(shape)


METHOD = Learner(
    name="softmax",
    run=multiclass,
    paper="CMS11; Bassily, Smith and Thakurta 2014; one model for all classes",
    needs=("convex", "lipschitz"),
    pure=True,
    outputs=("several",),
)

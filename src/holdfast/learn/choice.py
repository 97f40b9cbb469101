"""method="auto": which method, and why not the others; a rule in public quantities only.

It reads the problem's constants, the public count, the limit, the adjacency and the unit. It is never handed a
row, so it cannot depend on one. docs/decisions/learning-default.md says how the order was found.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast.errors import ParameterError, require
from holdfast.learn.methods import METHODS
from holdfast.learn.methods.method import Learner
from holdfast.learn.methods.objective import TWICE_DIFFERENTIABLE
from holdfast.learn.methods.softmax import pure_engine
from holdfast.learn.methods.softmax_objective import LEAST_SIGNAL, pure_signal
from holdfast.learn.problem import Problem
from holdfast.learn.risk.descent import LARGEST_FULL, gaussian_square, schedule_for, signal
from holdfast.privacy.adjacency import Adjacency
from holdfast.privacy.curves.curve import PrivacyCurve

SINGLE_ROWS = ("bolt_on", "bst14", "dp_sgd", "objective", "output", "scs13", "softmax")
"""Methods whose proof counts single rows: a unit of several rows is refused."""
BEHIND: Mapping[str, str] = {
    "adassp": "solves least squares only",
    "bolt_on": "noise on the last iterate is isotropic: 1 to 2 points behind under (epsilon, delta), and behind "
    "objective perturbation under pure epsilon",
    "bst14": "a baseline: one record per step needs far more noise in total",
    "dp_sgd": "on tables that fit a full pass, full-batch steps give less noise for the same work",
    "frank_wolfe": "pays where an L1 ball is asked for; method='frank_wolfe' takes one",
    "functional": "approximates the loss by a polynomial, and its noise grows with the square of the dimension",
    "noisy_gd": "beyond a thousand columns the second moment costs more than it gives",
    "objective": "does not whiten: 0.2 to 1 point behind on the two tables tried",
    "output": "noise on the minimiser is isotropic: behind objective perturbation wherever both are proved",
    "ridge": "solves least squares only",
    "scs13": "a baseline: noise in every mini-batch of one pass",
    "softmax": "is for several classes",
}
"""Why an admissible method is not the first choice."""


@dataclass(frozen=True, kw_only=True)
class LearnerChoice:
    """The method chosen, what it is told, and the reasons; everything in it is public."""

    method: str
    options: Mapping[str, Any]
    reasons: tuple[str, ...]
    rejected: Mapping[str, str]
    inputs: Mapping[str, Any] = field(default_factory=dict)

    def summary(self) -> str:
        """The rule's inputs, its choice, and why not the others."""
        told = ", ".join(f"{name}={value:.4g}" if isinstance(value, float) else f"{name}={value}"
                         for name, value in self.options.items())  # fmt: skip
        lines = [
            "method='auto' looked at " + ", ".join(f"{k}={v}" for k, v in self.inputs.items()),
            f"chosen: {self.method}" + (f" ({told})" if told else ""),
            *(f"  because {reason}" for reason in self.reasons),
            *(f"not {name}: {reason}" for name, reason in self.rejected.items()),
        ]
        return "\n".join(lines)


def choose_learner(
    problem: Problem, *, count: int, limit: PrivacyCurve, adjacency: Adjacency | str, max_rows: int = 1
) -> LearnerChoice:
    """The first method, in an order fixed in advance, whose proof covers the problem.

    >>> from holdfast.learn.problem.losses import Logistic
    >>> from holdfast.privacy import ApproxDP
    >>> problem = Problem(loss=Logistic(), dimension=108)
    >>> choose(problem, count=32_561, limit=ApproxDP(1.0, 1e-7), adjacency="zero_out").method
    'noisy_gd'
    """
    require(count >= 1, "count", count, ">= 1")
    world = Adjacency.of(adjacency)
    known = {method.name: method for method in METHODS}
    pure = limit.as_pure() is not None
    objections = {
        name: _objection(method, problem, world, pure=pure, max_rows=max_rows)
        for name, method in known.items()
    }
    order = [name for name in _order(problem, pure=pure) if name in known]
    admitted = [name for name in order if not objections[name]]
    if not admitted:
        reasons = "; ".join(f"{name}: {objections[name]}" for name in order)
        raise ParameterError(
            f"no method is proved for the {problem.loss.name} loss with penalty={problem.penalty!r}, "
            f"radius={problem.radius!r}, adjacency={world.value!r} and max_rows={max_rows}: {reasons}"
        )
    chosen = admitted[0]
    options, reasons_for = _told(chosen, problem, count=count, limit=limit, world=world, max_rows=max_rows)
    return LearnerChoice(
        method=chosen,
        options=options,
        reasons=reasons_for,
        rejected={name: objections[name] or BEHIND[name] for name in sorted(known) if name != chosen},
        inputs={
            "loss": problem.loss.name, "d": problem.dimension, "n": count, "penalty": problem.penalty,
            "radius": problem.radius, "limit": limit, "adjacency": world.value, "max_rows": max_rows,
        },
    )  # fmt: skip


def _order(problem: Problem, *, pure: bool) -> tuple[str, ...]:
    """Preferences, best first."""
    if problem.outputs == "several":
        return ("softmax",)
    if problem.loss.name == "squared":
        return ("functional", "ridge", "output") if pure else ("adassp", "ridge", "noisy_gd", "functional")
    if pure:
        return ("objective", "output", "bolt_on", "scs13")
    descent, closed = "noisy_gd", "objective"
    first = (descent, closed) if problem.dimension <= LARGEST_FULL else (closed, descent)
    return (*first, "output", "bolt_on")


def _objection(method: Learner, problem: Problem, world: Adjacency, *, pure: bool, max_rows: int) -> str:
    """What a proof misses, in words; empty where it misses nothing."""
    squared = problem.loss.name == "squared"
    several = problem.outputs == "several"
    checks = (
        (not method.takes(problem), "takes one prediction" if several else "is for several classes"),
        (pure and not method.pure, "needs delta > 0"),
        (world.value not in method.adjacencies, f"is not proved for adjacency {world.value}"),
        (max_rows > 1 and method.name in SINGLE_ROWS, "protects single rows, not units of several"),
        ("lipschitz" in method.needs and not math.isfinite(problem.lipschitz), "needs a bounded gradient"),
        ("smooth" in method.needs and not math.isfinite(problem.smoothness), "needs a smooth loss"),
        ("strongly_convex" in method.needs and problem.penalty <= 0, "needs penalty > 0"),
        (method.name in ("adassp", "ridge") and not squared, "solves least squares only"),
        (
            method.name == "objective" and problem.loss.name not in TWICE_DIFFERENTIABLE,
            "needs a loss with two continuous derivatives",
        ),
    )
    return next((text for objected, text in checks if objected), "")


def _told(
    name: str, problem: Problem, *, count: int, limit: PrivacyCurve, world: Adjacency, max_rows: int
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Options and reasons of the choice."""
    if name == "softmax" and limit.as_pure() is not None:
        engine = pure_engine(problem)
        covered = "cover" if engine == "objective" else "do not cover"
        return {"engine": engine}, (
            f"without delta, the proof and the solver of objective perturbation {covered} this problem",
        )
    if name != "noisy_gd":
        first = f"it is the first in the order for the {problem.loss.name} loss whose proof holds"
        epsilon = limit.as_pure()
        if name != "objective" or epsilon is None or problem.penalty > 0:
            return {}, (first,)
        strength = pure_signal(problem, epsilon=float(epsilon), adjacency=world, public_count=count)
        kind = "diagonal" if strength >= LEAST_SIGNAL else "none"
        return {"preconditioner": kind}, (
            first,
            f"the signal epsilon n / (d factor) is {strength:.3g}: preconditioner {kind}",
        )
    mu = math.sqrt(gaussian_square(limit))
    factor = world.gradient_factor * max_rows
    setting = schedule_for(mu, count=count, dimension=problem.dimension, factor=factor)
    strength = signal(mu, count=count, dimension=problem.dimension, factor=factor)
    return (
        {"preconditioner": setting.preconditioner, "steps": setting.steps, "step": setting.step},
        (
            f"the loss has a bounded slope and d <= {LARGEST_FULL}",
            f"the signal mu n / (d factor) is {strength:.3g}: {setting.preconditioner} second moment, "
            f"{setting.steps} steps",
        ),
    )


def default_penalty(problem: Problem, *, left: PrivacyCurve, public_count: int) -> float:
    """A rule in public quantities, for a method that needs a penalty where none is given.

    Noise on a minimiser costs about (row_norm / (penalty n epsilon))^2 and the penalty itself costs in
    proportion to it; the sum is least where penalty = row_norm^2 (n epsilon)^(-2/3), up to a constant.
    """
    effective = max(public_count * left.epsilon(0.1 / public_count), 1.0)
    return problem.row_norm**2 * math.pow(effective, -2.0 / 3.0)

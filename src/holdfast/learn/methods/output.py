"""Output perturbation: minimise the risk, certify how exactly, and add noise to the minimiser.

Chaudhuri, Monteleoni and Sarwate 2011 (JMLR), "Differentially private empirical risk minimization",
Algorithm 1; soundness, section 3. A constant twice as large is often printed.
"""

from __future__ import annotations

import dataclasses

from holdfast.errors import require
from holdfast.learn.methods.method import SINGLE_ROWS, Fit, Learner, Rank
from holdfast.learn.problem import Problem
from holdfast.learn.problem.losses import HuberHinge
from holdfast.learn.risk.minimise import minimise_certified
from holdfast.learn.risk.risk import Risk
from holdfast.learn.rows.examples import Examples
from holdfast.privacy.account import Account
from holdfast.privacy.account.remaining import noise_within
from holdfast.privacy.adjacency import Adjacency
from holdfast.privacy.mechanisms.mechanism import Arithmetic

THEOREM = "Output perturbation of a strongly convex risk (CMS11, Corollary 8), with a certified approximate minimiser"
INEXACTNESS = 1e-3
"""The solver's tolerance in units of L / n: it adds a thousandth to the sensitivity for each neighbour."""


def output_perturbation(
    examples: Examples,
    problem: Problem,
    *,
    account: Account,
    width: float = 0.1,
    inexactness: float = INEXACTNESS,
    arithmetic: Arithmetic = "strict",
) -> Fit:
    """Minimise the penalised risk and add noise scaled to how far the minimiser can move.

    Private when the loss is convex and L-Lipschitz and the penalty strongly convex, constrained or not; the
    sum of losses is divided by the public count, whatever the adjacency. The plain hinge is smoothed over a
    band of half-width `width`, which keeps its Lipschitz constant.
    """
    require(0 < inexactness <= 1, "inexactness", inexactness, "in (0, 1]")
    if problem.loss.name == "hinge":
        problem = dataclasses.replace(problem, loss=HuberHinge(width=width))
    problem.require_smooth("output")
    sensitivity = minimiser_sensitivity(
        problem, adjacency=account.adjacency, public_count=examples.public_count, inexactness=inexactness
    )
    noise = noise_within(
        account, l2_sensitivity=sensitivity, dimension=problem.dimension, arithmetic=arithmetic
    )
    risk = Risk(
        examples=examples, problem=problem, penalty=problem.penalty, divisor=float(examples.public_count)
    )
    centre = minimise_certified(risk, tolerance=_tolerance(problem, examples.public_count, inexactness))
    weights = account.release(noise.mechanism, centre, label="output")
    return Fit(
        weights=weights,
        theorem=THEOREM,
        parameters={
            "l2_sensitivity": sensitivity,
            "loss": problem.loss.name,
            "penalty": problem.penalty,
            "arithmetic": arithmetic,
        },
        noise_std=noise.deviation,
    )


def minimiser_sensitivity(
    problem: Problem, *, adjacency: Adjacency, public_count: int, inexactness: float = INEXACTNESS
) -> float:
    """How far one record moves the computed minimiser: G / (penalty n) for the exact one, and the solver's 2 r.

    >>> from holdfast.learn.problem.losses import Logistic
    >>> problem = Problem(loss=Logistic(), dimension=1, penalty=0.1)
    >>> round(minimiser_sensitivity(problem, adjacency=Adjacency.replace, public_count=100, inexactness=1e-9), 6)
    0.2
    """
    # Soundness, section 3: both strong-convexity inequalities together give penalty |u - v|^2 <= (G/n) |u - v|.
    exact = problem.gradient_change(adjacency) / (problem.penalty * public_count)
    # |gradient| <= tolerance puts each neighbour's point within r = tolerance / penalty of its minimiser.
    within = _tolerance(problem, public_count, inexactness) / problem.penalty
    return (exact + 2.0 * within) * (1.0 + 1e-12)


def _tolerance(problem: Problem, public_count: int, inexactness: float) -> float:
    return inexactness * problem.lipschitz / public_count


METHOD = Learner(
    name="output",
    run=output_perturbation,
    paper="CMS11",
    needs=("convex", "lipschitz", "strongly_convex"),
    pure=True,
    single_rows=SINGLE_ROWS,
    ranks=(Rank(place=4),),
    behind="noise on the minimiser is isotropic: behind objective perturbation wherever both are proved",
)

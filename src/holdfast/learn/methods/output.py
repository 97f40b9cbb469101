"""Output perturbation: minimise the risk to a certified tolerance, and add noise to the minimiser.

Chaudhuri, Monteleoni and Sarwate 2011 (JMLR), "Differentially private empirical risk minimization",
Algorithm 1; soundness, section 3. Some publications print a constant that is twice as large.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from holdfast._arrays import Floats
from holdfast.errors import require
from holdfast.learn._intercept_centre import pay_for_centre
from holdfast.learn._problem import Problem
from holdfast.learn._risk.descent import gaussian_square
from holdfast.learn._risk.minimise import minimise_certified
from holdfast.learn._risk.multiclass_risk import MulticlassRisk
from holdfast.learn._risk.risk import Risk
from holdfast.learn._rows.examples import Examples
from holdfast.learn.methods.method import SINGLE_ROWS, Fit, Learner, PublicFacts, Rank, any_release
from holdfast.privacy._account import Account
from holdfast.privacy._account.remaining import noise_within
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._mechanisms.mechanism import Arithmetic
from holdfast.release._usefulness import Prospect

THEOREM = "Output perturbation of a strongly convex risk (CMS11, Corollary 8), with a certified approximate minimiser"
INEXACTNESS = 1e-3
"""The tolerance of the solver, as a multiple of L / n: it adds a thousandth to the sensitivity for each neighbour."""


def output_perturbation(
    examples: Examples,
    problem: Problem,
    *,
    account: Account,
    inexactness: float = INEXACTNESS,
    arithmetic: Arithmetic = "strict",
) -> Fit:
    """Minimise the penalised risk and add noise scaled to how far the minimiser can move.

    Private when the loss is convex and L-Lipschitz and the penalty strongly convex; smoothness is not needed, so the
    plain hinge is taken as it is. The sum of losses is divided by the public count, whatever the adjacency. Several
    classes are one minimiser and one release. The penalty on an intercept is counted from a centre that is paid for.
    """
    require(0 < inexactness <= 1, "inexactness", inexactness, "in (0, 1]")
    at = pay_for_centre(examples, problem, account, arithmetic=arithmetic)
    examples, problem = at.examples, at.problem
    sensitivity = minimiser_sensitivity(
        problem, adjacency=account.adjacency, public_count=examples.public_count, inexactness=inexactness
    )
    noise = noise_within(
        account, l2_sensitivity=sensitivity, dimension=problem.weights, arithmetic=arithmetic
    )
    centre = certified_weights(examples, problem, inexactness=inexactness, origin=at.origin)
    weights = account.release(noise.mechanism, centre, label="output")
    if not _on_ball(problem):
        # The minimiser of the whole space was released: the ball comes after the noise.
        length = float(np.linalg.norm(weights))
        weights = weights * min(1.0, problem.radius / max(length, 1e-300))
    return Fit(
        weights=at.original_weights(weights),
        theorem=THEOREM,
        parameters={
            "l2_sensitivity": sensitivity,
            "loss": problem.loss.name,
            "penalty": problem.penalty,
            "arithmetic": arithmetic,
            **at.parameters,
        },
        noise_std=noise.deviation,
        centre_noise_std=at.noise_std,
    )


def _on_ball(problem: Problem) -> bool:
    """Whether the solver minimises over the ball: it does so for smooth losses of one prediction."""
    return problem.outputs == "one" and math.isfinite(problem.smoothness)


def certified_weights(
    examples: Examples, problem: Problem, *, inexactness: float, origin: Floats | float = 0.0
) -> Floats:
    """Within tolerance / penalty of the minimiser, as a vector or as a row for each class; private before noise.

    The penalty is counted from `origin`, weights that are public: (penalty/2)|w - w0|^2 is (penalty/2)|w|^2 and a
    linear term, but for a constant.
    """
    start = np.broadcast_to(origin, problem.weights).astype(np.float64)
    tolerance, count = _tolerance(problem, examples.public_count, inexactness), float(examples.public_count)
    if _on_ball(problem):
        return minimise_certified(
            Risk(
                examples=examples,
                problem=problem,
                penalty=problem.penalty,
                divisor=count,
                linear=-problem.penalty * start,
            ),
            tolerance=tolerance,
        )
    free = dataclasses.replace(problem, radius=math.inf)
    loss: Any = problem.loss
    if math.isfinite(problem.smoothness):
        several = MulticlassRisk(
            examples=examples, problem=free, loss=loss, penalty=problem.penalty, divisor=count
        )
        several = dataclasses.replace(several, linear=-problem.penalty * several.of_weights(start))
        return several.of_classes(minimise_certified(several, tolerance=tolerance))
    from holdfast.learn._risk.hinge import HingeRisk, minimise_hinge

    if problem.loss.of_one.name != "hinge":
        problem.require_smooth("output, but for the hinge,")
    # Classes against the rest are minimised one by one: K distances of 1 / sqrt(K) each.
    distance = tolerance / problem.penalty / math.sqrt(problem.predictions)
    minimisers = []
    for code, first in enumerate(start.reshape(problem.predictions, -1)):
        risk = HingeRisk.of(examples, free, divisor=count, code=code, origin=first)
        minimisers.append(first + minimise_hinge(risk, distance=distance))
    return problem.of_weights(np.stack(minimisers))


def minimiser_sensitivity(
    problem: Problem, *, adjacency: Adjacency, public_count: int, inexactness: float = INEXACTNESS
) -> float:
    """The sensitivity of the computed minimiser: G / (penalty n) for the exact one, plus 2 r for the solver.

    >>> from holdfast.learn._problem.losses import Logistic
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


def output_prospects(facts: PublicFacts) -> tuple[Prospect, ...]:
    """The forecast for any release, and for the weights: how many units the noise in one weight hides.

    n units move the minimiser by at most n times the sensitivity, so noise of n sensitivities hides n units, whatever
    the penalty.
    """
    pure = facts.limit.as_pure()
    if pure is None:
        square = float(gaussian_square(facts.limit))
        noise = 1.0 / math.sqrt(square) if square > 0 else math.inf
    else:
        noise = math.sqrt(2.0 * facts.problem.weights) / float(pure) if pure > 0 else math.inf
    first = any_release(facts)
    return (*first, dataclasses.replace(first[0], quantity="weights", hidden=noise))


METHOD = Learner(
    name="output",
    run=output_perturbation,
    paper="CMS11",
    needs=("convex", "lipschitz", "strongly_convex"),
    pure=True,
    outputs=("one", "several"),
    single_rows=SINGLE_ROWS,
    prospects=output_prospects,
    ranks=(Rank(place=4),),
    behind="noise on the minimiser is isotropic: behind objective perturbation wherever both are proved",
    centres=True,
)

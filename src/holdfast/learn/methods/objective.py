"""Objective perturbation: a random linear term inside the objective, whose minimiser is released.

Chaudhuri, Monteleoni and Sarwate 2011, Algorithm 2 (pure); Kifer, Smith and Thakurta 2012, with the
privacy profile of Redberg, Koskela and Wang 2023 (Gaussian); approximate minima as in Iyengar et al. 2019.
Constants and adjacencies from soundness, section 4: the often quoted ones are for add_remove.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast._arrays import Floats
from holdfast._assumption import REAL_ARITHMETIC, Assumption
from holdfast.errors import BudgetExceeded, ParameterError, require
from holdfast.learn._intercept_centre import Centred, pay_for_centre, pull_assumptions
from holdfast.learn._problem import Problem
from holdfast.learn._risk.ball import BallRisk, minimise_in_ball
from holdfast.learn._risk.minimise import minimise_certified
from holdfast.learn._risk.risk import Risk
from holdfast.learn._rows.examples import Examples
from holdfast.learn.methods.method import (
    SINGLE_ROWS,
    Fit,
    Learner,
    PublicFacts,
    Rank,
    Settings,
    default_settings,
)
from holdfast.learn.methods.pure_rows import (
    LEAST_PENALTY,
    PureRows,
    Whitening,
    noise_ridge,
    noise_spread,
    pure_rows,
    row_plan,
)
from holdfast.privacy._account import Account
from holdfast.privacy._account.remaining import is_pure
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._calibration import calibrate
from holdfast.privacy._curves.curve import ApproxDP, PrivacyCurve
from holdfast.privacy._mechanisms.mechanism import Arithmetic
from holdfast.privacy._mechanisms.objective import ObjectivePerturbation, PureObjectivePerturbation
from holdfast.privacy._rounding import round_down, round_up

REAL_NUMBERS = Assumption(kind=REAL_ARITHMETIC, text="noise inside the objective is analysed as real numbers")
TWICE_DIFFERENTIABLE = ("logistic", "squared", "smooth_huber")
"""The proof changes variables by the Hessian; the Huber-smoothed hinge has corners in its gradient."""
BARRIER = 1e-2
"""The weight of a ball's barrier, as a multiple of the radius times the summed bounds on all gradients: it keeps every
minimiser farther from the sphere than rounding errors reach."""
RELATIVE_TOLERANCE = 1e-11
"""The tolerance of the solver, as a multiple of the summed bounds on all gradients: a hundred times the rounding error
of double precision."""
OUTPUT_SHARE = 0.05
"""The share of the privacy parameter for the solver's inexactness: it adds about a thousandth to the noise."""
PURE_OUTPUT_SHARE = 0.005
"""The same share without delta, where parts of epsilon simply add up."""
GAUSSIAN_FACTOR = 10.0
"""The penalty with Gaussian noise, as a multiple of smoothness / (1 - e^-epsilon)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Losses:
    """The sum of losses over a table, as the mechanism takes it. Private."""

    examples: Examples
    problem: Problem
    barrier: float = 0.0
    """The weight of the barrier that keeps the minimiser inside a ball; public; 0 without a ball."""
    origin: Floats | float = 0.0
    """w0, the public weights from which penalty and noise are counted: losses are those of w0 + v."""

    @property
    def dimension(self) -> int:
        """The number of weights."""
        return self.problem.dimension

    def minimise(self, linear: Floats, *, penalty: float, tolerance: float) -> Floats:
        """A certified minimiser of the sum at w0 + v, + (penalty/2)|v|^2 + <linear, v>."""
        # In w = w0 + v that is the sum at w, + (penalty/2)|w|^2 + <linear - penalty w0, w>.
        risk = self._risk(penalty, linear - penalty * self.origin)
        minimiser = (
            minimise_in_ball(risk, tolerance=tolerance)
            if isinstance(risk, BallRisk)
            else minimise_certified(risk, tolerance=tolerance)
        )
        return np.asarray(minimiser - self.origin)

    def gradient(self, at: Floats) -> Floats:
        """The gradient of the sum of losses and of the barrier, which is the same for every table; private."""
        at = self._inside(at + self.origin)
        return self._risk(1.0, -at).gradient(at)[0]

    def log_determinant(self, at: Floats, *, penalty: float) -> float:
        """ln det(sum of second derivatives + penalty I); private."""
        hessian = self._risk(penalty, None).hessian(self._inside(at + self.origin), precise=True)
        return float(np.linalg.slogdet(hessian)[1])

    def _inside(self, at: Floats) -> Floats:
        """The point itself; on a ball, a point outside is moved inside, as a noisy output that is replayed may lie."""
        length, most = float(np.linalg.norm(at)), self.problem.radius * (1.0 - 2.0**-10)
        return at * (most / length) if self.barrier and length > most else at

    def _risk(self, penalty: float, linear: Floats | None) -> Risk:
        arguments: Any = {
            "examples": self.examples,
            "problem": self.problem,
            "penalty": penalty,
            "linear": linear,
        }
        return BallRisk(weight=self.barrier, **arguments) if self.barrier else Risk(**arguments)


def objective_perturbation(
    examples: Examples,
    problem: Problem,
    *,
    account: Account,
    penalty_factor: float | None = None,
    preconditioner: Whitening | None = None,
    directions: int | None = None,
    count_bound: int | None = None,
    arithmetic: Arithmetic | None = None,
    mechanism: ObjectivePerturbation | PureObjectivePerturbation | None = None,
) -> Fit:
    """Minimise the losses plus a random linear term, and release the minimiser.

    Private when the loss is convex, twice differentiable and Lipschitz, predictions are linear, and the penalty acts on
    every weight, that of an intercept from a centre that is paid for; over the whole space or over an open ball, where
    least squares are Lipschitz too and a public barrier keeps the minimiser inside (`risk/ball.py`). Needs an account
    that can count it: pure, 'basic', 'renyi', or a plan with this `mechanism`, made by `objective_mechanism`.

    For pure accounts, where no penalty, radius or mechanism is asked for, rows are mapped first (`pure_rows.py`):
    `preconditioner="diagonal"` pays a share of epsilon for units of columns, `directions` is along how many public
    directions rows are seen; a rule decides both. The penalty then acts on the weights of mapped rows. Least squares,
    whose gradients have no bound, are then replaced by `SmoothHuber`, at a width that follows from how much is seen.
    """
    plain = mechanism is not None or not problem.unconstrained
    if plain or problem.loss.name != "squared" or not is_pure(account.remaining()):
        require_provable(problem)
    if preconditioner == "diagonal" or directions is not None or (not plain and is_pure(account.remaining())):
        _admit_mapping(preconditioner, problem, account, mechanism)
        at = Centred(examples=examples, problem=problem)
        if problem.loss.name == "squared":  # for classes, `pure_rows` releases an origin
            at = pay_for_centre(examples, problem, account, arithmetic=arithmetic or "strict")
        rows = pure_rows(
            at.examples,
            at.problem,
            account,
            preconditioner=preconditioner,
            directions=directions,
            count_bound=count_bound,
            arithmetic=arithmetic or "strict",
        )
        fit = _mapped_fit(rows, account, penalty_factor=penalty_factor, arithmetic=arithmetic or "strict")
        return dataclasses.replace(
            fit, weights=at.original_weights(fit.weights), parameters={**fit.parameters, **at.parameters}
        )
    require(preconditioner in (None, "none"), "preconditioner", preconditioner, "'diagonal' or 'none'")
    if mechanism is None:
        at = pay_for_centre(examples, problem, account, arithmetic=arithmetic or "strict")
        examples, problem = at.examples, at.problem
        chosen = objective_mechanism(
            problem,
            limit=account.remaining(),
            adjacency=account.adjacency,
            public_count=examples.public_count,
            penalty_factor=penalty_factor,
            arithmetic=arithmetic,
        )
    else:  # the account's plan pays for this mechanism and for nothing else
        at, chosen = Centred(examples=examples, problem=problem), mechanism
        for name in ("lipschitz", "smoothness"):
            held, needed = float(getattr(mechanism, name)), float(getattr(problem, name))
            require(held >= needed, f"mechanism.{name}", held, f">= {needed!r}, the problem's own")
    fit = _perturbed_fit(examples, problem, account, chosen, origin=at.origin)
    return dataclasses.replace(
        fit,
        weights=at.original_weights(fit.weights),
        parameters={**fit.parameters, **at.parameters},
        assumptions=(*fit.assumptions, *(() if at.parameters else pull_assumptions(problem))),
    )


def _perturbed_fit(
    examples: Examples,
    problem: Problem,
    account: Account,
    chosen: ObjectivePerturbation | PureObjectivePerturbation,
    *,
    origin: Floats | float = 0.0,
) -> Fit:
    """Charge, draw and minimise; `origin` must be public or released, and 0 on a ball."""
    point = account.remaining().as_approximate()
    delta = round_down(point[1]) if point is not None and point[1] > 0 else None
    permit = account.permit(chosen, times=1, delta=delta, label="objective")
    # The tolerance is a share of all gradients and the linear term together: the barrier holds against both.
    inside = math.isfinite(problem.radius)
    barrier = BARRIER * problem.radius * float(chosen.tolerance) / RELATIVE_TOLERANCE if inside else 0.0
    losses = Losses(examples=examples, problem=problem, barrier=barrier, origin=origin)
    weights = origin + np.asarray(permit.release(losses))
    # The noise for the solver's inexactness may lead out of the ball.
    weights = weights * min(1.0, problem.radius / max(float(np.linalg.norm(weights)), 1e-300))
    return Fit(
        weights=weights,
        theorem=type(chosen).theorem,
        parameters={
            "mechanism": chosen.to_json(),
            "sum_penalty": float(chosen.penalty),
            "arithmetic": chosen.arithmetic,
        },
        assumptions=() if chosen.arithmetic == "strict" else (REAL_NUMBERS,),
    )


def _admit_mapping(preconditioner: str | None, problem: Problem, account: Account, mechanism: object) -> None:
    """Refuse, before anything is spent, options that mapped rows do not allow."""
    known = preconditioner in (None, "diagonal", "none")
    require(known, "preconditioner", preconditioner, "'diagonal' or 'none'")
    left = account.remaining().as_pure()
    if left is None:
        raise ParameterError(
            "preconditioner='diagonal' and directions=... are for pure epsilon; with delta > 0 use method='noisy_gd', "
            "which whitens by a Gaussian second moment"
        )
    if left <= 0:
        raise BudgetExceeded("nothing remains in the account; nothing was drawn")
    instead = "on the weights of rows as they are needs preconditioner='none' and directions=None"
    require(problem.penalty == 0, "penalty", problem.penalty, "0 for mapped rows", f"a penalty {instead}")
    require(mechanism is None, "mechanism", mechanism, "None for mapped rows")
    require(
        math.isinf(problem.radius),
        "radius",
        problem.radius,
        "infinite for mapped rows",
        f"a radius {instead}",
    )


def _mapped_fit(
    rows: PureRows, account: Account, *, penalty_factor: float | None, arithmetic: Arithmetic
) -> Fit:
    """Objective perturbation of mapped rows with the remaining budget; the two pure costs add up."""
    chosen = objective_mechanism(
        rows.problem,
        limit=account.remaining(),
        adjacency=account.adjacency,
        public_count=rows.examples.public_count,
        penalty_factor=penalty_factor,
        arithmetic=arithmetic,
        l1_factor=rows.reach,
        effective_dimension=rows.row_map.effective_dimension,
        curvature=rows.curvature,
        weight_size=rows.weight_size,
    )
    fit = _perturbed_fit(rows.examples, rows.problem, account, chosen, origin=rows.origin)
    how = "by Laplace-noised moments of columns and clipped" if rows.row_map.units else "publicly and clipped"
    return dataclasses.replace(
        fit,
        weights=rows.weights(fit.weights),
        theorem=f"{fit.theorem}; rows mapped {how}",
        parameters={**fit.parameters, **rows.parameters},
        assumptions=(*fit.assumptions, *rows.assumptions),
    )


def require_provable(problem: Problem) -> None:
    """Refuse problems that the proof by a change of variables does not cover."""
    problem.require_lipschitz("objective")
    problem.require_smooth("objective")
    if problem.loss.name not in TWICE_DIFFERENTIABLE:
        raise ParameterError(
            f"objective needs a loss with a second derivative everywhere, one of {', '.join(TWICE_DIFFERENTIABLE)}, "
            f"got the {problem.loss.name} loss; use method='output'"
        )


def objective_mechanism(
    problem: Problem,
    *,
    limit: PrivacyCurve,
    adjacency: Adjacency | str,
    public_count: int,
    penalty_factor: float | None = None,
    arithmetic: Arithmetic | None = None,
    l1_factor: float | None = None,
    effective_dimension: float | None = None,
    curvature: float | None = None,
    weight_size: float = 1.0,
) -> ObjectivePerturbation | PureObjectivePerturbation:
    """The least noise inside the objective that stays within the limit.

    The penalty on the sum of losses is n times the problem's, and never below
    penalty_factor * smoothness / (1 - e^-epsilon). The default is 10, so that determinants take about a tenth of
    epsilon; without delta, where noise is larger by the root of the dimension, `noise_ridge`. `l1_factor` bounds the L1
    norm of gradients as a multiple of their Euclidean bound. `curvature` is the mean curvature of the loss, where it is
    known to be less than the largest; `weight_size` is the typical size of a weight.

    >>> from holdfast.learn._problem.losses import Logistic
    >>> mechanism = objective_mechanism(Problem(loss=Logistic(), dimension=5), limit=ApproxDP(1.0, 1e-6),
    ...                                 adjacency="add_remove", public_count=1000)
    >>> round(float(mechanism.sigma), 3), round(float(mechanism.penalty), 3)
    (4.637, 3.955)
    """
    require_provable(problem)
    if penalty_factor is not None:
        require(1.2 <= penalty_factor < math.inf, "penalty_factor", penalty_factor, ">= 1.2 and finite")
    pure, point = limit.as_pure(), limit.as_approximate()
    epsilon = float(point[0]) if point is not None else limit.epsilon(1e-6)
    if epsilon <= 0:
        raise BudgetExceeded("nothing remains in the account; nothing was drawn")
    chosen: Arithmetic = arithmetic or "strict"
    if pure is not None and penalty_factor is None:
        least = LEAST_PENALTY * problem.smoothness / -math.expm1(-epsilon)
        if problem.penalty == 0:
            spread = noise_spread(problem.dimension, l1_factor, arithmetic=chosen)
            wide, factor = (
                effective_dimension or float(problem.dimension),
                Adjacency.of(adjacency).gradient_factor,
            )
            least = noise_ridge(
                epsilon,
                deviation=spread * problem.gradient_change(adjacency) / weight_size,
                determinants=lambda penalty: math.log1p(problem.smoothness / penalty),
                effective_dimension=wide,
                count=public_count,
                curvature=curvature or problem.loss.curvature,
                least=least,
                signal=epsilon * public_count / (factor * wide),
            )
    else:
        times = GAUSSIAN_FACTOR if penalty_factor is None else penalty_factor
        least = times * problem.smoothness / -math.expm1(-epsilon)
    recipe = _MechanismRecipe(
        problem=problem,
        adjacency=Adjacency.of(adjacency),
        public_count=public_count,
        penalty=max(least, public_count * problem.penalty),
        l1_factor=l1_factor,
    )
    if pure is not None:
        return recipe.pure(epsilon=round_down(pure), arithmetic=chosen)
    if point is not None:
        # A hair below: the charge is the curve's own epsilon at this delta, which is rounded up.
        limit = ApproxDP(round_down(point[0]) * (1.0 - 1e-9), point[1])
    return recipe.gaussian(limit, arithmetic=chosen)


@dataclass(frozen=True, kw_only=True)
class _MechanismRecipe:
    """The public constants of the mechanism, without the scale of its noise."""

    problem: Problem
    adjacency: Adjacency
    public_count: int
    penalty: float
    l1_factor: float | None = None

    def pure(self, *, epsilon: float, arithmetic: Arithmetic) -> PureObjectivePerturbation:
        """The least scale with epsilon = G/scale + ln(1 + beta/penalty) + the share for the solver's inexactness."""
        output = PURE_OUTPUT_SHARE * epsilon
        unscaled = PureObjectivePerturbation(
            scale=1.0,
            output_epsilon=output,
            tolerance=1.0,
            arithmetic=arithmetic,
            l1_factor=self.l1_factor,
            **self._constants,
        )
        left = epsilon - unscaled.log_determinants - output
        scale = round_up(unscaled.gradient_change) / left * (1.0 + 1e-15)
        spread = scale * (self.problem.dimension + 10.0 * math.sqrt(self.problem.dimension))
        while True:
            sized = dataclasses.replace(unscaled, scale=scale, tolerance=self._tolerance(spread))
            total = sized.curve.as_pure()
            if total is not None and round_up(total) <= epsilon:
                return sized
            scale *= 1.0 + 1e-15

    def gaussian(self, limit: PrivacyCurve, *, arithmetic: Arithmetic) -> ObjectivePerturbation:
        """The least sigma; the noise for the solver's inexactness is in proportion to it."""

        def make(sigma: float) -> ObjectivePerturbation:
            tolerance = self._tolerance(sigma * (math.sqrt(self.problem.dimension) + 10.0))
            change = self.problem.gradient_change(self.adjacency)
            # output_mu = share * mu.
            output = 2.0 * tolerance / self.penalty * sigma / (OUTPUT_SHARE * change)
            return ObjectivePerturbation(
                sigma=sigma,
                output_sigma=output,
                tolerance=tolerance,
                arithmetic=arithmetic,
                **self._constants,
            )

        if not make(1e9).curve.within(limit):
            raise ParameterError(
                f"objective perturbation has no cost that fits into {limit!r}: it is counted in epsilon and delta or "
                "in Renyi divergences; open the account with currency='basic' or 'renyi', or by a plan with "
                "objective_mechanism(...)"
            )
        return make(calibrate(lambda sigma: make(sigma).curve, limit))

    @property
    def _constants(self) -> dict[str, Any]:
        return {
            "lipschitz": self.problem.lipschitz,
            "smoothness": self.problem.smoothness,
            "penalty": self.penalty,
            "adjacency": self.adjacency,
        }

    def _tolerance(self, spread: float) -> float:
        """The tolerance of the solver, relative to the size of all gradients and of the linear term."""
        return RELATIVE_TOLERANCE * (self.public_count * self.problem.lipschitz + spread)


def _settings(facts: PublicFacts) -> Settings:
    """Where there is no delta, no penalty and no radius: the way in which rows are mapped first."""
    settings, epsilon = default_settings(facts), facts.limit.as_pure()
    if epsilon is None or not facts.problem.unconstrained:
        return settings
    plan = row_plan(facts.problem, epsilon=float(epsilon), adjacency=facts.adjacency, count=facts.count)
    return Settings(options={"preconditioner": plan.preconditioner}, reasons=(*settings.reasons, plan.reason))


METHOD = Learner(
    name="objective",
    run=objective_perturbation,
    paper="KST12",
    needs=("convex", "lipschitz", "smooth"),
    pure=True,
    currency="basic",
    losses=("logistic", "squared"),
    smoothed=("squared",),
    only="needs a loss with two continuous derivatives",
    single_rows=SINGLE_ROWS,
    ranks=(
        Rank(place=2, losses=("logistic",)),
        Rank(place=0, pure=True, losses=("squared",), unconstrained=True),
    ),
    behind="does not whiten: 0.2 to 1 point behind on the two tables tried",
    settings=_settings,
    no_intervals="its penalty moves what is estimated, and its release holds no curvature",
    centres=True,
)

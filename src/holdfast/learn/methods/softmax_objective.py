"""Objective perturbation of one softmax model, under pure epsilon.

Soundness, section 4, records of rank K - 1. In V, the (K - 1) d weights of `multiclass_risk`, one record's loss is
convex and smooth to every order, its gradient Q^T (p - e_y) x^T has norm at most sqrt(2) X, and its Hessian
A = (Q^T (diag p - p p^T) Q) (x) x x^T has rank at most K - 1 and trace (1 - |p|^2) |x|^2 <= (1 - 1/K) X^2 =: t.
With b of density proportional to exp(-|b| / s), and penalty Lambda on all of V, b <-> V is a bijection, and V has
density nu(b(V)) det H(V). Gradients at one point differ by G at most, so nu moves by e^(G/s). As for determinants,
take H0 for what neighbours share, H0 >= Lambda I: det(H0 + A) / det(H0) <= det(I + A / Lambda), and by concavity of
the logarithm over the K - 1 eigenvalues that is at most (1 + t / ((K - 1) Lambda))^(K - 1). Under `replace` both
records have det >= det(H0), so the same bound holds for the ratio. Together

    epsilon = G / s + (K - 1) ln(1 + t / ((K - 1) Lambda)),  t / (K - 1) = X^2 / K.

ln(1 + X^2 / (2 Lambda)), as if the Hessian had rank one, is too small for three classes and more.

Rows whose sizes add up to A at most (`pure_rows.py`) have gradients (p - e_y) x^T whose sizes add up to 2 A: whatever
the number of classes, independent Laplace numbers of scale 2 A / epsilon will do for all K d weights W. The same change
of variables holds in them, since the penalty acts on all: what every class shares meets noise and penalty alone, and
no prediction. Losses at W0 + V, with W0 public or released before, are as convex, as long in their gradients and as
smooth in V: penalty and noise may be counted from any such W0, here the model that predicts released shares of classes.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast._arrays import Floats
from holdfast.errors import BudgetExceeded, ParameterError, require
from holdfast.learn._intercept_centre import Centred, pay_for_centre
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Softmax
from holdfast.learn._risk.minimise import minimise_certified
from holdfast.learn._risk.multiclass_risk import DENSE_WEIGHTS, MulticlassRisk
from holdfast.learn._rows.examples import Examples
from holdfast.learn.methods.method import Fit
from holdfast.learn.methods.pure_rows import LEAST_PENALTY, balanced_ridge, noise_spread, pure_rows
from holdfast.privacy._account import Account
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._mechanisms.mechanism import Arithmetic
from holdfast.privacy._mechanisms.objective import PureObjectivePerturbation
from holdfast.privacy._rounding import round_down, round_up

THEOREM = (
    "Objective perturbation (Chaudhuri, Monteleoni and Sarwate 2011) of a softmax loss: records of rank K - 1, "
    "soundness, section 4"
)
OUTPUT_SHARE = 0.005
"""The share of epsilon for the solver's inexactness."""
RELATIVE_TOLERANCE = 1e-11
"""The tolerance of the solver, as a multiple of the summed bounds on all gradients."""


def weight_count(problem: Problem, loss: Softmax, *, l1: bool = False) -> int:
    """The number of weights: (K - 1) d identifiable ones, or all K d where noise is for the L1 norm.

    The L1 norm is not preserved by the change of basis that leaves out the unidentifiable weights.
    """
    return (loss.classes - (not l1)) * problem.dimension


def covers(problem: Problem) -> bool:
    """Whether proof and solver cover this problem: a softmax without a radius; with a penalty, few enough weights."""
    loss: Any = problem.loss
    if loss.name != "softmax" or math.isfinite(problem.radius):
        return False
    return problem.penalty == 0 or weight_count(problem, loss) <= DENSE_WEIGHTS


def log_determinant(problem: Problem, loss: Softmax, *, penalty: float) -> float:
    """(K - 1) ln(1 + X^2 / (K penalty)): how far one record moves the logarithm of the Hessian's determinant.

    >>> problem = Problem(loss=Softmax(classes=10), dimension=2)
    >>> round(log_determinant(problem, Softmax(classes=10), penalty=0.2), 4)
    3.6492
    """
    return (loss.classes - 1) * math.log1p(problem.norm_bound**2 / (loss.classes * penalty))


def softmax_penalty(
    problem: Problem,
    loss: Softmax,
    *,
    epsilon: float,
    adjacency: Adjacency,
    public_count: int,
    arithmetic: Arithmetic = "strict",
    l1_factor: float | None = None,
    effective_dimension: float | None = None,
) -> float:
    """The least penalty on the sum of losses; where the problem has none, that of `balanced_ridge`.

    Never below 2 t / (1 - e^-epsilon), t = (1 - 1/K) X^2: determinants, at most t / penalty, take half of epsilon.
    """
    trace = (1.0 - 1.0 / loss.classes) * problem.norm_bound**2
    least = LEAST_PENALTY * trace / -math.expm1(-epsilon)
    if problem.penalty > 0:
        return least
    spread = noise_spread(weight_count(problem, loss), l1_factor, arithmetic=arithmetic)
    return balanced_ridge(
        epsilon,
        deviation=spread * problem.gradient_change(adjacency),
        determinants=lambda penalty: log_determinant(problem, loss, penalty=penalty),
        effective_dimension=effective_dimension or float(problem.dimension),
        count=public_count,
        # The curvature for one class among K equally likely ones.
        curvature=(loss.classes - 1) / loss.classes**2,
        least=least,
    )


def softmax_mechanism(
    problem: Problem,
    loss: Softmax,
    *,
    epsilon: float,
    penalty: float,
    adjacency: Adjacency,
    public_count: int,
    arithmetic: Arithmetic = "strict",
    l1_factor: float | None = None,
) -> PureObjectivePerturbation:
    """The least noise inside the objective that stays within epsilon.

    The mechanism's law counts ln(1 + smoothness / penalty) for determinants: it is told the smoothness for which that
    is the bound for records of rank K - 1.
    """
    ratio = math.expm1(log_determinant(problem, loss, penalty=penalty) * (1.0 + 1e-12))
    numbers, output = weight_count(problem, loss, l1=l1_factor is not None), OUTPUT_SHARE * epsilon
    unscaled = PureObjectivePerturbation(
        scale=1.0,
        output_epsilon=output,
        tolerance=1.0,
        arithmetic=arithmetic,
        lipschitz=problem.lipschitz,
        smoothness=penalty * ratio * (1.0 + 1e-12),
        penalty=penalty,
        adjacency=adjacency,
        l1_factor=l1_factor,
    )
    left = epsilon - unscaled.log_determinants - output
    if left <= 0:
        raise ParameterError(
            f"penalty must be larger on the sum of losses, got {penalty!r}: determinants alone would cost epsilon"
        )
    scale = round_up(unscaled.gradient_change) / left * (1.0 + 1e-15)
    size = public_count * problem.lipschitz + scale * (numbers + 10.0 * math.sqrt(numbers))
    while True:
        sized = dataclasses.replace(unscaled, scale=scale, tolerance=RELATIVE_TOLERANCE * size)
        total = sized.curve.as_pure()
        if total is not None and round_up(total) <= epsilon:
            return sized
        scale *= 1.0 + 1e-15


@dataclass(frozen=True, kw_only=True, eq=False)
class SoftmaxLosses:
    """The sum of losses over a table, as the mechanism `PureObjectivePerturbation` takes it. Private."""

    examples: Examples
    problem: Problem
    loss: Softmax
    whole: bool = False
    """Whether all K d weights are used, instead of the (K - 1) d identifiable ones."""
    origin: Floats | float = 0.0
    """W0, the public weights from which V is counted."""

    @property
    def dimension(self) -> int:
        """The number of weights."""
        return weight_count(self.problem, self.loss, l1=self.whole)

    def minimise(self, linear: Floats, *, penalty: float, tolerance: float) -> Floats:
        """A certified minimiser of the sum at W0 + V, + (penalty/2)|V|^2 + <linear, V>."""
        # In W = W0 + V that is the sum at W, + (penalty/2)|W|^2 + <linear - penalty W0, W>.
        minimiser = minimise_certified(
            self._risk(penalty, linear - penalty * self.origin), tolerance=tolerance
        )
        return np.asarray(minimiser - self.origin)

    def gradient(self, at: Floats) -> Floats:
        """The gradient of the sum of losses; private."""
        weights = at + self.origin
        return self._risk(1.0, -weights).gradient(weights)[0]

    def log_determinant(self, at: Floats, *, penalty: float) -> float:
        """ln det(sum of second derivatives + penalty I); private."""
        hessian = self._risk(penalty, None).hessian(at + self.origin, precise=True)
        return float(np.linalg.slogdet(hessian)[1])

    def of_classes(self, contrasts: Floats) -> Floats:
        """A row of weights for each class; the mean over classes, which has no effect on predictions, is subtracted."""
        weights = self._risk(1.0, None).of_classes(contrasts)
        return np.asarray(weights - weights.mean(axis=0)) if self.whole else weights

    def of_weights(self, weights: Floats | float) -> Floats | float:
        """The identifiable weights of flat weights of all classes; 0 stays 0."""
        return weights if np.ndim(weights) == 0 else self._risk(1.0, None).of_weights(np.asarray(weights))

    def _risk(self, penalty: float, linear: Floats | None) -> MulticlassRisk:
        return MulticlassRisk(
            examples=self.examples,
            problem=self.problem,
            loss=self.loss,
            penalty=penalty,
            linear=linear,
            whole=self.whole,
        )


def softmax_objective(
    examples: Examples, problem: Problem, *, account: Account, arithmetic: Arithmetic = "strict"
) -> Fit:
    """Minimise softmax losses plus a random linear term; rows are mapped first where the problem has no penalty.

    For callers that have checked examples and account.
    """
    loss: Any = problem.loss
    if not covers(problem):
        raise ParameterError(
            f"engine='objective' needs the softmax loss, no radius and, with a penalty, at most {DENSE_WEIGHTS} "
            f"weights (classes - 1 times columns), got loss={loss.name!r}, radius={problem.radius!r} and "
            f"{weight_count(problem, loss)} weights; use engine='output'"
        )
    left = account.remaining().as_pure()
    require(left is not None, "account", account.remaining(), "of pure epsilon", "use engine='noisy_gd'")
    if left is None or left <= 0:
        raise BudgetExceeded("nothing remains in the account; nothing was drawn")
    mapped, at = None, Centred(examples=examples, problem=problem)
    if problem.penalty == 0:
        mapped = pure_rows(examples, problem, account, arithmetic=arithmetic)
    else:
        at = pay_for_centre(examples, problem, account, arithmetic=arithmetic)
    rows, inner = (examples, problem) if mapped is None else (mapped.examples, mapped.problem)
    remaining = account.remaining().as_pure()
    assert remaining is not None, "the account is pure, as checked above"
    arguments: dict[str, Any] = {
        "epsilon": round_down(remaining),
        "adjacency": account.adjacency,
        "public_count": examples.public_count,
        "arithmetic": arithmetic,
        # The sizes of p - e_y add up to 2 at most, its length is sqrt(2) at most.
        "l1_factor": None if mapped is None else math.sqrt(2.0) * (1.0 + 1e-12) * mapped.reach,
    }
    effective = None if mapped is None else mapped.row_map.effective_dimension
    least = softmax_penalty(inner, loss, effective_dimension=effective, **arguments)
    penalty = max(least, examples.public_count * problem.penalty)
    mechanism = softmax_mechanism(inner, loss, penalty=penalty, **arguments)
    losses = SoftmaxLosses(examples=rows, problem=inner, loss=loss, whole=mapped is not None)
    origin = losses.of_weights(at.origin) if mapped is None else mapped.origin
    losses = dataclasses.replace(losses, origin=origin)
    contrasts = origin + np.asarray(account.release(mechanism, losses, label="softmax: objective"))
    weights = losses.of_classes(contrasts)
    how = (
        ""
        if mapped is None
        else "; rows mapped by Laplace-noised moments of columns or publicly, and clipped"
    )
    return Fit(
        weights=weights if mapped is None else mapped.weights(weights),
        theorem=f"{THEOREM}{how}",
        parameters={
            "engine": "objective",
            "mechanism": mechanism.to_json(),
            "sum_penalty": float(mechanism.penalty),
            "log_determinant": mechanism.log_determinants,
            **({"preconditioner": "none"} if mapped is None else mapped.parameters),
            "arithmetic": arithmetic,
            **at.parameters,
        },
        assumptions=(
            *(() if mapped is None else mapped.assumptions),
            *(() if arithmetic == "strict" else ("noise inside the objective is analysed as real numbers",)),
        ),
    )

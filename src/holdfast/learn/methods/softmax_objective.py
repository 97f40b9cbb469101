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

The penalty, here and for two classes, is a rule in public quantities only; docs/decisions/learning-default.md says how
it was found, and on which data.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import BudgetExceeded, ParameterError, require
from holdfast.learn.methods.method import Fit
from holdfast.learn.problem import Problem
from holdfast.learn.problem.losses import Softmax
from holdfast.learn.risk.minimise import minimise_certified
from holdfast.learn.risk.multiclass_risk import DENSE_WEIGHTS, MulticlassRisk
from holdfast.learn.rows.examples import Examples
from holdfast.learn.whitened_examples import CLIP, SHARE, WhitenedExamples, release_diagonal
from holdfast.privacy.account import Account
from holdfast.privacy.adjacency import Adjacency
from holdfast.privacy.mechanisms.mechanism import Arithmetic
from holdfast.privacy.mechanisms.objective import PureObjectivePerturbation
from holdfast.privacy.rounding import round_down, round_up

Floats = NDArray[np.float64]
THEOREM = (
    "Objective perturbation (Chaudhuri, Monteleoni and Sarwate 2011) of a softmax loss: records of rank K - 1, "
    "soundness, section 4"
)
OUTPUT_SHARE = 0.005
"""Of epsilon, for the solver's inexactness."""
RELATIVE_TOLERANCE = 1e-11
"""The solver's, in units of all gradients together."""
PURE_SHARE = 0.8
"""The penalty, in standard deviations of one coordinate of the linear term, where the signal is weak."""
PURE_SIGNAL = 100.0
"""Where it is stronger, the share is this over the signal."""
PURE_FACTOR = 2.0
"""The least penalty, in units of smoothness / (1 - e^-epsilon)."""
PURE_WHITENED = 0.05
"""The least share for whitened rows, whose directions are all alike."""
LEAST_SIGNAL = 20.0
"""Of epsilon n / (d factor): below it, a share of epsilon says too little about the columns to whiten by it."""


def pure_signal(problem: Problem, *, epsilon: float, adjacency: Adjacency | str, public_count: int) -> float:
    """epsilon n / (d factor): how far the whole of epsilon lets each coordinate of a mean be seen.

    >>> from holdfast.learn.problem.losses import Logistic
    >>> pure_signal(Problem(loss=Logistic(), dimension=50), epsilon=1.0, adjacency="replace", public_count=10_000)
    100.0
    """
    return epsilon * public_count / (problem.dimension * Adjacency.of(adjacency).gradient_factor)


def pure_share(signal: float, *, least: float = 0.0) -> float:
    """The penalty in standard deviations of one coordinate of the linear term.

    >>> pure_share(10.0), pure_share(1_000.0), pure_share(1_000.0, least=0.2)
    (0.8, 0.1, 0.2)
    """
    return max(least, min(PURE_SHARE, PURE_SIGNAL / signal))


def pure_penalty(
    problem: Problem,
    *,
    epsilon: float,
    adjacency: Adjacency | str,
    public_count: int,
    arithmetic: Arithmetic = "strict",
    least_share: float = 0.0,
) -> float:
    """The penalty on the sum of losses where there is no delta; a rule in public quantities.

    0.8 standard deviations of one coordinate of the linear term: where the data say nothing, noise moves a weight
    by about 1. Less where the signal epsilon n / (d factor) is strong and most directions are known, but not
    less than `least_share` of it (0.05 for whitened rows, whose directions are all alike); never below
    2 smoothness / (1 - e^-epsilon), so that determinants take half of a small epsilon at most.

    >>> from holdfast.learn.problem.losses import Logistic
    >>> problem = Problem(loss=Logistic(), dimension=50)
    >>> round(pure_penalty(problem, epsilon=1.0, adjacency="replace", public_count=10_000), 3)
    16.0
    """
    # The noise is independent Laplace of scale sqrt(d) G / epsilon (strict), or of Gamma norm (idealised).
    spread = 2 * problem.dimension if arithmetic == "strict" else problem.dimension + 1
    deviation = math.sqrt(spread) * problem.gradient_change(adjacency) / epsilon
    signal = pure_signal(problem, epsilon=epsilon, adjacency=adjacency, public_count=public_count)
    return max(
        pure_share(signal, least=least_share) * deviation,
        PURE_FACTOR * problem.smoothness / -math.expm1(-epsilon),
    )


def weights_of(problem: Problem, loss: Softmax) -> int:
    """(K - 1) d."""
    return (loss.classes - 1) * problem.dimension


def covers(problem: Problem) -> bool:
    """Whether the proof, and the solver, cover this problem: a softmax over the whole space, not too many weights."""
    loss: Any = problem.loss
    if loss.name != "softmax" or math.isfinite(problem.radius):
        return False
    return weights_of(problem, loss) <= DENSE_WEIGHTS


def log_determinant(problem: Problem, loss: Softmax, *, penalty: float) -> float:
    """(K - 1) ln(1 + X^2 / (K penalty)): how far one record moves the logarithm of the Hessian's determinant.

    >>> problem = Problem(loss=Softmax(classes=10), dimension=2)
    >>> round(log_determinant(problem, Softmax(classes=10), penalty=0.2), 4)
    3.6492
    """
    return (loss.classes - 1) * math.log1p(problem.norm_bound**2 / (loss.classes * penalty))


def softmax_penalty(
    problem: Problem, loss: Softmax, *, epsilon: float, adjacency: Adjacency, public_count: int,
    arithmetic: Arithmetic = "strict", least_share: float = 0.0,
) -> float:  # fmt: skip
    """The penalty on the sum of losses; the rule of `pure_penalty` with (K - 1) d weights.

    Never below 2 t / (1 - e^-epsilon), t = (1 - 1/K) X^2: determinants, at most t / penalty, take half of epsilon.
    """
    numbers = weights_of(problem, loss)
    spread = 2 * numbers if arithmetic == "strict" else numbers + 1
    deviation = math.sqrt(spread) * problem.gradient_change(adjacency) / epsilon
    signal = epsilon * public_count / (numbers * adjacency.gradient_factor)
    trace = (1.0 - 1.0 / loss.classes) * problem.norm_bound**2
    return max(pure_share(signal, least=least_share) * deviation, 2.0 * trace / -math.expm1(-epsilon))


def softmax_mechanism(
    problem: Problem, loss: Softmax, *, epsilon: float, penalty: float, adjacency: Adjacency, public_count: int,
    arithmetic: Arithmetic = "strict",
) -> PureObjectivePerturbation:  # fmt: skip
    """The least noise inside the objective that stays within epsilon.

    The mechanism's law counts ln(1 + smoothness / penalty) for determinants: it is told the smoothness for which that
    is the bound for records of rank K - 1.
    """
    ratio = math.expm1(log_determinant(problem, loss, penalty=penalty) * (1.0 + 1e-12))
    numbers, output = weights_of(problem, loss), OUTPUT_SHARE * epsilon
    made = PureObjectivePerturbation(
        scale=1.0, output_epsilon=output, tolerance=1.0, arithmetic=arithmetic, lipschitz=problem.lipschitz,
        smoothness=penalty * ratio * (1.0 + 1e-12), penalty=penalty, adjacency=adjacency,
    )  # fmt: skip
    left = epsilon - made.log_determinants - output
    if left <= 0:
        raise ParameterError(
            f"penalty must be larger on the sum of losses, got {penalty!r}: determinants alone would cost epsilon"
        )
    scale = round_up(made.gradient_change) / left * (1.0 + 1e-15)
    size = public_count * problem.lipschitz + scale * (numbers + 10.0 * math.sqrt(numbers))
    while True:
        sized = dataclasses.replace(made, scale=scale, tolerance=RELATIVE_TOLERANCE * size)
        total = sized.curve.as_pure()
        if total is not None and round_up(total) <= epsilon:
            return sized
        scale *= 1.0 + 1e-15


@dataclass(frozen=True, kw_only=True, eq=False)
class SoftmaxLosses:
    """The sum of losses over a table, as the mechanism sees it."""

    examples: Examples
    problem: Problem
    loss: Softmax

    @property
    def dimension(self) -> int:
        """The number of weights."""
        return weights_of(self.problem, self.loss)

    def minimise(self, linear: Floats, *, penalty: float, tolerance: float) -> Floats:
        """A certified minimiser of sum + (penalty/2)|V|^2 + <linear, V>."""
        return minimise_certified(self._risk(penalty, linear), tolerance=tolerance)

    def gradient(self, at: Floats) -> Floats:
        """Of the sum of losses; private."""
        return self._risk(1.0, -at).gradient(at)[0]

    def log_determinant(self, at: Floats, *, penalty: float) -> float:
        """ln det(sum of second derivatives + penalty I); private."""
        return float(np.linalg.slogdet(self._risk(penalty, None).hessian(at, precise=True))[1])

    def _risk(self, penalty: float, linear: Floats | None) -> MulticlassRisk:
        return MulticlassRisk(
            examples=self.examples, problem=self.problem, loss=self.loss, penalty=penalty, linear=linear
        )


def softmax_objective(
    examples: Examples, problem: Problem, *, account: Account, arithmetic: Arithmetic = "strict"
) -> Fit:
    """Minimise softmax losses with a random linear term in them; columns whitened first where that can be paid for.

    For callers that have admitted examples and account. Whitening, as for two classes, is a Laplace release of the
    columns' squares at a small share of epsilon; it happens where the signal is strong and no penalty was asked for.
    """
    loss: Any = problem.loss
    if not covers(problem):
        raise ParameterError(
            f"engine='objective' needs the softmax loss, no radius and at most {DENSE_WEIGHTS} weights (classes - 1 "
            f"times columns), got loss={loss.name!r}, radius={problem.radius!r} and {weights_of(problem, loss)} "
            "weights; use engine='output'"
        )
    left = account.remaining().as_pure()
    require(left is not None, "account", account.remaining(), "of pure epsilon", "use engine='noisy_gd'")
    if left is None or left <= 0:
        raise BudgetExceeded("nothing remains in the account; nothing was drawn")
    count = examples.public_count
    assumptions: tuple[str, ...] = ()
    signal = pure_signal(problem, epsilon=float(left), adjacency=account.adjacency, public_count=count)
    rows, inner, whitening, norm = examples, problem, None, 1.0
    if problem.penalty == 0 and signal / (loss.classes - 1) >= LEAST_SIGNAL:
        most, assumptions = examples.largest_count()
        whitening = release_diagonal(examples, problem, account, most=most, arithmetic=arithmetic)
        norm = CLIP * math.sqrt(max(1.0, whitening.effective_dimension))
        rows = WhitenedExamples(examples=examples, problem=problem, whitening=whitening, norm=norm).kept()
        inner = dataclasses.replace(problem, row_norm=1.0)
    remaining = account.remaining().as_pure()
    assert remaining is not None, "the account is pure, as checked above"
    epsilon = round_down(remaining)
    least = softmax_penalty(
        inner, loss, epsilon=epsilon, adjacency=account.adjacency, public_count=count, arithmetic=arithmetic,
        least_share=PURE_WHITENED if whitening is not None else 0.0,
    )  # fmt: skip
    mechanism = softmax_mechanism(
        inner, loss, epsilon=epsilon, penalty=max(least, count * problem.penalty), adjacency=account.adjacency,
        public_count=count, arithmetic=arithmetic,
    )  # fmt: skip
    losses = SoftmaxLosses(examples=rows, problem=inner, loss=loss)
    found = account.release(mechanism, losses, label="softmax: objective")
    weights = MulticlassRisk(examples=rows, problem=inner, loss=loss, penalty=1.0).of_classes(
        np.asarray(found)
    )
    if whitening is not None:
        weights = np.stack([whitening.backward(row) for row in weights]) / norm
    return Fit(
        weights=weights,
        theorem=THEOREM if whitening is None else f"{THEOREM}; rows whitened by Laplace-noised squares of columns",
        parameters={
            "engine": "objective", "mechanism": mechanism.to_json(), "sum_penalty": float(mechanism.penalty),
            "log_determinant": mechanism.log_determinants,
            "preconditioner": "none" if whitening is None else "diagonal",
            **({} if whitening is None else {"share": SHARE, "clip": norm}), "arithmetic": arithmetic,
        },
        assumptions=(
            *assumptions,
            *(() if arithmetic == "strict" else ("noise inside the objective is analysed as real numbers",)),
        ),
    )  # fmt: skip

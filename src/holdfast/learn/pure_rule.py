"""The penalty of objective perturbation under pure epsilon: a rule in public quantities only.

docs/decisions/learning-default.md says how it was found, and on which data.
"""

from __future__ import annotations

import math

from holdfast.learn.problem import Problem
from holdfast.privacy.adjacency import Adjacency
from holdfast.privacy.mechanism import Arithmetic

PURE_SHARE = 0.8
"""The penalty, in standard deviations of one coordinate of the linear term, where the signal is weak."""
PURE_SIGNAL = 100.0
"""Where it is stronger, the share is this over the signal."""
PURE_FACTOR = 2.0
"""The least penalty, in units of smoothness / (1 - e^-epsilon)."""
PURE_WHITENED = 0.2
"""The least share for whitened rows, whose directions are all alike."""
LEAST_SIGNAL = 20.0
"""Of epsilon n / (d factor): below it, a share of epsilon says too little about the columns to whiten by it."""


def pure_signal(problem: Problem, *, epsilon: float, adjacency: Adjacency | str, public_count: int) -> float:
    """epsilon n / (d factor): how far the whole of epsilon lets each coordinate of a mean be seen.

    >>> from holdfast.learn.losses import Logistic
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
    less than `least_share` of it (0.2 for whitened rows, whose directions are all alike); never below
    2 smoothness / (1 - e^-epsilon), so that determinants take half of a small epsilon at most.

    >>> from holdfast.learn.losses import Logistic
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

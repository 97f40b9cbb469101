"""From one training's output to a score for each canary, and from scores to guesses of the inclusion coins.

The output is the sum of the included canaries plus noise: theta = X^T b + sigma z with b in {0, 1}^m. In the
inner product X theta the other canaries are noise of variance about m/(2d). Knowing that half of them
are in, centring halves that; the ridge decoder, the best linear one, solves for all coins at once; and
message passing also uses that a coin is 0 or 1. All are functions of the output and of public canaries, never of the
coins, so every bound holds with each of them; choosing the best afterwards needs a correction for having tried several.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast._arrays import Floats
from holdfast.audit._canaries.design import Canaries, as_coins, as_vector
from holdfast.errors import require

COIN_MEAN = 0.5
"""The mean of a coin; its variance is a quarter."""


def inner_product(canaries: Canaries, output: ArrayLike, *, centre: bool = False) -> Floats:
    """<x_i, theta> for each canary (Steinke et al. 2023); centred, half the sum of all canaries is removed first.

    >>> from holdfast.audit._canaries import DiracCanaries
    >>> inner_product(DiracCanaries(count=2, dimension=3), [0.9, 0.1, 5.0])
    array([0.9, 0.1])
    """
    theta = as_vector(output, canaries.dimension, "output")
    return canaries.project(_centred_scores(canaries, theta) if centre else theta)


def ridge_scores(
    canaries: Canaries, output: ArrayLike, *, noise_std: float, tolerance: float = 1e-6, most_steps: int = 100
) -> Floats:
    """The linear estimate of each coin with the least mean squared error, less its prior mean of one half.

    With centred coins u = b - 1/2 of variance 1/4 it solves (X X^T + 4 sigma^2) u = X (theta - X^T 1/2) by
    conjugate gradients. A step is one pass `combine` and one `project`, so neither X nor X X^T is formed.
    """
    _check_noise(noise_std)
    require(0 < tolerance < 1, "tolerance", tolerance, "in (0, 1)")
    theta = as_vector(output, canaries.dimension, "output")
    shift = 4.0 * noise_std**2
    residual = canaries.project(_centred_scores(canaries, theta))
    estimate = np.zeros(canaries.count)
    search, square = residual.copy(), float(residual @ residual)
    goal = tolerance**2 * square
    for _ in range(most_steps):
        if square <= goal:
            break
        image = canaries.project(canaries.combine(search)) + shift * search
        length = square / float(search @ image)
        estimate += length * search
        residual -= length * image
        before, square = square, float(residual @ residual)
        search = residual + (square / before) * search
    return estimate


def message_passing(canaries: Canaries, output: ArrayLike, *, noise_std: float, steps: int = 12) -> Floats:
    """Log-odds of each coin by approximate message passing, for random canaries of one length.

    Donoho, Maleki and Montanari 2009; for coins it is the soft multi-user detector of Kabashima 2003. Each
    step cancels what the current estimates of the other canaries explain; the last term (Onsager's) keeps
    the remaining error independent of the canary, which is what random directions give and orthogonal
    ones neither give nor need.
    """
    _check_noise(noise_std)
    require(steps >= 1, "steps", steps, ">= 1")
    count, dimension, size = canaries.count, canaries.dimension, canaries.row_norm
    theta = as_vector(output, dimension, "output")
    target = _centred_scores(canaries, theta) / size
    left, estimate = target.copy(), np.zeros(count)
    for step in range(steps):
        field = canaries.project(left) / size + estimate
        # The error of the field, measured by what is unexplained; never below the noise itself.
        variance = max(float(left @ left) / dimension, (noise_std / size) ** 2)
        log_odds = field / variance
        if step == steps - 1:
            break
        sure = np.tanh(0.5 * log_odds)
        estimate = COIN_MEAN * sure
        slope = float(np.mean(1.0 - sure**2)) / (4.0 * variance)
        left = target - canaries.combine(estimate) / size + (count / dimension) * slope * left
    return log_odds


@dataclass(frozen=True, kw_only=True)
class Guesses:
    """Which canaries are guessed about, surest first, and whether each is guessed "in"."""

    order: NDArray[np.int64]
    included: NDArray[np.bool_]

    def correct(self, coins: ArrayLike) -> NDArray[np.bool_]:
        """Which guesses are right: the only function that sees guesses and coins."""
        truth = np.asarray(coins)
        return np.asarray(as_coins(truth, len(truth))[self.order] == self.included)


def guess(scores: ArrayLike, *, include: int, exclude: int) -> Guesses:
    """Guess the highest scores "in" and the lowest "out", in turns from the outside; `exclude=0`: one-sided.

    Ties are broken by position.

    >>> guesses = guess([0.9, 0.2, -0.4, 0.1], include=2, exclude=1)
    >>> guesses.order.tolist(), guesses.included.tolist()
    ([0, 2, 1], [True, False, True])
    """
    score = np.asarray(scores, np.float64)
    require(
        score.ndim == 1 and bool(np.all(np.isfinite(score))),
        "scores",
        score.shape,
        "a list of finite numbers",
    )
    require(
        min(include, exclude) >= 0 and include + exclude <= score.size,
        "include + exclude",
        include + exclude,
        f"between 0 and the {score.size} canaries",
    )
    ranked = np.argsort(-score, kind="stable")
    turn = np.concatenate([2 * np.arange(include), 2 * np.arange(exclude) + 1])
    in_turns = np.argsort(turn, kind="stable")
    order = np.concatenate([ranked[:include], ranked[::-1][:exclude]])[in_turns]
    return Guesses(order=order, included=(turn % 2 == 0)[in_turns])


def count_correct(scores: ArrayLike, member: ArrayLike, *, include: int, exclude: int) -> int:
    """Guess the `include` highest scores "in" and the `exclude` lowest "out"; how many are right.

    Ties are broken by position, which never looks at the coins.

    >>> count_correct([0.9, 0.2, -0.4, 0.1], [True, False, False, True], include=1, exclude=2)
    2
    """
    return int(np.sum(correct_path(scores, member, include=include, exclude=exclude)))


def correct_path(scores: ArrayLike, member: ArrayLike, *, include: int, exclude: int) -> NDArray[np.bool_]:
    """Which guesses are right, surest first: highest, lowest, second highest, second lowest, ...

    >>> correct_path([0.9, 0.2, -0.4, 0.1], [True, False, True, False], include=2, exclude=2)
    array([ True, False, False,  True])
    """
    included = np.asarray(member, bool)
    require(included.shape == np.shape(scores), "member", included.shape, "of the shape of scores")
    return guess(scores, include=include, exclude=exclude).correct(included)


def _centred_scores(canaries: Canaries, theta: Floats) -> Floats:
    return theta - canaries.combine(np.full(canaries.count, COIN_MEAN))


def _check_noise(noise_std: float) -> None:
    require(math.isfinite(noise_std) and noise_std > 0, "noise_std", noise_std, "finite and > 0")

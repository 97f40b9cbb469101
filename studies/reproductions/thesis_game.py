"""The game of Fine 2020 as it is printed and as it has to be: for study, on exact answers. Nothing here is private.

A table of p bits, the class of all cells of its pairs, and a generator that plays single records: a best response is
found by looking at all 2^p of them, so that what fails is the game and not an optimiser. Numbers of algorithms, lemmas
and theorems are the thesis's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class QueryGame:
    """V(theta, g) = sum over queries of theta_q (q(S) - q(g)): linear in theta, whose entries lie in [-1, 1]."""

    truth: Floats
    """q(S) for every query."""
    records: Floats
    """q(x) for every possible record and query."""

    @classmethod
    def of_table(cls, codes: NDArray[np.int64]) -> QueryGame:
        """All cells of all pairs of columns."""
        width = codes.shape[1]
        everyone = (np.arange(2**width)[:, None] >> np.arange(width)) & 1
        return cls(_cells(codes).mean(axis=0), _cells(everyone))

    def error(self, mixture: Floats) -> float:
        """The largest error of a distribution over records: what the best discriminator can win with one query."""
        return float(np.abs(self.truth - mixture @ self.records).max())

    def best_record(self, theta: Floats, perturbation: Floats | float = 0.0) -> int:
        """The record that loses least to theta."""
        return int(np.argmax(self.records @ theta + perturbation))


def _cells(codes: NDArray[np.int64]) -> Floats:
    made = [
        (codes[:, a] == first) & (codes[:, b] == second)
        for a, b in combinations(range(codes.shape[1]), 2)
        for first in (0, 1)
        for second in (0, 1)
    ]
    return np.array(made, dtype=np.float64).T


# Algorithm 1 and algorithm 3: who is regularised, and on whose loss the generator is trained.


def equilibrium(game: QueryGame, rounds: int, *, form: str, seed: int = 0, rate: float = 1.0) -> list[float]:
    """The error of the mixture of all moves so far, after each round.

    "corrected": the discriminator, in which V is linear, plays FTRL (its gradient steps have length rate / sqrt(t)),
    the generator FTL through its oracle (Grnarova et al. 2017). "printed": as algorithm 1 has it, the discriminator
    plays FTL without a regulariser, and the generator takes the regularised steps, on the logits of a product of
    columns, in which V is not convex. "other's loss": algorithm 3, lines 8 and 11, the generator's objective is the
    discriminator's. "perturbed": the corrected game with FTPL (algorithm 2) for the generator.
    """
    random = np.random.default_rng(seed)
    count, width = len(game.records), round(math.log2(len(game.records)))
    theta_sum, gaps = np.zeros(len(game.truth)), np.zeros(len(game.truth))
    theta = np.zeros(len(game.truth))
    mixture, errors = np.zeros(count), []
    bits = (np.arange(count)[:, None] >> np.arange(width)) & 1
    logits = 0.1 * random.normal(size=width)
    for played in range(1, rounds + 1):
        if form == "printed":
            move = product_of(bits, logits)
            answer = move @ game.records
            # Regularised, linearised steps of the generator.
            slope = (bits * (game.records @ theta)[:, None] * move[:, None]).sum(axis=0) - (
                move @ (game.records @ theta)
            ) * (move @ bits)
            logits = logits + rate / math.sqrt(played) * slope
            gaps += game.truth - answer
            theta = np.sign(gaps)  # FTL over a box: a corner
        else:
            noise = random.exponential(math.sqrt(played), count) if form == "perturbed" else 0.0
            place = game.best_record(-theta_sum if form == "other's loss" else theta_sum, noise)
            move = np.zeros(count)
            move[place] = 1.0
            gaps += game.truth - game.records[place]
            theta = np.clip(rate / math.sqrt(played) * gaps, -1.0, 1.0)
            theta_sum += theta
        mixture += move
        errors.append(game.error(mixture / played))
    return errors


def product_of(bits: NDArray[np.int64], logits: Floats) -> Floats:
    """The distribution of independent columns with these logits."""
    ones = 1.0 / (1.0 + np.exp(-logits))
    return np.asarray(np.prod(np.where(bits == 1, ones, 1.0 - ones), axis=1))


# Section 3.3 and algorithm 2: leaders, regularised and perturbed.


def leader_regret(rounds: int, *, form: str, rate: float, seed: int = 0, steady: bool = False) -> float:
    """Regret on [0, 1] of a leader that is led about: losses -1/2, 1, -1, 1, ... times x; or x itself, where `steady`.

    FTL jumps to the end that was best and is punished there; FTRL minimises sum + x^2 / (2 rate); FTPL draws an
    exponential perturbation of mean 1 / rate (algorithm 2).
    """
    random = np.random.default_rng(seed)
    slopes = np.where(np.arange(rounds) % 2 == 0, -1.0, 1.0)
    slopes[0] = -0.5
    if steady:
        slopes = np.ones(rounds)
    total = paid = 0.0
    for slope in slopes:
        if form == "FTRL":
            at = min(1.0, max(0.0, 0.5 - rate * total))
        else:
            pull = random.exponential(1.0 / rate) if form == "FTPL" else 0.0
            at = 1.0 if total - pull < 0 else 0.0
        paid += slope * at
        total += slope
    return paid - min(0.0, total)


def perturbed_bound(rate: float, rounds: int, *, printed: bool) -> float:
    """Theorem 3.5.1 on [0, 1] with slopes up to 1, constant 1: eta T; without its D / eta, or with it."""
    return rate * rounds + (0.0 if printed else 1.0 / rate)


# Algorithm 4 (ODO-1): objective perturbation without a regulariser, on a difference of convex functions.


def softplus(value: Floats) -> Floats:
    """The discriminator is ln(1 + e^(theta x)): 1.313 where theta x = 1, and a marginal is 1."""
    return np.asarray(np.logaddexp(0.0, value))


def one_layer_values(data: Floats, generated: Floats, *, starts: int, seed: int = 0) -> list[float]:
    """What gradient ascent of V(theta, b) = E_data D - E_gen D ends with, from several starts; weights clipped to 1.

    V is a difference of convex functions: ascent finds a local maximum, and nobody can tell which.
    """
    random = np.random.default_rng(seed)
    rows = [np.column_stack([one, np.ones(len(one))]) for one in (data, generated)]
    found = []
    for _ in range(starts):
        theta = random.uniform(-1.0, 1.0, rows[0].shape[1])
        for _ in range(400):
            parts = [one.T @ (1.0 / (1.0 + np.exp(-one @ theta))) / len(one) for one in rows]
            theta = np.clip(theta + 0.5 * (parts[0] - parts[1]), -1.0, 1.0)
        values = [float(softplus(one @ theta).mean()) for one in rows]
        found.append(values[0] - values[1])
    return found


def one_layer_game(
    codes: NDArray[np.int64], rounds: int, *, rate: float = 0.5
) -> tuple[list[float], list[float]]:
    """Algorithm 3 with its own discriminator, D(x) = softplus(theta x + b), weights clipped to [-1, 1].

    The discriminator takes a step of ascent a round, on what the generator has played so far; the generator plays the
    record that the mean of all discriminators so far likes best, found by looking at all. After each round: what the
    discriminator of the round wins against the mixture, and the largest error of a pair of columns.
    """
    pairs = QueryGame.of_table(codes)
    width = codes.shape[1]
    records = ((np.arange(2**width)[:, None] >> np.arange(width)) & 1).astype(np.float64)
    rows, every = (np.column_stack([one, np.ones(len(one))]) for one in (codes.astype(np.float64), records))
    theta, liked, played = np.zeros(width + 1), np.zeros(len(every)), np.zeros(len(every))
    wins, errors = [], []
    for turn in range(1, rounds + 1):
        liked += softplus(every @ theta)
        played[int(np.argmax(liked))] += 1.0
        mixture = played / turn
        chances = [1.0 / (1.0 + np.exp(-one @ theta)) for one in (rows, every)]
        slope = rows.T @ chances[0] / len(rows) - every.T @ (mixture * chances[1])
        theta = np.clip(theta + rate / math.sqrt(turn) * slope, -1.0, 1.0)
        wins.append(float(softplus(rows @ theta).mean() - mixture @ softplus(every @ theta)))
        errors.append(pairs.error(mixture))
    return wins, errors


def odo_objective(data: Floats, generated: Floats, rounds: int) -> tuple[Callable[[Floats], Floats], ...]:
    """First and second derivative in theta of the sum of `rounds` losses, - (E_data D - E_gen D), one column.

    The data's part is in each of them: it counts `rounds` times.
    """

    def first(theta: Floats) -> Floats:
        return -rounds * (_slope(theta, data) - _slope(theta, generated))

    def second(theta: Floats) -> Floats:
        return -rounds * (_bend(theta, data) - _bend(theta, generated))

    return first, second


def _slope(theta: Floats, rows: Floats) -> Floats:
    return np.asarray(np.mean(rows / (1.0 + np.exp(-np.outer(theta, rows))), axis=1))


def _bend(theta: Floats, rows: Floats) -> Floats:
    chance = 1.0 / (1.0 + np.exp(-np.outer(theta, rows)))
    return np.asarray(np.mean(rows**2 * chance * (1.0 - chance), axis=1))


def privacy_loss(
    data: Floats, neighbour: Floats, generated: Floats, rounds: int, *, scale: float, penalty: float = 0.0
) -> tuple[Floats, Floats]:
    """log of the ratio of densities of the perturbed stationary point, at every theta of a grid in [-1, 1].

    gamma = F'(theta) is Laplace of this scale, so that theta has density p(F'(theta)) |F''(theta)|: the second factor
    is what a regulariser has to bound (soundness, section 4), and what the printed algorithm leaves out.
    """
    theta = np.linspace(-1.0, 1.0, 2001)
    logs = []
    for rows in (data, neighbour):
        first, second = odo_objective(rows, generated, rounds)
        slope, bend = first(theta) + penalty * theta, second(theta) + penalty
        with np.errstate(divide="ignore"):
            logs.append(-np.abs(slope) / scale + np.log(np.abs(bend)))
    return theta, np.abs(logs[0] - logs[1])


def regularised_scale(count: int, rounds: int, epsilon: float, *, penalty: float) -> float:
    """The Laplace scale at which one column's perturbed minimiser is epsilon-private.

    The penalty makes the objective convex: its bend is at least penalty - rounds / 4, and one record in [-1, 1] changes
    it by at most rounds / (2 n). What the ratio of bends leaves of epsilon pays for the slope, which one record
    moves by at most 2 rounds / n (Chaudhuri, Monteleoni and Sarwate 2011, theorem 9, for such a difference).
    """
    least = penalty - rounds / 4.0
    ratio = math.log1p(rounds / (2.0 * count) / least) if least > 0 else math.inf
    left = epsilon - ratio
    return 2.0 * rounds / count / left if left > 0 else math.inf


# Lemma 3.6.1: what clipped weights say of a network's slope.


def slope_bounds(weight: float, widths: Sequence[int]) -> tuple[float, float, float]:
    """As printed, w^layers; as it has to be, the product of w sqrt(in out); and the slope that all weights w reach."""
    layers = list(pairwise(widths))
    correct = math.prod(weight * math.sqrt(before * after) for before, after in layers)
    matrix = np.linalg.multi_dot([np.full((a, b), weight) for a, b in layers])
    return weight ** len(layers), correct, float(np.linalg.norm(matrix, 2))


# Measures of a table beside its certificate.


def log_gan(first: Floats, second: Floats) -> float:
    """The log-GAN objective at its best discriminator, over all functions: Jensen-Shannon divergence - ln 2.

    -ln 2 where the two distributions are the same, 0 where they have no record in common.
    """
    both = first + second
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = [np.where(one > 0, one * np.log(one / both), 0.0).sum() for one in (first, second)]
    return float(0.5 * sum(parts))


def earth_mover(first: Floats, second: Floats) -> float:
    """The least mean number of changed bits that turns one distribution over all records into the other."""
    from scipy.optimize import linprog

    count = len(first)
    width = round(math.log2(count))
    bits = (np.arange(count)[:, None] >> np.arange(width)) & 1
    costs = np.abs(bits[:, None, :] - bits[None, :, :]).sum(axis=2)
    # What stays where it is costs nothing: only what differs moves.
    from_, to = np.maximum(first - second, 0.0), np.maximum(second - first, 0.0)
    if from_.sum() < 1e-12:
        return 0.0
    to *= from_.sum() / to.sum()
    equal = np.zeros((2 * count, count * count))
    for place in range(count):
        equal[place, place * count : (place + 1) * count] = 1.0
        equal[count + place, place::count] = 1.0
    found = linprog(costs.reshape(-1), A_eq=equal[:-1], b_eq=np.concatenate([from_, to])[:-1], method="highs")
    assert found.fun is not None
    return float(found.fun)

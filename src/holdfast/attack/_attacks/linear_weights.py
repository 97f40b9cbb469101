"""White-box attack: the likelihood of a linear model's weights under each value that a person may have.

An attacker who knows every other record computes the weights under each candidate and compares them with the released
ones (`ridge_weights`, `weights_log_likelihood`). How often that succeeds follows from the distance of the candidates'
weights in units of the noise, and a promise of mu-GDP about replaced records bounds it. An attacker who does not know
the other records uses the first-order change of the minimiser by one person, -H^-1 grad / n, against the variance that
weights have anyway (soundness, section 27). That says little unless the person's leverage is high; it is added to the
imputer's log-odds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from holdfast._arrays import Floats
from holdfast.attack._attack import Attack
from holdfast.attack._attributes.attribute_case import AttributeCase
from holdfast.attack._attributes.linear_inside import loss_slope
from holdfast.errors import ParameterError, require

LARGEST_LOG_RATIO = 20.0
"""Log-likelihood ratios are cut here."""


def linear_weights(case: AttributeCase) -> Floats:
    """The imputer's log-probabilities plus the log-likelihood of the weights under each candidate."""
    return case.imputation + weights_evidence(case)


def weights_evidence(case: AttributeCase) -> Floats:
    """The log-likelihood of the weights for each person and candidate, less that of the person's best candidate.

    It is -1/2 (w - w0 - shift_v)' Sigma^-1 (w - w0 - shift_v), with w0 the weights fitted to own people.
    """
    inside = case.inside
    if inside is None:
        raise ParameterError("this attack needs a linear model's weights")
    usual, curvature, variance = inside.usual_weights(case.own)
    inverse = np.linalg.inv(curvature)
    # How far the weights of other tables of this size lie from those of the attacker's own people. What none of these
    # has, such as a rare category, has hardly any curvature, hence much variance, and decides nothing.
    sampling = variance * inverse * (1.0 / inside.trained_on + 1.0 / case.own)
    sizes, axes = np.linalg.eigh(sampling + inside.noise_std**2 * np.eye(len(sampling)))
    root = axes / np.sqrt(np.maximum(sizes, 1e-12 * sizes.max() + 1e-300))
    far = inside.weights - usual
    log_likelihoods = np.zeros((case.count, case.kinds))
    moves = -(inverse @ root) / inside.trained_on
    # With shift = slope x moves, |far - shift|^2 is |far|^2, the same for all, less 2 far . shift plus |shift|^2; the
    # last, much smaller than what is cut off at LARGEST_LOG_RATIO wherever it counts, in single precision.
    towards, short = moves @ (far @ root), moves.astype(np.float32)
    for candidate in range(case.kinds):
        # Own people were not trained on: the weights say nothing about them.
        design, labels = inside.designs[candidate], inside.labels[case.own :]
        slope = loss_slope(inside.loss, design @ usual, labels)
        length = np.square(design.astype(np.float32) @ short).sum(axis=1)
        log_likelihoods[case.own :, candidate] = slope * (design @ towards) - 0.5 * np.square(slope) * length
    return np.asarray(
        np.maximum(log_likelihoods - log_likelihoods.max(axis=1, keepdims=True), -LARGEST_LOG_RATIO)
    )


# The attacker who knows every other record.
def ridge_weights(features: Floats, labels: Floats, rows: Floats, label: float, *, penalty: float) -> Floats:
    """Weights of ridge regression on the others and one more row, for each candidate row, by rank-one updates.

    `penalty` is lambda in sum of squares / 2 + lambda / 2 |w|^2.

    >>> X, y = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([1.0, 1.0])
    >>> weights = ridge_weights(X[:1], y[:1], X[1:], 1.0, penalty=1.0)
    >>> bool(np.allclose(weights[0], np.linalg.solve(X.T @ X + np.eye(2), X.T @ y)))
    True
    """
    require(penalty > 0, "penalty", penalty, "> 0")
    inverse = np.linalg.inv(features.T @ features + penalty * np.eye(features.shape[1]))
    without_row = inverse @ (features.T @ labels)
    projected = rows @ inverse
    # Sherman and Morrison.
    gain = (label - rows @ without_row) / (1.0 + np.einsum("vd,vd->v", projected, rows))
    return np.asarray(without_row + gain[:, None] * projected)


def weights_log_likelihood(weights: Floats, candidates: Floats, *, noise_std: float) -> Floats:
    """The log-density of released weights under each candidate's weights, up to a constant.

    Without noise the nearest candidate is certain.
    """
    apart = np.square(candidates - weights).sum(axis=1)
    if noise_std == 0.0:
        return np.where(apart <= apart.min(), 0.0, -LARGEST_LOG_RATIO)
    return np.asarray(-0.5 * (apart - apart.min()) / noise_std**2)


def iterates_log_likelihood(
    iterates: Floats, expected: Callable[[Floats], Floats], *, noise_std: float
) -> Floats:
    """The log-density of all released iterates of a noisy gradient descent: the sum over its rounds.

    `iterates` has one line per round, the start first; `expected` gives for one of them where the next would lie
    without noise, one line per candidate; the noise on a step is normal with `noise_std` in each direction.

    >>> path = np.array([[0.0], [1.0], [2.0]])
    >>> scores = iterates_log_likelihood(path, lambda w: np.array([w, w + 1.0]), noise_std=1.0)
    >>> scores.tolist()                                        # half a unit of evidence in each of two rounds
    [-1.0, 0.0]
    """
    rounds = [
        weights_log_likelihood(reached, expected(start), noise_std=noise_std)
        for start, reached in pairwise(iterates)
    ]
    return np.asarray(np.sum(rounds, axis=0))


def accuracy_of_weights(first: Floats, second: Floats, *, noise_std: float) -> float:
    """How often two equally likely candidates are told apart by weights with normal noise: Phi(d'/2).

    >>> round(accuracy_of_weights(np.zeros(2), np.array([0.0, 2.0]), noise_std=1.0), 4)
    0.8413
    """
    apart = float(np.linalg.norm(first - second))
    if noise_std == 0.0:
        return 1.0 if apart > 0 else 0.5
    return 0.5 * (1.0 + math.erf(0.5 * apart / noise_std / math.sqrt(2.0)))


ATTACK = Attack(
    name="linear_weights", kind="attribute", guess=linear_weights, paper="JE22", knows=("weights",)
)

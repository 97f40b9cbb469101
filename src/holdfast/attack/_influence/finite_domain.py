"""Inverting a model over a finite domain with any prior: who can guess x_i from h(x) and the rest of x.

Given x_{-i}, the output y rules out every value v with h(x_{-i}, v) != y; the best guess is the likeliest value that is
left. So the share of right guesses is E sum_y max over v with h = y of prior(v | x_{-i}), and without the output it is
E max_v prior(v | x_{-i}) (soundness, section 15). Arrays have one line per person and one column per value.
"""

from __future__ import annotations

import math

import numpy as np

from holdfast._arrays import Bools, Codes, Floats
from holdfast.errors import require

SAME_OUTPUT_DISTANCE = 1e-9
"""Outputs at most this far apart are the same: a sum in another order differs by as much."""


def possible_values(outputs: Floats, shown: Floats) -> Bools:
    """The values that may have given the output that is shown: those whose own output is nearest to it.

    `outputs` has the shape (people, values, numbers shown), `shown` the shape (people, numbers shown). For values of a
    finite domain the nearest output is the one shown; a number that was put into a bin need not give the output of the
    bin's middle.

    >>> possible_values(np.array([[[0.0], [1.0], [1.0]]]), np.array([[1.0]])).tolist()
    [[False, True, True]]
    """
    require(
        outputs.ndim == 3 and outputs.shape[::2] == shown.shape, "outputs", outputs.shape, "as seen, by value"
    )
    distance = np.max(np.abs(outputs - shown[:, None, :]), axis=2)
    return np.asarray(distance <= distance.min(axis=1, keepdims=True) + SAME_OUTPUT_DISTANCE)


def best_guess(possible: Bools, prior: Floats) -> Codes:
    """The possible value that is likeliest by the prior.

    >>> best_guess(np.array([[True, True, False]]), np.array([[0.2, 0.3, 0.5]])).tolist()
    [1]
    """
    return np.asarray(np.argmax(np.where(possible, prior, -1.0), axis=1), dtype=np.int64)


def output_codes(outputs: Floats) -> Codes:
    """For each person and value the first value that gives the same output.

    >>> output_codes(np.array([[[0.5], [0.7], [0.5]]])).tolist()
    [[0, 1, 0]]
    """
    same = np.max(np.abs(outputs[:, :, None, :] - outputs[:, None, :, :]), axis=3) <= SAME_OUTPUT_DISTANCE
    return np.asarray(np.argmax(same, axis=2), dtype=np.int64)


def gain(codes: Codes, prior: Floats) -> Floats:
    """For each person sum_y max over v with h = y of prior(v): how often the best guess is right, on average.

    >>> gain(np.array([[0, 0, 2]]), np.array([[0.2, 0.3, 0.5]])).tolist()
    [0.8]
    """
    people, values = codes.shape
    best = np.zeros((people, values))
    lines = np.arange(people)
    for value in range(values):
        np.maximum.at(best, (lines, codes[:, value]), prior[:, value])
    return np.asarray(best.sum(axis=1))


def blind_gain(prior: Floats) -> Floats:
    """For each person how often the best guess without the output is right, on average."""
    return np.asarray(prior.max(axis=1))


def influences(codes: Codes) -> Floats:
    """For each person (distinct outputs - 1) / (values - 1): 0 if the column does not matter, 1 if it shows through.

    For two values this is whether the output changes; the mean over people is the influence of Boolean analysis
    (as O'Donnell's book has it). Under a uniform prior the gain is (1 + (values - 1) influence) / values.

    >>> influences(np.array([[0, 0, 0], [0, 1, 2]])).tolist()
    [0.0, 1.0]
    """
    values = codes.shape[1]
    require(values >= 2, "values", values, ">= 2")
    distinct = np.sum(codes == np.arange(values), axis=1)
    return np.asarray((distinct - 1) / (values - 1))


def mean_limits(mean: float, samples: int, *, error: float) -> tuple[float, float]:
    """Limits of the mean of independent numbers in [0, 1] (Hoeffding's inequality), with probability 1 - error.

    >>> [round(limit, 4) for limit in mean_limits(0.5, 1000, error=0.05)]
    [0.4571, 0.5429]
    """
    reach = math.sqrt(math.log(2.0 / error) / (2.0 * samples))
    return max(0.0, mean - reach), min(1.0, mean + reach)

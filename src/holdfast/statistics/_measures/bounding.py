"""The bound on a unit's contribution, where units own several rows: public, or chosen by a one-sided rule.

Candidates C_1 < C_2 < ... are geometric between public ends. With k = d |noise at C = 1| / 2, d the number of released
numbers, the score of a candidate is

    -max(units whose norm exceeds C_j - k, 0) - slope j,    slope = 2 / epsilon.

One unit more lowers scores by one or not at all, so they are monotone. Below k units the noise that a smaller C saves
in d numbers is more than the bias that it costs. The public slope keeps the choice from running along candidates that
nobody exceeds. The chosen C is released with the noisy number of units above it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Codes
from holdfast.data._group_sums import GroupSums, UnitsAbove
from holdfast.data._table import Table
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._mechanisms.several_choices import SeveralChoices
from holdfast.statistics._measures.measure import Purse
from holdfast.statistics._shares import Share, deviation
from holdfast.statistics._table_facts import TableFacts

SCORE_UNIT = 1024
"""Scores are whole multiples of 1/1024 of a unit."""
CANDIDATES_BELOW, CANDIDATES_ABOVE = 20, 40
"""How many candidates, a factor of sqrt(2) apart, there are below and above the norm of one row."""
CHOICE_SHARE, SINGLE_CHOICE_SHARE, ABOVE_SHARE = 0.2, 0.3, 0.02
"""The parts of a measure's share that pay for the choice (of a single number's bound) and for the units above it."""


@dataclass(frozen=True, kw_only=True)
class ChosenBound:
    """A bound that was chosen privately, and the noisy number of units whose contribution exceeds it. Public."""

    limit: int
    units_above: float
    noise: float
    """The standard deviation of the noise in that number."""


def candidates(row: int) -> tuple[int, ...]:
    """Whole limits around the norm of one row, about a factor of sqrt(2) apart; public.

    >>> candidates(1)[:6]
    (1, 2, 3, 4, 6, 8)
    """
    powers = range(-CANDIDATES_BELOW, CANDIDATES_ABOVE + 1)
    limits = sorted({max(1, math.ceil(row * 2.0 ** (power / 2))) for power in powers})
    return tuple(limit for limit in limits if limit.bit_length() <= 50)


def choose_bound(
    table: Table, purse: Purse, facts: TableFacts, *, sums: GroupSums, row: int, excess: float
) -> ChosenBound:
    """The limit for these sums; `row` is the norm of one row, `excess` the number k of units that may exceed it."""
    choice, above = purse.parts(1.0 - ABOVE_SHARE, ABOVE_SHARE)
    limits = candidates(row)
    epsilon = choice_epsilon(choice.share)
    exact = table.aggregate(UnitsAbove(sums=sums, thresholds=limits))
    scores = bound_scores(exact, excess, float(epsilon))
    mechanism = SeveralChoices(
        epsilon=epsilon,
        sensitivity=SCORE_UNIT,
        monotone=facts.adjacency is not Adjacency.replace,
        adjacency=facts.adjacency,
    )
    place = int(choice.release(mechanism, scores, step="bound")[0])
    noise = above.share.least_noise(1, 1, facts.adjacency)
    count = above.release(noise, np.array([int(exact[place])]), step="units above the bound")
    return ChosenBound(limit=limits[place], units_above=float(count[0]), noise=deviation(noise))


def bound_scores(beyond: Codes, excess: float, epsilon: float) -> NDArray[Any]:
    """The scores of all candidates in whole 1/1024 of a unit, from the numbers of units beyond each.

    >>> (bound_scores(np.array([5, 2, 0]), 1.0, 2.0) / 1024).tolist()
    [-4.0, -2.0, -2.0]
    """
    over = np.maximum(beyond.astype(object) * SCORE_UNIT - round(excess * SCORE_UNIT), 0)
    slope = round(2 * SCORE_UNIT / epsilon)
    return np.array([-int(score) - slope * place for place, score in enumerate(over)], dtype=object)


def choice_epsilon(share: Share) -> Fraction:
    """The largest epsilon of a choice of bounded range that a share pays for: rho = epsilon^2 / 8."""
    if share.currency == "pure":
        return share.amount
    assert share.currency == "zcdp"  # a plan with a choice in it is not made in mu
    epsilon = Fraction(math.sqrt(8.0 * float(share.amount)) * (1.0 - 2.0**-48))
    assert epsilon * epsilon <= 8 * share.amount
    return epsilon

"""The laws that sensitivities, scores and intervals rest on, enumerated where that is possible."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from holdfast.data import Numeric, Schema
from holdfast.privacy import Adjacency, PrivacyUnit
from holdfast.statistics._measures.bounding import SCORE_UNIT, bound_scores, candidates
from holdfast.statistics._measures.ranks import GridCounts, RankChoices, rank_scores
from holdfast.statistics._noise_law import NoiseLaw
from holdfast.statistics._questions.histogram import consistent_counts
from holdfast.statistics._shares import Share
from holdfast.statistics._table_facts import TableFacts


def _largest_loss(scores: dict[tuple[int, ...], np.ndarray], weight: float) -> float:
    """The largest |log-ratio| of exponential choices with exp(weight score), over tables that differ by one row."""
    chances = {}
    for table, values in scores.items():
        odds = weight * (values - values.max())
        chances[table] = odds - math.log(np.exp(odds).sum())
    worst = 0.0
    for table, own in chances.items():
        for place in range(len(table)):
            other = chances.get((*table[:place], table[place] + 1, *table[place + 1 :]))
            if other is not None:
                worst = max(worst, float(np.abs(own - other).max()))
    return worst


@pytest.mark.parametrize("alpha", [Fraction(1, 10), Fraction(1, 4), Fraction(1, 2), Fraction(0), Fraction(1)])
def test_quantile_scores_by_enumeration(alpha: Fraction) -> None:
    """All tables of at most ten rows on four points: epsilon 1 is kept, and used."""
    tables = [table for table in itertools.product(range(11), repeat=4) if sum(table) <= 10]
    every = rank_scores(np.array(tables), alpha)
    scores = {table: every[place].astype(float) for place, table in enumerate(tables)}
    facts = TableFacts(
        schema=Schema([Numeric("x", 0, 3)]), adjacency=Adjacency.add_remove, unit=PrivacyUnit()
    )
    measure = RankChoices(grid=GridCounts(column="x", steps=3), quantiles=(alpha,))
    sensitivity = measure.sensitivity(alpha, facts)
    monotone = alpha in (0, 1)
    loss = _largest_loss(scores, (1.0 if monotone else 0.5) / sensitivity)
    assert loss <= 1.0 + 1e-9
    assert loss > 0.7
    if not monotone and alpha != Fraction(1, 2):
        # Without the factor 2 max(alpha, 1 - alpha) the promise is broken.
        assert _largest_loss(scores, 1.0 / alpha.denominator) > 1.1


def test_the_choice_of_a_bound_by_enumeration() -> None:
    """Six users, all norms: one-sided scores keep epsilon at their full weight, two-sided ones do not."""
    limits = candidates(1)[:5]
    epsilon, excess = 1.0, 1.0

    def beyond(table: tuple[int, ...]) -> np.ndarray:
        return np.array([sum(table[place + 1 :]) for place in range(len(limits))], dtype=float)

    tables = [table for table in itertools.product(range(7), repeat=len(limits) + 1) if sum(table) <= 6]
    one_sided = {t: (bound_scores(beyond(t), excess, epsilon) / SCORE_UNIT).astype(float) for t in tables}
    two_sided = {t: -np.abs(beyond(t) - 3.0) for t in tables}
    assert 0.9 < _largest_loss(one_sided, epsilon) <= 1.0 + 1e-9
    assert _largest_loss(two_sided, epsilon) > 1.5


def test_shares_add_up_and_buy_what_they_cost() -> None:
    for currency, amount in (("pure", Fraction(1)), ("zcdp", Fraction(1, 50)), ("gdp", Fraction(1, 16))):
        whole = Share(currency, amount)  # type: ignore[arg-type]
        parts = whole.parts([1.0, 0.3, 2.7])
        assert sum(part.amount for part in parts) == amount
        for part in parts:
            laplace, gaussian = part.laplace(7, Adjacency.add_remove), part.gaussian(7, Adjacency.add_remove)
            if laplace is not None:
                cost = laplace.curve.as_pure() if currency == "pure" else laplace.curve.as_zcdp()
                assert cost is not None
                assert part.amount * Fraction(999_999, 1_000_000) <= cost <= part.amount
            if gaussian is not None:
                cost = gaussian.curve.as_zcdp() if currency == "zcdp" else gaussian.curve.as_gdp()
                assert cost is not None
                assert part.amount * Fraction(999_999, 1_000_000) <= cost <= part.amount


@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_reaches_are_quantiles(family: str) -> None:
    draw = np.random.default_rng(3)
    law = NoiseLaw(family, 40.0)  # type: ignore[arg-type]
    noise = (draw.laplace if family == "laplace" else draw.normal)(scale=40.0, size=(200_000, 4))
    for weights in ([1, 0, 0, 0], [1, -1, 0, 0], [1, 1, 1, 1], [0.2, -0.7, 0.5, 0.1], [3, 3, 1e-6, 0]):
        total = np.abs(noise @ np.array(weights))
        for failure in (0.3, 0.05, 0.01):
            reach = float(law.reach(np.array([weights]), failure)[0])
            missed = float((total > reach).mean())
            assert failure * 0.85 - 0.002 < missed < failure * 1.03 + 0.002
            assert law.many_reach(np.array(weights), failure) >= 0.99 * float(np.quantile(total, 1 - failure))


def test_consistent_counts_are_the_nearest_with_their_total() -> None:
    draw = np.random.default_rng(1)
    for _ in range(200):
        counts = draw.integers(-4, 9, size=int(draw.integers(1, 7))).astype(float)
        near = consistent_counts(counts)
        assert near.min() >= 0
        assert near.tolist() == np.rint(near).tolist()
        assert near.sum() == max(0.0, counts.sum())
        if counts.min() >= 0:
            assert near.tolist() == counts.tolist()

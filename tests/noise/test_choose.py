from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from holdfast.errors import ParameterError
from holdfast.noise import _fixed_point as fixed_point
from holdfast.noise._choose import _gaps, choose_by_score, choose_many, permute_and_flip
from holdfast.noise._source import Source

CASES = [
    (np.array([0, 1, 2, 5]), Fraction(1, 2)),
    (np.array([10, -7, 3, 3, 10, 0]), Fraction(1, 9)),
    (np.array([10, -7, 3, 3, 10, 0]), Fraction(-1, 4)),
    (np.array([4, 4, 4]), Fraction(3)),
    (np.arange(60), Fraction(0)),
    (np.arange(60) % 7, Fraction(2, 3)),
]
cases = pytest.mark.parametrize(("scores", "factor"), CASES)


def softmax(scores: np.ndarray, factor: Fraction) -> np.ndarray:
    weights = np.exp(float(factor) * (scores - scores.max()))
    return np.asarray(weights / weights.sum())


@cases
def test_choices_are_proportional_to_their_weights(scores: np.ndarray, factor: Fraction) -> None:
    chosen = choose_many(Source(seed=60), scores=scores, factor=factor, size=200_000)
    expected = softmax(scores, factor) * len(chosen)
    assert stats.chisquare(np.bincount(chosen, minlength=len(scores)), expected).pvalue > 1e-3


def permute_and_flip_law(scores: np.ndarray, factor: Fraction) -> np.ndarray:
    """By enumeration of all orders."""
    accept = np.exp(float(abs(factor)) * (scores - scores.max()))
    law = np.zeros(len(scores))
    orders = list(permutations(range(len(scores))))
    for order in orders:
        left = 1.0
        for i in order:
            law[i] += left * accept[i] / len(orders)
            left *= 1 - accept[i]
    return law


@pytest.mark.parametrize("factor", [Fraction(1, 2), Fraction(1, 9)])
def test_permute_and_flip_has_its_law(factor: Fraction) -> None:
    scores = np.array([0, 1, 2, 5, 4])
    source = Source(seed=61)
    counts = np.bincount(
        [permute_and_flip(source, scores=scores, factor=factor) for _ in range(10_000)], minlength=5
    )
    assert stats.chisquare(counts, permute_and_flip_law(scores, factor) * 10_000).pvalue > 1e-3
    mirrored = np.bincount(
        [permute_and_flip(source, scores=-scores, factor=-factor) for _ in range(10_000)], minlength=5
    )
    assert stats.chisquare(mirrored, permute_and_flip_law(scores, factor) * 10_000).pvalue > 1e-3


@cases
def test_exact_arithmetic_alone_chooses_the_same(
    scores: np.ndarray, factor: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run() -> tuple[list[int], list[int]]:
        source = Source(seed=62)
        many = choose_many(source, scores=scores, factor=factor, size=500).tolist()
        return many, [permute_and_flip(source, scores=scores, factor=factor) for _ in range(300)]

    fast = run()
    monkeypatch.setattr("holdfast.noise._choose.WEIGHT_ERROR", 2.0**10)
    # With such a margin no coin is certain: `permute_and_flip` asks for each one in turn.
    assert run() == fast


def test_the_double_weights_are_within_a_sixteenth_of_their_bound() -> None:
    from holdfast.noise._choose import WEIGHT_ERROR

    gaps = np.concatenate([np.arange(0, 3000, 7), [1, 2, 2**20, 2**21 - 1]]).astype(np.uint64)
    for factor in (Fraction(1, 3), Fraction(1, 4099), Fraction(1, 2**21)):
        exponents = gaps * float(factor)
        for gap, x, weight in zip(
            gaps.tolist(), exponents.tolist(), np.exp(-exponents).tolist(), strict=True
        ):
            exact = Fraction(fixed_point.exp_minus(gap * factor, 400), 2**400)
            if exact > Fraction(1, 2**300):
                assert abs(Fraction(weight) / exact - 1) <= WEIGHT_ERROR * (1 + x) / 16


@settings(deadline=None)
@given(
    scores=st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=20),
    factor=st.fractions(-(2**64), 2**64, max_denominator=2**70),
    seed=st.integers(0, 1000),
)
def test_no_score_raises(scores: list[int], factor: Fraction, seed: int) -> None:
    array = np.array(scores, dtype=np.int64)
    for draw in (choose_by_score, permute_and_flip):
        assert 0 <= draw(Source(seed=seed), scores=array, factor=factor) < len(scores)
    gaps, positive = _gaps(array, factor)
    best = max(scores) if factor >= 0 else min(scores)
    assert gaps.tolist() == [abs(best - s) for s in scores]
    assert positive == abs(factor)


def test_a_hopeless_candidate_is_never_taken_and_a_single_one_always() -> None:
    scores = np.array([-(2**63), 2**63 - 1, 0])
    assert set(choose_many(Source(seed=1), scores=scores, factor=Fraction(1), size=5000).tolist()) == {1}
    assert choose_by_score(Source(seed=1), scores=np.array([7]), factor=Fraction(1)) == 0
    assert permute_and_flip(Source(seed=1), scores=np.array([7]), factor=Fraction(1)) == 0


def test_permute_and_flip_is_never_worse_on_average() -> None:
    # McKenna and Sheldon 2020, Theorem 2.
    for scores, factor in CASES[:2]:
        best = softmax(scores, factor) @ scores
        assert permute_and_flip_law(scores, factor) @ scores >= best - 1e-12


def test_errors_name_parameters_and_no_score() -> None:
    with pytest.raises(ParameterError, match=r"scores\.shape"):
        choose_by_score(Source(seed=1), scores=np.array([], dtype=np.int64), factor=Fraction(1))
    with pytest.raises(ParameterError, match="factor") as caught:
        choose_by_score(Source(seed=1), scores=np.array([123456]), factor=Fraction(2**65))
    assert "123456" not in str(caught.value)

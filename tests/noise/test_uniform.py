from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from holdfast.errors import ParameterError
from holdfast.noise import _uniform as uniform
from holdfast.noise._source import Source
from holdfast.noise._uniform import integers, permutation


@settings(deadline=None)
@given(n=st.integers(0, 300), seed=st.integers(0, 2**32), key_bits=st.sampled_from([1, 2, 5, 64]))
def test_every_index_comes_once(n: int, seed: int, key_bits: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(uniform, "KEY_BITS", key_bits)
        assert np.array_equal(np.sort(permutation(Source(seed=seed), n)), np.arange(n))


@pytest.mark.parametrize("key_bits", [1, 2, 64])
def test_all_orders_are_equally_likely(key_bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # With keys of one or two bits nearly every permutation has ties, and ties within ties.
    monkeypatch.setattr(uniform, "KEY_BITS", key_bits)
    source = Source(seed=50)
    counts = dict.fromkeys(permutations(range(4)), 0)
    for _ in range(6_000):
        counts[tuple(permutation(source, 4).tolist())] += 1
    assert stats.chisquare(list(counts.values())).pvalue > 1e-3


def test_places_and_values_are_independent_in_long_permutations() -> None:
    n = 200_000
    order = permutation(Source(seed=51), n)
    table = np.zeros((16, 16))
    np.add.at(table, (np.arange(n) * 16 // n, order * 16 // n), 1)
    assert stats.chisquare(table.ravel()).pvalue > 1e-3
    assert stats.poisson(1).sf(int((order == np.arange(n)).sum()) - 1) > 1e-3
    assert stats.binomtest(int((np.diff(order) > 0).sum()), n - 1, 0.5).pvalue > 1e-3


@pytest.mark.parametrize("bound", [1, 2, 3, 6, 7, 10, 64, 100])
def test_integers_are_equally_likely(bound: int) -> None:
    draws = integers(Source(seed=52), bound=bound, size=100_000)
    assert draws.min() == 0
    assert draws.max() == bound - 1
    assert bound == 1 or stats.chisquare(np.bincount(draws, minlength=bound)).pvalue > 1e-3


def test_large_bounds() -> None:
    draws = integers(Source(seed=53), bound=3 * 2**61, size=30_000)
    assert stats.chisquare(np.bincount(draws >> 61, minlength=3)).pvalue > 1e-3
    assert integers(Source(seed=53), bound=2**63, size=1000).min() >= 0


def test_bad_bounds_are_refused() -> None:
    for bound in (0, -1, 2**63 + 1):
        with pytest.raises(ParameterError, match="bound"):
            integers(Source(seed=1), bound=bound, size=1)
    with pytest.raises(ParameterError, match="n must be"):
        permutation(Source(seed=1), -1)

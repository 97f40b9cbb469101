from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from holdfast.noise import bernoulli as coin_module
from holdfast.noise.bernoulli import bernoulli_many
from holdfast.noise.lazy_uniform import Threshold
from holdfast.noise.source import Source

P = Fraction(70_001, 100_003)


def exact(_: int) -> Threshold:
    return lambda bits: (P.numerator << bits) // P.denominator


@pytest.mark.parametrize("spread", [0.0, 1e-3, 0.2, 5.0])
def test_bounds_change_the_work_and_never_the_outcome(spread: float) -> None:
    size = 20_000
    least, most = np.full(size, float(P) - spread), np.full(size, float(P) + spread)
    heads = bernoulli_many(Source(seed=90), least=least, most=most, exact=exact)
    sharp = bernoulli_many(
        Source(seed=90), least=np.full(size, float(P)), most=np.full(size, float(P)), exact=exact
    )
    assert np.array_equal(heads, sharp)
    assert stats.binomtest(int(heads.sum()), size, float(P)).pvalue > 1e-3


def test_a_coin_between_its_bounds_is_decided_by_more_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    # One bit of 16 apart from the threshold on either side needs none; the unit that holds it does.
    asked: list[int] = []

    def counting(index: int) -> Threshold:
        asked.append(index)
        return exact(index)

    size = 2**17
    bound = np.full(size, float(P))
    heads = bernoulli_many(Source(seed=91), least=bound, most=bound, exact=counting)
    numerators = np.frombuffer(Source(seed=91).bytes(2 * size), dtype="<u2")
    unit = int(P * 2**16)
    assert asked == np.flatnonzero(numerators == unit).tolist()
    assert heads[numerators < unit].all()
    assert not heads[numerators > unit].any()


def test_certain_coins() -> None:
    ones = np.ones(200_000)
    assert bernoulli_many(
        Source(seed=92), least=ones, most=ones, exact=lambda _: lambda bits: 1 << bits
    ).all()
    assert not bernoulli_many(
        Source(seed=92), least=0 * ones, most=0 * ones, exact=lambda _: lambda bits: 0
    ).any()
    assert coin_module.COIN_BITS == 16

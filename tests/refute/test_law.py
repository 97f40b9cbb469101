"""The law test: right about its error, with atoms and without, and not blind."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast._arrays import Floats
from holdfast.errors import ParameterError
from holdfast.noise._source import Source
from holdfast.refute._trial import Law, dkw_radius, law_distance


def uniforms(source: Source, size: int) -> Floats:
    return np.asarray((source.words(size) + 0.5) * 2.0**-64, float)


def identity(at: Floats) -> Floats:
    return np.clip(at, 0.0, 1.0)


def dice(at: Floats) -> Floats:
    return np.clip(np.floor(at), 0.0, 6.0) / 6.0


def throws(source: Source, size: int) -> Floats:
    return np.floor(6 * uniforms(source, size)) + 1.0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_the_distance_is_the_supremum_for_a_continuous_law(sample: list[float]) -> None:
    x = np.sort(np.array(sample))
    n = x.size
    exact = max(np.max(np.arange(1, n + 1) / n - x), np.max(x - np.arange(n) / n))
    found = law_distance(x, identity)
    # Midpoints see F before a jump only half way up; never more than the supremum.
    assert found <= exact + 1e-9
    assert found >= exact / 2 - 1e-9


@pytest.mark.parametrize(("draw", "cdf"), [(uniforms, identity), (throws, dice)], ids=["uniform", "dice"])
def test_a_true_law_is_refuted_no_oftener_than_the_error(draw, cdf) -> None:  # type: ignore[no-untyped-def]
    trial = Law(what="", draw=draw, cdf=cdf, draws=200)
    alarms = sum(trial.run(Source(seed=seed), error=0.1).refuted for seed in range(600))
    assert alarms <= 600 * 0.1 + 3 * math.sqrt(600 * 0.09)
    if draw is uniforms:
        assert alarms >= 600 * 0.01  # the bound is nearly exact for continuous laws: not vacuous


def test_other_laws_are_refuted() -> None:
    for draw, cdf in (
        (lambda source, size: uniforms(source, size) ** 1.3, identity),
        (lambda source, size: np.full(size, 0.5), identity),  # one draw, over and over
        (lambda source, size: np.minimum(throws(source, size), 5.0), dice),
    ):
        assert Law(what="", draw=draw, cdf=cdf, draws=4000).run(Source(seed=3), error=1e-8).refuted


def two_columns(source: Source, size: int, *, same: float) -> Floats:
    first, second, coin = (uniforms(source, size) - 0.5 for _ in range(3))
    return np.stack([first, np.where(coin + 0.5 < same, first, second)], axis=1)


def test_dependence_between_two_numbers_of_a_release() -> None:
    def cdf(at: Floats) -> Floats:
        return identity(at + 0.5)

    def trial(same: float) -> Law:
        return Law(what="", draw=lambda s, n: two_columns(s, n, same=same), cdf=cdf, draws=2500)

    assert not trial(0.0).run(Source(seed=1), error=1e-8).refuted
    found = trial(1.0).run(Source(seed=1), error=1e-8)
    assert found.refuted
    assert "depend" in found.detail


def test_radius() -> None:
    assert dkw_radius(5000, error=0.05) == pytest.approx(math.sqrt(math.log(40) / 10_000))
    assert dkw_radius(4 * 5000, error=0.05) == pytest.approx(dkw_radius(5000, error=0.05) / 2)
    for draws, error in ((0, 0.1), (5, 0.0), (5, 1.0)):
        with pytest.raises(ParameterError):
            dkw_radius(draws, error=error)

"""Laws of the sampler's kernel: C and NumPy agree, zeros do not matter, gaps are what their definition says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast._kernel.bregman import BregmanGaps, SamplerRows, ThinnedTest, bregman_gaps
from holdfast._kernel.reference_bregman import ReferenceGaps, row_gaps, slopes
from holdfast.errors import DataError, ParameterError
from holdfast.learn._problem.losses import HuberHinge, HuberRegression, Logistic

LOSSES: dict[str, Any] = {
    "logistic": Logistic(),
    "huber": HuberHinge(),
    "huber_regression": HuberRegression(),
}
KINDS = [(loss, sparse) for loss in LOSSES for sparse in (False, True)]


def sampler_rows(
    loss: str, *, sparse: bool, rows: int = 203, seed: int = 0
) -> tuple[SamplerRows, Floats, Floats]:
    """Rows of the sampler, and two points."""
    random = np.random.Generator(np.random.PCG64(seed))
    x = random.normal(size=(rows, 7)) * (random.random((rows, 7)) < (0.2 if sparse else 1.0))
    y = random.normal(size=rows) if loss == "huber_regression" else random.choice([-1.0, 1.0], rows)
    stored = SamplerRows.of_arrays(x, y, loss=loss, width=getattr(LOSSES[loss], "width", 1.0))
    assert (stored.columns is not None) is sparse
    return stored, random.normal(size=7), 0.3 * random.normal(size=7)


def native_gaps(rows: SamplerRows) -> BregmanGaps:
    native = pytest.importorskip("holdfast._kernel.native_bregman")
    gaps: BregmanGaps = native.NativeGaps(rows)
    return gaps


@pytest.mark.parametrize(("loss", "sparse"), KINDS)
def test_c_and_numpy_agree(loss: str, sparse: bool) -> None:
    rows, w, v = sampler_rows(loss, sparse=sparse)
    native, reference = native_gaps(rows), ReferenceGaps(rows)
    sums, predictions = native.gradient(w)
    expected, same = reference.gradient(w)
    assert sums == pytest.approx(expected, rel=1e-13, abs=1e-13)
    assert predictions == pytest.approx(same, rel=1e-14, abs=1e-14)
    assert native.total(predictions, v) == pytest.approx(reference.total(same, v), rel=1e-12)


@pytest.mark.parametrize(("loss", "sparse"), KINDS)
def test_the_same_words_meet_the_same_rows(loss: str, sparse: bool) -> None:
    rows, w, v = sampler_rows(loss, sparse=sparse)
    native, reference = native_gaps(rows), ReferenceGaps(rows)
    predictions = reference.gradient(w)[1]
    random = np.random.Generator(np.random.PCG64(1))
    verdicts = set()
    for trial in range(60):
        words = random.integers(2**64, size=90, dtype=np.uint64)
        if trial % 3 == 0:
            words[1::6] = 2**64 - 1  # above the last whole multiple of the number of rows
        options: dict[str, Any] = {"bound": 5.0, "until": 2.0 + trial, "random_words": words, "clock": 0.5}
        ours = native.thinned_test(predictions, v, **options)
        expected = reference.thinned_test(predictions, v, **options)
        assert (ours[0], ours[2]) == (expected[0], expected[2])
        assert ours[1] == pytest.approx(expected[1], rel=1e-14)
        verdicts.add(ours[0])
    assert verdicts == set(ThinnedTest)


@pytest.mark.parametrize("loss", LOSSES)
def test_gaps_and_slopes_are_those_of_the_loss(loss: str) -> None:
    rows = sampler_rows(loss, sparse=False)[0]
    p = np.linspace(-60.0, 60.0, 41)
    for y in (1.0, -1.0):
        labels = np.full(p.shape, y)
        assert slopes(rows, p, labels) == pytest.approx(LOSSES[loss].slopes(p, labels), abs=1e-15)
        for u in (-90.0, -0.3, 1e-6, 2.0):
            after, before = (LOSSES[loss].values(at, labels) for at in (p + u, p))
            gap = row_gaps(rows, p, np.full(p.shape, u), labels)
            assert gap == pytest.approx(after - before - LOSSES[loss].slopes(p, labels) * u, abs=3e-14)
            # What thinning relies on: no gap is above curvature u^2 / 2.
            assert np.all(gap <= LOSSES[loss].curvature * u * u / 2 + 1e-15)


def test_far_predictions_do_not_overflow() -> None:
    rows = SamplerRows.of_arrays(np.full((2, 1), 1e8), np.array([1.0, -1.0]), loss="logistic")
    for gaps in (native_gaps(rows), ReferenceGaps(rows)):
        sums, predictions = gaps.gradient(np.array([1e8]))
        assert sums.tolist() == [1e8]
        # ln(1 + e^-m) from m = 1e16 to -2e16, and from -1e16 to 2e16.
        assert gaps.total(predictions, np.array([-3e8])) == pytest.approx(4e16)


def test_the_chance_of_no_firing_is_the_exponential_of_the_gaps() -> None:
    rows, w, v = sampler_rows("logistic", sparse=False)
    gaps = bregman_gaps(rows)
    predictions = gaps.gradient(w)[1]
    bound = 0.125 * float(np.max((rows.values @ v) ** 2))
    weight = 1.2 / gaps.total(predictions, v)
    random = np.random.Generator(np.random.PCG64(5))
    passed, runs = 0, 4000
    for _ in range(runs):
        verdict, _, _ = gaps.thinned_test(
            predictions,
            v,
            bound=bound,
            until=weight * rows.count * bound,
            random_words=random.integers(2**64, size=1200, dtype=np.uint64),
            clock=0.0,
        )
        assert verdict is not ThinnedTest.MORE_WORDS
        passed += verdict is ThinnedTest.PASSED
    chance = np.exp(-1.2)
    assert abs(passed / runs - chance) < 4.5 * np.sqrt(chance * (1 - chance) / runs)


def test_single_precision_would_cost_more_than_the_sampler_may_miss() -> None:
    """At Adult's k the exponent of an acceptance moves by 1e-6 in float32 and by far less than eta in doubles."""
    rows, w, v = sampler_rows("logistic", sparse=False, rows=2000)
    x: NDArray[np.longdouble] = rows.values.astype(np.longdouble)
    y, k, eta = rows.labels, 4000.0, 4.6e-9

    def exponent(kind: type) -> float:
        parts: list[Any] = [part.astype(kind) for part in (x, y, w, v)]
        a, s, at, move = parts
        m, t = s * (a @ at), s * (a @ move)
        q = 1 / (1 + np.exp(m))
        return float(k * np.mean(q * t + np.log1p(q * np.expm1(-t)), dtype=kind))

    exact = exponent(np.longdouble)
    gaps = bregman_gaps(rows)
    ours = k / rows.count * gaps.total(gaps.gradient(w)[1], v)
    assert abs(ours - exact) < eta / 100 < eta < abs(exponent(np.float32) - exact)


def test_what_c_does_not_look_at_is_refused() -> None:
    rows = sampler_rows("logistic", sparse=False)[0]
    with pytest.raises(DataError, match="7 numbers"):
        native_gaps(rows).gradient(np.zeros(6))
    with pytest.raises(ParameterError, match="loss"):
        SamplerRows.of_arrays(np.eye(2), np.ones(2), loss="ramp")

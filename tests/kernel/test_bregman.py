"""Laws of the sampler's kernel: C and NumPy agree, zeros do not matter, gaps are what their definition says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast._kernel.bregman import Gaps, KeptRows, ThinnedTest, gaps
from holdfast._kernel.reference_bregman import ReferenceGaps, row_gaps, slopes
from holdfast.errors import DataError, ParameterError
from holdfast.learn._problem.losses import HuberHinge, HuberRegression, Logistic

LOSSES: dict[str, Any] = {
    "logistic": Logistic(),
    "huber": HuberHinge(),
    "huber_regression": HuberRegression(),
}
KINDS = [(loss, sparse) for loss in LOSSES for sparse in (False, True)]


def kept(loss: str, *, sparse: bool, rows: int = 203, seed: int = 0) -> tuple[KeptRows, Floats, Floats]:
    """Rows, and two points."""
    random = np.random.Generator(np.random.PCG64(seed))
    x = random.normal(size=(rows, 7)) * (random.random((rows, 7)) < (0.2 if sparse else 1.0))
    y = random.normal(size=rows) if loss == "huber_regression" else random.choice([-1.0, 1.0], rows)
    made = KeptRows.of(x, y, loss=loss, width=getattr(LOSSES[loss], "width", 1.0))
    assert (made.columns is not None) is sparse
    return made, random.normal(size=7), 0.3 * random.normal(size=7)


def compiled(rows: KeptRows) -> Gaps:
    native = pytest.importorskip("holdfast._kernel.native_bregman")
    made: Gaps = native.NativeGaps(rows)
    return made


@pytest.mark.parametrize(("loss", "sparse"), KINDS)
def test_c_and_numpy_agree(loss: str, sparse: bool) -> None:
    rows, w, v = kept(loss, sparse=sparse)
    here, there = compiled(rows), ReferenceGaps(rows)
    sums, predictions = here.gradient(w)
    expected, same = there.gradient(w)
    assert sums == pytest.approx(expected, rel=1e-13, abs=1e-13)
    assert predictions == pytest.approx(same, rel=1e-14, abs=1e-14)
    assert here.total(predictions, v) == pytest.approx(there.total(same, v), rel=1e-12)


@pytest.mark.parametrize(("loss", "sparse"), KINDS)
def test_the_same_words_meet_the_same_rows(loss: str, sparse: bool) -> None:
    rows, w, v = kept(loss, sparse=sparse)
    here, there = compiled(rows), ReferenceGaps(rows)
    predictions = there.gradient(w)[1]
    random = np.random.Generator(np.random.PCG64(1))
    verdicts = set()
    for trial in range(60):
        words = random.integers(2**64, size=90, dtype=np.uint64)
        if trial % 3 == 0:
            words[1::6] = 2**64 - 1  # above the last whole multiple of the number of rows
        told: dict[str, Any] = {"bound": 5.0, "until": 2.0 + trial, "words": words, "clock": 0.5}
        one, two = here.thinned(predictions, v, **told), there.thinned(predictions, v, **told)
        assert (one[0], one[2]) == (two[0], two[2])
        assert one[1] == pytest.approx(two[1], rel=1e-14)
        verdicts.add(one[0])
    assert verdicts == set(ThinnedTest)


@pytest.mark.parametrize("loss", LOSSES)
def test_gaps_and_slopes_are_those_of_the_loss(loss: str) -> None:
    rows = kept(loss, sparse=False)[0]
    p = np.linspace(-60.0, 60.0, 41)
    for y in (1.0, -1.0):
        labels = np.full(p.shape, y)
        assert slopes(rows, p, labels) == pytest.approx(LOSSES[loss].slopes(p, labels), abs=1e-15)
        for u in (-90.0, -0.3, 1e-6, 2.0):
            moved, here = (LOSSES[loss].values(at, labels) for at in (p + u, p))
            gap = row_gaps(rows, p, np.full(p.shape, u), labels)
            assert gap == pytest.approx(moved - here - LOSSES[loss].slopes(p, labels) * u, abs=3e-14)
            # What thinning relies on: no gap is above curvature u^2 / 2.
            assert np.all(gap <= LOSSES[loss].curvature * u * u / 2 + 1e-15)


def test_far_predictions_do_not_overflow() -> None:
    rows = KeptRows.of(np.full((2, 1), 1e8), np.array([1.0, -1.0]), loss="logistic")
    for made in (compiled(rows), ReferenceGaps(rows)):
        sums, predictions = made.gradient(np.array([1e8]))
        assert sums.tolist() == [1e8]
        # ln(1 + e^-m) from m = 1e16 to -2e16, and from -1e16 to 2e16.
        assert made.total(predictions, np.array([-3e8])) == pytest.approx(4e16)


def test_the_chance_of_no_firing_is_the_exponential_of_the_gaps() -> None:
    rows, w, v = kept("logistic", sparse=False)
    made = gaps(rows)
    predictions = made.gradient(w)[1]
    bound = 0.125 * float(np.max((rows.values @ v) ** 2))
    weight = 1.2 / made.total(predictions, v)
    random = np.random.Generator(np.random.PCG64(5))
    passed, runs = 0, 4000
    for _ in range(runs):
        verdict, _, _ = made.thinned(
            predictions,
            v,
            bound=bound,
            until=weight * rows.count * bound,
            words=random.integers(2**64, size=1200, dtype=np.uint64),
            clock=0.0,
        )
        assert verdict is not ThinnedTest.MORE_WORDS
        passed += verdict is ThinnedTest.PASSED
    chance = np.exp(-1.2)
    assert abs(passed / runs - chance) < 4.5 * np.sqrt(chance * (1 - chance) / runs)


def test_single_precision_would_cost_more_than_the_sampler_may_miss() -> None:
    """At Adult's k the exponent of an acceptance moves by 1e-6 in float32 and by far less than eta in doubles."""
    rows, w, v = kept("logistic", sparse=False, rows=2000)
    x: NDArray[np.longdouble] = rows.values.astype(np.longdouble)
    y, k, eta = rows.labels, 4000.0, 4.6e-9

    def exponent(kind: type) -> float:
        parts: list[Any] = [part.astype(kind) for part in (x, y, w, v)]
        a, s, at, move = parts
        m, t = s * (a @ at), s * (a @ move)
        q = 1 / (1 + np.exp(m))
        return float(k * np.mean(q * t + np.log1p(q * np.expm1(-t)), dtype=kind))

    exact = exponent(np.longdouble)
    made = gaps(rows)
    ours = k / rows.count * made.total(made.gradient(w)[1], v)
    assert abs(ours - exact) < eta / 100 < eta < abs(exponent(np.float32) - exact)


def test_what_c_does_not_look_at_is_refused() -> None:
    rows = kept("logistic", sparse=False)[0]
    with pytest.raises(DataError, match="7 numbers"):
        compiled(rows).gradient(np.zeros(6))
    with pytest.raises(ParameterError, match="loss"):
        KeptRows.of(np.eye(2), np.ones(2), loss="ramp")

"""What one row may do to the kernel's result: the laws that the sensitivity proof rests on."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast._arrays import Floats
from holdfast._kernel import SgdOptions, SgdRun, Status, StepSize, reference

try:
    from holdfast._kernel import native
except ImportError:
    if os.environ.get("HOLDFAST_REQUIRE") == "all":
        raise
    pytest.skip(
        "the C kernel is not compiled: run `pip install -e .` with a C compiler", allow_module_level=True
    )

Start = Callable[..., SgdRun]

both = pytest.mark.parametrize("start", [native.NativeSgd, reference.ReferenceSgd], ids=["c", "numpy"])
both_clips = pytest.mark.parametrize("clip", [native.clip, reference.clip], ids=["c", "numpy"])


def constant(step: float) -> StepSize:
    return StepSize(cap=step)


def run(start: Start, options: SgdOptions, x: Floats, y: Floats, *, passes: int = 1) -> Floats:
    sgd = start(options)
    for _ in range(passes):
        sgd.feed(x, y)
        sgd.end_pass()
    return sgd.final()


def exact_square(row: Floats) -> Fraction:
    return sum((Fraction(float(value)) ** 2 for value in row), Fraction(0))


@both_clips
@given(
    row=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=40),
    row_norm=st.sampled_from([1e-100, 1e-3, 1.0, 7.3, 1e100]),
)
@settings(max_examples=300, deadline=None)
def test_clipping_never_exceeds_the_norm(clip: Any, row: list[float], row_norm: float) -> None:
    x = np.array([row])
    clipped = clip(x, row_norm)[0]
    allowed, before = Fraction(row_norm) ** 2, exact_square(x[0])
    after = exact_square(clipped)
    assert after <= allowed * Fraction(1 + 1e-9) ** 2
    if before >= allowed:
        assert after >= allowed * Fraction(1 - 1e-9) ** 2  # and never clips more than it must
    elif before <= allowed * Fraction(1 - 1e-9):
        assert np.array_equal(clipped, x[0]) or np.allclose(clipped, x[0], rtol=1e-15, atol=5e-324)


@both_clips
def test_clipping_at_the_ends_of_the_float_range(clip: Any) -> None:
    for size in (1e308, 1.7e308, 1e154, 1e200, 1e-154, 5e-324):
        clipped = clip(np.full((1, 64), size), 1.0)[0]
        assert np.linalg.norm(clipped) == pytest.approx(
            min(1.0, 8 * size) if size < 1 else 1.0, rel=1e-9, abs=1e-300
        )
    assert np.array_equal(clip(np.array([[math.nan, 1.0], [1.0, -math.inf]]), 1.0), np.zeros((2, 2)))


@both
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("where", ["row", "label"])
def test_a_row_that_is_not_finite_is_a_null_record_in_its_place(start: Start, bad: float, where: str) -> None:
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(20, 3)), np.sign(rng.normal(size=20))
    zeroed = x.copy()
    zeroed[7] = 0
    options = SgdOptions(dimension=3, batch=4, step_size=constant(1.0))
    expected = run(start, options, zeroed, y)
    (x[7] if where == "row" else y[7:8])[-1] = bad
    sgd = start(options)
    assert sgd.feed(x[:7], y[:7]) is Status.OK
    assert sgd.feed(x[7:], y[7:]) is Status.REJECTED
    assert sgd.rejected_rows == 1
    assert np.array_equal(sgd.final(), expected)


@both
def test_labels_count_by_sign_or_are_clipped(start: Start) -> None:
    x = np.array([[1.0], [0.5], [-0.2]])
    for loss in ("logistic", "huber"):
        options = SgdOptions(dimension=1, batch=2, loss=loss, step_size=constant(0.5))
        expected = run(start, options, x, np.array([1.0, -1.0, 1.0]))
        for labels in ([1.0, 0.0, 1.0], [1e308, -7.0, 1e-9]):
            assert np.array_equal(run(start, options, x, np.array(labels)), expected)
    options = SgdOptions(
        dimension=1, batch=2, loss="squared", radius=9.0, label_bound=2.0, step_size=constant(0.5)
    )
    assert np.array_equal(
        run(start, options, x, np.array([1e300, -5.0, 1.0])),
        run(start, options, x, np.array([2.0, -2.0, 1.0])),
    )


def linear_run(start: Start, z: Floats, *, batch: int, passes: int, average: bool = False) -> float:
    """Soundness notes, section 1, Tests A-C: data loss -lambda w z, steps 1 / (lambda t), lambda = 0.1.

    A row lambda * z in the linear part of the hinge has this very gradient.
    """
    total = passes * math.ceil(len(z) / batch)
    options = SgdOptions(
        dimension=1,
        batch=batch,
        loss="huber",
        row_norm=0.1,
        penalty=0.1,
        steps=1 / (0.1 * np.arange(1, total + 1)),
        average_from=int(average),
    )
    return float(run(start, options, 0.1 * z[:, None], np.ones(len(z)), passes=passes)[0])


@both
@pytest.mark.parametrize("batch", [1, 10, 50])
@pytest.mark.parametrize("passes", [1, 5])
def test_a_one_record_moves_the_model_by_exactly_one_over_m(start: Start, batch: int, passes: int) -> None:
    z = np.zeros(1000)
    z[417] = 1.0
    moved = linear_run(start, z, batch=batch, passes=passes)
    assert moved == pytest.approx(1e-3, rel=1e-9)  # 4e-5 if the sensitivity were divided by b = 50


@both
def test_b_the_uniform_average_moves_more(start: Start) -> None:
    z = np.zeros(1000)
    z[0] = 1.0
    assert linear_run(start, z, batch=1, passes=1, average=True) == pytest.approx(7.4855e-3, rel=1e-4)


@both
def test_c_a_short_last_batch_keeps_the_bound(start: Start) -> None:
    z = np.zeros(1001)
    z[-1] = 1.0
    moved = linear_run(start, z, batch=50, passes=1)
    assert moved == pytest.approx(1 / (21 * 50), rel=1e-9)  # 4.76e-2 if divided by its one record
    assert moved <= 1 / 1001


def sensitivity(options: SgdOptions, etas: Floats, *, passes: int, gradient_change: float) -> float:
    """The backward recursion of soundness notes, section 1."""
    total = len(etas)
    kept = range(options.average_from, total + 1) if options.average_from else [total]
    alphas = {t: 1 / len(kept) for t in kept}
    following, bounds = 0.0, np.zeros(total)
    for t in range(total, 0, -1):
        shrink = 1 - etas[t] * options.penalty if t < total else 0.0
        following = alphas.get(t, 0.0) + shrink * following
        bounds[t - 1] = gradient_change * etas[t - 1] / options.batch * following
    return float(bounds.reshape(passes, -1).max(axis=1).sum())


@both
@pytest.mark.parametrize("batch", [1, 10, 50])
@pytest.mark.parametrize("loss", ["logistic", "huber"])
@pytest.mark.parametrize("average_from", [0, 1])
def test_neighbours_stay_within_the_sensitivity(
    start: Start, batch: int, loss: str, average_from: int
) -> None:
    rng = np.random.default_rng(batch)
    m, d, passes, penalty, smoothness = 1000, 4, 2, 0.05, {"logistic": 0.25, "huber": 1.0}[loss]
    schedule = StepSize(cap=1 / (smoothness + penalty), scale=1 / penalty)
    options = SgdOptions(
        dimension=d,
        batch=batch,
        loss=loss,
        width=0.5,
        penalty=penalty,
        step_size=schedule,
        average_from=average_from,
    )
    etas = schedule.first(passes * math.ceil(m / batch))
    bound = sensitivity(options, etas, passes=passes, gradient_change=2.0 * (1 + 1e-9))
    if not average_from:
        assert bound <= 2.0 / (penalty * m) * (1 + 2e-9)
    x, y = rng.normal(size=(m, d)) * rng.choice([0.1, 10.0], size=(m, 1)), np.sign(rng.normal(size=m))
    base, furthest = run(start, options, x, y, passes=passes), 0.0
    # Rounding, soundness notes, section 16, with L = 1 and W = L / lambda.
    slack = len(etas) * (d + 8) / penalty + float(etas.sum()) * (d * smoothness / penalty + batch + 16)
    few = start is reference.ReferenceSgd and batch == 1
    for position in (0, m - 1) if few else (0, 1, batch - 1, m // 2, m - 1, *rng.integers(0, m, size=10)):
        for row in (rng.normal(size=d) * 1e200, -x[position], np.zeros(d)):
            neighbour = x.copy()
            neighbour[position] = row
            furthest = max(
                furthest, float(np.linalg.norm(run(start, options, neighbour, y, passes=passes) - base))
            )
    assert bound / 50 <= furthest <= bound + 2.0**-51 * slack

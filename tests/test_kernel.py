"""Laws of the kernel: C and NumPy agree, chunks do not matter, and one row moves no more than it may."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import holdfast.kernel
from holdfast.errors import DataError, MissingExtra, ParameterError
from holdfast.kernel import SgdOptions, SgdRun, Status, StepSize, reference

try:
    from holdfast.kernel import native
    from holdfast.kernel._kernel import ffi, lib
except ImportError:
    if os.environ.get("HOLDFAST_REQUIRE") == "all":
        raise
    pytest.skip(
        "the C kernel is not compiled: run `pip install -e .` with a C compiler", allow_module_level=True
    )

Array = NDArray[np.float64]
Start = Callable[..., SgdRun]
SOURCE = Path(holdfast.kernel.__file__).parent

both = pytest.mark.parametrize("start", [native.NativeSgd, reference.ReferenceSgd], ids=["c", "numpy"])
both_clips = pytest.mark.parametrize("clip", [native.clip, reference.clip], ids=["c", "numpy"])


def constant(step: float) -> StepSize:
    return StepSize(cap=step)


def run(
    start: Start, options: SgdOptions, x: Array, y: Array, *, passes: int = 1, weights: Any = None
) -> Array:
    sgd = start(options, weights)
    for _ in range(passes):
        sgd.feed(x, y)
        sgd.end_pass()
    return sgd.final()


@st.composite
def problems(draw: st.DrawFn) -> tuple[SgdOptions, Array, Array, int, Array]:
    """A run of any shape, with a few rows near the ends of the float range and a few not finite."""
    d, n, batch = draw(st.integers(1, 19)), draw(st.integers(0, 60)), draw(st.integers(1, 13))
    passes = draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    x = rng.normal(size=(n, d)) * 10.0 ** draw(st.sampled_from([-3, 0, 3]))
    y = rng.normal(size=n)
    for row in draw(st.lists(st.integers(0, 59), max_size=4)):
        if row < n:
            size: float = draw(st.sampled_from([1e308, 1e-308, 5e-324, 1e150, 0.0, math.inf, math.nan]))
            x[row] = size * np.sign(x[row])
    schedule = draw(
        st.sampled_from([StepSize(cap=0.5), StepSize(cap=0.5, scale=1.0), StepSize(scale=2.0, offset=3.0)])
    )
    listed = draw(st.booleans())
    options = SgdOptions(
        dimension=d,
        batch=batch,
        loss=draw(st.sampled_from(["logistic", "huber", "squared"])),
        row_norm=draw(st.sampled_from([0.1, 1.0])),
        penalty=draw(st.sampled_from([0.0, 0.1, 1.0])),
        radius=draw(st.sampled_from([0.3, 5.0])),
        width=draw(st.sampled_from([0.1, 0.5])),
        label_bound=draw(st.sampled_from([0.5, 2.0])),
        step_size=None if listed else schedule,
        steps=schedule.first(passes * math.ceil(n / batch)) if listed else None,
        average_from=draw(st.integers(0, 3)),
    )
    return options, x, y, passes, rng.normal(size=d)


@given(problems())
@settings(max_examples=300, deadline=None)
def test_c_agrees_with_the_reference(problem: tuple[SgdOptions, Array, Array, int, Array]) -> None:
    options, x, y, passes, weights = problem
    c = run(native.NativeSgd, options, x, y, passes=passes, weights=weights)
    numpy = run(reference.ReferenceSgd, options, x, y, passes=passes, weights=weights)
    assert np.all(np.isfinite(c))
    assert np.linalg.norm(c - numpy) <= 1e-12 * np.linalg.norm(numpy)


@both
@given(problems(), st.lists(st.integers(0, 60), max_size=5))
@settings(max_examples=60, deadline=None)
def test_chunks_change_no_bit(start: Start, problem: Any, cuts: list[int]) -> None:
    options, x, y, passes, weights = problem
    sgd = start(options, weights)
    for _ in range(passes):
        for rows, labels in zip(np.split(x, sorted(cuts)), np.split(y, sorted(cuts)), strict=True):
            sgd.feed(rows, labels)
        sgd.end_pass()
    assert np.array_equal(sgd.final(), run(start, options, x, y, passes=passes, weights=weights))
    assert sgd.steps_taken == passes * math.ceil(len(x) / options.batch)


@both
def test_layout_and_order_change_no_bit(start: Start) -> None:
    rng = np.random.default_rng(0)
    x, y, order = rng.normal(size=(50, 7)), rng.normal(size=50), rng.permutation(50)
    options = SgdOptions(dimension=7, batch=4, step_size=constant(1.0))
    expected = run(start, options, x[order], y[order])
    wide = np.zeros((100, 9))
    wide[::2, :7] = x
    for layout in (x, np.asfortranarray(x), wide[::2, :7], x[::-1][::-1]):
        sgd = start(options)
        sgd.feed(layout, y, order=order)
        assert np.array_equal(sgd.final(), expected)


def test_one_row_at_a_time_is_the_same_function() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(23, 5)), rng.normal(size=23)
    options = SgdOptions(dimension=5, batch=4, step_size=constant(1.0), average_from=1)
    sgd = native.NativeSgd(options)
    for row, label in zip(x, y, strict=True):
        status = lib.hf_sgd_transition(sgd._state, native._address(row), label)
        assert status == Status.OK
    assert np.array_equal(sgd.final(), run(native.NativeSgd, options, x, y))


@both
def test_schedule_is_what_the_sensitivity_sees(start: Start) -> None:
    rng = np.random.default_rng(2)
    x, y, schedule = rng.normal(size=(30, 3)), rng.normal(size=30), StepSize(cap=0.7, scale=3.0, offset=0.3)
    by_formula = SgdOptions(dimension=3, batch=4, step_size=schedule, penalty=0.2)
    by_list = SgdOptions(dimension=3, batch=4, steps=schedule.first(8), penalty=0.2)
    assert np.array_equal(run(start, by_formula, x, y), run(start, by_list, x, y))


# The update, by hand -------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("n", [1, 3, 49, 50, 51, 1001])
def test_divisor_is_the_batch_also_when_it_is_short(start: Start, n: int) -> None:
    # In the hinge's linear part every gradient is -x: the weight is the sum of rows times eta / b.
    options = SgdOptions(dimension=1, batch=50, loss="huber", row_norm=1.0, step_size=constant(1e-3))
    moved = run(start, options, np.ones((n, 1)), np.ones(n))
    assert moved == pytest.approx(np.array([n * 1e-3 / 50]), rel=1e-12)


@both
def test_each_loss_is_its_own_derivative(start: Start) -> None:
    x, weights, h = np.array([[0.3, -0.4]]), np.array([2.0, -0.5]), 0.6
    margin = float(x[0] @ weights)
    slopes = {
        "logistic": -1 / (1 + math.exp(margin)),
        "huber": -(1 + h - margin) / (2 * h),
        "squared": margin - 1.0,
    }
    for loss, slope in slopes.items():
        options = SgdOptions(
            dimension=2, batch=1, loss=loss, penalty=0.5, radius=9.0, width=h, step_size=constant(0.1)
        )
        expected = (1 - 0.1 * 0.5) * weights - 0.1 * slope * x[0]
        assert run(start, options, x, np.ones(1), weights=weights) == pytest.approx(expected, rel=1e-14)


@both
def test_projection_and_average(start: Start) -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(40, 6)), np.ones(40)
    options = SgdOptions(dimension=6, batch=3, loss="squared", radius=0.1, step_size=constant(0.5))
    iterates = []
    sgd = start(options)
    for at in range(0, 40, 3):
        sgd.feed(x[at : at + 3], y[at : at + 3])
        iterates.append(sgd.final())
        assert np.linalg.norm(iterates[-1]) <= 0.1 * (1 + 1e-12)
    averaged = SgdOptions(
        dimension=6, batch=3, loss="squared", radius=0.1, step_size=constant(0.5), average_from=5
    )
    assert run(start, averaged, x, y) == pytest.approx(np.mean(iterates[4:], axis=0), rel=1e-12)
    assert np.linalg.norm(run(start, options, x[:0], y[:0], weights=np.ones(6))) == pytest.approx(0.1)


# What one row may do -------------------------------------------------------------------------------


def exact_square(row: Array) -> Fraction:
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
    assert sgd.rejected == 1
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


def linear_run(start: Start, z: Array, *, batch: int, passes: int, average: bool = False) -> float:
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


def sensitivity(options: SgdOptions, etas: Array, *, passes: int, gradient_change: float) -> float:
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


# What is refused -----------------------------------------------------------------------------------


@both
def test_a_run_ends_when_its_steps_do(start: Start) -> None:
    sgd = start(SgdOptions(dimension=1, batch=2, steps=np.array([0.5, 0.5])))
    sgd.feed(np.ones((4, 1)), np.ones(4))
    with pytest.raises(ParameterError, match="steps has 2 entries"):
        sgd.feed(np.ones((2, 1)), np.ones(2))
    with pytest.raises(ParameterError, match="steps has 2 entries"):
        sgd.final()


@both
def test_divergence_is_an_error_and_never_a_nan(start: Start) -> None:
    options = SgdOptions(dimension=1, batch=1, penalty=1.0, step_size=constant(1e200))
    sgd = start(options)
    with pytest.raises(ParameterError, match="no longer finite"):
        sgd.feed(np.ones((9, 1)), np.ones(9))
    with pytest.raises(ParameterError, match="no longer finite"):
        sgd.final()
    if isinstance(sgd, native.NativeSgd):
        out = np.full(1, math.nan)
        lib.hf_sgd_final(sgd._state, native._address(out))
        assert out[0] == 0


@both
def test_shapes_and_orders_are_checked_without_showing_data(start: Start) -> None:
    sgd = start(SgdOptions(dimension=2, batch=2, step_size=constant(0.5)))
    with pytest.raises(DataError, match="shape") as caught:
        sgd.feed(np.full((3, 4), 8.125), np.ones(3))
    assert "8.125" not in str(caught.value)
    with pytest.raises(DataError, match="labels"):
        sgd.feed(np.ones((3, 2)), np.ones(4))
    for order in ([0, 3], [-1, 0]):
        with pytest.raises(ParameterError, match="order"):
            sgd.feed(np.ones((3, 2)), np.ones(3), order=order)
    with pytest.raises(ParameterError, match="weights"):
        start(SgdOptions(dimension=2, batch=2, step_size=constant(0.5)), np.ones(3))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("dimension", 0),
        ("dimension", 2**24 + 1),
        ("batch", 0),
        ("row_norm", 0.0),
        ("row_norm", math.nan),
        ("row_norm", math.inf),
        ("penalty", -0.1),
        ("penalty", math.nan),
        ("radius", 0.0),
        ("radius", math.inf),
        ("width", 0.0),
        ("label_bound", math.nan),
        ("average_from", -1),
    ],
)
@pytest.mark.parametrize("loss", ["huber", "squared"])
def test_both_sides_refuse_the_same_options(name: str, value: float, loss: str) -> None:
    good = {"dimension": 2, "batch": 2, "loss": loss, "radius": 1.0, "step_size": constant(0.5)}
    plan = ffi.new("hf_sgd_options *")
    sgd = native.NativeSgd(SgdOptions(**good))  # type: ignore[arg-type]
    plan[0] = sgd._state.options
    setattr(plan, name, value)
    state, space = ffi.new("hf_sgd *"), ffi.new("double[]", 8)
    refused_in_c = lib.hf_sgd_initialise(state, plan, ffi.NULL, space) == Status.BAD_OPTION
    meant_for_loss = {"width": "huber", "label_bound": "squared"}.get(name, loss)
    unbounded = name == "radius" and value == math.inf
    assert refused_in_c == (loss == "squared" if unbounded else loss == meant_for_loss)
    if refused_in_c:
        with pytest.raises(ParameterError, match=name):
            SgdOptions(**{**good, name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong",
    [{}, {"cap": 0.0}, {"scale": -1.0}, {"cap": math.nan}, {"cap": 1.0, "offset": -1.0}, {"cap": math.inf}],
)
def test_step_sizes_without_meaning_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ParameterError):
        StepSize(**wrong)


def test_steps_come_from_one_place() -> None:
    for steps in (
        {},
        {"step_size": constant(1.0), "steps": np.ones(2)},
        {"steps": np.array([1.0, math.nan])},
    ):
        with pytest.raises(ParameterError, match="step"):
            SgdOptions(dimension=1, batch=1, **steps)


# How it is built and found -------------------------------------------------------------------------


def test_the_environment_chooses_the_implementation(monkeypatch: pytest.MonkeyPatch) -> None:
    for wanted, found in (("c", "c"), ("numpy", "numpy"), ("", "c")):
        monkeypatch.setenv("HOLDFAST_KERNEL", wanted)
        assert holdfast.kernel.implementation == found
        options = SgdOptions(dimension=1, batch=1, step_size=constant(1.0))
        assert holdfast.kernel.start(options).final() == pytest.approx([0.0])
        assert holdfast.kernel.clip([[2.0]], row_norm=1.0) == pytest.approx(np.ones((1, 1)))
    monkeypatch.setenv("HOLDFAST_KERNEL", "rust")
    with pytest.raises(ParameterError, match="HOLDFAST_KERNEL"):
        _ = holdfast.kernel.implementation


WITHOUT_C = """
import os, sys
sys.modules["holdfast.kernel._kernel"] = None
import holdfast.kernel as kernel
assert kernel.implementation == "numpy"
assert "cffi" not in sys.modules
os.environ["HOLDFAST_KERNEL"] = "c"
try:
    kernel.implementation
except kernel.MissingExtra as error:
    assert "compiler" in str(error)
else:
    raise SystemExit("a missing C kernel went unnoticed")
"""


def test_without_the_c_kernel_numpy_takes_over_unless_c_is_demanded() -> None:
    environment = {key: value for key, value in os.environ.items() if key != "HOLDFAST_KERNEL"}
    subprocess.run([sys.executable, "-c", WITHOUT_C], check=True, env=environment)
    assert issubclass(MissingExtra, ImportError)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_the_source_is_c99_and_refuses_fast_math() -> None:
    check = [
        "cc",
        "-std=c99",
        "-pedantic",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-fsyntax-only",
        str(SOURCE / "sgd.c"),
    ]
    subprocess.run(check, check=True)
    fast = subprocess.run([*check, "-ffast-math"], capture_output=True, text=True, check=False)
    assert fast.returncode != 0
    assert "IEEE" in fast.stderr

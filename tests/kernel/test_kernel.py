"""Laws of the kernel: C and NumPy agree, chunks do not matter, the update is the paper's."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast._kernel
from holdfast._arrays import Floats
from holdfast._kernel import SgdOptions, SgdRun, Status, StepSize, reference
from holdfast.errors import DataError, MissingExtra, ParameterError

try:
    from holdfast._kernel import native
    from holdfast._kernel._kernel import ffi, lib
except ImportError:
    if os.environ.get("HOLDFAST_REQUIRE") == "all":
        raise
    pytest.skip(
        "the C kernel is not compiled: run `pip install -e .` with a C compiler", allow_module_level=True
    )

Start = Callable[..., SgdRun]
SOURCE = Path(holdfast._kernel.__file__).parent

both = pytest.mark.parametrize("start", [native.NativeSgd, reference.ReferenceSgd], ids=["c", "numpy"])


def constant(step: float) -> StepSize:
    return StepSize(cap=step)


def run(
    start: Start, options: SgdOptions, x: Floats, y: Floats, *, passes: int = 1, weights: Any = None
) -> Floats:
    sgd = start(options, weights)
    for _ in range(passes):
        sgd.feed(x, y)
        sgd.end_pass()
    return sgd.final()


@st.composite
def problems(draw: st.DrawFn) -> tuple[SgdOptions, Floats, Floats, int, Floats]:
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
def test_c_agrees_with_the_reference(problem: tuple[SgdOptions, Floats, Floats, int, Floats]) -> None:
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
        assert holdfast._kernel.implementation == found
        options = SgdOptions(dimension=1, batch=1, step_size=constant(1.0))
        assert holdfast._kernel.start(options).final() == pytest.approx([0.0])
        assert holdfast._kernel.clip([[2.0]], row_norm=1.0) == pytest.approx(np.ones((1, 1)))
    monkeypatch.setenv("HOLDFAST_KERNEL", "rust")
    with pytest.raises(ParameterError, match="HOLDFAST_KERNEL"):
        _ = holdfast._kernel.implementation


WITHOUT_C = """
import os, sys
sys.modules["holdfast._kernel._kernel"] = None
import holdfast._kernel as kernel
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
    for flag in ("-ffast-math", "-Ofast", "-ffinite-math-only"):
        fast = subprocess.run([*check, flag], capture_output=True, text=True, check=False)
        assert fast.returncode != 0
        assert "IEEE" in fast.stderr


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("flags", [["-O0", "-DHF_PLAIN_C"], ["-O3", "-DHF_PLAIN_C"], ["-O1"]], ids=" ".join)
def test_no_compiler_and_no_level_changes_a_bit(flags: list[str], tmp_path: Path) -> None:
    cffi = pytest.importorskip("cffi")
    library = tmp_path / "sgd.so"
    command = ["cc", "-shared", "-fPIC", "-std=c99", "-ffp-contract=off", *flags, str(SOURCE / "sgd.c")]
    subprocess.run([*command, "-o", str(library), "-lm"], check=True)
    header = (SOURCE / "sgd.h").read_text(encoding="utf-8")
    here = cffi.FFI()
    here.cdef("\n".join(line for line in header.splitlines() if not line.startswith("#")))
    other, rng = here.dlopen(str(library)), np.random.default_rng(5)
    x, y, out = rng.normal(size=(200, 11)), rng.normal(size=200), np.empty(11)
    options = SgdOptions(dimension=11, batch=7, step_size=constant(1.0), radius=2.0, penalty=0.1)
    sgd = native.NativeSgd(options)
    plan = here.cast("hf_sgd_options *", int(ffi.cast("intptr_t", ffi.addressof(sgd._state, "options"))))
    state, space = here.new("hf_sgd *"), here.new("double[]", 44)
    assert other.hf_sgd_initialise(state, plan, here.NULL, space) == Status.OK
    pointers = [here.cast("double *", array.ctypes.data) for array in (x, y, out)]
    assert other.hf_sgd_rows(state, pointers[0], 11, pointers[1], here.NULL, 200) == Status.OK
    assert other.hf_sgd_final(state, pointers[2]) == Status.OK
    sgd.feed(x, y)
    assert np.array_equal(out, sgd.final())

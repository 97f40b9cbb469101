"""Look-ups: the compiled pass equals its NumPy twin, clips every row, and sums exactly."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import holdfast._kernel
from holdfast._kernel.lookup import CellPlan, Loss, NumpyLookup, lookup_slopes
from holdfast.errors import ParameterError

CELLS, LEVELS = (5, 9, 3, 200), 4
CLIP, STEPS = 0.7, 2.0**30


def drawn(outputs: int, rows: int = 500) -> tuple[CellPlan, Any, Any, Any]:
    random = np.random.default_rng(outputs)
    levels = tuple(random.integers(0, LEVELS, cells).astype(np.uint8) for cells in CELLS)
    plan = CellPlan(cells=CELLS, outputs=outputs, pairs=((0, 1), (1, 3)), levels=LEVELS, level_of=levels)
    # Codes beyond the last cell count as the last one: nothing outside the tables is read.
    codes = np.stack([random.integers(0, cells + 2, rows) for cells in CELLS], axis=1).astype(np.uint16)
    table = random.normal(size=(plan.total, outputs + 1))
    table[:, -1] **= 2
    return plan, codes, table, random.normal(size=outputs)


CASES: list[tuple[Loss, int]] = [("logistic", 1), ("squared", 1), ("softmax", 3)]


def labels(loss: Loss, rows: int) -> Any:
    random = np.random.default_rng(7)
    return random.integers(0, 3, rows) * 1.0 if loss == "softmax" else random.choice([-1.0, 1.0], rows)


@pytest.mark.parametrize(("loss", "outputs"), CASES)
def test_both_implementations_agree(loss: Loss, outputs: int) -> None:
    plan, codes, table, constant = drawn(outputs)
    expected = NumpyLookup.lookup_scores(plan, codes, table, constant)
    assert plan.scores(codes, table, constant) == pytest.approx(expected, abs=1e-12)
    y = labels(loss, len(codes))
    told: dict[str, Any] = {
        "loss": loss,
        "table": table,
        "constant": constant,
        "clip": CLIP,
        "steps_per_unit": STEPS,
    }
    made, twin = plan.gradient(codes, y, **told), NumpyLookup.lookup_gradient(plan, codes, y, *told.values())
    # One unit of the grid per row, where exp() differs in its last bit.
    assert np.abs(made - twin).max() <= len(codes)
    assert np.abs(made).max() > 1000 * len(codes)


@pytest.mark.parametrize(("loss", "outputs"), CASES)
def test_no_row_adds_more_than_the_clip(loss: Loss, outputs: int) -> None:
    plan, codes, table, constant = drawn(outputs, rows=60)
    for row, label in zip(codes, labels(loss, 60), strict=True):
        sums = plan.gradient(
            row[None],
            np.array([label]),
            loss=loss,
            table=table,
            constant=constant,
            clip=CLIP,
            steps_per_unit=STEPS,
        )
        square = 1.0 + table[plan.places(row[None])[0], -1].sum()
        slopes = sums[-1] / STEPS
        assert np.linalg.norm(slopes) * np.sqrt(square) <= CLIP * (1 + 1e-9)
        exact = lookup_slopes(loss, plan.scores(row[None], table, constant), np.array([label]))[0]
        if np.linalg.norm(exact) * np.sqrt(square) < CLIP:
            assert slopes == pytest.approx(exact, abs=2 / STEPS)


def test_the_order_of_rows_and_their_blocks_do_not_matter() -> None:
    plan, codes, table, constant = drawn(1)
    y = labels("logistic", len(codes))
    told: dict[str, Any] = {
        "loss": "logistic",
        "table": table,
        "constant": constant,
        "clip": CLIP,
        "steps_per_unit": STEPS,
    }
    whole = plan.gradient(codes, y, **told)
    order = np.random.default_rng(0).permutation(len(codes))
    halves = [plan.gradient(codes[part], y[part], **told) for part in (order[:123], order[123:])]
    assert (halves[0] + halves[1] == whole).all()


def test_weights_beyond_all_numbers_add_nothing() -> None:
    plan = CellPlan(cells=(2,))
    told: dict[str, Any] = {
        "loss": "squared",
        "constant": np.array([0.0]),
        "clip": 1.0,
        "steps_per_unit": STEPS,
    }
    codes, y = np.array([[1]], dtype=np.uint16), np.array([0.0])
    for value in (np.inf, np.nan):
        table = np.array([[0.0, 0.0], [value, 1.0]])
        assert (plan.gradient(codes, y, table=table, **told) == 0).all()


def test_tables_and_codes_of_a_wrong_shape_are_refused() -> None:
    plan, codes, table, constant = drawn(1)
    with pytest.raises(ParameterError, match="table"):
        plan.scores(codes, table[:-1], constant)
    with pytest.raises(ParameterError, match="codes"):
        plan.scores(codes[:, :2], table, constant)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_the_source_is_c99_and_what_it_says_is_what_numpy_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cffi, native = pytest.importorskip("cffi"), pytest.importorskip("holdfast._kernel.native_lookup")
    source, library = Path(holdfast._kernel.__file__).parent, tmp_path / "lookup.so"
    strict = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O1", "-ffp-contract=off"]
    command = ["cc", "-shared", "-fPIC", *strict, str(source / "lookup.c"), "-o", str(library), "-lm"]
    subprocess.run(command, check=True)
    here = cffi.FFI()
    header = (source / "lookup.h").read_text(encoding="utf-8")
    here.cdef("\n".join(line for line in header.splitlines() if not line.startswith("#")))
    monkeypatch.setattr(native, "ffi", here)
    monkeypatch.setattr(native, "lib", here.dlopen(str(library)))
    for loss, outputs in CASES:
        plan, codes, table, constant = drawn(outputs)
        y = labels(loss, len(codes))
        made = native.lookup_gradient(plan, codes, y, loss, table, constant, CLIP, STEPS)
        twin = NumpyLookup.lookup_gradient(plan, codes, y, loss, table, constant, CLIP, STEPS)
        assert np.abs(made - twin).max() <= len(codes)
        scores = native.lookup_scores(plan, codes, table, constant)
        assert scores == pytest.approx(NumpyLookup.lookup_scores(plan, codes, table, constant), abs=1e-12)

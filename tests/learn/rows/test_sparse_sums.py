"""Rows of mostly zeros: the compiled sums equal matrix products, and no row adds more than it may."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import holdfast.learn._risk.risk as risk_module
import holdfast.learn._rows.clipped_blocks as clipped_blocks_module
from holdfast._kernel import implementation
from holdfast._kernel.sparse_rows import MOST_NONZERO_SHARE, SparseRows
from holdfast.learn import PrivateLogisticRegression
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Logistic, Loss, Softmax, Squared
from holdfast.learn._risk.descent import ClippedGradients
from holdfast.learn._risk.risk import Risk
from holdfast.learn._rows.clipped_blocks import ClippedBlocks
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.learn._rows.sparse_sums import SparseSums, sparse_sums
from holdfast.learn._rows.summation import BLOCK, rounding_of_sum
from holdfast.learn._whitening import Clip, DiagonalWhitener, FullWhitener, Standardisation, second_moment
from holdfast.privacy._adjacency import Adjacency

COUNT, COLUMNS = 2 * BLOCK + 1_000, 40
pytestmark = pytest.mark.skipif(implementation != "c", reason="the sums are compiled only")


def one_hot(count: int = COUNT, *, long: float = 1.0) -> Any:
    """Two numbers, two categories of 18 and 19 cells, and a constant; some rows are empty, some too long."""
    random = np.random.default_rng(0)
    rows = np.zeros((count, COLUMNS))
    rows[:, :2] = random.normal(size=(count, 2)) * 0.3 * long
    rows[np.arange(count), 2 + random.integers(0, 18, count)] = 0.5
    rows[np.arange(count), 20 + random.integers(0, 19, count)] = -0.4
    rows[:, -1] = 0.5
    rows[::97] = 0.0
    return rows


def examples(rows: Any, labels: Any = None) -> ArrayExamples:
    if labels is None:
        labels = np.where(np.random.default_rng(1).normal(size=len(rows)) > 0, 1.0, -1.0)
    return ArrayExamples(
        features=rows, labels=labels, adjacency=Adjacency.zero_out, public_count=max(1, len(rows))
    )


def problem(loss: Loss | None = None) -> Problem:
    return Problem(loss=loss or Logistic(), dimension=COLUMNS, row_norm=1.0, constant=0.5)


def whitenings() -> list[Any]:
    random = np.random.default_rng(2)
    full = random.normal(size=(COLUMNS, COLUMNS)) * np.logspace(-2, 2, COLUMNS)
    return [
        FullWhitener(full, 1e3, 20.0),
        DiagonalWhitener(np.logspace(-1, 2, COLUMNS), 20.0),
    ]


@pytest.mark.parametrize("whitening", whitenings())
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("loss", [Logistic(), Squared(target_bound=1.0)])
def test_gradients_are_those_of_matrix_products(
    whitening: Any, order: Any, loss: Loss, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = np.asarray(one_hot(long=4.0), order=order)
    weights = np.random.default_rng(3).normal(size=(1, COLUMNS))
    sums = []
    for least in (clipped_blocks_module.SPARSE_ROWS_FROM, 10**9):
        monkeypatch.setattr(clipped_blocks_module, "SPARSE_ROWS_FROM", least)
        passes = ClippedBlocks(examples(rows), problem(loss))
        assert isinstance(passes.engine, SparseSums) == (least < 10**9)
        sums.append(
            ClippedGradients(problem=problem(loss), passes=passes, whitening=whitening, clip=0.4).at(weights)
        )
    assert sums[0] == pytest.approx(sums[1], rel=1e-9, abs=1e-8)
    assert np.abs(sums[0]).max() > 1.0


@pytest.mark.parametrize("kind", ["full", "diagonal", "arrow"])
@pytest.mark.parametrize("clipped", [False, True])
def test_second_moments_are_those_of_matrix_products(
    kind: Any, clipped: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(4)
    clip = Clip(Standardisation(random.uniform(0.5, 20.0, COLUMNS), random.normal(size=COLUMNS)), 3.0)
    options = {"kind": kind, "dimension": COLUMNS, "clip": clip if clipped and kind == "full" else None}
    sparse = second_moment(ClippedBlocks(examples(one_hot()), problem()), **options)
    monkeypatch.setattr(clipped_blocks_module, "SPARSE_ROWS_FROM", 10**9)
    assert sparse == pytest.approx(
        second_moment(ClippedBlocks(examples(one_hot()), problem()), **options), rel=1e-9, abs=1e-9
    )


def sums_of_row(row: Any) -> SparseSums:
    sums = sparse_sums([(row[None, :], np.ones(1))], problem(), block=BLOCK)
    assert sums is not None
    return sums


def test_no_row_adds_more_than_the_clip_where_its_length_drowns_in_rounding() -> None:
    # P takes two large numbers from each other: x^T P^T P x is a difference of numbers of 1e14.
    random = np.random.default_rng(5)
    for _ in range(300):
        size = 10.0 ** random.uniform(5, 8)
        matrix = np.eye(COLUMNS)
        matrix[0, :2] = size, -size * (1.0 + random.uniform(-1, 1) * 2.0**-40)
        row = np.zeros(COLUMNS)
        row[:2] = math.sqrt(0.5)
        row[2] = random.uniform(0.0, 1e-4)
        form, clip = matrix.T @ matrix, 1e-6
        moved = sums_of_row(row).gradient(np.zeros(COLUMNS), form=form, clip=clip, largest=1.0)
        whitened = matrix.astype(np.longdouble) @ moved.astype(np.longdouble)
        assert float(np.linalg.norm(whitened.astype(np.float64))) <= clip * (1.0 + 1e-9)


def test_no_row_adds_more_than_the_clip_to_the_second_moment() -> None:
    standard = Standardisation(np.logspace(-1, 2, COLUMNS), np.full(COLUMNS, 0.3))
    for row in one_hot(50):
        moment = sums_of_row(row).gram("full", form=standard.form(), norm=1.5)
        inner = standard.matrix @ moment @ standard.matrix.T
        assert float(np.linalg.norm(inner)) <= 1.5**2 * (1.0 + 1e-9)


def test_the_rounding_bound_covers_the_sums() -> None:
    rows, random = one_hot(), np.random.default_rng(6)
    sparse_rows = SparseRows.of_blocks([rows], COLUMNS)
    assert sparse_rows is not None
    weights = random.uniform(0.5, 1.0, len(rows))
    exact = (weights.astype(np.longdouble)[:, None] * rows).sum(axis=0)
    sizes = np.abs(weights[:, None] * rows).sum(axis=0)
    error = np.abs(sparse_rows.weighted_sum(weights, block=BLOCK) - exact).astype(np.float64)
    assert (error <= rounding_of_sum(len(rows)) * sizes).all()


def test_lengths_follow_the_form() -> None:
    sums = sums_of_row(one_hot(5)[1])
    first = sums.lengths(np.eye(COLUMNS))
    assert sums.lengths(4.0 * np.eye(COLUMNS)) == pytest.approx(2.0 * first)
    assert sums.lengths(np.full(COLUMNS, 4.0)) == pytest.approx(2.0 * first)


def test_other_tables_are_left_to_matrix_products(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ClippedBlocks(examples(np.full((COUNT, COLUMNS), 0.1)), problem()).engine is None
    assert ClippedBlocks(examples(one_hot(100)), problem()).engine is None
    several = problem(Softmax(classes=3))
    assert ClippedBlocks(examples(one_hot(), np.zeros(COUNT)), several).engine is None
    edge = np.zeros((COUNT, COLUMNS))
    edge[:, : int(MOST_NONZERO_SHARE * COLUMNS)] = 0.1
    assert SparseRows.of_blocks([edge], COLUMNS) is not None
    edge[0, -1] = 0.1
    assert SparseRows.of_blocks([edge], COLUMNS) is None
    monkeypatch.setenv("HOLDFAST_KERNEL", "numpy")
    assert ClippedBlocks(examples(one_hot()), problem()).engine is None


@pytest.mark.filterwarnings("ignore::holdfast.errors.NotPrivateWarning")
def test_a_fit_is_the_same_but_for_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = one_hot()
    labels = np.where(rows[:, 0] + rows[:, 5] > 0.1, 1, 0)
    options: dict[str, Any] = {"epsilon": 1.0, "classes": [0, 1], "adjacency": "zero_out", "random_state": 3}
    sparse = PrivateLogisticRegression(**options).fit(rows, labels).coef_
    monkeypatch.setattr(clipped_blocks_module, "SPARSE_ROWS_FROM", 10**9)
    assert sparse == pytest.approx(
        PrivateLogisticRegression(**options).fit(rows.copy(), labels).coef_, rel=1e-6
    )


def test_an_exact_minimiser_meets_the_same_risk(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, w = one_hot(), np.random.default_rng(7).normal(size=COLUMNS)
    options: dict[str, Any] = {"examples": examples(rows), "problem": problem(), "penalty": 2.0}
    sparse = Risk(**options)
    gradient, doubt = sparse.gradient(w)
    exact, wide_doubt = sparse.gradient(w, precise=True)
    monkeypatch.setattr(risk_module, "SPARSE_ROWS_FROM", 10**9)
    plain = Risk(**options)
    assert np.linalg.norm(gradient - exact) <= doubt + wide_doubt
    assert 0.5 * plain.gradient(w)[1] < doubt < 3.0 * plain.gradient(w)[1]
    assert sparse.hessian(w) == pytest.approx(plain.hessian(w, precise=True), rel=1e-9, abs=1e-9)
    assert sparse.hessian(w, every=4) == pytest.approx(
        plain.hessian(w, every=4, precise=True), rel=1e-9, abs=1e-9
    )
    assert plain._sparse_rows is None is not sparse._sparse_rows

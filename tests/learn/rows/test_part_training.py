"""Bolt-on SGD in parts: the average moves no further than its bound, and only over parts of public sizes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.data import Categorical, Encoder, Identifier, Numeric, Order, Schema, open_table
from holdfast.data._table import Partition, Table
from holdfast.errors import DataError, ParameterError
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Logistic
from holdfast.learn._problem.problem import ClassLabels
from holdfast.learn._rows.engine_sums import LabelledRows
from holdfast.learn._rows.part_training import AveragedRuns, PartTrainer, average_over_parts
from holdfast.learn._rows.table_examples import TableExamples
from holdfast.learn.methods.bolt_on import SgdPlan
from holdfast.noise._source import Source
from holdfast.privacy._adjacency import Adjacency

SCHEMA = Schema(
    [Identifier("id"), Numeric("x", -1, 1), Numeric("z", -1, 1), Categorical("ill", ["no", "yes"])]
)
ORDER = Order.keyed_hash("id", key=b"k" * 16, neighbours_keep_identifier=True)
ROWS = LabelledRows(
    encoder=Encoder(SCHEMA, ["x", "z"], intercept=False),
    target="ill",
    coding=ClassLabels.of_column(SCHEMA["ill"]),
)


def permutation_sgd(records: int, *, penalty: float = 0.1, **changed: Any) -> SgdPlan:
    made = SgdPlan(
        problem=Problem(loss=Logistic(), dimension=2, penalty=penalty),
        adjacency=Adjacency.replace,
        records=records,
        batch=3,
        passes=2,
        schedule="strongly_convex" if penalty else "constant",
    )
    return replace(made, **changed)


def table(x: Any, z: Any, ill: Any) -> Table:
    rows = {"id": np.arange(len(x)), "x": x, "z": z, "ill": np.where(ill, "yes", "no")}
    return open_table(pa.table(rows), SCHEMA)


def trained(averaged: AveragedRuns, rows: Table) -> Any:
    kernel = PartTrainer(run_by_size=averaged.run_by_size, rows=ROWS)
    return averaged.average(rows.map_partitions(kernel, ROWS.columns, order=ORDER, partitions=averaged.parts))


@given(
    n=st.integers(2, 40),
    parts=st.integers(1, 8),
    seed=st.integers(0, 999),
    penalty=st.sampled_from([0.0, 0.05, 1.0]),
)
def test_a_record_moves_the_average_no_further_than_its_bound(
    n: int, parts: int, seed: int, penalty: float
) -> None:
    coins = np.random.default_rng(seed)
    averaged = AveragedRuns(run=permutation_sgd(n, penalty=penalty), parts=min(parts, n))
    x, z, ill = coins.uniform(-1, 1, n), coins.uniform(-1, 1, n), coins.random(n) < 0.5
    before = trained(averaged, table(x, z, ill))
    place = coins.integers(n)
    x[place], z[place], ill[place] = coins.choice([-1.0, 1.0]), coins.choice([-1.0, 1.0]), not ill[place]
    moved = np.linalg.norm(trained(averaged, table(x, z, ill)) - before)
    assert moved <= averaged.l2_sensitivity


def test_the_bound_is_nearly_reached() -> None:
    """One row in each part, one pass: the first step moves by the whole bound, so no factor can be missing."""
    n = parts = 4
    run = permutation_sgd(n, penalty=1.0, passes=1, batch=1)
    averaged = AveragedRuns(run=run, parts=parts)
    rows = np.ones(n), np.zeros(n), np.ones(n, dtype=bool)
    flipped = np.array([-1.0, 1.0, 1.0, 1.0])
    moved = np.linalg.norm(trained(averaged, table(flipped, *rows[1:])) - trained(averaged, table(*rows)))
    assert (
        0.45 < moved / averaged.l2_sensitivity <= 0.5001
    )  # x and -x: the gradients at 0 are half as long as L


def test_with_a_penalty_parts_cost_nothing() -> None:
    """G / (penalty m) whatever the number of parts (soundness, section 1); without one they divide the bound."""
    problem = permutation_sgd(1000).problem
    for parts in (1, 3, 10):
        bound = problem.gradient_change("replace") / (problem.penalty * 1000)
        assert AveragedRuns(run=permutation_sgd(1000), parts=parts).l2_sensitivity <= bound * (1 + 1e-9)
    whole, tenth = (
        AveragedRuns(run=permutation_sgd(1000, penalty=0.0, step=0.1), parts=parts).l2_sensitivity
        for parts in (1, 10)
    )
    assert tenth == pytest.approx(whole / 10, rel=1e-6)


def test_sizes_are_public_and_uneven_parts_count_by_their_rows() -> None:
    averaged = AveragedRuns(run=permutation_sgd(11), parts=4)
    assert averaged.sizes == [2, 3, 3, 3]
    weights = [np.array([1.0]), np.array([2.0]), np.array([3.0]), np.array([4.0])]
    made = [Partition(value=value, rows=size) for value, size in zip(weights, averaged.sizes, strict=True)]
    assert averaged.average(made)[0] == pytest.approx((2 * 1 + 3 * 2 + 3 * 3 + 3 * 4) / 11)
    with pytest.raises(DataError, match="nothing was released"):
        averaged.average(made[:3])
    with pytest.raises(ParameterError, match="parts"):
        AveragedRuns(run=permutation_sgd(3), parts=4)


class _Beside(type(open_table({"id": [0], "x": [0.0], "z": [0.0], "ill": ["no"]}, SCHEMA))):  # type: ignore[misc]
    """The memory engine, as if its kernels ran elsewhere."""

    capabilities = frozenset({"sums", "map_partitions", "engine_parts"})

    def parts(self) -> int:
        return 3


@pytest.mark.parametrize("adjacency", ["replace", "zero_out", "add_remove"])
def test_under_add_remove_rows_are_streamed(adjacency: str) -> None:
    rows = table(np.linspace(-1, 1, 7), np.zeros(7), np.arange(7) % 2 == 0)
    rows.__class__ = _Beside
    examples = TableExamples(
        table=rows, encoder=ROWS.encoder, target="ill", coding=ROWS.coding, public_count=7
    )
    plain_run = permutation_sgd(7, adjacency=Adjacency.of(adjacency))
    run = average_over_parts(plain_run, examples)
    assert (run is plain_run) == (adjacency == "add_remove")
    if adjacency != "add_remove":
        assert isinstance(run, AveragedRuns)
        assert run.parts == 3
        assert run.train(examples, Source(seed=1)).shape == (2,)


def test_a_part_of_another_size_is_refused() -> None:
    averaged = AveragedRuns(run=permutation_sgd(6), parts=2)
    with pytest.raises(DataError, match="public sizes"):
        trained(averaged, table(np.zeros(8), np.zeros(8), np.zeros(8)))


def test_streamed_rows_draw_their_batches_under_add_remove() -> None:
    """The table refuses to rank them, so each draws by itself, in every engine (soundness, section 1)."""
    schema = replace(SCHEMA, adjacency="add_remove", n_public=9)
    rows = {"id": np.arange(9), "x": np.linspace(-1, 1, 9), "z": np.zeros(9), "ill": ["no"] * 9}
    examples = TableExamples(
        table=open_table(pa.table(rows), schema),
        encoder=ROWS.encoder,
        target="ill",
        coding=ROWS.coding,
        public_count=9,
    )
    chunks = list(examples.random_batches(Source(seed=2), batches=4))
    assert len(chunks) == 4
    assert sorted(float(x) for features, _ in chunks for x in features[:, 0]) == pytest.approx(rows["x"])
    assert permutation_sgd(9, adjacency=Adjacency.add_remove).train(examples, Source(seed=2)).shape == (2,)

"""Passes: every row, clipped, in blocks of a fixed size."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from holdfast._arrays import Floats
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Logistic
from holdfast.learn._rows.clipped_blocks import ClippedBlocks
from holdfast.learn._rows.examples import ArrayExamples, DerivedExamples
from holdfast.learn._rows.summation import BLOCK, one_thread, rounding_of_sum
from holdfast.noise._source import Source
from holdfast.privacy._adjacency import Adjacency


@pytest.mark.parametrize("count", [0, 1, BLOCK, BLOCK + 1, 70_000])
def test_every_row_once_in_each_pass_and_within_the_norm(count: int) -> None:
    rows = np.random.default_rng(0).normal(size=(count, 2)) * 3
    labels = np.asarray(np.arange(count) % 2, dtype=np.float64)
    examples = ArrayExamples(
        features=rows, labels=labels, adjacency=Adjacency.zero_out, public_count=max(1, count)
    )
    passes = ClippedBlocks(examples, Problem(loss=Logistic(), dimension=2, row_norm=1.0))
    assert passes.resident
    for _ in range(2):
        blocks = list(passes.blocks())
        assert sum(len(block) for block, _ in blocks) == count
        assert all(len(block) <= BLOCK for block, _ in blocks)
        assert all(np.linalg.norm(block, axis=1).max(initial=0.0) <= 1 + 1e-9 for block, _ in blocks)
        assert all(set(np.unique(signs)) <= {-1.0, 1.0} for _, signs in blocks)


def test_rows_that_are_not_finite_count_as_null() -> None:
    rows = np.array([[np.nan, 1.0], [np.inf, 0.0], [0.5, 0.0]])
    examples = ArrayExamples(features=rows, labels=np.ones(3), adjacency=Adjacency.zero_out, public_count=3)
    ((block, _),) = ClippedBlocks(examples, Problem(loss=Logistic(), dimension=2)).blocks()
    assert np.array_equal(block, [[0.0, 0.0], [0.0, 0.0], [0.5, 0.0]])


def test_the_rounding_bound_covers_a_blocked_sum() -> None:
    generator = np.random.default_rng(1)
    rows = generator.uniform(0.5, 1.0, size=100_000)
    blocked = sum(float(np.ones(len(part)) @ part) for part in np.split(rows, range(BLOCK, len(rows), BLOCK)))
    exact = float(np.sum(rows.astype(np.longdouble)))
    assert abs(blocked - exact) <= rounding_of_sum(len(rows)) * exact


def test_one_thread_is_left_as_it_was_found() -> None:
    from threadpoolctl import threadpool_info

    def threads() -> list[int]:
        pools = threadpool_info()
        return [
            pool["num_threads"]
            for pool in pools
            if pool["user_api"] == "blas" and "numpy" in pool["filepath"]
        ]

    before = threads()
    with one_thread():
        assert set(threads()) <= {1}
    assert threads() == before


@pytest.mark.parametrize("chunked", [False, True])
def test_a_secret_pass_meets_the_rows_of_the_shuffle(chunked: bool) -> None:
    """The same order from the same source, drawn anew in each pass, without a copy of rows in memory."""
    rng = np.random.default_rng(3)
    examples: Any = ArrayExamples(
        features=rng.normal(size=(500, 3)),
        labels=rng.normal(size=500),
        adjacency=Adjacency.replace,
        public_count=500,
    )
    if chunked:
        examples = Chunked(examples)

    def met(source: Source) -> list[Floats]:
        return [rows[order] for rows, _, order in examples.ordered_blocks(source)]

    shuffled = np.concatenate([rows for rows, _ in examples.shuffled_chunks(Source(seed=7))])
    source = Source(seed=7)
    first, second = np.concatenate(met(source)), np.concatenate(met(source))
    assert np.array_equal(first, shuffled)
    assert not np.array_equal(first, second)
    assert not np.array_equal(first, examples.features if not chunked else examples.inner.features)
    assert np.array_equal(np.sort(second, axis=0), np.sort(first, axis=0))


class Chunked(DerivedExamples):
    """Rows that an engine streams: no array to point into."""

    def __init__(self, inner: ArrayExamples) -> None:
        self.inner = inner

    @property
    def examples(self) -> ArrayExamples:
        return self.inner

    def chunks(self) -> Any:
        return self.inner.chunks()

    def shuffled_chunks(self, source: Source) -> Any:
        (features, labels), *_ = self.inner.shuffled_chunks(source)
        for start in range(0, len(labels), 70):
            yield features[start : start + 70], labels[start : start + 70]

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import ParameterError
from holdfast.synth._workload import Workload
from holdfast.synth._workload.query_classes import Conjunctions, Predicates, Ranges, Thresholds, conjunctions
from holdfast.synth._workload.workload import AnswerVector, Group, Marginal

RANDOM = np.random.default_rng(5)
GROUPS: list[tuple[Group, tuple[int, ...]]] = [
    (Marginal(("a", "b")), (3, 4)),
    (Marginal(()), ()),
    (Thresholds(("a",)), (5,)),
    (Thresholds(("a", "b")), (4, 3)),
    (Ranges(("a",)), (5,)),
    (Ranges(("a", "b")), (4, 2)),
    (Ranges(("a",)), (1,)),
    (Conjunctions(("a", "b", "c"), order=2), (2, 2, 2)),
    (Conjunctions(("a", "b", "c")), (2, 2, 2)),
    (Predicates(("a", "b"), values=RANDOM.random((7, 3, 2))), (3, 2)),
]
each_group = pytest.mark.parametrize(
    ("group", "shape"),
    GROUPS,
    ids=lambda value: type(value).__name__ if isinstance(value, Group) else str(value),
)


def matrix(group: Group, shape: tuple[int, ...]) -> Any:
    """Every query as a row of values over the flat cells."""
    return np.array([group.query(index, shape).reshape(-1) for index in range(group.size(shape))])


@each_group
def test_answers_are_the_queries_summed_over_records(group: Group, shape: tuple[int, ...]) -> None:
    counts = np.random.default_rng(1).integers(0, 9, shape).astype(float)
    queries = matrix(group, shape)
    assert np.all((queries >= 0) & (queries <= 1))
    assert group.answers(counts) == pytest.approx(queries @ counts.reshape(-1))


@each_group
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_combined_is_the_adjoint_of_answers(group: Group, shape: tuple[int, ...], seed: int) -> None:
    random = np.random.default_rng(seed)
    counts, weights = random.normal(size=shape), random.normal(size=group.size(shape))
    inner = float(np.sum(group.weighted_sum(weights, shape) * counts))
    assert float(weights @ group.answers(counts)) == pytest.approx(inner)


@each_group
def test_the_column_norm_is_that_of_the_worst_record(group: Group, shape: tuple[int, ...]) -> None:
    norms = np.linalg.norm(matrix(group, shape), axis=0)
    assert group.column_norm(shape) == pytest.approx(norms.max())
    assert group.column_norm(shape) >= norms.max() - 1e-15


@each_group
def test_every_query_has_words_of_its_own(group: Group, shape: tuple[int, ...]) -> None:
    words = [group.describe(index, shape) for index in range(group.size(shape))]
    assert len(set(words)) == len(words)


def test_ranges_in_words() -> None:
    assert Ranges(("age", "sex")).describe(3, (3, 2)) == "0<=age<=1 and sex=1"


def test_conjunctions_are_the_marginals_of_the_thesis() -> None:
    # 003, definition 5.1.1: the product of the bits of S, summed over records.
    codes = np.random.default_rng(2).integers(0, 2, (50, 4))
    counts = np.zeros((2, 2, 2, 2))
    np.add.at(counts, tuple(codes.T), 1.0)
    expected = [
        float(codes[:, list(s)].prod(axis=1).sum()) for s in ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
    ]
    assert Conjunctions(("a", "b", "c", "d"), order=2).answers(counts).tolist() == expected
    assert len(conjunctions(("a", "b", "c", "d"), order=2)) == 6


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: Conjunctions(("a", "b"), order=3), "order"),
        (lambda: Conjunctions(tuple(f"c{i}" for i in range(30))), "columns"),
        (lambda: Conjunctions(("a",)).answers(np.zeros(3)), "binary"),
        (lambda: conjunctions(("a",), order=2), "order"),
        (lambda: Predicates(("a",), values=[[0.0, 1.5]]), "values"),
        (lambda: Predicates(("a",), values=[[0.0, math.nan]]), "values"),
        (lambda: Predicates(("a",), values=[0.0, 1.0]), "shape"),
        (lambda: Predicates(("a",), values=[[0.0, 1.0]]).size((3,)), "shape"),
        (lambda: Thresholds(()), "columns"),
    ],
)
def test_refusals_name_the_parameter(make: Any, word: str) -> None:
    with pytest.raises(ParameterError, match=word):
        make()


def test_the_layout_puts_every_query_at_its_place() -> None:
    domain = {"a": 3, "b": 2, "c": 2}
    work = Workload.of([("a", "b"), Thresholds(("a",)), Conjunctions(("b", "c"))])
    layout = AnswerVector(work, domain)
    joint = np.random.default_rng(3).random((3, 2, 2))
    tables = {("a", "b"): joint.sum(axis=2), ("a",): joint.sum(axis=(1, 2)), ("b", "c"): joint.sum(axis=0)}
    answers = layout.answers_of(tables.__getitem__)
    assert layout.size == answers.size == 6 + 3 + 1
    for index in range(layout.size):
        columns, table = layout.query(index)
        assert answers[index] == pytest.approx(float(np.sum(table * tables[columns])))
    assert [layout.locate(index) for index in (0, 5, 6, 9)] == [(0, 0), (0, 5), (1, 0), (2, 0)]
    assert layout.describe(9) == "b=1 and c=1"


def test_weights_scale_queries_and_keep_them_bounded() -> None:
    layout = AnswerVector(Workload.of([("a",), ("b",)], weights=[2.0, 8.0]), {"a": 2, "b": 2})
    assert layout.query(0)[1].tolist() == [0.25, 0.0]
    assert layout.query(3)[1].tolist() == [0.0, 1.0]
    assert layout.answers_of(lambda _: np.array([0.5, 0.5])).tolist() == [0.125, 0.125, 0.5, 0.5]

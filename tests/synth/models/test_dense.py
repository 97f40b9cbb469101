from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import ParameterError
from holdfast.noise.source import Source
from holdfast.synth.models.dense import DenseModel, RowsModel, flat_cells
from holdfast.synth.models.universe import AllCells, SampledSupport
from holdfast.synth.workload import Workload
from holdfast.synth.workload.workload import AnswerVector

DOMAIN = {"a": 2, "b": 3, "c": 4}
EVERY = np.column_stack(np.unravel_index(np.arange(24), (2, 3, 4))).astype(np.int64)
SETS: list[tuple[str, ...]] = [("a",), ("c", "a"), ("b", "c"), ("c", "b", "a"), ()]


def test_dense_and_weighted_rows_say_the_same() -> None:
    weights = np.random.default_rng(0).random(24)
    dense = DenseModel(domain=DOMAIN, weights=weights, total=50.0)
    rows = RowsModel(domain=DOMAIN, codes=EVERY, weights=weights, total=50.0)
    for columns in SETS:
        assert dense.project(columns) == pytest.approx(rows.project(columns))
        assert dense.project(columns).sum() == pytest.approx(50.0)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), rows=st.integers(0, 400))
def test_samples_are_within_one_of_what_is_expected(seed: int, rows: int) -> None:
    weights = np.random.default_rng(seed).random(24) ** 3
    for model in (
        DenseModel(domain=DOMAIN, weights=weights, total=1.0),
        RowsModel(domain=DOMAIN, codes=EVERY, weights=weights, total=1.0),
    ):
        codes = model.sample(rows, Source(seed=seed))
        assert codes.shape == (rows, 3)
        counts = np.bincount(flat_cells(codes, DOMAIN, tuple(DOMAIN)), minlength=24)
        assert np.all(np.abs(counts - rows * weights / weights.sum()) < 1 + 1e-9)


def test_samples_are_right_on_average() -> None:
    model = DenseModel(domain={"a": 3}, weights=np.array([0.5, 0.3, 0.2]), total=1.0)
    source = Source(seed=1)
    mean = np.mean([np.bincount(model.sample(1, source)[:, 0], minlength=3) for _ in range(2000)], axis=0)
    assert mean == pytest.approx([0.5, 0.3, 0.2], abs=0.05)


def test_rows_without_weights_come_back_as_they_are() -> None:
    codes = EVERY[[3, 3, 17, 5]]
    model = RowsModel(domain=DOMAIN, codes=codes, total=4.0)
    drawn = model.sample(4, Source(seed=2))
    assert sorted(map(tuple, drawn.tolist())) == sorted(map(tuple, codes.tolist()))


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: DenseModel(domain=DOMAIN, weights=np.ones(23), total=1.0), "weights"),
        (lambda: DenseModel(domain=DOMAIN, weights=np.zeros(24), total=1.0), "weights"),
        (lambda: DenseModel(domain=DOMAIN, weights=np.full(24, math.nan), total=1.0), "weights"),
        (lambda: DenseModel(domain={"a": 10**8}, weights=np.ones(1), total=1.0), "domain"),
        (lambda: DenseModel(domain=DOMAIN, weights=np.ones(24), total=-1.0), "total"),
        (lambda: RowsModel(domain=DOMAIN, codes=np.array([[0, 3, 0]]), total=1.0), "codes"),
        (lambda: RowsModel(domain=DOMAIN, codes=np.zeros((0, 3), dtype=int), total=1.0), "codes"),
        (lambda: RowsModel(domain=DOMAIN, codes=EVERY, weights=np.ones(3), total=1.0), "weights"),
        (lambda: AllCells({"a": 10**9}), "domain"),
        (lambda: SampledSupport(DOMAIN, np.zeros((0, 3), dtype=int)), "codes"),
    ],
)
def test_refusals_name_the_parameter(make: Any, word: str) -> None:
    with pytest.raises(ParameterError, match=word):
        make()


def test_a_support_of_all_records_is_the_universe() -> None:
    whole, sampled = AllCells(DOMAIN), SampledSupport(DOMAIN, EVERY)
    random = np.random.default_rng(4)
    probabilities = random.dirichlet(np.ones(24))
    layout = AnswerVector(Workload.of(SETS), DOMAIN)
    assert whole.answers(probabilities, layout) == pytest.approx(sampled.answers(probabilities, layout))
    for columns in SETS:
        table = random.random([DOMAIN[name] for name in columns])
        assert whole.values(columns, table) == pytest.approx(sampled.values(columns, table))
        # <table, projection> is the mean of the function: the two operations are adjoint.
        mean = float(whole.values(columns, table) @ probabilities)
        assert mean == pytest.approx(float(np.sum(table * whole.project(probabilities, columns))))
    assert whole.log_size == sampled.log_size == pytest.approx(math.log(24))
    made = [universe.model(probabilities, 9.0).project(("c", "a")) for universe in (whole, sampled)]
    assert np.allclose(made[0], made[1])

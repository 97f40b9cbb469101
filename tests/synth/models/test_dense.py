from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import ParameterError
from holdfast.noise._source import Source
from holdfast.synth._models.dense import DenseModel, RowsModel, flat_cells
from holdfast.synth._models.shared_sums import shared_tables, summed_together
from holdfast.synth._models.universe import AllCells, SampledSupport
from holdfast.synth._workload import Workload
from holdfast.synth._workload.workload import AnswerVector

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


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), most_cells=st.sampled_from([1, 8, 60, 10**6]))
def test_shared_sums_are_those_of_each_table_by_itself(seed: int, most_cells: int) -> None:
    """Of any sets of columns in any order, with shared tables that hold none, some or all of them."""
    random = np.random.default_rng(seed)
    domain = {name: int(random.integers(1, 4)) for name in "abcdefg"}
    universe = AllCells(domain)
    probabilities = random.dirichlet(np.ones(universe.size))
    wanted = [
        tuple(str(name) for name in random.choice(list(domain), size=random.integers(0, 4), replace=False))
        for _ in range(random.integers(1, 30))
    ]
    plan = shared_tables(domain, wanted, most_cells=most_cells)
    found = summed_together(lambda columns: universe.project(probabilities, columns), domain, plan)
    assert set(found) == set(wanted)
    for columns in wanted:
        assert found[columns] == pytest.approx(universe.project(probabilities, columns), rel=1e-12)
    for one in plan:
        large = math.prod(domain[name] for name in one.columns) > most_cells
        assert not large or frozenset(one.columns) in {frozenset(columns) for columns in one.members}


def test_many_records_are_gone_through_once_for_several_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    domain = {f"x{place:02d}": 2 for place in range(15)}
    layout = AnswerVector(Workload.of(list(combinations(domain, 2))), domain)
    universe = AllCells(domain)
    probabilities = np.random.default_rng(3).dirichlet(np.ones(universe.size))
    asked = []
    whole = AllCells.project

    def counted(self: AllCells, weights: Any, columns: Any) -> Any:
        asked.append(columns)
        return whole(self, weights, columns)

    monkeypatch.setattr(AllCells, "project", counted)
    found = universe.answers(probabilities, layout)
    assert len(asked) <= 5
    assert found == pytest.approx(layout.answers_of(lambda columns: whole(universe, probabilities, columns)))

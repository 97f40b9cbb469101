"""Constraints are decided exactly, before anything is spent; whatever is left of the domain, rows are found in it."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.data import Categorical, Numeric, Schema
from holdfast.errors import ParameterError
from holdfast.noise._source import Source
from holdfast.privacy import ZCDP, Account
from holdfast.synth import SYNTHESISERS, Synthesizer, Workload, Zeros
from holdfast.synth._models.graphical import estimation
from holdfast.synth._models.graphical.model import GraphicalModel
from holdfast.synth._models.product import ProductModel
from holdfast.synth._rows import impossible_rows, possible_record
from holdfast.synth._rows.impossible_rows import is_possible, possible_rows, require_possible
from holdfast.synth._rows.possible_record import PossibleRecords
from tests.studies.size import trials

Domain = dict[str, int]


@st.composite
def constrained(draw: st.DrawFn) -> tuple[Domain, list[Zeros]]:
    """A small domain, columns of one cell among them, and constraints of every width, in any order of columns."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    domain = {f"c{place}": size for place, size in enumerate(sizes)}
    zeros = []
    for _ in range(draw(st.integers(1, 4))):
        names = draw(st.permutations(list(domain)))[: draw(st.integers(1, len(domain)))]
        cells = list(product(*(range(domain[name]) for name in names)))
        zeros.append(Zeros(names, draw(st.lists(st.sampled_from(cells), max_size=len(cells)))))
    return domain, zeros


def left(domain: Domain, zeros: list[Zeros]) -> list[tuple[int, ...]]:
    """Every possible record, by trying all of them."""
    codes = np.array(list(product(*map(range, domain.values()))))
    return [tuple(row) for row in codes[is_possible(codes, list(domain), domain, zeros)].tolist()]


@given(case=constrained(), data=st.data())
@settings(max_examples=400, deadline=None)
def test_constraints_are_refused_exactly_where_no_record_is_left(
    case: tuple[Domain, list[Zeros]], data: st.DataObject
) -> None:
    domain, zeros = case
    records = left(domain, zeros)
    if not records:
        with pytest.raises(ParameterError, match="constraints must leave a record"):
            require_possible(zeros, domain)
        return
    asked = {name: data.draw(st.integers(0, size - 1)) for name, size in domain.items()}
    found = asked | PossibleRecords(domain, zeros).nearest(asked)
    assert tuple(found.values()) in records
    if tuple(asked.values()) in records:
        assert found == asked


@given(case=constrained(), seed=st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_rows_are_found_whatever_the_model(case: tuple[Domain, list[Zeros]], seed: int) -> None:
    """All of the model's mass in one record, possible or not, and no walk that would help."""
    domain, zeros = case
    if not left(domain, zeros):
        return
    rng = np.random.default_rng(seed)
    model = ProductModel(
        columns={name: np.eye(size)[rng.integers(size)] for name, size in domain.items()}, total=5.0
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(impossible_rows, "WALK_STEPS_PER_COLUMN", 0)
        codes = possible_rows(model, 5, Source(seed=seed), zeros)
    assert is_possible(codes, list(domain), domain, zeros).all()


def different(columns: int, cells: int) -> tuple[Domain, list[Zeros]]:
    """No two columns may be equal: possible with as many cells as columns, impossible with fewer."""
    domain = {f"c{place}": cells for place in range(columns)}
    same = [(cell, cell) for cell in range(cells)]
    return domain, [Zeros(pair, same) for pair in combinations(domain, 2)]


@pytest.mark.parametrize("columns", [2, 5, 9])
def test_what_no_two_columns_show_is_found(columns: int) -> None:
    domain, zeros = different(columns, columns)
    require_possible(zeros, domain)
    domain, zeros = different(columns, columns - 1)
    with pytest.raises(ParameterError, match="constraints must leave a record"):
        require_possible(zeros, domain)


def test_wide_cells_are_part_of_what_is_left_of_a_problem() -> None:
    """The first value of x dooms y and z, the second does not: their own values are the same under both."""
    domain = {"x": 2, "y": 3, "z": 3}
    pairs = list(product(range(3), repeat=2))
    zeros = [Zeros(("x", "y", "z"), [*((0, *pair) for pair in pairs), *((1, *pair) for pair in pairs[1:])])]
    assert PossibleRecords(domain, zeros).nearest({"x": 0, "y": 2, "z": 2}) == {"x": 1, "y": 0, "z": 0}


def test_what_takes_too_long_is_refused_and_a_near_record_then_is_the_one_that_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    domain, zeros = different(6, 6)
    records = PossibleRecords(domain, zeros)
    monkeypatch.setattr(possible_record, "MOST_NEAR_STEPS", 1)
    assert len(set(records.nearest(dict.fromkeys(domain, 0)).values())) == 6
    monkeypatch.setattr(possible_record, "MOST_SEARCH_STEPS", 1)
    with pytest.raises(ParameterError, match="decided within 1 steps"):
        PossibleRecords(domain, zeros)


def test_a_constraint_on_very_many_columns_needs_no_table() -> None:
    domain = {f"c{place}": 100 for place in range(30)}
    wide = Zeros(tuple(domain), [(0,) * 30, (1,) * 30])
    require_possible([wide], domain)
    codes = np.array([[0] * 30, [1] * 29 + [2], [1] * 30])
    assert is_possible(codes, list(domain), domain, [wide]).tolist() == [False, True, False]


@pytest.mark.filterwarnings("ignore::holdfast.errors.NotPrivateWarning")
@pytest.mark.parametrize("method", ["tree", "adaptive"])
def test_constraints_that_would_make_a_model_too_large_are_kept_by_its_rows(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimation, "MOST_ESTIMATED_CELLS", 200)
    domain, zeros = different(6, 6)
    schema = Schema([Categorical(name, list(range(size))) for name, size in domain.items()])
    rng = np.random.default_rng(0)
    rows = {name: rng.integers(0, 6, 60) for name in domain}
    made = Synthesizer(
        epsilon=1.0,
        delta=1e-6,
        method=method,
        constraints=zeros,
        workload=Workload.of([("c0", "c1")]),
        random_state=1,
    ).fit(rows, schema)
    assert isinstance(made.model_, GraphicalModel)
    assert made.model_.tree.cells < 6**4
    codes = np.stack([made.sample()[name] for name in domain], axis=1)
    assert all(len(set(row)) == 6 for row in codes.tolist())


@pytest.mark.filterwarnings("ignore::holdfast.errors.UselessReleaseWarning")  # twenty rows
@pytest.mark.filterwarnings("ignore::holdfast.errors.NotPrivateWarning")
@given(case=constrained(), data=st.data())
@settings(max_examples=trials(300), deadline=None)
def test_whatever_is_possible_is_synthesised(case: tuple[Domain, list[Zeros]], data: st.DataObject) -> None:
    """By every method, from a table whose own rows may break the constraints: nothing fails once it was paid for."""
    domain, zeros = case
    if not left(domain, zeros):
        return
    schema = Schema([Categorical(name, [str(cell) for cell in range(size)]) for name, size in domain.items()])
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    rows = {name: rng.integers(0, size, 20).astype(str) for name, size in domain.items()}
    method = data.draw(st.sampled_from(["auto", *(method.name for method in SYNTHESISERS)]))
    made = Synthesizer(
        epsilon=1.0, delta=1e-6, method=method, constraints=zeros, random_state=1, rows=15
    ).fit(rows, schema)
    assert is_possible(made._rows.codes, list(domain), domain, zeros).all()


HOUSE = Schema(
    [
        Categorical("age", ["child", "adult"]),
        Categorical("work", ["none", "full"]),
        Categorical("paid", [0, 1]),
    ]
)
NOBODY = {
    "two together": [Zeros(("age",), [(0,)]), Zeros(("age", "work"), [(1, 0), (1, 1)])],
    "a chain": [
        Zeros(("age", "work"), [(0, 0), (1, 1)]),
        Zeros(("work", "paid"), [(0, 0), (1, 1)]),
        Zeros(("age", "paid"), [(0, 0), (1, 1)]),
    ],
    "an empty column": [Zeros(("paid",), [(0,)]), Zeros(("paid",), [(1,)])],
}


@pytest.mark.filterwarnings("ignore::holdfast.errors.NotPrivateWarning")
@pytest.mark.parametrize("constraints", NOBODY.values(), ids=list(NOBODY))
@pytest.mark.parametrize("method", ["auto", *(method.name for method in SYNTHESISERS)])
def test_impossible_constraints_cost_nothing(method: str, constraints: list[Zeros]) -> None:
    rows: dict[str, Any] = {"age": ["child", "adult"] * 20, "work": ["none"] * 40, "paid": [0, 1] * 20}
    account = Account(ZCDP(0.5), seed=1)
    with pytest.raises(ParameterError, match="constraints must leave a record"):
        Synthesizer(method=method, constraints=constraints).fit(rows, HOUSE, account=account)
    assert not account.journal.entries


def test_bins_without_a_whole_number_count_among_the_constraints() -> None:
    """Each bin of x but the first and the last is empty, and these are declared impossible."""
    schema = Schema([Numeric("x", 0, 1, bins=6, integer=True), Categorical("a", [0, 1])])
    held = (0, 5)
    account = Account(ZCDP(0.5), seed=1)
    with pytest.raises(ParameterError, match="constraints must leave a record"):
        Synthesizer(constraints=[Zeros(("x",), [(cell,) for cell in held])]).fit(
            {"x": [0, 1] * 20, "a": [0, 1] * 20}, schema, account=account
        )
    assert not account.journal.entries

"""Laws that drawn faults asked for: each lived until its law was written (docs/mutation.md)."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from holdfast.data import Categorical, Numeric, Schema, open_table
from holdfast.errors import ParameterError
from holdfast.privacy import ZCDP, Account, PureDP
from holdfast.synth import Synthesizer
from holdfast.synth._contents import _groups, _groups_json
from holdfast.synth._exact_counts import ExactCounts
from holdfast.synth._models.generator.heads import Heads
from holdfast.synth._models.generator.targets import Targets
from holdfast.synth._models.model import Measurement
from holdfast.synth._models.product import ProductModel
from holdfast.synth._rows.coded_rows import _round_within
from holdfast.synth._rows.column_order import ColumnsInOrder
from holdfast.synth._workload import Workload
from holdfast.synth._workload.residual_basis import helmert
from holdfast.synth._workload.workload import Marginal
from holdfast.synth.classics.query_gan_leader import LeaderTraining
from holdfast.synth.methods.adaptive import METHOD as ADAPTIVE
from holdfast.synth.methods.gaussian import gaussian
from holdfast.synth.methods.trial import choose_tables


def test_numbers_with_digits_are_written_with_these_digits() -> None:
    """Also where the nearest such number lies outside of the cell and the next one is taken."""
    values, left, right = (
        np.array([0.74, 0.31, 2.5]),
        np.array([0.65, 0.25, 2.45]),
        np.array([0.7, 0.3, 2.55]),
    )
    rounded = _round_within(np.array([0.69, 0.29, 2.5]), left, right, 1)
    assert rounded.tolist() == [0.69, 0.29, 2.5]  # a cell without such a number keeps its value
    left, right = np.array([0.55, 0.15, 2.35]), np.array([0.7, 0.3, 2.5])
    rounded = _round_within(np.array([0.69, 0.29, 2.49]), left, right, 1)
    assert rounded.tolist() == [0.6, 0.2, 2.4]
    assert values.size == 3


@pytest.mark.parametrize("total", [0.0, -1.0, math.inf, math.nan])
def test_a_model_has_a_finite_total(total: float) -> None:
    with pytest.raises(ParameterError, match="total must be > 0 and finite"):
        ProductModel(columns={"a": [1.0, 2.0]}, total=total)


def test_a_generator_may_be_as_small_as_the_range_says() -> None:
    assert LeaderTraining(components=1, training_steps=1, recent=1).components == 1
    for options in ({"components": 0}, {"training_steps": 0}, {"recent": 0}):
        with pytest.raises(ParameterError, match=next(iter(options))):
            LeaderTraining(**options)  # type: ignore[arg-type]


def test_a_basis_that_is_kept_for_all_is_written_by_nobody() -> None:
    with pytest.raises(ValueError, match="read-only"):
        helmert(3)[0, 0] = 1.0


def test_one_table_is_measured_by_itself() -> None:
    schema = Schema([Categorical("a", ["0", "1"]), Categorical("b", ["0", "1"])])
    table = open_table({"a": ["0", "1", "1"], "b": ["1", "1", "0"]}, schema=schema)
    data = ExactCounts(table, ("a", "b"))
    account = Account(PureDP(1.0), adjacency=data.adjacency, seed=1)
    made = gaussian(data, Workload.of([("a", "b")]), account=account)
    assert made.parameters["noise_std"] > 0


def test_a_loaded_synthesizer_has_the_confidence_that_it_was_saved_with() -> None:
    schema = Schema([Categorical("a", ["0", "1"]), Categorical("b", ["0", "1"])])
    table = open_table({"a": ["0", "1"] * 50, "b": ["0", "0", "1", "1"] * 25}, schema=schema)
    fitted = Synthesizer(epsilon=1.0, method="independent", confidence=0.8).fit(table)
    assert Synthesizer.from_release(fitted.release_).confidence == 0.8
    assert fitted.certification_ is not None
    assert 0 < fitted.certification_.noise_std < 1  # of a proportion of 100 rows


def test_a_workload_has_columns() -> None:
    schema = Schema([Categorical("a", ["0", "1"])])
    with pytest.raises(ParameterError, match="columns must be at least one column"):
        Workload.marginals(schema, 1, columns=[])


def test_relations_of_columns_with_too_many_cells_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = Schema([Numeric("a", 0, 9, integer=True), Numeric("b", 0, 9, integer=True)])
    monkeypatch.setattr("holdfast.synth._rows.column_order.MOST_MASK_CELLS", 99)
    with pytest.raises(ParameterError, match="of at most 99 pairs of cells"):
        ColumnsInOrder.of_columns(schema, "a", "b", 0, None)


def test_the_least_noise_is_not_the_most() -> None:
    schema = Schema(
        [Categorical("a", list("012345")), Categorical("b", ["0", "1"]), Categorical("c", ["0", "1", "2"])]
    )
    table = open_table({"a": list("012345"), "b": list("010101"), "c": list("012012")}, schema=schema)
    data = ExactCounts(table, ("a", "b", "c"))
    account = Account(ZCDP(1.0), adjacency=data.adjacency, seed=1)
    workload = Workload.of([("a", "b", "c"), ("a", "b"), ("c",)])
    made = gaussian(data, workload, account=account, factorised=True)
    assert 0 < made.parameters["least_noise_std"] < made.parameters["noise_std"]


@pytest.mark.parametrize("group", [Marginal(columns=("a", "b"), weight=2.0), Marginal(columns=("a",))])
def test_groups_that_were_stored_are_the_groups(group: Marginal) -> None:
    (back,) = _groups(json.loads(json.dumps(_groups_json([group]))))
    assert back == group
    assert hash(back.columns) == hash(group.columns)
    assert type(back.weight) is float


def test_targets_may_have_a_small_total() -> None:
    heads = Heads.of({"a": 2, "b": 2})
    measured = [Measurement(columns=("a",), values=np.zeros(1), noise_std=1.0)]
    assert Targets(heads, measured, helmert, total=0.5).total == 0.5
    with pytest.raises(ParameterError, match="total must be > 0"):
        Targets(heads, measured, helmert, total=0.0)


@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
def test_every_selection_names_the_neighbours_that_it_is_priced_for(adjacency: str) -> None:
    schema = Schema([Categorical(name, ["0", "1"]) for name in "abc"], adjacency=adjacency)
    bits = np.random.default_rng(1).integers(0, 2, (60, 3)).astype(str)
    table = open_table({name: bits[:, place] for place, name in enumerate("abc")}, schema=schema)
    account = Account(ZCDP(1.0), adjacency=adjacency, seed=1)
    data = ExactCounts(table, tuple("abc"))
    ADAPTIVE.fit(data, Workload.marginals(schema, 2), account=account)
    selections = [
        entry.charge.mechanism
        for entry in account.journal.entries
        if entry.charge.mechanism is not None and entry.charge.mechanism["mechanism"] == "Exponential"
    ]
    assert selections
    assert {charge["adjacency"] for charge in selections} == {adjacency}


@pytest.mark.parametrize("times", [1, 2])
def test_no_more_tables_are_selected_than_were_paid_for(times: int) -> None:
    schema = Schema([Categorical(name, ["0", "1"]) for name in "abc"])
    bits = np.random.default_rng(1).integers(0, 2, (60, 3)).astype(str)
    data = ExactCounts(
        open_table({name: bits[:, place] for place, name in enumerate("abc")}, schema=schema), tuple("abc")
    )
    account = Account(ZCDP(1.0), adjacency=data.adjacency, seed=1)
    model = ProductModel(columns={name: [0.5, 0.5] for name in "abc"}, total=60.0)
    choices: dict[tuple[str, ...], float] = {("a", "b"): 1.0, ("b", "c"): 1.0, ("a", "c"): 1.0}
    chosen = choose_tables(data, choices, model, times=times, apart=False, noise_std=1.0, account=account)
    assert len(set(chosen)) == times

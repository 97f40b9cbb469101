from __future__ import annotations

import math

import numpy as np
import pytest

from holdfast.data import Categorical, Schema, open_table
from holdfast.errors import AdjacencyError, ParameterError
from holdfast.privacy import Account, ApproxDP, PureDP
from holdfast.synth._exact_counts import ExactCounts
from holdfast.synth._models.dense import RowsModel
from holdfast.synth._models.graphical.model import GraphicalModel
from holdfast.synth._models.model import Measurement
from holdfast.synth._workload import Workload
from holdfast.synth._workload.residual_basis import Strategy
from holdfast.synth.methods.gaussian import METHOD, gaussian, least_gain, summed_tables
from holdfast.synth.methods.residuals import l2_sensitivity, scaled_residuals
from tests.synth.synth_binary import account, bits, counted, marginals, max_error, neighbours

WORK = marginals()
PAIRS = [tuple(group.columns) for group in WORK.groups]


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_neighbours_move_the_released_vector_by_the_declared_sensitivity(adjacency: str) -> None:
    moved = []
    for first, second in neighbours(adjacency):
        strategy = Strategy.of(first.domain, PAIRS, total=False)
        values = [scaled_residuals(strategy, data) for data in (first, second)]
        declared = l2_sensitivity(strategy, first, values[0].size)
        moved.append(float(np.linalg.norm(values[0] - values[1])) / declared)
    assert max(moved) <= 1.0
    assert max(moved) > (0.999 if adjacency == "add_remove" else 0.9)


@pytest.mark.parametrize(
    ("adjacency", "factor"), [("replace", math.sqrt(2)), ("zero_out", 1.0), ("add_remove", 1.0)]
)
def test_the_noise_of_plain_tables_is_that_of_all_tables_together(adjacency: str, factor: float) -> None:
    data = counted(bits(), adjacency)
    opened = account(data, currency="gdp")
    made = gaussian(data, WORK, account=opened, factorised=False)
    # 6 tables: L2 sensitivity sqrt(6), or sqrt(12) under replace; sigma 4.2247 per unit at (1, 1e-6).
    assert made.parameters["noise_std"] == pytest.approx(4.2247 * factor * math.sqrt(6), rel=1e-4)
    assert opened.remaining().delta(0.0) < 1e-3


def test_the_noise_is_in_the_tables_and_as_large_as_stated() -> None:
    data = counted(bits(), "add_remove")
    for factorised in (True, False):
        gaps: list[float] = []
        for seed in range(25):
            made = gaussian(
                data, WORK, account=account(data, currency="gdp", seed=seed), factorised=factorised
            )
            gaps += [
                g
                for m in made.measurements
                for g in ((m.values - data(*m.columns)) / m.noise_std).reshape(-1).tolist()
            ]
        assert np.std(gaps) == pytest.approx(1.0, abs=0.12)
        assert abs(np.mean(gaps)) < 0.12


def test_factorised_tables_agree_with_each_other_and_have_less_noise() -> None:
    data = counted(bits(), "add_remove")
    made = gaussian(data, WORK, account=account(data, currency="gdp"))
    plain = gaussian(data, WORK, account=account(data, currency="gdp"), factorised=False)
    shares = [entry.values.sum(axis=1) for entry in made.measurements if entry.columns[0] == "x0"]
    assert all(np.allclose(share, shares[0], atol=1e-6) for share in shares)
    assert all(entry.total == pytest.approx(400) for entry in made.measurements)
    assert made.parameters["noise_std"] < 0.8 * plain.parameters["noise_std"]


@pytest.mark.parametrize("currency", ["gdp", "zcdp", "pure"])
def test_every_currency_is_spent_and_the_answers_are_close(currency: str) -> None:
    data = counted(bits(4000))
    limit = PureDP(1.0) if currency == "pure" else ApproxDP(1.0, 1e-6)
    opened = account(data, limit, currency=currency)
    made = gaussian(data, WORK, account=opened)
    assert isinstance(made.model, GraphicalModel)
    assert max_error(data, made, WORK) < (0.03 if currency == "pure" else 0.02)
    assert opened.spent().within(limit)
    assert ("Laplace" in made.theorem) == (currency == "pure")


@pytest.mark.parametrize("factorised", [True, False])
def test_what_a_wide_table_says_of_few_columns_is_not_lost_in_its_noise(factorised: bool) -> None:
    """1,024 cells of four records each: drawn towards even shares, the model alone would be off by .1."""
    data = counted(bits(4000, 10))
    whole = Workload.of([tuple(data.names)])
    made = gaussian(data, whole, account=account(data, currency="gdp"), factorised=factorised)
    assert max_error(data, made, marginals(10)) < 0.08


def test_sums_of_a_table_are_its_own_with_the_noise_of_as_many_cells() -> None:
    whole = Measurement(columns=("c", "a", "b"), values=np.arange(24.0).reshape(2, 3, 4), noise_std=2.0)
    other = Measurement(columns=("b", "c"), values=np.ones((4, 2)), noise_std=2.0)
    made = {one.columns: one for one in summed_tables([whole, other])}
    assert set(made) == {("c",), ("a",), ("b",), ("c", "a"), ("a", "b")}
    assert np.array_equal(made["a", "b"].values, whole.values.sum(axis=0))
    assert made["a", "b"].noise_std == pytest.approx(2.0 * math.sqrt(2))
    assert made["a",].noise_std == pytest.approx(2.0 * math.sqrt(8))
    assert np.array_equal(made["c",].values, other.values.sum(axis=0))  # the table that tells it best
    assert made["c",].noise_std == pytest.approx(4.0)


def test_rows_are_fitted_where_the_junction_tree_is_too_large() -> None:
    data = counted(bits(1500), "add_remove", n_public=1500)
    made = gaussian(data, WORK, account=account(data, currency="gdp"), most_cells=1)
    assert isinstance(made.model, RowsModel)
    assert made.model.codes.shape == (1500, 4)
    assert max_error(data, made, WORK) < 0.03


def test_rows_move_for_more_than_noise_where_there_is_much() -> None:
    # Two tables of two columns each, one column in both: 4/3 tables a column, 200 records in 8 cells.
    measured = [
        Measurement(columns=columns, values=np.full((2, 2), 50.0), noise_std=80.0)
        for columns in (("a", "b"), ("b", "c"))
    ]
    assert least_gain(measured, 200.0) == pytest.approx(2 * 2 * math.sqrt(8 / 3) / 80)
    quiet = [Measurement(columns=one.columns, values=one.values, noise_std=5.0) for one in measured]
    assert least_gain(quiet, 200.0) == 0.0


def test_the_total_is_measured_where_it_is_not_public() -> None:
    schema = Schema([Categorical("x0", ["0", "1"])], adjacency="add_remove")
    data = ExactCounts(open_table({"x0": ["0", "1", "1", "1"] * 50}, schema))
    made = gaussian(data, Workload.of([("x0",)]), account=account(data, currency="gdp"))
    assert not [one for one in data.assumptions if "number of privacy units" in one.text]
    assert made.model.total != 200.0
    assert made.model.total == pytest.approx(200.0, abs=60)


def test_the_room_for_rounding_does_not_depend_on_a_private_number_of_rows() -> None:
    schema = Schema([Categorical("x0", ["0", "1"])], adjacency="add_remove")
    declared = []
    for copies in (1, 50):
        data = ExactCounts(open_table({"x0": ["0", "1", "1", "1"] * copies}, schema))
        strategy = Strategy.of(data.domain, [("x0",)], total=True)
        declared.append(l2_sensitivity(strategy, data, scaled_residuals(strategy, data).size))
    assert declared[0] == declared[1] < 1.001 * strategy.sensitivity(data.adjacency, data.unit)


def test_what_does_not_fit_is_refused_before_anything_is_spent() -> None:
    data = counted(bits())
    wrong = Account(ApproxDP(1.0, 1e-6), adjacency="add_remove", currency="gdp", seed=1)
    with pytest.raises(AdjacencyError):
        METHOD.fit(data, WORK, account=wrong)
    opened = account(data, currency="gdp")
    with pytest.raises(ParameterError):
        METHOD.fit(data, Workload.of([("x0", "nobody")]), account=opened)
    with pytest.raises(ParameterError, match="objective"):
        METHOD.fit(data, WORK, account=opened, objective="mean")
    assert not wrong.journal.entries
    assert not opened.journal.entries

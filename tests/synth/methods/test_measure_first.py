"""Measure first, choose afterwards: one charge, a model of what stands out of the noise, and nothing impossible."""

from __future__ import annotations

import math

import numpy as np
import pytest

from holdfast.errors import AdjacencyError, ParameterError
from holdfast.noise._source import Source
from holdfast.privacy import ApproxDP
from holdfast.synth import Synthesizer
from holdfast.synth._models.model import Measurement
from holdfast.synth._rows.coded_rows import CodedRows
from holdfast.synth._rows.impossible_rows import Zeros, is_possible
from holdfast.synth._workload import Workload
from holdfast.synth.methods.gaussian import gaussian
from holdfast.synth.methods.measure_first import METHOD, chosen_model, measure_first
from tests.synth.synth_binary import account, bits, counted, marginals, max_error, neighbours
from tests.synth.synth_replay import distances

WORK = marginals()


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_neighbours_are_within_the_declared_sensitivity_and_reach_it(adjacency: str) -> None:
    seen: list[float] = []
    for first, second in neighbours(adjacency, 4):
        seen += distances(METHOD, first, second, WORK, limit=ApproxDP(1.0, 1e-6))
    assert max(seen) <= 1.0 + 1e-9
    assert max(seen) > 0.9


def test_one_charge_pays_for_everything() -> None:
    data = counted(bits(), "add_remove")
    opened = account(data, currency="gdp")
    made = measure_first(data, WORK, account=opened, objective="max")
    assert len(opened.journal.entries) == 1
    assert opened.remaining().delta(0.0) < 1e-3
    plain = gaussian(data, WORK, account=account(data, currency="gdp"))
    for one, other in zip(made.measurements, plain.measurements, strict=True):
        assert one.noise_std == other.noise_std
        assert np.array_equal(one.values, other.values)  # the same release, decoded in another way


def test_what_is_noise_is_not_held_and_what_stands_out_is() -> None:
    random, shape = np.random.default_rng(0), {"a": 6, "b": 6, "c": 6}
    even = {pair: np.full((6, 6), 1000.0 / 36) for pair in (("a", "b"), ("a", "c"), ("b", "c"))}
    even["a", "b"] = np.diag(np.full(6, 1000.0 / 6))
    columns = [Measurement(columns=(name,), values=np.full(6, 1000.0 / 6), noise_std=4.0) for name in shape]
    noisy = [
        Measurement(columns=pair, values=table + random.normal(0, 2.0, (6, 6)), noise_std=4.0)
        for pair, table in even.items()
    ]
    weights: dict[tuple[str, ...], float] = {pair: 1.0 for pair in even}
    fitted, held = chosen_model(shape, [*columns, *noisy], weights, total=1000.0, most_cells=10_000)
    assert held[0] == ("a", "b")
    assert len(held) == 1
    assert np.trace(fitted.model.project(("a", "b"))) > 900
    _, none = chosen_model(shape, [*columns, *noisy], weights, total=1000.0, most_cells=1)
    assert none == []  # no room


def test_rows_are_closer_than_what_was_measured() -> None:
    random = np.random.default_rng(1)
    first = random.integers(0, 8, 2000)
    codes = np.stack([(first + random.integers(0, 2, 2000) * k) % 8 for k in range(4)], axis=1)
    data, work = counted(codes.astype(np.int64), "add_remove", cells=(8,) * 4), marginals()
    made = measure_first(data, work, account=account(data, currency="gdp"))
    rows = CodedRows(domain=data.domain, codes=made.model.sample(2000, Source(1)))
    gaps = [np.abs(rows(one.columns) - data(*one.columns)).sum() for one in made.measurements]
    noise = [np.abs(one.values - data(*one.columns)).sum() for one in made.measurements]
    assert sum(gaps) < 0.7 * sum(noise)


def test_impossible_cells_have_no_weight_and_no_rows() -> None:
    data = counted(bits(), "add_remove")
    zeros = [Zeros(("x0", "x2"), [(0, 1)])]
    made = measure_first(data, WORK, account=account(data, currency="gdp"), constraints=zeros)
    assert is_possible(made.model.sample(400, Source(1)), list(data.domain), data.domain, zeros).all()
    assert getattr(made.model, "base").project(("x0", "x2"))[0, 1] == 0.0  # noqa: B009


def test_columns_that_no_query_names_are_even_and_single_columns_suffice() -> None:
    data = counted(bits(3000), "add_remove")
    made = measure_first(data, Workload.of([("x0",)]), account=account(data, currency="gdp"))
    assert made.parameters["held"] == []
    share = made.model.project(("x3",)) / made.model.total
    assert share[0] == pytest.approx(0.5, abs=1e-6)
    assert max_error(data, made, Workload.of([("x0",)])) < 0.02


def test_workloads_in_any_order_of_columns() -> None:
    data = counted(bits(3000), "add_remove")
    turned = Workload.of([("x2", "x0"), ("x3", "x1", "x0")])
    made = measure_first(data, turned, account=account(data, currency="gdp"))
    assert max_error(data, made, turned) < 0.05
    assert [one.columns for one in made.measurements] == [("x2", "x0"), ("x3", "x1", "x0")]


def test_refuses_before_it_spends() -> None:
    data = counted(bits(), "add_remove")
    wrong = account(counted(bits()), currency="gdp")
    with pytest.raises(AdjacencyError):
        METHOD.fit(data, WORK, account=wrong)
    opened = account(data, currency="gdp")
    with pytest.raises(ParameterError, match="most_cells"):
        METHOD.fit(data, WORK, account=opened, most_cells=0)
    assert not wrong.journal.entries
    assert not opened.journal.entries


@pytest.mark.filterwarnings("ignore::holdfast.errors.NotPrivateWarning")
def test_auto_never_takes_it_and_it_can_be_named() -> None:
    assert METHOD.ranks == ()
    data = counted(bits(), "add_remove")
    made = Synthesizer(1.0, 1e-6, method="measure_first", workload=WORK, random_state=1).fit(data.table)
    assert made.method_ == "measure_first"
    assert made.certificate_ is not None
    assert math.isfinite(made.certificate_.alpha)

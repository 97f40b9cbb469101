"""The estimate solves the problem it states, and leaves alone what noise hides."""

from __future__ import annotations

import json

import numpy as np
import pytest

from holdfast.errors import ParameterError
from holdfast.synth._models.graphical.estimation import estimate_model, log_shares, merge, variance_factor
from holdfast.synth._models.graphical.junction_tree import sum_onto
from holdfast.synth._models.model import Measurement
from tests.paths import GOLDEN

DOMAIN = {"a": 3, "b": 4, "c": 2, "d": 5}
RING = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")]
NUMBERS = GOLDEN / "graphical_mbi.json"
TOTAL = 10_000.0


def measured(noise_std: float, seed: int = 0, sets: list[tuple[str, ...]] | None = None) -> list[Measurement]:
    random = np.random.default_rng(seed)
    joint = random.random(tuple(DOMAIN.values())) ** 3
    joint *= TOTAL / joint.sum()
    return [
        Measurement(
            columns=columns, values=exact + random.normal(0, noise_std, exact.shape), noise_std=noise_std
        )
        for columns in (RING if sets is None else sets)
        for exact in [sum_onto(joint, tuple(DOMAIN), columns)]
    ]


def test_small_noise_is_believed() -> None:
    tables = measured(0.01)
    made = estimate_model(DOMAIN, tables, total=TOTAL, iterations=500, gain=1e-9).model
    for entry in tables:
        assert np.abs(made.project(entry.columns) - entry.values).max() < 0.5


@pytest.mark.parametrize("noise_std", [1.0, 30.0, 1000.0])
def test_the_estimate_meets_its_first_order_condition(noise_std: float) -> None:
    tables = measured(noise_std)
    made = estimate_model(DOMAIN, tables, total=TOTAL, iterations=1000, gain=1e-10)
    for columns, entry in merge(tables, TOTAL).items():
        ridge = noise_std**2 / variance_factor(noise_std, entry.values.size, total=TOTAL)
        residual = made.model.project(columns) - entry.values + ridge * made.theta[columns]
        assert np.abs(residual).max() < 1e-2 * (1.0 + noise_std)


def test_noise_far_above_the_table_leaves_the_centre() -> None:
    shares = log_shares(np.array([7000.0, 2000.0, 1000.0]), TOTAL)
    made = estimate_model(DOMAIN, measured(1e7), total=TOTAL, centre={("a",): shares}).model
    flat = estimate_model(DOMAIN, [], total=TOTAL).model
    assert np.allclose(flat.project(("b", "c")), TOTAL / 8)
    assert np.abs(made.project(("b", "c")) - TOTAL / 8).max() < 0.01 * TOTAL


def test_what_is_measured_twice_counts_once_with_less_noise() -> None:
    once, again = measured(10.0, seed=1)[0], measured(5.0, seed=2)[0]
    merged = merge([once, again], TOTAL)[("a", "b")]
    assert merged.noise_std == pytest.approx((10.0**-2 + 5.0**-2) ** -0.5)
    assert merged.values.sum() == pytest.approx(TOTAL)
    same = merge([again, once], TOTAL)[("a", "b")]
    assert np.allclose(merged.values, same.values)


def test_a_warm_start_reaches_the_same_model() -> None:
    tables = measured(20.0)
    cold = estimate_model(DOMAIN, tables, total=TOTAL, iterations=500, gain=1e-8)
    warm = estimate_model(DOMAIN, tables, total=TOTAL, iterations=500, gain=1e-8, start=cold.theta)
    for columns in [("a", "c"), ("b", "d"), ("a", "b")]:
        assert np.allclose(cold.model.project(columns), warm.model.project(columns), atol=0.1)


def test_declared_zeros_hold_whatever_was_measured() -> None:
    mask = np.zeros((3, 5))
    mask[1, 2] = mask[0, :] = -np.inf
    made = estimate_model(DOMAIN, measured(5.0), total=TOTAL, zeros=[(("a", "d"), mask)]).model
    table = made.project(("a", "d"))
    assert table[1, 2] == 0.0
    assert (table[0] == 0.0).all()
    assert table.sum() == pytest.approx(TOTAL)


def test_parameters_are_checked() -> None:
    with pytest.raises(ParameterError, match="total must be > 0"):
        estimate_model(DOMAIN, [], total=0.0)


@pytest.mark.skipif(not NUMBERS.exists(), reason="the golden numbers were not made")
def test_without_restraint_it_is_the_estimate_of_mbi() -> None:
    """mbi's mirror descent minimises the squared distance to the same tables; without noise both find them."""
    golden = json.loads(NUMBERS.read_text())
    tables = [
        Measurement(columns=tuple(one["columns"]), values=np.array(one["values"]), noise_std=0.01)
        for one in golden["measurements"]
    ]
    made = estimate_model(golden["domain"], tables, total=golden["total"], iterations=2000, gain=1e-9).model
    for one in golden["projections"]:
        ours = made.project(tuple(one["columns"]))
        assert np.abs(ours - np.array(one["values"])).sum() / golden["total"] < golden["tolerance"]

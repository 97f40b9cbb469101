from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest

from holdfast.errors import ParameterError
from holdfast.privacy import PrivacyUnit
from holdfast.synth._workload.residual_basis import Strategy, helmert, residual_table, restored_table
from holdfast.synth.methods.residuals import _parts, reconstruct_marginal, scaled_residuals
from tests.synth.synth_binary import counted

DOMAIN = {"x0": 3, "x1": 2, "x2": 4}
CELLS = (3, 2, 4)
SETS = [("x0", "x1"), ("x1", "x2"), ("x0", "x1", "x2")]
ROW = PrivacyUnit.row()


def column(strategy: Strategy, record: tuple[int, ...]) -> np.ndarray:
    """What one record adds to the released vector: read off from a table of that record alone."""
    return scaled_residuals(strategy, counted(np.array([record]), "add_remove", cells=CELLS))


def test_helmert_rows_are_orthonormal_and_sum_to_zero() -> None:
    for cells in (1, 2, 5, 30):
        rows = helmert(cells)
        assert rows.shape == (cells - 1, cells)
        assert np.allclose(rows @ rows.T, np.eye(cells - 1))
        assert np.allclose(rows.sum(axis=1), 0.0)


def test_a_residual_and_its_restoration_are_a_projection() -> None:
    table = np.random.default_rng(0).random((3, 4))
    once = restored_table(residual_table(table))
    assert np.allclose(restored_table(residual_table(once)), once)
    assert np.allclose(once.sum(axis=0), 0.0)
    assert np.allclose(once.sum(axis=1), 0.0)


@pytest.mark.parametrize("total", [True, False])
@pytest.mark.parametrize("objective", ["max", "sum"])
def test_without_noise_every_marginal_comes_back(objective: str, total: bool) -> None:
    codes = np.random.default_rng(1).integers(0, CELLS, (60, 3))
    data = counted(codes, "add_remove", cells=CELLS)
    strategy = Strategy.of(DOMAIN, SETS, objective=objective, total=total)
    parts = _parts(strategy, scaled_residuals(strategy, data))
    for columns in [*SETS, ("x2", "x0"), ("x1",)]:
        assert reconstruct_marginal(strategy, parts, columns, None if total else 60) == pytest.approx(
            data(*columns), abs=1e-9
        )


@pytest.mark.parametrize("sets", [SETS, [("x0", "x1"), ("x2",)]])
def test_the_sensitivity_is_reached_by_the_worst_neighbours(sets: list[tuple[str, ...]]) -> None:
    strategy = Strategy.of(DOMAIN, sets)
    columns = [column(strategy, record) for record in product(*map(range, CELLS))]
    added = max(float(np.linalg.norm(each)) for each in columns)
    assert strategy.sensitivity("add_remove", ROW) == pytest.approx(added)
    assert strategy.sensitivity("zero_out", ROW) == pytest.approx(added)
    replaced = max(float(np.linalg.norm(a - b)) for a in columns for b in columns)
    assert strategy.sensitivity("replace", ROW) == pytest.approx(replaced)
    # sqrt(2) of adding one is what orthogonal columns would give; these can be further apart.
    assert strategy.sensitivity("replace", ROW) > 1.05 * added


def test_a_bound_stands_in_for_many_columns() -> None:
    wide = {f"x{place}": 2 + place % 3 for place in range(16)}
    pairs = [(f"x{place}", f"x{place + 1}") for place in range(15)]
    bounded = Strategy.of(wide, pairs).sensitivity("replace", ROW)
    assert bounded <= 2 * Strategy.of(wide, pairs).sensitivity("add_remove", ROW) + 1e-9
    few = Strategy.of(DOMAIN, SETS)
    exact = few.sensitivity("replace", ROW)
    worst = 0.0
    for columns, deviation in zip(few.sets, few.deviations.tolist(), strict=True):
        if columns:
            share = math.prod(1 - 1 / DOMAIN[name] for name in columns)
            worst += 2 * share * (1 + 1 / (min(DOMAIN[name] for name in columns) - 1)) / deviation**2
    assert exact <= math.sqrt(worst) * (1 + 1e-9)


def test_users_multiply_the_sensitivity() -> None:
    strategy = Strategy.of(DOMAIN, SETS)
    unit = PrivacyUnit.user("who", max_rows=3)
    alone = strategy.sensitivity("add_remove", ROW)
    assert strategy.sensitivity("add_remove", unit) == pytest.approx(3 * alone)
    assert strategy.sensitivity("replace", unit) == pytest.approx(6 * alone)


def test_the_stated_variance_is_that_of_the_noise() -> None:
    strategy = Strategy.of(DOMAIN, SETS)
    random = np.random.default_rng(2)
    size = sum(math.prod(DOMAIN[name] - 1 for name in columns) for columns in strategy.sets)
    draws = [
        reconstruct_marginal(strategy, _parts(strategy, random.normal(size=size)), ("x1", "x2"), None)
        for _ in range(1500)
    ]
    assert np.var(draws, axis=0) == pytest.approx(np.full((2, 4), strategy.variance(("x1", "x2"))), rel=0.2)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_largest_variance_is_below_that_of_noisy_tables(k: int) -> None:
    domain = {f"x{place}": 2 for place in range(6)}
    sets = list(combinations(domain, k))
    strategy = Strategy.of(domain, sets)
    norm = strategy.sensitivity("add_remove", ROW)
    largest = max(strategy.variance(columns) for columns in sets) * norm**2
    # K tables together: variance K in every cell for the same privacy.
    assert largest < len(sets)
    spread = [strategy.variance(columns) for columns in sets]
    assert max(spread) == pytest.approx(min(spread), rel=1e-6)


def test_each_objective_is_best_at_its_own_aim() -> None:
    domain = {"x0": 2, "x1": 3, "x2": 20}
    sets = [("x0", "x1"), ("x1", "x2"), ("x0", "x2")]
    made = {}
    for objective in ("max", "sum"):
        strategy = Strategy.of(domain, sets, objective=objective)
        scale = strategy.sensitivity("add_remove", ROW) ** 2
        cells = [scale * strategy.variance(columns) for columns in sets]
        sizes = [math.prod(domain[name] for name in columns) for columns in sets]
        made[objective] = (max(cells), float(np.dot(cells, sizes)))
    assert made["max"][0] < made["sum"][0]
    assert made["sum"][1] < made["max"][1]


def test_a_weight_buys_less_noise() -> None:
    sets = [("x0", "x1"), ("x1", "x2")]
    even, uneven = (Strategy.of(DOMAIN, sets, weights=weights) for weights in ([1.0, 1.0], [4.0, 1.0]))
    ratio = [s.variance(("x0", "x1")) / s.variance(("x1", "x2")) for s in (even, uneven)]
    assert ratio[1] < 0.5 * ratio[0]


def test_columns_of_one_cell_have_nothing_to_say() -> None:
    strategy = Strategy.of({"x0": 1, "x1": 2}, [("x0", "x1")], total=False)
    assert strategy.sets == (("x1",),)
    with pytest.raises(ParameterError, match="objective"):
        Strategy.of(DOMAIN, SETS, objective="mean")

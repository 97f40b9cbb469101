from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import ParameterError
from holdfast.noise._source import Source
from holdfast.synth._models.coordinate_scores import CoordinateScores
from holdfast.synth._models.oracle import RecordObjective, best_records, noise_scores, one_hot_starts

DOMAIN = {"a": 3, "b": 2, "c": 4, "d": 2}
WIDTH = sum(DOMAIN.values())
EVERY = np.column_stack(np.unravel_index(np.arange(48), (3, 2, 4, 2))).astype(np.int64)


def objective(seed: int, density: float = 0.5) -> RecordObjective:
    random = np.random.default_rng(seed)
    made = RecordObjective(domain=DOMAIN)
    for columns in (("a", "b", "c"), ("c", "d"), ("d", "a")):
        shape = [DOMAIN[name] for name in columns]
        made.add(columns, random.normal(size=shape) * (random.random(shape) < density))
    return made


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_three_solvers_agree_where_all_can_be_tried(seed: int) -> None:
    gain, noise = objective(seed), np.random.default_rng(seed).exponential(0.3, (2, WIDTH))
    found = {
        name: best_records(gain, Source(seed=1), noise=noise, oracle=name)
        for name in ("enumerate", "milp", "ascent")
    }
    scores = [gain.values(EVERY) + noise_scores(EVERY, np.tile(row, (48, 1)), DOMAIN) for row in noise]
    best = [float(score.max()) for score in scores]
    assert found["enumerate"].values == pytest.approx(best)
    assert found["milp"].values == pytest.approx(best)
    assert found["milp"].gap <= 1e-6
    assert found["enumerate"].gap == 0.0
    assert found["ascent"].values == pytest.approx(best)
    for optima in found.values():
        assert np.all(optima.bounds >= optima.values - 1e-9)
        assert optima.values == pytest.approx(
            gain.values(optima.codes) + noise_scores(optima.codes, noise, DOMAIN)
        )


def test_auto_is_exact_where_that_is_quick_and_ascends_elsewhere() -> None:
    assert best_records(objective(1), Source(seed=1)).gap == 0.0
    large = RecordObjective(domain={f"c{i}": 10 for i in range(12)})
    large.add(("c0", "c5", "c11"), np.eye(10)[:, :, None] * np.eye(10)[None, :, :])
    large.add(("c3",), -np.arange(10.0))
    one, many = (best_records(large, Source(seed=1), noise=np.zeros((size, 120))) for size in (1, 3))
    assert one.gap <= 1e-9
    assert many.gap == 0.0  # the trivial bound, met
    for record in (*one.codes, *many.codes):
        assert record[0] == record[5] == record[11]
        assert record[3] == 0


def test_a_milp_on_a_large_universe_proves_its_optimum() -> None:
    large = RecordObjective(domain={f"c{i}": 5 for i in range(12)})
    random = np.random.default_rng(0)
    for _ in range(30):
        columns = tuple(f"c{place}" for place in sorted(random.choice(12, 3, replace=False)))
        table = np.zeros((5, 5, 5))
        table[tuple(random.integers(0, 5, 3))] = random.choice([-1.0, 1.0])
        large.add(columns, table)
    exact, quick = (best_records(large, Source(seed=1), oracle=name) for name in ("milp", "ascent"))
    assert exact.gap <= 1e-6
    assert quick.values[0] <= exact.values[0] + 1e-9
    assert quick.values[0] >= 0.8 * exact.values[0]


def test_coordinates_look_along_one_column() -> None:
    gain = objective(3)
    tables = [table.reshape(-1) for table in gain.tables.values()]
    coordinates = CoordinateScores(DOMAIN, list(gain.tables))
    scores = coordinates.scores(EVERY, 2, tables)
    for value in range(4):
        moved = EVERY.copy()
        moved[:, 2] = value
        held = objective(3)
        del held.tables[("d", "a")]
        assert scores[:, value] == pytest.approx(held.values(moved))
    assert coordinates.touching(2) == [0, 1]


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ParameterError, match="oracle"):
        best_records(objective(0), Source(seed=1), oracle="gurobi")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="noise"):
        best_records(objective(0), Source(seed=1), noise=np.zeros((1, 3)))
    assert one_hot_starts(DOMAIN)[-1] == WIDTH

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast.errors import ParameterError
from holdfast.noise._source import Source
from holdfast.synth._models.model import Measurement
from holdfast.synth._rows.fit_rows import (
    MOST_DEVIATIONS,
    _visiting_orders,
    fit_rows,
    independent_rows,
    limit_deviations,
    misfit,
    model_error,
    shrink_to_model,
)
from holdfast.synth._rows.pair_excess import PairExcess
from holdfast.synth._rows.triple_excess import TripleExcess
from tests.synth.synth_binary import bits

DOMAIN = {f"x{place}": 2 for place in range(4)}
SIZES = {"a": 3, "b": 2, "c": 4, "d": 2, "e": 2}
PAIRS = [("x0", "x1"), ("x1", "x2"), ("x2", "x3"), ("x3", "x0")]


def tables(noise_std: float, seed: int = 0, rows: int = 400) -> list[Measurement]:
    codes = bits(rows, seed=seed)
    random = np.random.default_rng(seed)
    made = []
    for columns in PAIRS:
        counts = np.zeros((2, 2))
        np.add.at(counts, tuple(codes[:, int(name[1:])] for name in columns), 1.0)
        made.append(
            Measurement(
                columns=columns, values=counts + random.normal(0, noise_std, (2, 2)), noise_std=noise_std
            )
        )
    return made


def test_nearly_exact_tables_are_met() -> None:
    measured = tables(1e-3)
    codes = fit_rows(measured, DOMAIN, 400, Source(seed=1), sweeps=30)
    for entry in measured:
        counts = np.zeros((2, 2))
        np.add.at(counts, tuple(codes[:, int(name[1:])] for name in entry.columns), 1.0)
        assert np.abs(counts - entry.values).max() <= 2.0


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**5), noise_std=st.floats(0.5, 30.0))
def test_rows_never_fit_worse_than_they_began(seed: int, noise_std: float) -> None:
    measured = tables(noise_std, seed)
    start = independent_rows(measured, DOMAIN, 300, Source(seed=seed))
    made = fit_rows(measured, DOMAIN, 300, Source(seed=seed), start=start, sweeps=2)
    assert misfit(measured, DOMAIN, made) <= misfit(measured, DOMAIN, start)
    assert made.shape == (300, 4)
    assert made.min() >= 0
    assert made.max() <= 1


def test_a_move_must_be_worth_its_price() -> None:
    measured = tables(5.0)
    start = independent_rows(measured, DOMAIN, 400, Source(seed=2))
    still = fit_rows(measured, DOMAIN, 400, Source(seed=2), start=start, sweeps=3, least_gain=1e9)
    assert np.array_equal(still, start)


def test_no_record_moves_into_a_forbidden_cell() -> None:
    measured = tables(1.0)
    mask = np.array([[True, True], [True, False]])
    start = np.zeros((200, 4), dtype=np.int64)
    made = fit_rows(measured, DOMAIN, 200, Source(seed=3), start=start, allowed=[(("x0", "x1"), mask)])
    assert not np.any((made[:, 0] == 1) & (made[:, 1] == 1))
    assert np.any(made[:, 0] == 1)


def test_the_start_is_left_alone_and_sizes_may_differ() -> None:
    measured = tables(1.0)
    start = np.zeros((77, 4), dtype=np.int64)
    made = fit_rows(measured, DOMAIN, 77, Source(seed=3), start=start, sweeps=20)
    assert not start.any()
    assert made[:, 0].mean() == pytest.approx(bits()[:, 0].mean(), abs=0.03)


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"rows": 0}, "rows"),
        ({"sweeps": -1}, "sweeps"),
        ({"least_gain": -1.0}, "least_gain"),
        ({"start": np.zeros((3, 4), dtype=int)}, "start"),
        ({"measurements": []}, "measurements"),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, Any], word: str) -> None:
    arguments: dict[str, Any] = {
        "measurements": tables(1.0),
        "domain": DOMAIN,
        "rows": 10,
        "source": Source(seed=1),
    }
    with pytest.raises(ParameterError, match=word):
        fit_rows(**(arguments | changes))


def random_tables(sets: Sequence[tuple[str, ...]], rows: int) -> tuple[list[Measurement], NDArray[np.int64]]:
    """Noisy tables of several sizes, and rows to begin with."""
    random = np.random.default_rng(1)
    codes = np.column_stack([random.integers(0, cells, rows) for cells in SIZES.values()])
    return [
        Measurement(
            columns=columns,
            values=random.uniform(0, 80, [SIZES[name] for name in columns]),
            noise_std=1.0 + 3.0 * random.random(),
        )
        for columns in sets
    ], codes


def found_either_way(
    monkeypatch: pytest.MonkeyPatch, held: type[PairExcess | TripleExcess], sets: Sequence[tuple[str, ...]]
) -> None:
    """The same rows, whether tables are held together or looked up one by one."""
    measured, codes = random_tables(sets, 300)
    found, fits = [], []
    for takes in (True, False):
        monkeypatch.setattr(held, "takes", staticmethod(lambda *_, takes=takes: takes))
        found.append(fit_rows(measured, SIZES, 300, Source(seed=4), start=codes, sweeps=2))
        fits.append(misfit(measured, SIZES, found[-1]))
    assert np.array_equal(found[0], found[1])
    assert fits[0] == pytest.approx(fits[1], rel=1e-9)
    assert fits[0] < misfit(measured, SIZES, codes)


def test_a_matrix_of_excesses_makes_the_moves_of_tables_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs and single columns, of several sizes."""
    found_either_way(monkeypatch, PairExcess, [*combinations(SIZES, 2), ("a",), ("c",)])


def test_a_cube_of_excesses_makes_the_moves_of_tables_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some triples, of several sizes and with columns in any order; not all, so that no table is made up."""
    found_either_way(monkeypatch, TripleExcess, [("c", "a", "b"), *list(combinations(SIZES, 3))[2:]])


@pytest.mark.parametrize(
    ("columns", "ways", "taken"),
    [(20, 3, True), (20, 2, False), (129, 3, False), (10, 3, True), (7, 3, False)],
)
def test_a_cube_is_held_where_many_tables_of_three_small_columns_are(
    columns: int, ways: int, taken: bool
) -> None:
    domain = {f"x{place}": 2 for place in range(columns)}
    sets = islice(combinations(domain, ways), 5_000)
    measured = [Measurement(columns=one, values=np.zeros((2,) * ways), noise_std=1.0) for one in sets]
    assert TripleExcess.takes(measured, domain) is taken
    assert not TripleExcess.takes([*measured, measured[0]], domain)


def test_a_wrong_model_moves_no_cell_far_from_what_was_measured() -> None:
    """Limited translation: the model knows nothing of a cell that stands far out of the noise."""
    values = np.array([1000.0, 400.0, -30.0, 5.0])
    noisy = Measurement(columns=("a",), values=values, noise_std=20.0)
    wrong = np.array([1390.0, 1.0, 2.0, 2.0])
    made = limit_deviations(wrong, noisy)
    assert made.tolist() == [1060.0, 340.0, 2.0, 2.0]
    # Without the limit the second cell would be drawn down to 1 + 399 x 10 / 410, far from all that was measured.
    assert shrink_to_model(noisy, wrong, 1395.0)[1] > 400.0 - MOST_DEVIATIONS * 20.0 - 20.0


def test_a_sweep_over_noise_leaves_a_right_model_alone() -> None:
    """In 100 tables of 100 cells noise finds an error in half, and a cell beyond three deviations in a fourth."""
    random = np.random.default_rng(3)
    model = np.full(100, 100.0)
    measured = [
        Measurement(columns=("a",), values=model + random.normal(0, 900, 100), noise_std=900.0)
        for _ in range(100)
    ]
    moved = [float(np.abs(shrink_to_model(one, model, 1e4, cells=10_000) - model).max()) for one in measured]
    assert max(moved) < 20.0  # 1,000 / (1,000 + 900^2) of at most four deviations
    believed = [float(np.abs(shrink_to_model(one, model, 1e4) - model).max()) for one in measured]
    assert np.mean(np.array(believed) > 50.0) > 0.3


def test_a_sweep_follows_a_cell_that_noise_cannot_explain() -> None:
    model, off = np.full(100, 1000.0), np.zeros(100)
    off[7] = 9000.0
    noisy = Measurement(columns=("a",), values=model + off, noise_std=900.0)
    made = shrink_to_model(noisy, model, 109_000.0, cells=10_000)
    assert abs(made[7] - 10_000.0) <= (MOST_DEVIATIONS + 0.1) * 900.0


def test_what_is_too_much_is_taken_where_least_is_known() -> None:
    """A thousand empty cells whose noise was cut off at 0 must not cost the largest cell a share of itself."""
    random = np.random.default_rng(0)
    exact = np.array([20_000.0, *[0.5] * 1000])
    noisy = Measurement(columns=("a",), values=exact + random.normal(0, 5, 1001), noise_std=5.0)
    made = shrink_to_model(noisy, np.array([19_700.0, *[0.8] * 1000]), 20_500.0)
    assert made.sum() == pytest.approx(20_500.0, abs=1e-6)
    assert (made >= 0).all()
    assert abs(made[0] - noisy.values[0]) < 5.0


def _a_table(off: float, seed: int = 0, noise_std: float = 60.0) -> tuple[Measurement, Floats, Floats]:
    """What was measured, the model and the truth of 2,000 cells; the model is off by such a share of a cell."""
    random = np.random.default_rng(seed)
    model = 1500.0 / np.sqrt(np.arange(1, 2001))
    exact = model * random.choice([1.0 - off, 1.0 + off], 2000)
    values = exact + random.normal(0, noise_std, 2000)
    return Measurement(columns=("a",), values=values, noise_std=noise_std), model, exact


@pytest.mark.parametrize("off", [0.0, 0.3, 0.6])
def test_how_far_a_model_is_off_is_found_in_the_released_table(off: float) -> None:
    found = [model_error(noisy, model) for noisy, model, _ in (_a_table(off, seed) for seed in range(20))]
    assert np.mean(found) == pytest.approx(off**2, abs=0.02)


def test_large_cells_follow_the_measurement_where_the_model_is_wrong() -> None:
    """A model that lacks a dependence must not pull a cell that stands far out of the noise."""
    noisy, model, exact = _a_table(0.6)
    made = shrink_to_model(noisy, model, float(exact.sum()))
    assert np.abs(made - noisy.values)[:10].max() < noisy.noise_std
    right, model, exact = _a_table(0.0)
    kept = shrink_to_model(right, model, float(exact.sum()))
    assert np.abs(kept - exact).mean() < 0.5 * right.noise_std  # and a model that is right is believed


def test_batches_grow_with_the_rows_and_find_as_much() -> None:
    measured = tables(1.0, rows=400)
    alone, together = (
        misfit(measured, DOMAIN, fit_rows(measured, DOMAIN, 400, Source(seed=1), sweeps=6, batch=batch))
        for batch in (1, 64)
    )
    assert together <= 2.0 * alone + 1.0
    with pytest.raises(ParameterError, match="batch must be >= 1"):
        fit_rows(measured, DOMAIN, 400, Source(seed=1), batch=0)


@pytest.mark.parametrize(("bound", "value"), [("MOST_VISITED_ROWS", 96), ("MOST_LOOKUPS", 8 * 96)])
def test_of_many_rows_or_tables_a_part_is_visited_in_turn(
    bound: str, value: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"holdfast.synth._rows.fit_rows.{bound}", value)
    turns = list(_visiting_orders(400, 5, 96, Source(seed=2)))
    assert [len(turn) for turn in turns] == [96] * 5
    assert sorted(set(np.concatenate(turns).tolist())) == list(range(400))
    measured = tables(1e-3)
    codes = fit_rows(measured, DOMAIN, 400, Source(seed=1), sweeps=60, batch=16)
    assert misfit(measured, DOMAIN, codes) < 1e-3 * misfit(
        measured, DOMAIN, independent_rows(measured, DOMAIN, 400, Source(seed=1))
    )


def test_a_cube_lets_every_row_move_where_tables_looked_up_would_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound is on time, and products take less of it than a step for each of many tables."""
    domain = {f"x{place}": 2 for place in range(12)}
    random = np.random.default_rng(5)
    sets = list(combinations(domain, 3))
    measured = [
        Measurement(columns=one, values=random.uniform(20, 80, (2, 2, 2)), noise_std=1.0) for one in sets
    ]
    looked_up = 3 * len(sets)
    assert TripleExcess(measured, domain, np.zeros((9, 12), dtype=int), scale=1.0).lookups() < looked_up / 10
    monkeypatch.setattr("holdfast.synth._rows.fit_rows.MOST_LOOKUPS", looked_up * 40)
    fits = []
    for takes in (True, False):
        monkeypatch.setattr(TripleExcess, "takes", staticmethod(lambda *_, takes=takes: takes))
        made = fit_rows(measured, domain, 400, Source(seed=1), sweeps=1, batch=16)
        fits.append(misfit(measured, domain, made))
    assert fits[0] < fits[1]

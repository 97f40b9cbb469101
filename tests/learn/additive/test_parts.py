"""Parts of the additive fit: cells from declarations, what one unit moves, and features under a histogram."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast._kernel.lookup import CellPlan
from holdfast.data import Categorical, Numeric, Schema
from holdfast.errors import ParameterError
from holdfast.learn._additive.basis import column_features, principal_axes
from holdfast.learn._additive.calibration import calibrate_scores, clipped_scores
from holdfast.learn._additive.cell_rows import CellRows, batches_of_matrix
from holdfast.learn._additive.cells import COARSE_GRID, FINE_GRID, ColumnCells
from holdfast.learn._additive.descent import AdditiveTask, Descent, descend, gradient_sensitivity
from holdfast.learn._additive.design import dimension_limit, whitened_design
from holdfast.learn._additive.histograms import (
    affordable_grid,
    release_histograms,
)
from holdfast.learn._additive.line_tree import coarse_counts, histogram_widths, nearest_counts, tree_counts
from holdfast.learn._additive.pair_choice import choose_pairs
from holdfast.learn._additive.pair_features import cell_levels
from holdfast.learn._additive.phases import LEAST_ENERGY_SHARE, _shrunk_descent
from holdfast.privacy._account import Account
from holdfast.privacy._adjacency import Adjacency, PrivacyUnit
from holdfast.privacy._curves.gaussian import GaussianDP


def coded(rows: int = 200, *, columns: int = 3, adjacency: str = "zero_out", max_rows: int = 1) -> CellRows:
    random = np.random.default_rng(1)
    schema = Schema([Numeric(f"x{place}", 0, 1) for place in range(columns)])
    x = random.uniform(size=(rows, columns))
    y = np.where(x[:, 0] > 0.5, 1.0, -1.0)
    unit = PrivacyUnit() if max_rows == 1 else PrivacyUnit.user("who", max_rows=max_rows)
    return CellRows(
        cells=tuple(ColumnCells(column) for column in schema.columns),  # type: ignore[arg-type]
        read=lambda: batches_of_matrix(schema, x, y),
        adjacency=Adjacency.of(adjacency),
        unit=unit,
        public_count=rows // max_rows,
    )


def account_of(rows: CellRows, mu: float = 1.0) -> Account:
    return Account(GaussianDP(mu), adjacency=rows.adjacency, unit=rows.unit, currency="gdp", seed=1)


@pytest.mark.parametrize(
    ("adjacency", "factor"), [("zero_out", 1.0), ("add_remove", 1.0), ("replace", math.sqrt(2))]
)
@pytest.mark.parametrize("max_rows", [1, 4])
def test_histograms_are_charged_for_every_column(adjacency: str, factor: float, max_rows: int) -> None:
    rows = coded(columns=5, adjacency=adjacency, max_rows=max_rows)
    for classes, more in ((2, 1), (None, 3)):
        account = account_of(rows)
        release_histograms(rows, account, square=Fraction(1, 4), arithmetic="strict", classes=classes)
        (entry,) = account.journal.entries
        sigma = float(Fraction(str(entry.charge.mechanism["sigma"])))
        # Soundness, section 24: sqrt(F), sqrt(2 F) under replace; c rows may share all cells. A line of 255 cells has
        # four histograms. Classes are one more; the sums of a numeric target and of its square move by (c, c), replaced
        # by (2 c, c).
        assert sigma == pytest.approx(factor * max_rows * math.sqrt(5 * 4 + more) / 0.5, rel=1e-12)


def test_a_line_is_counted_at_several_resolutions_and_every_row_once_in_each() -> None:
    cells, counts = ColumnCells(Numeric("x", 0, 1, null="category")), np.zeros(256, dtype=np.int64)
    assert cells.count == 256
    assert histogram_widths(cells) == (1, 4, 16, 64)
    assert histogram_widths(ColumnCells(Categorical("k", [f"k{place}" for place in range(90)]))) == (1,)
    assert histogram_widths(ColumnCells(Numeric("n", 0, 20, integer=True))) == (1,)
    for place in (0, 17, 254):
        counts[place] += 1
        for width in histogram_widths(cells):
            seen = coarse_counts(cells, counts, width)
            assert (seen.sum(), seen[place // width] >= 1) == (counts.sum(), True)
    counts[255] += 5  # missing: a row is never in a second cell of the same histogram
    assert [int(coarse_counts(cells, counts, width).sum()) for width in histogram_widths(cells)] == [
        8,
        3,
        3,
        3,
    ]


def test_halves_of_a_line_have_the_noise_of_coarse_counts() -> None:
    """A spike at one end of 256 cells: what lies beyond was as noisy as all of them, and is known by coarse ones."""
    random, noise = np.random.default_rng(5), 20.0
    widths = np.concatenate([[1e-3], np.ones(255)])
    truth = np.concatenate([[9_000.0], np.full(15, 1_000.0 / 15), np.zeros(240)])
    off = []
    for levels in ((1, 4, 16, 64), (1,)):
        found = []
        for _ in range(40):
            seen = [np.add.reduceat(truth, np.arange(0, 256, width)) for width in levels]
            noisy = [part + random.normal(0, noise * len(levels) ** 0.5, len(part)) for part in seen]
            made = tree_counts(noisy, widths, 10_000.0, noise * len(levels) ** 0.5)
            assert made.min() >= 0
            assert made.sum() == pytest.approx(10_000.0)
            found.append(made[16:].sum())
        off.append(float(np.mean(found)))
    assert off[0] < 0.6 * off[1]


@given(st.integers(1, 70), st.integers(0, 2**32 - 1))
def test_counts_without_noise_are_the_shares(count: int, seed: int) -> None:
    truth = np.random.default_rng(seed).integers(0, 100, count).astype(float)
    seen = [np.add.reduceat(truth, np.arange(0, count, width)) for width in (1, 4)]
    made = tree_counts(seen, np.ones(count), float(truth.sum()), 1e-9)
    assert made == pytest.approx(truth, abs=1e-6)


def summed(values: list[float]) -> Any:
    rows = coded(1)
    rows._cached_chunks, rows._cache_is_complete = (
        [(np.zeros((len(values), 3), dtype=np.uint16), np.array(values))],
        True,
    )
    return rows.sums()


def test_targets_are_clipped_before_they_are_summed() -> None:
    assert summed([9.0, -9.0, 9.0]).tolist() == [1, 3]


@given(
    st.lists(st.floats(-1, 1), max_size=40),
    st.lists(st.floats(-9, 9), min_size=1, max_size=3),
    st.floats(-9, 9),
)
def test_a_row_moves_the_sums_of_a_target_by_one_at_most(
    labels: list[float], more: list[float], other: float
) -> None:
    whole, moved = summed(labels + more), summed(labels)
    assert (np.abs(whole - moved) <= len(more)).all()
    replaced = summed([*labels, other]) - summed(labels + more[:1])
    assert np.sum(replaced**2) <= 5  # within what three more histograms are charged under replace, 6
    assert np.abs(moved - [sum(labels), sum(value**2 for value in labels)]).max() <= 1.001


def test_classes_are_counted_and_rare_ones_tell_less() -> None:
    rows = coded(5_000)
    rows.read = lambda: iter(())  # no row is read again
    codes = np.zeros((5_000, 3), dtype=np.uint16)
    for positives, expected in ((2_500, 1.0), (50, 4 * 0.01 * 0.99 / 0.7)):
        labels = np.where(np.arange(5_000) < positives, 1.0, -1.0)
        rows._cached_chunks, rows._cache_is_complete = [(codes, labels)], True
        assert rows.class_counts(2).tolist() == [5_000 - positives, positives]
        seen = release_histograms(
            rows, account_of(rows, 50.0), square=Fraction(2500), arithmetic="strict", classes=2
        )
        assert seen.evenness == pytest.approx(expected, rel=0.05)
    rows._cached_chunks = [(codes, np.full(5_000, -1.0))]
    unsure = release_histograms(
        rows, account_of(rows, 0.01), square=Fraction(1, 10**4), arithmetic="strict", classes=2
    )
    assert unsure.class_shares is not None
    assert unsure.class_shares.min() > 0.02  # a class is never rarer than noise could hide


def test_a_rare_class_has_fewer_dimensions_smaller_clips_and_longer_steps() -> None:
    task, _ = prepared()
    rare = dataclasses.replace(task, evenness=0.04)
    assert rare.signal == pytest.approx(0.04 * task.signal)
    assert rare.effective_rows == pytest.approx(0.04 * task.count)
    assert rare.clip(9.0, 1.0) == pytest.approx(0.2 * task.clip(9.0, 1.0))
    assert rare.step == pytest.approx(25 * task.step)
    # The clip is never so short that only the sign of a gradient is left.
    poor = dataclasses.replace(task, public_signal=1.0)
    assert poor.clip(16.0, 1.0) == pytest.approx(0.25 * 4.0)
    assert dataclasses.replace(poor, evenness=0.04).clip(16.0, 1.0) == pytest.approx(0.05 * 4.0)
    assert dimension_limit(rare.signal, 1e6) < dimension_limit(task.signal, 1e6)


def test_numbers_have_finer_cells_where_the_budget_tells_them_apart() -> None:
    rows = coded(200)
    assert affordable_grid(rows, account_of(rows), square=Fraction(1)) == COARSE_GRID
    rows.public_count = 100_000
    grid = affordable_grid(rows, account_of(rows), square=Fraction(1))
    assert grid == FINE_GRID
    coarse = rows.counts()
    rows.regrid(grid)
    fine = rows.counts()
    assert all(len(b) > 3 * len(a) for a, b in zip(coarse, fine, strict=True))
    for column, few, many in zip(
        coded(1).cells, coarse, fine, strict=True
    ):  # a fine cell lies in one coarse cell
        inside = np.searchsorted(column.edges, rows.cells[0].middles, side="right")
        assert np.bincount(inside, weights=many, minlength=len(few)).tolist() == few.tolist()


def test_weights_that_noise_or_the_sample_explains_are_shrunk() -> None:
    task, design = prepared()
    loud = np.full((1, design.dimension), 3.0)
    quiet = Descent(weights=loud, noise=0.01, clip=1.0, residual=1.0)
    noisy = Descent(weights=loud, noise=8.9, clip=1.0, residual=1.0)
    many = dataclasses.replace(task, count=1e9)
    assert float(np.min(_shrunk_descent(many, design, quiet, 10).weights)) > 2.9
    shrunk = _shrunk_descent(many, design, noisy, 10).weights
    assert shrunk[0, 0] == 3.0  # the constant stays
    assert float(np.max(shrunk[:, 1:])) == pytest.approx(3 * LEAST_ENERGY_SHARE)
    few = dataclasses.replace(task, count=2.0)
    assert float(np.max(_shrunk_descent(few, design, quiet, 1000).weights[:, 1:4])) < 3.0


def test_clips_follow_what_is_left_to_explain() -> None:
    task, _ = prepared()
    assert task.residual(0.9) == 1.0  # classes: a slope is bounded by itself
    numbers = dataclasses.replace(task, loss="squared", mean_square=0.09, square_noise=0.001)
    assert [round(numbers.residual(explained), 3) for explained in (0.0, 0.05, 1.0)] == [0.3, 0.2, 0.06]
    off = dataclasses.replace(numbers, mean=0.28, square_noise=1e-6)
    assert off.residual(1.0) == pytest.approx(math.sqrt(0.04 * (0.09 - 0.28**2)))  # around the mean
    unsure = dataclasses.replace(numbers, square_noise=5.0)
    assert unsure.residual(0.08) == pytest.approx(math.sqrt(0.1))  # what noise may hide is not taken away
    assert numbers.clip(16.0, 0.2) == pytest.approx(2 * numbers.clip(16.0, 0.1))


def test_the_mean_square_of_a_target_is_released() -> None:
    rows = coded(5_000)  # labels of size 1
    sure = release_histograms(
        rows, account_of(rows, 50.0), square=Fraction(2500), arithmetic="strict", classes=None
    )
    assert sure.mean_square == pytest.approx(1.0, abs=0.01)
    ((_, labels),) = rows.chunks()
    assert sure.mean == pytest.approx(float(labels.mean()), abs=0.01)
    unsure = release_histograms(
        rows, account_of(rows, 0.01), square=Fraction(1, 10**8), arithmetic="strict", classes=None
    )
    assert unsure.mean_square == pytest.approx(0.1, abs=0.06)


@pytest.mark.parametrize(
    ("adjacency", "max_rows", "expected"), [("zero_out", 1, 1), ("replace", 1, 2), ("replace", 3, 6)]
)
def test_gradients_are_charged_for_the_clip(adjacency: str, max_rows: int, expected: float) -> None:
    task, design = prepared(adjacency=adjacency, max_rows=max_rows)
    assert gradient_sensitivity(task, 2.0, design) == pytest.approx(2.0 * expected, rel=1e-8)
    assert gradient_sensitivity(task, 2.0, design) > 2.0 * expected


def prepared(**options: Any) -> tuple[AdditiveTask, Any]:
    rows = coded(**options)
    account = account_of(rows)
    task = AdditiveTask(
        rows=rows,
        loss="logistic",
        outputs=1,
        account=account,
        count=200.0,
        public_signal=2000.0,
        arithmetic="strict",
    )
    mass = [np.full(cells.count, 1.0 / cells.count) for cells in rows.cells]
    blocks = tuple(
        principal_axes((place,), column_features(cells, mass[place]), mass[place], scale=2.0)
        for place, cells in enumerate(rows.cells)
    )
    plan = CellPlan(cells=tuple(cells.count for cells in rows.cells))
    return task, whitened_design(plan, blocks, signal=2000.0, rows=20_000.0)


def test_steps_of_a_phase_compose_to_its_share() -> None:
    task, design = prepared()
    descend(task, design, np.zeros((1, design.dimension)), square=Fraction(1, 4), steps=8, label="test")
    spent = task.account.spent().as_gdp()
    assert spent is not None
    assert 0.2499 < float(spent) <= 0.25


def test_the_sum_of_gradients_is_what_its_rows_say() -> None:
    task, design = prepared()
    weights = 0.1 * np.random.default_rng(2).normal(size=(1, design.dimension))
    clip = 1.5
    sums = task.rows.gradient(
        design.plan, loss="logistic", table=design.lookup(weights), constant=weights[:, 0], clip=clip
    )
    ((codes, labels),) = task.rows.chunks()
    expected = np.zeros(design.dimension)
    for row, label in zip(codes, labels, strict=True):
        z = np.concatenate([[1.0], *(table[code] for table, code in zip(design.tables, row, strict=True))])
        slope = -label / (1 + math.exp(label * float(weights[0] @ z)))
        expected += slope * z * min(1.0, clip / abs(slope) / float(np.linalg.norm(z)))
    assert design.gather(sums)[0] == pytest.approx(expected, abs=1e-5)


def test_features_are_centred_uncorrelated_and_of_unit_variance() -> None:
    cells = ColumnCells(Numeric("x", 0, 10, null="category"))
    mass = np.random.default_rng(0).dirichlet(np.ones(cells.count))
    axes = principal_axes((0,), column_features(cells, mass), mass, scale=3.0)
    assert mass @ axes.features == pytest.approx(0.0, abs=1e-12)
    assert axes.features.T @ (mass[:, None] * axes.features) == pytest.approx(
        np.diag(axes.variances), abs=1e-12
    )
    assert (np.diff(axes.variances) <= 0).all()


@pytest.mark.parametrize(
    "column",
    [
        Numeric("x", 0, 1),
        Numeric("x", -1e12, 1e12),
        Numeric("x", 5, 5000, integer=True),
        Numeric("x", -(2**49), 2**49, integer=True),
        Numeric("x", 0, 1, integer=True),
        Numeric("x", -1e-8, 1e-8, null="category"),
        Numeric("x", 1e9, 1e9 + 1),
    ],
)
def test_cells_of_every_declaration_rise_and_stay_inside(column: Numeric) -> None:
    cells = ColumnCells(column)
    assert (np.diff(cells.edges) > 0).all()
    assert cells.count <= 258
    assert len(cells.middles) == len(cells.edges) + 1 == len(cells.labels) - cells.missing
    if len(cells.edges):
        assert column.low < cells.edges[0]
        assert cells.edges[-1] < column.high


def test_a_range_declared_too_wide_still_has_cells_near_zero() -> None:
    cells = ColumnCells(Numeric("x", -1e6, 1e6))
    near = cells.edges[(cells.edges > 0) & (cells.edges < 1000)]
    assert len(near) > 20


def test_too_many_categories_are_refused() -> None:
    with pytest.raises(ParameterError, match="at most 65536 categories"):
        ColumnCells(Categorical("x", [str(place) for place in range(70_000)]))


def test_shares_do_not_swallow_the_positive_half_of_the_noise() -> None:
    random = np.random.default_rng(0)
    truth = np.where(np.arange(200) == 7, 1000.0, 0.0)
    lines = [np.add.reduceat(truth, np.arange(0, 200, width)) for width in (1, 4, 16, 64)]
    noisy, *coarse = [line + random.normal(0, 20, len(line)) for line in lines]
    tree = tree_counts([noisy, *coarse], np.ones(200), 1000.0, 20.0)
    assert tree.sum() == pytest.approx(1000.0)
    assert tree[7] > 850
    assert nearest_counts(noisy, 1000.0).sum() == pytest.approx(1000.0)
    assert nearest_counts(noisy, 1000.0)[7] > 800
    assert np.maximum(noisy, 0).sum() > 2000  # what clipping alone would give


def test_pairs_cost_what_the_signal_pays() -> None:
    importance, capacity = np.array([1.0, 3.0, 2.0, 0.5]), np.array([5, 5, 5, 0])
    assert choose_pairs(importance, capacity, signal=1100.0, rows=1e5) == ()
    assert choose_pairs(importance, capacity, signal=3000.0, rows=2e4) == ((1, 2),)
    every = choose_pairs(importance, capacity, signal=1e6, rows=2e4)
    assert set(every) == {(1, 2), (0, 1), (0, 2)}


def test_levels_follow_the_line_or_the_released_shape() -> None:
    line = ColumnCells(Numeric("x", 0, 11, integer=True))
    levels = cell_levels(line, np.full(12, 1 / 12), np.zeros((12, 1)), 6)
    assert (np.diff(levels) >= 0).all()
    kinds = ColumnCells(Categorical("k", list("abc")))
    order = cell_levels(kinds, np.full(3, 1 / 3), np.array([[3.0], [1.0], [2.0]]), 6)
    assert order[1] < order[2] < order[0]


def test_scores_are_clipped_for_calibration() -> None:
    scores = np.array([[100.0, 0.0], [0.3, 0.3], [-50.0, -50.0]])
    assert (np.linalg.norm(clipped_scores(scores, 2.0), axis=1) <= 2.0 + 1e-12).all()


def test_calibration_finds_a_shift_and_does_not_believe_noise() -> None:
    task, design = prepared()
    task = dataclasses.replace(task, account=account_of(task.rows, mu=2000.0))
    weights = np.zeros((1, design.dimension))
    weights[0, 0] = 1.0  # half of the rows are of either class
    _, seen = calibrate_scores(task, design, weights, square=Fraction(10**6))
    assert -1.2 < seen[0] < -0.6
    noisy = [calibrate_scores(task, design, weights, square=Fraction(1, 10**4)) for _ in range(10)]
    assert np.std([shift[0] for _, shift in noisy]) < 0.1
    assert np.std([scale for scale, _ in noisy]) < 0.1


def test_the_widest_axis_is_as_wide_as_the_constant_whatever_the_floor() -> None:
    _, design = prepared()
    for signal in (3.0, 100.0, 1e6):
        made = whitened_design(design.plan, design.blocks, signal=signal, rows=10.0 * signal)
        spreads = [
            float(np.max(block.variances * factor**2))
            for block, factor in zip(made.blocks, made.factors, strict=True)
        ]
        assert max(spreads) == pytest.approx(1.0)


def test_the_slope_of_a_line_is_one_in_its_values() -> None:
    """Of a normal column, whose tails ranks flatten: the widest axis is nearer to the values than ranks are."""
    cells = ColumnCells(Numeric("x", -5, 5))
    mass = np.exp(-(cells.middles**2) / 2) * cells.widths
    mass = mass / mass.sum()
    axes = principal_axes((0,), column_features(cells, mass), mass, scale=1.0)
    tail = np.abs(
        axes.features[np.searchsorted(cells.middles, 2.5), 0]
        / axes.features[np.searchsorted(cells.middles, 0.8), 0]
    )
    assert tail > 2.1, "2.5 / 0.8 for values themselves, 1.5 for ranks"
    alone = np.zeros(cells.count)
    alone[3] = 1.0
    assert np.isfinite(column_features(cells, alone)).all()


def test_a_budget_that_cannot_pay_all_slopes_has_nothing_for_finer_axes() -> None:
    """Forty lines: hardly any variance is left to finer axes at a small budget; rows alone do not take it from them."""
    cells = ColumnCells(Numeric("x", 0, 1))
    mass = cells.widths / cells.widths.sum()
    axes = principal_axes((0,), column_features(cells, mass), mass, scale=6.4, line=True)
    blocks = tuple(dataclasses.replace(axes, columns=(place,)) for place in range(40))
    plan = CellPlan(cells=(cells.count,) * 40)

    def finer(signal: float, rows: float, line: bool = True) -> float:
        some = tuple(dataclasses.replace(block, line=line) for block in blocks)
        design = whitened_design(plan, some, signal=signal, rows=rows)
        block, factor = design.blocks[0], design.factors[0]
        return float(np.sum((block.variances * factor**2)[1:]))

    assert finer(150.0, 1e6) < 0.3 * finer(150.0, 1e6, line=False)
    assert finer(1e5, 1e6) == pytest.approx(finer(1e5, 1e6, line=False), rel=0.2)
    assert finer(1e5, 1_000) == pytest.approx(finer(1e5, 1_000, line=False), rel=0.2)


def test_a_table_that_is_not_kept_is_read_again() -> None:
    rows = coded()
    rows.most_cached_bytes = 10
    first = [counts.copy() for counts in rows.counts()]
    assert all((a == b).all() for a, b in zip(first, rows.counts(), strict=True))
    assert rows._cached_chunks is None

"""Coverage over simulated tables, by the code of the benchmark: some of its cells."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2, norm
from studies.benchmarks.interval_runs import (
    Cell,
    logistic_runs,
    population,
    shortfall,
    simulate,
    squared_runs,
)

from holdfast.learn._inference.inversion import ScoreTest
from tests.studies.size import Study, trials

CELLS = [
    Cell(design="linear", adjacency="zero_out", rows=500, epsilon=4.0),
    Cell(design="linear", adjacency="replace", rows=2_000, epsilon=1.0),
    Cell(design="linear, clipped", adjacency="add_remove", rows=2_000, epsilon=1.0),
    Cell(design="logistic", adjacency="zero_out", rows=2_000, epsilon=1.0),
    Cell(design="logistic, strong", adjacency="replace", rows=20_000, epsilon=2.0),
]
MOST_REFUSED = [
    Cell(design="linear, 1 column", adjacency="zero_out", rows=500, epsilon=0.5),
    Cell(design="logistic", adjacency="zero_out", rows=1_000, epsilon=1.0),
    Cell(design="logistic, 1 column, 5 % positive", adjacency="zero_out", rows=2_000, epsilon=2.0),
]


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.key)
def test_intervals_cover_and_are_not_too_wide(cell: Cell, study: Study) -> None:
    runs = trials(20_000)
    found = simulate(cell, runs)
    worst, widest = min(found["coverage"]), max(found["width"])
    study.note(trials=runs, issued=found["issued"], coverage=worst, width=widest)
    assert found["issued"] > 0.5 * runs
    assert shortfall(found) <= 3.0, found
    assert widest <= 1.15, found
    assert worst <= 0.985, found


@pytest.mark.parametrize("cell", MOST_REFUSED, ids=lambda cell: cell.key)
def test_where_most_are_refused_those_issued_cover(cell: Cell, study: Study) -> None:
    """The last cell's are the hard ones: the curvature at the estimate says much about the estimate."""
    runs = trials(20_000)
    found = simulate(cell, runs)
    study.note(trials=runs, issued=found["issued"], coverage=min(found["coverage"]))
    assert 0 < found["issued"] < 0.5 * runs
    assert min(found["coverage"]) >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / found["issued"]), found
    assert max(found["width"]) <= 1.15, found


@pytest.mark.parametrize("design", ["linear, 5 columns", "logistic, 5 columns"])
def test_p_values_are_uniform_where_nothing_is_there(design: str, study: Study) -> None:
    """Of the columns whose coefficient is 0, among those issued; margins make them a little larger than uniform."""
    runs = trials(20_000)
    cell = Cell(design=design, adjacency="zero_out", rows=5_000, epsilon=2.0)
    draw: Any = squared_runs if design.startswith("linear") else logistic_runs
    stack = draw(cell, runs, np.random.default_rng(11))
    kept = stack[~stack.strength.too_low_for_intervals]
    null = np.flatnonzero(np.abs(population(design).truth) < 1e-12)
    error = np.sqrt(np.diagonal(kept.covariance(), axis1=1, axis2=2))
    p_values = 2.0 * norm.sf(np.abs(kept.solution / error))[:, null]
    assert null.size == 2
    assert len(p_values) > 0.5 * runs
    for level in (0.01, 0.05, 0.1, 0.3, 0.5, 0.9):
        share = float(np.mean(p_values <= level))
        error_of_share = math.sqrt(level * (1 - level) / p_values.size)
        study.note(trials=runs, issued=len(p_values), level=level, share=share)
        assert 0.7 * level - 3 * error_of_share <= share <= level + 3 * error_of_share, (level, share)


def test_p_values_of_test_inversion_are_uniform_or_larger_where_nothing_is_there(study: Study) -> None:
    """Where Wald intervals are refused; the residual variance has a margin, so they are larger."""
    runs = trials(500)
    cell = Cell(design="linear, 5 columns", adjacency="zero_out", rows=500, epsilon=1.0)
    stack = squared_runs(cell, runs, np.random.default_rng(12))
    assert stack.strength.too_low_for_intervals.mean() > 0.9
    ones = [ScoreTest(stack[run]) for run in range(runs)]
    p_values = np.array([[chi2.sf(one.profile(place, 0.0), 1) for place in (3, 4)] for one in ones])
    for level in (0.05, 0.1, 0.3, 0.5):
        share = float(np.mean(p_values <= level))
        study.note(trials=runs, level=level, share=share)
        assert share <= level + 3 * math.sqrt(level * (1 - level) / runs), (level, share)
    assert np.mean(p_values < 0.5) > 0.1, "they are not all large"


def test_noise_that_swamps_is_refused_in_every_run() -> None:
    assert simulate(Cell(design="linear", adjacency="replace", rows=500, epsilon=0.3), 200)["issued"] == 0


def test_inversion_covers_where_wald_is_refused(study: Study) -> None:
    runs = trials(500)
    cell = Cell(design="linear, narrow", adjacency="zero_out", rows=500, epsilon=1.0, method="test_inversion")
    found = simulate(cell, runs, seed=1)
    study.note(trials=runs, coverage=min(found["coverage"]))
    assert min(found["coverage"]) >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / runs), found

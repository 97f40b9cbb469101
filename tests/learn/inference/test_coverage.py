"""Coverage over simulated tables, by the code of the benchmark: some of its cells."""

from __future__ import annotations

import math

import pytest
from benchmarks.interval_runs import Cell, shortfall, simulate

from tests.studies.size import Study, trials

CELLS = [
    Cell(design="linear", adjacency="zero_out", rows=500, epsilon=4.0),
    Cell(design="linear", adjacency="replace", rows=2_000, epsilon=1.0),
    Cell(design="linear, clipped", adjacency="add_remove", rows=2_000, epsilon=1.0),
    Cell(design="logistic", adjacency="zero_out", rows=2_000, epsilon=1.0),
    Cell(design="logistic, strong", adjacency="replace", rows=2_000, epsilon=4.0),
]
HALF_REFUSED = Cell(design="logistic", adjacency="zero_out", rows=500, epsilon=1.0)


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


def test_where_most_are_refused_those_issued_cover(study: Study) -> None:
    runs = trials(20_000)
    found = simulate(HALF_REFUSED, runs)
    study.note(trials=runs, issued=found["issued"], coverage=min(found["coverage"]))
    assert 0 < found["issued"] < runs
    assert shortfall(found) <= 3.0, found


def test_noise_that_swamps_is_refused_in_every_run() -> None:
    assert simulate(Cell(design="linear", adjacency="replace", rows=500, epsilon=0.3), 200)["issued"] == 0


def test_inversion_covers_where_wald_is_refused(study: Study) -> None:
    runs = trials(500)
    cell = Cell(design="linear, narrow", adjacency="zero_out", rows=500, epsilon=1.0, method="test_inversion")
    found = simulate(cell, runs, seed=1)
    study.note(trials=runs, coverage=min(found["coverage"]))
    assert min(found["coverage"]) >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / runs), found

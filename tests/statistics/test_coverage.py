"""Intervals hold as often as they say, on many small simulated tables at once: each group is one."""

from __future__ import annotations

import math
from typing import Any

import pytest
from studies.benchmarks.statistics_coverage import coverage, questions, simulated

pytestmark = [
    pytest.mark.filterwarnings("ignore::holdfast.errors.NotPrivateWarning"),
    pytest.mark.filterwarnings("ignore::holdfast.errors.BudgetWarning"),
]


@pytest.mark.parametrize("n", [20, 100])
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_intervals_cover_the_tables_own_value_and_the_population(n: int, epsilon: float) -> None:
    tables = 600
    found: dict[str, Any] = {}
    for question in questions():
        found |= coverage(simulated(tables, n, seed=3), question, n=n, epsilon=epsilon, seed=5)
    floor = 0.95 - 3 * math.sqrt(0.95 * 0.05 / tables)
    for name, result in found.items():
        assert result.table >= floor, (name, result)
        assert result.population is None or result.population >= floor, (name, result)

"""Sensitivities against brute force over small tables: never exceeded, and reached."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.data._sensitivity import counts_l1, counts_l2, row_steps, score, sum_l2
from holdfast.errors import AdjacencyError, ParameterError
from holdfast.privacy._adjacency import Adjacency, PrivacyUnit

CELLS = 3


def unit(rows: int) -> PrivacyUnit:
    return PrivacyUnit.row() if rows == 1 else PrivacyUnit.user("id", max_rows=rows)


def contributions(rows: int, *, distinct: bool) -> list[np.ndarray]:
    """All histograms that one unit with at most that many rows can contribute."""
    found = []
    for size in range(rows + 1):
        for cells in itertools.product(range(CELLS), repeat=size):
            if not distinct or len(set(cells)) == size:
                found.append(np.bincount(np.array(cells, dtype=int), minlength=CELLS))
    return found


def neighbours(rows: int, adjacency: Adjacency, *, distinct: bool = False) -> list[np.ndarray]:
    """Every change that one unit can make to a histogram."""
    mine = contributions(rows, distinct=distinct)
    others = mine if adjacency is Adjacency.replace else [np.zeros(CELLS, dtype=int)]
    return [one - two for one in mine for two in others]


@pytest.mark.parametrize("adjacency", list(Adjacency))
@pytest.mark.parametrize("rows", [1, 2, 3])
@pytest.mark.parametrize("marginals", [1, 4])
def test_counts(adjacency: Adjacency, rows: int, marginals: int) -> None:
    # In the worst case a unit's change looks the same in every one of the tables.
    changes = [np.tile(change, marginals) for change in neighbours(rows, adjacency)]
    l1 = max(float(np.abs(change).sum()) for change in changes)
    l2 = max(float(np.linalg.norm(change)) for change in changes)
    assert counts_l1(adjacency, unit(rows), marginals=marginals) == l1
    assert counts_l2(adjacency, unit(rows), marginals=marginals) == pytest.approx(l2, rel=1e-15)


@pytest.mark.parametrize("adjacency", list(Adjacency))
def test_counts_in_distinct_cells(adjacency: Adjacency) -> None:
    """With one row in each half of the cells, a replaced user moves 2c cells by one each."""
    changes = neighbours(1, adjacency, distinct=True)
    assert counts_l2(adjacency, distinct_cells=True) == pytest.approx(
        max(map(np.linalg.norm, changes)), rel=1e-15
    )
    for rows in (2, 3, 5):
        moved = np.ones((2 if adjacency is Adjacency.replace else 1) * rows)
        assert counts_l2(adjacency, unit(rows), distinct_cells=True) == pytest.approx(
            np.linalg.norm(moved), rel=1e-15
        )
    for rows in (2, 3):
        worst = max(np.linalg.norm(change) for change in neighbours(rows, adjacency, distinct=True))
        assert worst <= counts_l2(adjacency, unit(rows), distinct_cells=True)


@pytest.mark.parametrize("adjacency", list(Adjacency))
@pytest.mark.parametrize("rows", [1, 3])
def test_sums(adjacency: Adjacency, rows: int) -> None:
    rng = np.random.default_rng(4)
    bound = sum_l2(0.7, adjacency, unit(rows))
    worst = 0.0
    for _ in range(300):
        vectors = rng.normal(size=(2 * rows, 4))
        vectors *= 0.7 / np.linalg.norm(vectors, axis=1, keepdims=True)
        if rng.random() < 0.5:
            vectors[:] = vectors[0]
            vectors[rows:] *= -1
        change = vectors[:rows].sum(axis=0) - (adjacency is Adjacency.replace) * vectors[rows:].sum(axis=0)
        worst = max(worst, float(np.linalg.norm(change)))
    assert bound * (1 - 1e-12) <= worst <= bound * (1 + 1e-12)
    per_unit = sum_l2(0.7, adjacency, unit(rows), clipped_per_unit=True)
    assert per_unit == adjacency.gradient_factor * 0.7


def test_table_of_soundness_section_18() -> None:
    """The printed rows for c = 4: histogram, G = 9 marginals, gradients, scores."""
    user = unit(4)
    assert (counts_l1("add_remove", user), counts_l2("add_remove", user)) == (4, 4)
    assert counts_l1("replace", user) == 8
    assert counts_l2("replace", user) == pytest.approx(4 * math.sqrt(2), rel=1e-15)
    assert counts_l2("add_remove", user, distinct_cells=True) == 2
    assert counts_l2("replace", user, distinct_cells=True) == pytest.approx(math.sqrt(8), rel=1e-15)
    assert (counts_l1("add_remove", user, marginals=9), counts_l2("add_remove", user, marginals=9)) == (
        36,
        12,
    )
    assert (sum_l2(0.5, "add_remove", user), sum_l2(0.5, "replace", user)) == (2, 4)
    assert score(0.5, "add_remove", user, row_adjacency="add_remove") == 2
    assert score(0.5, "replace", user, row_adjacency="replace", padded=True) == 2
    assert score(0.5, "replace", user, row_adjacency="add_remove") == 4


def test_steps_that_lead_nowhere() -> None:
    user = unit(3)
    for target, given_, padded in [
        ("replace", "replace", False),
        ("add_remove", "replace", True),
        ("zero_out", "replace", True),
        ("add_remove", "zero_out", False),
        ("zero_out", "add_remove", False),
    ]:
        with pytest.raises(AdjacencyError):
            row_steps(target, user, row_adjacency=given_, padded=padded)
    assert row_steps("replace", unit(1), row_adjacency="replace") == 1
    assert row_steps("replace", unit(1), row_adjacency="zero_out") == 2


@given(st.floats(1e-300, 1e300), st.integers(1, 1000), st.sampled_from(list(Adjacency)))
def test_rounding_is_upwards(norm: float, rows: int, adjacency: Adjacency) -> None:
    exact = Fraction(norm) * rows * adjacency.gradient_factor
    assert exact <= Fraction(sum_l2(norm, adjacency, unit(rows))) <= exact * Fraction(1 + 2**-51)
    square = Fraction(adjacency.gradient_factor * rows**2 * 7)
    root = Fraction(counts_l2(adjacency, unit(rows), marginals=7))
    assert square <= root**2 <= square * Fraction(1 + 2**-50)


def test_refusals() -> None:
    for bad in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(ParameterError):
            sum_l2(bad, "replace")
        with pytest.raises(ParameterError):
            score(bad, "replace", row_adjacency="replace")
    with pytest.raises(ParameterError):
        counts_l1("replace", marginals=0)
    with pytest.raises(ParameterError):
        counts_l2("sideways")

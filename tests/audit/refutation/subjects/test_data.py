"""What the data room promises about neighbours; and that a smaller promise would be refuted."""

from __future__ import annotations

import pytest

from holdfast.audit.refutation.subjects.data import (
    MAX_ROWS,
    count_shares,
    data_subjects,
    neighbours,
    sum_shares,
)
from holdfast.audit.refutation.suite import refute
from holdfast.data.sensitivity import counts_l2, sum_l2
from holdfast.noise.source import Source
from holdfast.privacy.adjacency import Adjacency, PrivacyUnit

ROW, USER = PrivacyUnit.row(), PrivacyUnit.user("id", max_rows=MAX_ROWS)


@pytest.mark.parametrize("unit", [ROW, USER], ids=["row", "user"])
@pytest.mark.parametrize("shares", [count_shares, sum_shares])
def test_the_bound_is_reached_and_never_exceeded(shares, unit: PrivacyUnit) -> None:  # type: ignore[no-untyped-def]
    found = list(shares(unit, Source(seed=1)))
    assert 0.9 < max(found) <= 1.0


def test_neighbours_differ_in_one_unit() -> None:
    for adjacency in Adjacency:
        for first, second in neighbours(Source(seed=1), USER, adjacency):
            assert first.adjacency is second.adjacency is adjacency
            assert first.units() - second.units() == (0 if adjacency is Adjacency.replace else 1)


def test_a_sensitivity_of_one_row_is_refuted_for_users(monkeypatch: pytest.MonkeyPatch) -> None:
    real = counts_l2
    monkeypatch.setattr(
        "holdfast.audit.refutation.subjects.data.counts_l2",
        lambda adjacency, unit, *, marginals: real(adjacency, marginals=marginals),
    )
    subject = next(s for s in data_subjects() if s.name == "counts_of_users")
    (verdict,) = refute([subject]).verdicts
    assert verdict.refuted_by() == ("neighbours",)


def test_an_adjacency_mixed_up_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    real = sum_l2
    monkeypatch.setattr(
        "holdfast.audit.refutation.subjects.data.sum_l2",
        lambda norm, adjacency, unit: real(norm, "add_remove", unit),
    )
    subject = next(s for s in data_subjects() if s.name == "sums_of_rows")
    (verdict,) = refute([subject]).verdicts
    assert verdict.refuted


@pytest.mark.slow
def test_all_of_them_survive() -> None:
    found = refute(data_subjects())
    assert found.passed, found.summary()

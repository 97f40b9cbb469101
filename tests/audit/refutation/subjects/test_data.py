"""Counts and sums of neighbouring tables, against the sensitivities that the data room states."""

from __future__ import annotations

import pytest

from holdfast.audit.refutation.subjects.data import data_subjects
from holdfast.audit.refutation.suite import refute


@pytest.mark.parametrize("named", list(data_subjects()), ids=lambda named: named.name)
def test_the_stated_sensitivities_hold_and_are_reached(named) -> None:  # type: ignore[no-untyped-def]
    (verdict,) = refute([named.make()]).verdicts
    assert not verdict.refuted, verdict.summary()
    # Encoded rows have no negative numbers: two of them are at most sqrt(2) norms apart, and 2 are declared.
    assert verdict.weak is (named.name == "data sums replace"), verdict.summary()
    assert len(verdict.outcomes) == 2  # rows and users

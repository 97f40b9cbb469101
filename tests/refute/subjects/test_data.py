"""Counts and sums of neighbouring tables, against the sensitivities that the data room states."""

from __future__ import annotations

import pytest

from holdfast.refute._subjects.data import data_subjects
from holdfast.refute._suite import refute

PLACES = {"sums": 4, "functions": 6, "counts": 2}


@pytest.mark.parametrize("named", list(data_subjects()), ids=lambda named: named.name)
def test_the_stated_sensitivities_hold_and_are_reached(named) -> None:  # type: ignore[no-untyped-def]
    (verdict,) = refute([named.make()]).verdicts
    assert not verdict.refuted, verdict.summary()
    assert not verdict.weak, verdict.summary()
    replays = [outcome for outcome in verdict.outcomes if outcome.test == "replay"]
    # Rows and users; sums also of a number alone, functions also in the certificate and of each kind.
    assert len(replays) == next(count for word, count in PLACES.items() if word in named.name)

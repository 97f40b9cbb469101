"""Counts and sums of neighbouring tables, against the sensitivities that the data room states.

That they hold and are reached, tests/refute/test_refutation.py tries.
"""

from __future__ import annotations

import pytest

from holdfast.refute._subject import NamedSubject
from holdfast.refute._subjects.data import data_subjects

PLACES = {"sums": 4, "functions": 6, "counts": 2}


@pytest.mark.parametrize("named", list(data_subjects()), ids=lambda named: named.name)
def test_every_stated_sensitivity_is_tried(named: NamedSubject) -> None:
    replays = [trial for trial in named.make().trials if trial.test == "replay"]
    # Rows and users; sums also of a number alone, functions also in the certificate and of each kind.
    assert len(replays) == next(count for word, count in PLACES.items() if word in named.name)

"""What `holdfast refute` runs, a test for each subject: what is in use survives and is tried hard, what is broken falls.

`make deep` runs the command itself.
"""

from __future__ import annotations

import pytest

from holdfast.refute._broken import broken_names
from holdfast.refute._subject import NamedSubject
from holdfast.refute._subjects import subject_names
from holdfast.refute._suite import FALSE_ALARM, refute

pytestmark = pytest.mark.slow

SOUND, BROKEN = tuple(subject_names()), tuple(broken_names())
SHARE = FALSE_ALARM / (len(SOUND) + len(BROKEN))
"""Of the probability that a whole run refutes anything true."""


@pytest.mark.parametrize("named", SOUND, ids=lambda named: named.name)
def test_what_is_in_use_survives(named: NamedSubject) -> None:
    (verdict,) = refute([named.make()], false_alarm=SHARE).verdicts
    assert not verdict.refuted, verdict.summary()
    assert not verdict.weak, verdict.summary()


@pytest.mark.parametrize("named", BROKEN, ids=lambda named: named.name)
def test_what_is_broken_falls(named: NamedSubject) -> None:
    (verdict,) = refute([named.make()], false_alarm=SHARE).verdicts
    assert verdict.broken
    assert verdict.refuted, verdict.summary()

"""The numbers of the soundness notes, sections 0 and 1; sound constants survive."""

from __future__ import annotations

import pytest

from holdfast.privacy import GaussianDP
from holdfast.refute._subjects import claims
from holdfast.refute._suite import refute


def test_sound_constants_survive() -> None:
    found = refute(one.make() for one in claims.sound_claims())
    assert found.passed, found.summary()
    assert not any(verdict.refuted for verdict in found.verdicts)


def test_printed_constants_fall() -> None:
    found = refute(one.make() for one in claims.broken_claims())
    assert found.passed, found.summary()


def test_averaging() -> None:
    assert claims.averaged_shift() == pytest.approx(7.4855e-3, rel=1e-4)
    assert claims.averaged_shift() <= claims.sound_averaging()


def test_classical_gaussian() -> None:
    sigma = claims.classical_sigma(16.0, 1e-6)
    assert sigma == pytest.approx(0.3312, abs=1e-4)
    assert GaussianDP(1 / sigma).delta(16.0) == pytest.approx(3.18e-5, rel=2e-3)
    assert GaussianDP(1 / sigma).epsilon(1e-6) == pytest.approx(18.31, abs=0.01)
    sound = claims.calibration_subject(claims.classical_sigma(1.0, 1e-6), epsilon=1.0, delta=1e-6, name="one")
    assert refute([sound]).passed  # the classical formula is right where it is proved

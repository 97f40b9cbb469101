"""The numbers of the soundness notes, sections 0, 1, 10 and 12; sound constants survive."""

from __future__ import annotations

import pytest

from holdfast.audit.refutation.subjects import claims
from holdfast.audit.refutation.suite import refute
from holdfast.privacy import GaussianDP


def test_sound_constants_survive() -> None:
    found = refute(claims.sound_claims())
    assert found.passed, found.summary()
    assert not any(verdict.refuted for verdict in found.verdicts)


def test_certificate() -> None:
    assert claims.sound_offset(0.05) == pytest.approx(2.303, abs=1e-3)
    (printed,) = refute([claims.certificate(0.105, broken="printed")]).verdicts
    assert printed.refuted
    assert printed.outcomes[0].statistic == pytest.approx(
        0.45, abs=0.03
    )  # fails with probability 0.45, not 0.05


def test_ridge() -> None:
    assert claims.ridge_shift() == pytest.approx(2.1237, abs=1e-4)
    assert claims.sound_residual() / 5 == pytest.approx(4.672, abs=1e-3)


def test_noisy_max() -> None:
    assert claims.noisy_max_log_ratio(1.0, 40.0) == pytest.approx(1.951, abs=1e-3)
    assert claims.noisy_max_log_ratio(2.0, 1e9) == pytest.approx(1.0, abs=1e-6)
    assert claims.noisy_max_log_ratio(2.0, 40.0) <= 1.0


def test_averaging_and_short_batches() -> None:
    assert claims.averaged_shift() == pytest.approx(7.4855e-3, rel=1e-4)
    assert claims.averaged_shift() <= claims.sound_averaging()
    assert claims.short_batch_shift(1) == pytest.approx(4.76e-2, abs=1e-4)
    assert claims.short_batch_shift(50) <= 1 / 1001


def test_classical_gaussian() -> None:
    sigma = claims.classical_sigma(16.0, 1e-6)
    assert sigma == pytest.approx(0.3312, abs=1e-4)
    assert GaussianDP(1 / sigma).delta(16.0) == pytest.approx(3.18e-5, rel=2e-3)
    assert GaussianDP(1 / sigma).epsilon(1e-6) == pytest.approx(18.31, abs=0.01)
    sound = claims.calibration(claims.classical_sigma(1.0, 1e-6), epsilon=1.0, delta=1e-6, name="one")
    assert refute([sound]).passed  # the classical formula is right where it is proved

"""Subjects for two constants that were published too small: of averaged iterates and of Gaussian noise.

Each function builds the subject for the constant that is claimed. So the same trials can be seen to let the sound
constant survive and to refute the printed one (soundness notes, sections 0 and 1).
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from holdfast._kernel import SgdOptions, start
from holdfast._kernel.sensitivity import averaging_from, psgd_sensitivity
from holdfast.privacy._calibration import calibrate
from holdfast.privacy._curves.curve import ApproxDP
from holdfast.privacy._curves.gaussian import GaussianDP
from holdfast.privacy._rounding import as_written
from holdfast.refute._subject import NamedSubject, Subject
from holdfast.refute._trial import Analysis, Neighbours

# Permutation SGD on the linear loss -penalty w z, with z in [0, 1] (section 1, Test B).
PENALTY = 0.1


def averaged_shift(records: int = 1000) -> float:
    """Test B: how far the first record moves the uniform average of one pass, in the kernel.

    A row penalty * z in the linear part of the smoothed hinge has this loss's gradient.
    """
    steps = 1.0 / (PENALTY * np.arange(1, records + 1))
    results = []
    for first in (0.0, PENALTY):
        options = SgdOptions(
            dimension=1,
            batch=1,
            loss="huber",
            row_norm=PENALTY,
            penalty=PENALTY,
            steps=np.asarray(steps, dtype=np.float64),
            average_from=1,
        )
        rows = np.zeros((records, 1))
        rows[0] = first
        run = start(options)
        run.feed(rows, np.ones(records))
        results.append(float(run.final()[0]))
    return abs(results[1] - results[0])


def averaging_subject(claimed: float, *, name: str = "averaged_iterates", broken: str = "") -> Subject:
    """The uniform average of one pass, claimed to have this sensitivity."""
    trial = Neighbours(what="the first record changes", shares=lambda _: [averaged_shift() / claimed])
    return Subject(name=name, claim=f"sensitivity {claimed:.4g}", trials=(trial,), broken=broken)


def sound_averaging(records: int = 1000) -> float:
    """The sensitivity of the uniform average by the proved recursion, with slack for rounding."""
    steps = 1.0 / (PENALTY * np.arange(1, records + 1))
    return (1.0 + 1e-9) * psgd_sensitivity(
        steps,
        batch=1,
        passes=1,
        gradient_change=PENALTY,
        smoothness=0.0,
        penalty=PENALTY,
        averaging_weights=averaging_from(1, steps=records),
    )


def calibration_subject(
    sigma: float, *, epsilon: float, delta: float, name: str, broken: str = ""
) -> Subject:
    """Normal noise of this standard deviation on sensitivity 1, claimed (epsilon, delta)."""
    trial = Analysis(
        what=f"exact delta at epsilon {epsilon:g} for sigma {sigma:.4f}",
        value=lambda: GaussianDP(1.0 / as_written(sigma)).delta(epsilon),
        claimed=delta,
    )
    return Subject(name=name, claim=f"({epsilon:g}, {delta:g})-DP", trials=(trial,), broken=broken)


def classical_sigma(epsilon: float, delta: float) -> float:
    """sqrt(2 ln(1.25 / delta)) / epsilon: proved for epsilon <= 1 only."""
    return math.sqrt(2.0 * math.log(1.25 / delta)) / epsilon


def sound_claims() -> Iterable[NamedSubject]:
    """The subjects with their sound constants, which must survive."""
    yield NamedSubject(name="averaged_iterates", make=lambda: averaging_subject(sound_averaging()))
    yield NamedSubject(name="gaussian_calibration", make=_sound_calibration)


def _sound_calibration() -> Subject:
    sigma = float(calibrate(lambda sigma: GaussianDP(1 / as_written(sigma)), ApproxDP(16.0, 1e-6)))
    return calibration_subject(sigma, epsilon=16.0, delta=1e-6, name="gaussian_calibration")


def broken_claims() -> Iterable[NamedSubject]:
    """The same trials with the printed constants, which must be refuted."""
    reason = "the average of iterates with the last iterate's sensitivity (Wu 2016, lemma 3.15)"
    yield NamedSubject(
        name="averaging_without_factor",
        make=lambda: averaging_subject(2.0 / 1000, name="averaging_without_factor", broken=reason),
    )
    yield NamedSubject(name="classical_gaussian_16", make=_printed_calibration)


def _printed_calibration() -> Subject:
    return calibration_subject(
        classical_sigma(16.0, 1e-6),
        epsilon=16.0,
        delta=1e-6,
        name="classical_gaussian_16",
        broken="sqrt(2 ln(1.25/delta))/epsilon beyond epsilon 1, where it is proved up to 1 only",
    )

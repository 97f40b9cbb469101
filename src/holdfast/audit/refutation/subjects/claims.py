"""Claims with a sound and a printed version: the same trials, only the constant differs.

Each function builds the subject for whatever constant is claimed, so that the trials that a sound version
survives are shown to refute the printed one (soundness notes, sections 0, 1, 10 and 12).
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray

from holdfast.audit.refutation.subject import Subject
from holdfast.audit.refutation.trial import Analysis, Coverage, Neighbours
from holdfast.audit.refutation.two_worlds import TwoWorlds
from holdfast.kernel import SgdOptions, start
from holdfast.kernel.sensitivity import averaging_from, psgd_sensitivity
from holdfast.noise.idealised import laplace
from holdfast.noise.source import Source
from holdfast.privacy.calibration import calibrate
from holdfast.privacy.curves.curve import ApproxDP, PureDP
from holdfast.privacy.curves.gaussian import GaussianDP
from holdfast.privacy.rounding import as_written

Floats = NDArray[np.float64]


# An accuracy certificate: maximum error + Laplace noise + an offset (section 10).
def certificate(
    offset: float, *, miss: float = 0.05, name: str = "certificate_offset", broken: str = ""
) -> Subject:
    """The bound holds when noise + offset >= 0; `offset` in units of the noise's scale."""

    def holds(source: Source, size: int) -> Floats:
        return (laplace(source, size=size) + offset >= 0).astype(np.float64)

    trial = Coverage(what="noisy maximum error plus offset", holds=holds, confidence=1.0 - miss)
    return Subject(name=name, claim=f"confidence {1.0 - miss:g}", trials=(trial,), broken=broken)


def sound_offset(miss: float = 0.05) -> float:
    """ln(1 / (2 u)): a Laplace number is below minus this with probability exactly u.

    >>> round(sound_offset(), 3)
    2.303
    """
    return math.log(1.0 / (2.0 * miss))


# Choosing the larger of two scores after Laplace noise (section 0).
def noisy_max(scale: float, *, name: str = "report_noisy_max", broken: str = "") -> Subject:
    """Two candidates with scores of sensitivity 1, claimed epsilon 1, noise of this scale."""

    def second_wins(gap: float, source: Source, size: int) -> Floats:
        noise = scale * laplace(source, size=2 * size)
        return (noise[size:] > gap + noise[:size]).astype(np.float64)

    trials = (
        Analysis(
            what="log ratio of the second candidate's chance, gaps 40 and 38",
            value=lambda: noisy_max_log_ratio(scale, 40.0), claimed=1.0,
        ),
        TwoWorlds(
            what="the second candidate catches up from 4 behind to 2 behind",
            without=partial(second_wins, 4.0), present=partial(second_wins, 2.0), claim=PureDP(1.0), draws=60_000,
        ),
    )  # fmt: skip
    return Subject(name=name, claim="PureDP(epsilon=1)", trials=trials, broken=broken)


def noisy_max_log_ratio(scale: float, gap: float) -> float:
    """The exact log ratio between gap - 2 and gap: P[L2 - L1 > g] = e^(-g/s) (2 + g/s) / 4.

    >>> round(noisy_max_log_ratio(1.0, 40.0), 3)
    1.951
    """
    return 2.0 / scale + math.log((2.0 + (gap - 2.0) / scale) / (2.0 + gap / scale))


# Ridge regression with noise on the result (section 12).
def ridge_shift() -> float:
    """How far one added record moves the solution: n = 10^4 equal records, then one against them.

    >>> round(ridge_shift(), 4)
    2.1237
    """
    n, penalty = 10_000, 5.0
    rows = np.tile([math.sqrt(penalty / n), 0.0], (n, 1))
    added = np.vstack([rows, [1.0, 0.0]])
    first, second = _ridge(rows, np.ones(n), penalty), _ridge(added, np.append(np.ones(n), -1.0), penalty)
    return float(np.linalg.norm(first - second))


def _ridge(rows: Floats, labels: Floats, penalty: float) -> Floats:
    return np.asarray(np.linalg.solve(rows.T @ rows + penalty * np.eye(rows.shape[1]), rows.T @ labels))


def ridge_claim(residual: float, *, name: str = "ridge", broken: str = "") -> Subject:
    """Sensitivity M R / penalty with this bound M on the residual; R = Y = 1, penalty 5, n <= 10^4."""
    trial = Neighbours(what="one record added", shares=lambda _: [ridge_shift() / (residual / 5.0)])
    return Subject(name=name, claim=f"sensitivity {residual / 5.0:.4g}", trials=(trial,), broken=broken)


def sound_residual(n_max: int = 10_000, penalty: float = 5.0) -> float:
    """Y (1 + R sqrt(n_max) / (2 sqrt(penalty))): a bound for every dataset, not for the one observed."""
    return 1.0 + math.sqrt(n_max) / (2.0 * math.sqrt(penalty))


# One record in permutation SGD on the linear loss -penalty w z, z in [0, 1] (section 1, Tests B and C).
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


def averaging(claimed: float, *, name: str = "averaged_iterates", broken: str = "") -> Subject:
    """The uniform average of one pass, with this sensitivity."""
    trial = Neighbours(what="the first record changes", shares=lambda _: [averaged_shift() / claimed])
    return Subject(name=name, claim=f"sensitivity {claimed:.4g}", trials=(trial,), broken=broken)


def sound_averaging(records: int = 1000) -> float:
    """The recursion with the averaging's weights, and slack for rounding."""
    steps = 1.0 / (PENALTY * np.arange(1, records + 1))
    return (1.0 + 1e-9) * psgd_sensitivity(
        steps, batch=1, passes=1, gradient_change=PENALTY, smoothness=0.0, penalty=PENALTY,
        averaging_weights=averaging_from(1, steps=records),
    )  # fmt: skip


def short_batch_shift(last_divisor: int, *, records: int = 1001, batch: int = 50) -> float:
    """Test C: how far the last record, alone in its batch, moves the result for this divisor of that batch.

    >>> round(short_batch_shift(1), 4), short_batch_shift(50) <= 1 / 1001
    (0.0476, True)
    """
    results = []
    for last in (0.0, 1.0):
        z = np.append(np.zeros(records - 1), last)
        weight = 0.0
        for t, begin in enumerate(range(0, records, batch), start=1):
            rows = z[begin : begin + batch]
            eta = 1.0 / (PENALTY * t)
            divisor = batch if rows.size == batch else last_divisor
            weight = (1.0 - eta * PENALTY) * weight + eta * PENALTY * float(rows.sum()) / divisor
        results.append(weight)
    return abs(results[1] - results[0])


def short_batch(last_divisor: int, *, name: str = "short_last_batch", broken: str = "") -> Subject:
    """1001 records in batches of 50; claimed 2 L / (penalty m), as printed, which divisor b does keep."""
    claimed = 2.0 * PENALTY / (PENALTY * 1001)
    trial = Neighbours(
        what="the last record changes", shares=lambda _: [short_batch_shift(last_divisor) / claimed]
    )
    return Subject(name=name, claim=f"sensitivity {claimed:.4g}", trials=(trial,), broken=broken)


# Calibrations of Gaussian noise (section 0).
def calibration(sigma: float, *, epsilon: float, delta: float, name: str, broken: str = "") -> Subject:
    """Normal noise of this standard deviation on sensitivity 1, claimed (epsilon, delta)."""
    trial = Analysis(
        what=f"exact delta at epsilon {epsilon:g} for sigma {sigma:.4f}",
        value=lambda: GaussianDP(1.0 / as_written(sigma)).delta(epsilon), claimed=delta,
    )  # fmt: skip
    return Subject(name=name, claim=f"({epsilon:g}, {delta:g})-DP", trials=(trial,), broken=broken)


def classical_sigma(epsilon: float, delta: float) -> float:
    """sqrt(2 ln(1.25 / delta)) / epsilon: proved for epsilon <= 1 only."""
    return math.sqrt(2.0 * math.log(1.25 / delta)) / epsilon


def sound_claims() -> tuple[Subject, ...]:
    """Every claim above with its sound constant."""
    analytic = float(calibrate(lambda sigma: GaussianDP(1 / as_written(sigma)), ApproxDP(16.0, 1e-6)))
    return (
        certificate(sound_offset()),
        noisy_max(2.0),
        ridge_claim(sound_residual()),
        averaging(sound_averaging()),
        short_batch(50),
        calibration(analytic, epsilon=16.0, delta=1e-6, name="gaussian_calibration"),
    )

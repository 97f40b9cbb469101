"""The covariance against draws: noise and sampling of known size around a known score."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from holdfast._arrays import Floats
from holdfast.errors import FormatError, NoIntervals, ParameterError
from holdfast.learn._inference.coefficients import coefficient_intervals
from holdfast.learn._inference.inversion import ScoreTest
from holdfast.learn._inference.score import NoisyScore
from holdfast.learn._inference.score_strength import (
    DOUBT_DEVIATIONS,
    LEAST_STRENGTH,
    MOST_WIDTH_FACTOR,
    PILOT_DEVIATIONS,
    SECOND_ORDER_FACTOR,
)

TRUTH = np.array([0.8, -0.4, 0.3])
GRAM = np.array([[0.17, 0.03, 0.0], [0.03, 0.2, 0.02], [0.0, 0.02, 0.25]])
DRAWS = 4_000


def symmetric(random: np.random.Generator, s: float, d: int = 3) -> Floats:
    above = np.triu(random.normal(size=(d, d)) * s / math.sqrt(2.0), 1)
    return np.asarray(above + above.T + np.diag(random.normal(size=d) * s))


def squared(n: int, *, s: float, variance: float, omega: float = 1.0, random: Any = None) -> NoisyScore:
    """The joint second moment of n rows, exact or with one draw of sampling and of noise."""
    gram, noise = n * GRAM, np.zeros((4, 4))
    cross = gram @ TRUTH
    residuals = n * variance
    if random is not None:
        noise = symmetric(random, s, 4)
        cross = cross + math.sqrt(variance) * np.linalg.cholesky(gram) @ random.normal(size=3)
        residuals = variance * random.chisquare(n)
    square = float(2 * TRUTH @ cross - TRUTH @ gram @ TRUTH + residuals)
    return NoisyScore(
        loss="squared",
        curvature=gram + noise[:3, :3],
        target=cross + noise[:3, 3] / omega,
        centres=np.zeros((1, 3)),
        weights=np.ones(1),
        gradient_noise=np.array([s / (math.sqrt(2.0) * omega)]),
        curvature_noise=np.array([s]),
        count=n,
        square=square + noise[3, 3] / omega**2,
    )


def logistic(n: int, *, t: float, s: float, random: Any = None) -> NoisyScore:
    """Two steps near the truth, weighted by their cost; quadratic, so that only the weighting is tested."""
    weights, spread = np.array([0.4, 0.6]), np.array([0.2, -0.1])
    centres = TRUTH + spread[:, None]
    gram, drift = n * GRAM, np.zeros(3)
    if random is not None:
        drift = np.linalg.cholesky(gram) @ random.normal(size=3)
    noisy, target, noises = np.zeros((3, 3)), np.zeros(3), np.array([t, t]) / np.sqrt(weights)
    for weight, centre, size in zip(weights, centres, noises, strict=True):
        e = size * random.normal(size=3) if random is not None else np.zeros(3)
        matrix = gram + (symmetric(random, size * s / t) if random is not None else 0.0)
        noisy += weight * matrix
        target += weight * (matrix @ centre - (gram @ (centre - TRUTH) - drift + e))
    return NoisyScore(
        loss="logistic",
        curvature=noisy,
        target=target,
        centres=centres,
        weights=weights,
        gradient_noise=noises,
        curvature_noise=noises * s / t,
        count=n,
        pilot=gram,
    )


CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "squared, sampling": (squared, {"n": 4000, "s": 0.5, "variance": 0.2}),
    "squared, noise": (squared, {"n": 4000, "s": 20.0, "variance": 0.01}),
    "squared, both, other units": (squared, {"n": 4000, "s": 12.0, "variance": 0.1, "omega": 0.7}),
    "logistic, sampling": (logistic, {"n": 4000, "t": 2.0, "s": 0.7}),
    "logistic, noise": (logistic, {"n": 4000, "t": 60.0, "s": 20.0}),
}


@pytest.mark.parametrize("case", CASES)
def test_the_covariance_is_that_of_draws(case: str) -> None:
    make, told = CASES[case]
    random = np.random.default_rng(3)
    draws = [make(**told, random=random).solution for _ in range(DRAWS)]
    declared = np.sqrt(np.diag(make(**told).covariance()))
    ratio = declared / np.std(draws, axis=0)
    # Never too small; too wide by the margins only.
    assert (ratio > 0.97).all(), ratio
    assert (ratio < 1.1).all(), ratio


def stored(score: NoisyScore) -> dict[str, Any]:
    held = {"scales": np.array([2.0, 2.0, 1.0]), "shifts": np.array([0.0, 0.0, 10.0])}
    return held | {"score": score.value(), "row_norm": 1.0, "longest_row": None}


NAMES = ("a", "b", "(intercept)")


def test_intervals_are_in_the_units_of_the_table() -> None:
    score = squared(4000, s=1.0, variance=0.1)
    found = coefficient_intervals(stored(score), names=NAMES, level=0.9)
    error = np.sqrt(np.diag(score.covariance())) * [2.0, 2.0, 1.0]
    assert found.estimate == pytest.approx([1.6, -0.8, 10.3])
    assert found.std_error == pytest.approx(error)
    assert (found.high - found.low) == pytest.approx(2 * 1.6448536 * error)
    assert found["b"] == (found.low[1], found.high[1])
    only = coefficient_intervals(stored(score), names=NAMES, level=0.9, parameters=["(intercept)"])
    assert [*only] == [("(intercept)", found.low[2], found.high[2])]
    frame = found.to_pandas()
    assert frame.loc["a", "low"] == found.low[0]
    assert "sampling and privacy noise" in found.summary()


def test_a_p_value_is_where_the_interval_touches_zero() -> None:
    score = squared(4000, s=40.0, variance=0.9)
    found = coefficient_intervals(stored(score), names=NAMES)
    place = int(np.argmax(found.p_value[:2]))
    level = 1.0 - float(found.p_value[place])
    touched = coefficient_intervals(stored(score), names=NAMES, level=level)
    assert min(abs(touched.low[place]), abs(touched.high[place])) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("make", [squared, logistic])
def test_noise_that_swamps_is_refused(make: Any) -> None:
    least = float(np.linalg.eigvalsh(4000 * GRAM)[0])
    # Without a pilot the noise of the curvature itself is in doubt; the pilot here has none.
    needed = (
        LEAST_STRENGTH if make is squared else math.sqrt(SECOND_ORDER_FACTOR / (MOST_WIDTH_FACTOR**2 - 1.0))
    )
    limit = least / (needed * math.sqrt(3.0) + (DOUBT_DEVIATIONS if make is squared else 0.0))

    def at(deviation: float) -> NoisyScore:
        told = {"s": deviation, "variance": 0.1} if make is squared else {"t": deviation, "s": deviation}
        return make(4000, **told)  # type: ignore[no-any-return]

    near = at(0.99 * limit)
    assert not near.strength.too_low_for_intervals
    coefficient_intervals(stored(near), names=NAMES)
    with pytest.raises(NoIntervals, match=r"swamps the information.*rows would be enough"):
        coefficient_intervals(stored(at(1.01 * limit)), names=NAMES)


def test_the_pilot_decides_and_not_what_was_inverted() -> None:
    fine = logistic(4000, t=5.0, s=5.0)
    assert not fine.strength.too_low_for_intervals
    assert fine.pilot is not None
    assert dataclasses.replace(fine, pilot=0.01 * fine.pilot).strength.too_low_for_intervals
    # A kind draw of the estimate's own noise does not open the door, a very unkind one closes it.
    assert dataclasses.replace(fine, curvature=0.01 * fine.curvature).strength.too_low_for_intervals


def test_noise_makes_a_least_eigenvalue_sure_too_high_once_in_a_hundred() -> None:
    """Whatever the rest of the matrix; where one direction is far below the others it is as often as allowed."""
    random, s = np.random.default_rng(8), 20.0
    for gram in (np.diag([300.0, 3000.0, 3000.0]), np.diag([300.0, 300.0, 300.0])):
        pilots = gram + np.array([symmetric(random, s) for _ in range(6_000)])
        score = logistic(4000, t=5.0, s=5.0)
        many = [dataclasses.replace(score, pilot=one, pilot_noise=s) for one in pilots]
        unit = score.deviation * math.sqrt(3.0)
        too_high = np.mean([one.strength.sure > 300.0 / unit for one in many])
        assert too_high <= 0.01 + 3 * math.sqrt(0.01 / 6_000)
        assert too_high >= 0.005 or gram[1, 1] == 300.0


TILT = np.array([600.0, -200.0, 300.0])


def bent(**told: Any) -> NoisyScore:
    """A logistic score that says how fast its curvature changes."""
    settings: dict[str, Any] = {"bend": 1.0, "tilt": TILT}
    return dataclasses.replace(logistic(4000, t=5.0, s=5.0), **settings | told)


def test_a_bent_curvature_is_less_sure_and_the_line_is_blurred() -> None:
    fine = bent()
    assert fine.pilot is not None
    pilots = fine.pilot * (1.0 + 1e-12 * np.arange(4_000))[:, None, None]
    held = {
        name: np.stack([getattr(fine, name)] * 4_000) for name in ("curvature", "target", "centres", "tilt")
    }
    straight, sure = (bent(pilot=pilots, bend=bend, **held).strength.sure for bend in (0.0, 2.0))
    assert np.ptp(straight) < 1e-6, "least squares know no coin"
    assert (sure <= fine.strength.observed * (1.0 + 1e-8)).all(), "luck of the coin never lowers the line"
    # In the root of the eigenvalue: half of what sampling does, 1.25 times, four and a half times over on average.
    least = float(np.linalg.eigvalsh(fine.pilot)[0])
    rows = math.sqrt(float(TILT @ np.linalg.solve(fine.pilot, TILT)) / least)
    scale = 0.5 * 1.25 * math.hypot(rows, 4.0 / math.sqrt(least))
    taken = math.sqrt(least) - np.sqrt(sure * least / fine.strength.observed)
    assert np.median(taken) == pytest.approx(4.5 * scale, rel=0.05)
    assert np.quantile(taken, 0.75) - np.median(taken) == pytest.approx(math.log(2.0) * scale, rel=0.15)
    assert np.mean(taken < 1e-9 * scale) == pytest.approx(0.5 * math.exp(-4.5), abs=0.004)
    assert bent(pilot=pilots[7], bend=2.0).strength.sure == pytest.approx(sure[7], rel=1e-12), (
        "who holds the release finds the same"
    )
    assert bent(tilt=None).strength.too_low_for_intervals, (
        "who does not say how fast it changes is not believed"
    )


def test_a_place_that_noise_led_astray_is_less_sure() -> None:
    """The same curvature and the same noise in it, but gradients that are three times as noisy before."""
    ones = [
        bent(pilot_noise=10.0, gradient_noise=factor * bent().gradient_noise, tilt=TILT * 1e-3, bend=0.3)
        for factor in (1.0, 3.0)
    ]
    assert ones[0].pilot is not None
    least = float(np.linalg.eigvalsh(ones[0].pilot)[0]) - DOUBT_DEVIATIONS * 10.0
    moved = np.linalg.solve(ones[0].pilot - DOUBT_DEVIATIONS * 10.0 * np.eye(3), TILT * 1e-3)
    off = [by * 10.0 * np.linalg.norm(moved) / least + (0.3 * by * 10.0 / least) ** 2 for by in (1.0, 3.0)]
    found = np.log(ones[0].strength.sure / ones[1].strength.sure)
    assert found == pytest.approx(PILOT_DEVIATIONS * (off[1] - off[0]), rel=0.02)
    straight = [dataclasses.replace(one, bend=0.0).strength.sure for one in ones]
    assert straight[0] == straight[1], "least squares were measured nowhere"


def test_without_noise_rows_are_needed() -> None:
    """At a large epsilon a strength in units of noise says nothing: the curvature must be that of some rows."""
    quiet = bent(tilt=1e-6 * TILT, gradient_noise=np.full(2, 1e-3), curvature_noise=np.full(2, 1e-3))
    assert quiet.pilot is not None
    least = float(np.linalg.eigvalsh(quiet.pilot)[0])
    assert not quiet.strength.too_low_for_intervals
    many = dataclasses.replace(quiet, bend=math.sqrt(least / 3.4))
    assert many.strength.needed == pytest.approx(3.5 / 3.4 * quiet.strength.observed)
    assert many.strength.too_low_for_intervals
    assert bent().strength.needed == LEAST_STRENGTH


def selected(spread: float, *, least: float = 400.0, runs: int = 20_000) -> tuple[NoisyScore, Floats]:
    """Tables whose estimate is off by sampling along the first weight, and whose least eigenvalue moves with it."""
    random, curvature = np.random.default_rng(6), np.diag([least, 900.0, 900.0])
    off = random.normal(size=(runs, 3)) / np.sqrt(np.diag(curvature))
    pilot = np.tile(curvature, (runs, 1, 1))
    pilot[:, 0, 0] *= np.exp(spread * off[:, 0] * math.sqrt(least))
    tilt = pilot[:, 0] * spread * math.sqrt(least)
    plain = np.zeros((runs, 3))
    many = NoisyScore(
        loss="logistic",
        curvature=np.tile(curvature, (runs, 1, 1)),
        target=plain,
        centres=plain[:, None],
        count=4000,
        weights=np.ones(1),
        gradient_noise=np.ones(1),
        curvature_noise=np.array([35.0]),
        pilot=pilot,
        bend=0.1,
        tilt=tilt,
    )
    return many, off


def test_intervals_are_wider_by_what_selection_leaves() -> None:
    """The error that those issued have on average is the slope of their log chance (Stein's identity)."""
    many, off = selected(0.15)
    issued = many.strength.sure >= many.strength.needed
    assert 0.01 < issued.mean() < 0.3
    left, said = off[issued, 0].mean(), many.strength.selection_bias[issued, 0].mean()
    assert left == pytest.approx(said, rel=0.25)
    assert 0.1 / 20.0 < left < 1.15 / 1.25 / 20.0, "to first order at most 1 / 1.25 deviations"
    sharp = off[many.strength.less_doubt > 8.0, 0].mean()
    assert sharp > 1.5 * left, "a sharp line picks those that are off"
    wider = many[issued].covariance() - dataclasses.replace(many[issued], tilt=None).covariance()
    assert wider[:, 0, 0] == pytest.approx(many[issued].strength.selection_bias[:, 0] ** 2)
    sure, _ = selected(0.02, least=3_000.0, runs=100)
    assert np.abs(sure.strength.selection_bias).max() < 1e-3 / math.sqrt(3_000.0), (
        "far from the line nothing is selected"
    )


def test_a_pilot_that_was_led_astray_does_not_narrow_an_interval() -> None:
    fine = logistic(4000, t=20.0, s=20.0)
    assert fine.pilot is not None
    kind = dataclasses.replace(fine, pilot=3.0 * fine.pilot)
    assert kind.strength.observed > 2.9 * fine.strength.observed
    assert kind.covariance() == pytest.approx(fine.covariance(), rel=1e-12)
    # The pilot is kind and the curvature that is inverted is not: the interval knows that it is too wide.
    for factor, refused in ((1.05, False), (0.95, True)):
        known = math.sqrt(SECOND_ORDER_FACTOR / (MOST_WIDTH_FACTOR**2 - 1.0)) * factor
        low = dataclasses.replace(kind, curvature=kind.curvature * known / fine.strength.inverted)
        assert low.strength.inverted == pytest.approx(known)
        assert bool(low.strength.too_low_for_intervals) == refused


def test_many_releases_at_once_say_what_each_says() -> None:
    random = np.random.default_rng(4)
    ones = [logistic(900, t=8.0, s=5.0, random=random) for _ in range(5)]
    names = ("curvature", "target", "centres", "pilot")
    arrays: dict[str, Any] = {name: np.stack([getattr(one, name) for one in ones]) for name in names}
    tilts = TILT * np.arange(1.0, 6.0)[:, None]
    many = dataclasses.replace(ones[0], **arrays, bend=1.0, tilt=tilts)
    for place in range(5):
        one = dataclasses.replace(ones[place], bend=1.0, tilt=tilts[place])
        assert many.strength.sure[place] == pytest.approx(one.strength.sure)
        assert many.covariance()[place] == pytest.approx(one.covariance())
        assert many[place].solution == pytest.approx(one.solution)


def test_a_stored_score_says_how_sure_the_decision_is() -> None:
    """And holds nothing else."""
    whole = stored(logistic(4000, t=1.0, s=1.0))
    coefficient_intervals(whole, names=NAMES)
    for name in whole["score"]:
        lacking = {key: one for key, one in whole["score"].items() if key != name}
        with pytest.raises(FormatError):
            coefficient_intervals(whole | {"score": lacking}, names=NAMES)
    with pytest.raises(FormatError):
        coefficient_intervals(whole | {"score": whole["score"] | {"more": 1.0}}, names=NAMES)


def test_the_gradient_of_the_statistic() -> None:
    test = ScoreTest(squared(500, s=10.0, variance=0.1, omega=0.7, random=np.random.default_rng(0)))
    for at in (TRUTH, np.array([3.0, -2.0, 5.0]), np.zeros(3)):
        value, slope = test.statistic(at)
        for place in range(3):
            step = np.zeros(3)
            step[place] = 1e-5
            numeric = (test.statistic(at + step)[0] - test.statistic(at - step)[0]) / 2e-5
            assert slope[place] == pytest.approx(numeric, rel=1e-4, abs=1e-6), value


def test_inversion_is_wald_where_there_is_little_noise_and_endless_where_there_is_nothing_else() -> None:
    score = squared(4000, s=0.5, variance=0.1)
    wald = coefficient_intervals(stored(score), names=NAMES)
    found = coefficient_intervals(stored(score), names=NAMES, method="test_inversion")
    assert found.low == pytest.approx(wald.low, abs=0.03)
    assert found.high == pytest.approx(wald.high, abs=0.03)
    assert ((found.high - found.low) > 0.97 * (wald.high - wald.low)).all()
    assert found.p_value[0] < 1e-6
    drowned = squared(50, s=200.0, variance=0.1, random=np.random.default_rng(1))
    assert drowned.strength.too_low_for_intervals
    lost = coefficient_intervals(stored(drowned), names=NAMES, method="test_inversion")
    assert np.isinf(lost.low).all()
    assert np.isinf(lost.high).all()
    assert (lost.p_value > 0.05).all()


def test_what_is_not_covered_is_said() -> None:
    with pytest.raises(NoIntervals, match="least squares"):
        coefficient_intervals(stored(logistic(4000, t=5.0, s=5.0)), names=NAMES, method="test_inversion")


@pytest.mark.parametrize(
    ("told", "word"),
    [
        ({"level": 95.0}, "level"),
        ({"level": 0.2}, "level"),
        ({"method": "bayes"}, "method"),
        ({"parameters": ["c"]}, "parameters"),
        ({"parameters": "a"}, "parameters"),
    ],
)
def test_parameters_are_checked(told: dict[str, Any], word: str) -> None:
    with pytest.raises(ParameterError, match=word):
        coefficient_intervals(stored(squared(4000, s=1.0, variance=0.1)), names=NAMES, **told)


def test_a_stored_score_is_read_with_suspicion() -> None:
    value = squared(10, s=1.0, variance=0.1).value()
    assert NoisyScore.of_value(value).solution == pytest.approx(TRUTH)
    for wrong in (
        {"loss": "hinge"},
        {"target": np.zeros(2)},
        {"curvature": np.full((3, 3), np.nan)},
        {"count": 0},
        {"bend": math.nan},
        {"pilot_noise": -1.0},
        {"target": np.zeros((2, 3))},
        {"tilt": np.zeros(2)},
    ):
        with pytest.raises((FormatError, ParameterError)):
            NoisyScore.of_value(value | wrong)
    with pytest.raises(FormatError):
        NoisyScore.of_value({"loss": "squared"})

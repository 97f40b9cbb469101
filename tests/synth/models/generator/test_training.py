"""Thinning makes two independent halves, and stops training before noise is learnt."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from holdfast.errors import ParameterError
from holdfast.noise._source import Source
from holdfast.synth._models.generator.heads import Heads
from holdfast.synth._models.generator.targets import Targets
from holdfast.synth._models.generator.training import (
    LogitMixture,
    early_stopping,
    gaussian_thinning,
    share_of_model,
    train_generator,
    validation_error,
)
from holdfast.synth._models.model import Measurement

WIDTH, ROWS, NOISE = 24, 2000, 60.0
HEADS = Heads.of({f"x{place:02d}": 2 for place in range(WIDTH)})


def two_groups(noise_std: float, seed: int = 0) -> tuple[list[Measurement], list[Measurement]]:
    """Pairs of bits that depend on one hidden bit: exact and noisy."""
    random = np.random.default_rng(seed)
    hidden = random.random((ROWS, 1)) < 0.4
    rows = random.random((ROWS, WIDTH)) < np.where(hidden, 0.8, 0.25)
    cells = np.stack([~rows, rows], axis=2).astype(np.float64)
    exact = [
        Measurement(columns=(a, b), values=cells[:, i].T @ cells[:, j], noise_std=noise_std)
        for i, a in enumerate(HEADS.names)
        for j, b in enumerate(HEADS.names)
        if i < j
    ]
    noisy = [
        Measurement(
            columns=one.columns,
            values=one.values + random.normal(0, noise_std, one.values.shape),
            noise_std=noise_std,
        )
        for one in exact
    ]
    return exact, noisy


def test_the_halves_are_independent_and_as_noisy_as_they_say() -> None:
    exact, noisy = two_groups(NOISE)
    train, judge = gaussian_thinning(noisy, Source(seed=3))
    parts = [
        np.concatenate(
            [((a.values - b.values) / a.noise_std).reshape(-1) for a, b in zip(half, exact, strict=True)]
        )
        for half in (train, judge)
    ]
    size = parts[0].size
    for part in parts:
        assert np.std(part) == pytest.approx(1.0, abs=4 / np.sqrt(2 * size))
    assert abs(np.mean(parts[0] * parts[1])) < 4 / np.sqrt(size)
    assert train[0].noise_std == pytest.approx(NOISE * np.sqrt(1.25))
    assert judge[0].noise_std == pytest.approx(NOISE * np.sqrt(5.0))


def goals(measured: list[Measurement]) -> Targets:
    return Targets(HEADS, measured, np.eye, total=float(ROWS))


def mixture(measured: Sequence[Measurement] = ()) -> LogitMixture:
    return LogitMixture(HEADS, components=60, source=Source(seed=1))


def test_training_stops_before_the_noise_is_learnt() -> None:
    exact, noisy = two_groups(NOISE)
    generator, stopping = train_generator(
        mixture,
        noisy,
        lambda m: goals(list(m)),
        thinned=gaussian_thinning(noisy, Source(seed=2)),
        most_steps=400,
    )
    assert 20 <= stopping.steps < 250
    kept = goals(exact).distance(generator.probabilities())
    # Far closer to the truth than the noisy tables are, whose mean squared distance is 1 a cell.
    assert kept < 0.5 * goals(exact).count
    # The wrong version: values that were trained on say to go on for ever, and the model learns their noise.
    reused = early_stopping(mixture(), goals(noisy), goals(noisy), most_steps=400)
    assert reused.steps > 1.5 * stopping.steps
    overfitted = mixture()
    for _ in range(400):
        overfitted.step(goals(noisy))
    assert goals(exact).distance(overfitted.probabilities()) > 1.2 * kept
    assert goals(noisy).distance(overfitted.probabilities()) < goals(noisy).distance(
        generator.probabilities()
    )


def test_the_better_decoder_gets_the_larger_share() -> None:
    """Shares are found from values held back; a model without any error gets nearly all, a wrong one nearly nothing."""
    exact, noisy = two_groups(NOISE)
    train, judge = gaussian_thinning(noisy, Source(seed=3))
    truth = [one.values for one in exact]
    assert share_of_model(truth, train, judge) > 0.9
    assert share_of_model([one + 500.0 for one in truth], train, judge) < 0.05
    random = np.random.default_rng(5)
    # As far from the truth as the half that trains is, and independent of it: one half each.
    alike = [one + random.normal(0, NOISE * np.sqrt(1.25), one.shape) for one in truth]
    assert share_of_model(alike, train, judge) == pytest.approx(0.5, abs=0.1)
    assert share_of_model([one.values for one in train], train, judge) == 1.0


def test_the_distance_held_back_estimates_the_squared_error() -> None:
    """Of the truth it is about 0, of a model that is off by d in each cell d^2 over the variance that judges."""
    exact, noisy = two_groups(NOISE)
    train, judge = gaussian_thinning(noisy, Source(seed=3))
    truth = [one.values for one in exact]
    care = [1.0 + place for place in range(len(truth))]
    assert validation_error(truth, 1.0, train, judge, care) == pytest.approx(0.0, abs=0.15)
    wrong = [one + 10.0 * NOISE for one in truth]
    assert validation_error(wrong, 1.0, train, judge, care) == pytest.approx(100.0 / 5.0, rel=0.15)
    # The half that trains has a quarter of the variance of the half that judges.
    assert validation_error(wrong, 0.0, train, judge, care) == pytest.approx(0.25, abs=0.15)
    assert validation_error([], 1.0, [], [], []) == 1.0


def test_the_same_coins_make_the_same_generator() -> None:
    _, noisy = two_groups(NOISE)
    halves = gaussian_thinning(noisy, Source(seed=2))
    made = [
        train_generator(mixture, noisy, lambda m: goals(list(m)), thinned=halves, most_steps=20)[
            0
        ].probabilities()
        for _ in range(2)
    ]
    assert np.array_equal(made[0], made[1])


@pytest.mark.parametrize(("name", "given"), [("components", 0), ("rate", 0.0), ("rate", float("inf"))])
def test_bad_parameters_are_refused(name: str, given: float) -> None:
    with pytest.raises(ParameterError, match=name):
        LogitMixture(HEADS, source=Source(seed=1), **{name: given})  # type: ignore[arg-type]

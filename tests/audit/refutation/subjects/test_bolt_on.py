"""Bolt-on SGD: the distances of the anchor table, and the constants that do and do not cover them."""

from __future__ import annotations

import numpy as np
import pytest

from holdfast.audit.refutation.subjects.bolt_on import (
    RUNS,
    BoltOn,
    claim_shares,
    moved,
    of_bolt_on,
    pair_a,
    pair_b,
)
from holdfast.audit.refutation.suite import refute
from holdfast.errors import ParameterError
from holdfast.noise.source import Source


def test_distances_of_the_known_pairs() -> None:
    run = BoltOn()
    assert moved(run, pair_a(1000)) == pytest.approx(0.083, abs=1e-3)
    assert moved(run, pair_b(1000)) == pytest.approx(0.122, abs=1e-3)
    assert moved(run, pair_b(1000)) / run.printed() == pytest.approx(30.5, abs=0.1)
    assert moved(run, pair_b(1000)) / run.printed(lipschitz=2.0) == pytest.approx(15.3, abs=0.1)
    rows, labels = np.ones((1000, 1)), -np.ones(1000)
    flipped = labels.copy()
    flipped[-1] = 1.0
    assert moved(run, (rows, labels, rows, flipped)) == pytest.approx(0.028, abs=1e-3)


@pytest.mark.parametrize(
    ("batch", "distance"), [(1, 0.098), (5, 0.098), (10, 0.097), (50, 0.083), (100, 0.065)]
)
def test_the_distance_does_not_shrink_with_the_batch(batch: int, distance: float) -> None:
    run = BoltOn(batch=batch)
    found = moved(run, pair_a(1000))
    assert found == pytest.approx(distance, abs=1.5e-3)
    assert found <= run.sound()
    assert (found <= run.printed()) is (batch == 1)  # at b = 1 the printed constant is right


def test_neighbours_never_exceed_the_sound_bound_and_come_near() -> None:
    found = list(claim_shares(RUNS, BoltOn.sound, Source(seed=0)))
    assert len(found) == 8 * len(RUNS)
    assert 0.5 < max(found) <= 1.0
    assert BoltOn().sound() <= 0.2  # the closed form 2 / (penalty m)


def test_a_bound_a_quarter_smaller_is_refuted() -> None:
    """The brute force sees factors of 1 / 0.72 and more, not only the batch."""
    subject = of_bolt_on(name="x", claimed=lambda run: 0.7 * run.sound(), broken="too small", draws=400)
    (verdict,) = refute([subject]).verdicts
    assert verdict.refuted_by() == ("neighbours",)


def test_the_noise_is_what_its_law_says() -> None:
    (verdict,) = refute([of_bolt_on(name="x", claimed=BoltOn.sound, draws=2000)]).verdicts
    assert not verdict.refuted, verdict.summary()
    assert {outcome.test for outcome in verdict.outcomes} == {"law", "neighbours", "audit"}


def test_refusals() -> None:
    with pytest.raises(ParameterError, match="smoothness"):
        BoltOn(smoothness=0.1)
    with pytest.raises(ParameterError, match="penalty"):
        BoltOn(penalty=0.0)

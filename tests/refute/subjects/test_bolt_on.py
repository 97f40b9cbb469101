"""Bolt-on SGD: the distances of the anchor table, and the constants that do and do not cover them."""

from __future__ import annotations

import numpy as np
import pytest

from holdfast.errors import ParameterError
from holdfast.refute._subjects.bolt_on import BoltOn, label_change_pair, result_distance, worst_known_pair


def test_distances_of_the_known_pairs() -> None:
    run = BoltOn()
    assert result_distance(run, label_change_pair(1000)) == pytest.approx(0.083, abs=1e-3)
    assert result_distance(run, worst_known_pair(1000)) == pytest.approx(0.122, abs=1e-3)
    assert result_distance(run, worst_known_pair(1000)) / run.printed_sensitivity() == pytest.approx(
        30.5, abs=0.1
    )
    assert result_distance(run, worst_known_pair(1000)) / run.printed_sensitivity(
        lipschitz=2.0
    ) == pytest.approx(15.3, abs=0.1)
    rows, labels = np.ones((1000, 1)), -np.ones(1000)
    flipped = labels.copy()
    flipped[-1] = 1.0
    assert result_distance(run, (rows, labels, rows, flipped)) == pytest.approx(0.028, abs=1e-3)


@pytest.mark.parametrize(
    ("batch", "distance"), [(1, 0.098), (5, 0.098), (10, 0.097), (50, 0.083), (100, 0.065)]
)
def test_the_distance_does_not_shrink_with_the_batch(batch: int, distance: float) -> None:
    run = BoltOn(batch=batch)
    found = result_distance(run, label_change_pair(1000))
    assert found == pytest.approx(distance, abs=1.5e-3)
    assert found <= run.sound_sensitivity()
    assert (found <= run.printed_sensitivity()) is (batch == 1)  # at b = 1 the printed constant is right


def test_refusals() -> None:
    with pytest.raises(ParameterError, match="smoothness"):
        BoltOn(smoothness=0.1)
    with pytest.raises(ParameterError, match="penalty"):
        BoltOn(penalty=0.0)

"""Choices in several groups cost what one does: the changes of all groups together are bounded."""

from __future__ import annotations

import itertools

import numpy as np

from holdfast.noise import Source
from holdfast.privacy import SeveralChoices


def test_losses_of_groups_add_up_to_at_most_epsilon() -> None:
    mechanism = SeveralChoices(epsilon=1.0, sensitivity=2, groups=2)
    first = np.array([1, 0, 2, 0, 0, 1])
    worst = 0.0
    for change in itertools.product((-1, 0, 1), repeat=6):
        second = first + np.array(change)
        distance = mechanism.distance(first, second)
        assert distance <= 1.0
        for output in itertools.product(range(3), repeat=2):
            loss = abs(mechanism.log_ratio(first, second, np.array(output)))
            assert loss <= distance + 1e-12
            worst = max(worst, loss)
    assert worst > 0.5
    assert mechanism.distance(first, first + np.array([2, 0, 0, -2, 0, 0])) == 2.0


def test_each_group_is_drawn_from_its_own_scores() -> None:
    mechanism = SeveralChoices(epsilon=50.0, sensitivity=1, groups=3)
    scores = np.array([[9, 0, 0], [0, 9, 0], [0, 0, 9]])
    assert mechanism.sample(mechanism.check(scores.ravel()), Source(1)).tolist() == [0, 1, 2]

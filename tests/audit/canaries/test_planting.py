from __future__ import annotations

import numpy as np
import pytest

from holdfast.audit._canaries import DiracCanaries, LabelledCanaries
from holdfast.audit._canaries.planting import PlantedRecords, PlantedRows
from holdfast.errors import ParameterError
from holdfast.privacy import Adjacency

COINS = np.array([True, False, True])
CANARIES = DiracCanaries(count=3, dimension=4)
LABELS = np.array([1.0, -1.0, 1.0])


def rows(adjacency: Adjacency) -> np.ndarray:
    planting = PlantedRows(rows=np.ones((2, 4)), canaries=CANARIES, adjacency=adjacency)
    return planting.data(COINS)[2:]


def test_each_adjacency_has_its_own_two_worlds() -> None:
    eye = np.eye(4)[:3]
    assert np.array_equal(rows(Adjacency.add_remove), eye[[0, 2]])
    assert np.array_equal(rows(Adjacency.zero_out), eye * np.array([[1.0], [0.0], [1.0]]))
    assert np.array_equal(rows(Adjacency.replace), eye * np.array([[1.0], [-1.0], [1.0]]))


def records(
    adjacency: Adjacency, null: tuple[list[float], str] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    planting = PlantedRecords(
        features=np.ones((2, 4)),
        labels=np.array(["no", "yes"]),
        adjacency=adjacency,
        null=null,
        classes=["no", "yes"],
        canaries=LabelledCanaries(features=CANARIES, labels=LABELS),
    )
    features, labels = planting.data(COINS)
    return features[2:], labels[2:]


def test_labelled_records_change_their_label_under_replace() -> None:
    features, labels = records(Adjacency.replace)
    assert np.array_equal(features, np.eye(4)[:3])
    assert labels.tolist() == ["yes", "yes", "yes"]  # +1, flipped -1, +1
    features, labels = records(Adjacency.add_remove)
    assert labels.tolist() == ["yes", "yes"]
    assert features.shape == (2, 4)
    features, labels = records(Adjacency.zero_out, ([0.0] * 4, "no"))
    assert labels.tolist() == ["yes", "no", "yes"]
    assert not features[1].any()


def test_a_canary_of_another_width_is_refused() -> None:
    with pytest.raises(ParameterError, match="dimension"):
        PlantedRows(rows=np.ones((2, 5)), canaries=CANARIES, adjacency=Adjacency.replace)

"""The public random projection: it reads no row, keeps lengths, and is a step of a pipeline."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from holdfast.errors import ParameterError
from holdfast.learn import PrivateLogisticRegression, RandomProjection


@parametrize_with_checks([RandomProjection(components=3)])
def test_scikit_learns_own_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def test_the_matrix_depends_on_the_seed_and_the_width_alone() -> None:
    one = RandomProjection(components=4, seed=7).fit(np.zeros((2, 9)))
    other = RandomProjection(components=4, seed=7).fit(np.full((5, 9), 1e6))
    np.testing.assert_array_equal(one.matrix_, other.matrix_)
    assert not np.array_equal(
        RandomProjection(components=4, seed=8).fit(np.zeros((2, 9))).matrix_, one.matrix_
    )


def test_lengths_are_kept_on_average() -> None:
    x = np.random.default_rng(0).normal(size=(300, 200))
    kept = RandomProjection(components=400).fit(x).transform(x)
    assert np.mean(np.sum(kept**2, axis=1) / np.sum(x**2, axis=1)) == pytest.approx(1.0, abs=0.02)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_pipeline_fits_and_predicts() -> None:
    random = np.random.default_rng(1)
    x = random.normal(size=(3_000, 60)) / 8.0
    y = (x @ random.normal(size=60) > 0).astype(int)
    model = make_pipeline(
        RandomProjection(components=40),
        PrivateLogisticRegression(epsilon=8.0, classes=[0, 1], random_state=0),
    )
    model.fit(x, y)
    assert model.score(x, y) > 0.7


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"components": 0}, "components must be"),
        ({"seed": -1}, "seed must be"),
        ({"components": 10**9}, "at most"),
    ],
)
def test_bad_settings(told: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        RandomProjection(**told).fit(np.zeros((1, 5)))

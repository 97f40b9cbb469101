from __future__ import annotations

import numpy as np
import pytest

from holdfast.errors import ParameterError
from holdfast.synth._evaluation.compared_rows import ComparedRows, plain_schema, read_compared
from holdfast.synth._evaluation.prediction import predictions
from holdfast.synth._evaluation.subgroups import subgroups
from tests.synth.evaluation.samples import SCHEMA, people

PLAIN = plain_schema(SCHEMA)


def rows(**changed: object) -> ComparedRows:
    return read_compared(people() | changed, PLAIN, name="rows")


REAL = rows()
SHUFFLED = rows(ill=np.random.default_rng(0).permutation(people()["ill"]))


def test_good_rows_lose_little_and_shuffled_ones_all() -> None:
    good = predictions(REAL, read_compared(people(seed=5), PLAIN, name="rows"), "ill")
    bad = predictions(REAL, SHUFFLED, "ill")
    assert [one.model for one in good.models] == ["logistic regression", "naive Bayes", "boosted trees"]
    for one, other in zip(good.models, bad.models, strict=True):
        assert abs(one.gap.value) < 0.05
        assert one.on_real.value > good.baseline.value + 0.1
        assert other.gap.value == pytest.approx(other.on_real.value - other.on_synthetic.value)
        assert other.gap.value > 0.15
        assert 0 < other.gap.error < 0.05
    assert good.trained == good.tested == 600


def test_a_number_is_predicted_by_regression() -> None:
    good, bad = (predictions(REAL, made, "age") for made in (REAL, SHUFFLED))
    assert good.measure == "R2"
    assert good.baseline.value == pytest.approx(0, abs=0.02)
    ridge, worse = good.models[0], bad.models[0]
    assert ridge.on_real.value > 0.3
    assert worse.on_synthetic.value < 0.1


def test_one_class_is_predicted_as_such() -> None:
    found = predictions(REAL, rows(ill=["yes"] * 1200), "ill")
    share = float(np.mean(found.test_rows.code("ill") == 1))
    assert all(one.on_synthetic.value == pytest.approx(share) for one in found.models)


def test_bad_targets_are_refused() -> None:
    with pytest.raises(ParameterError, match="target must be one of the columns"):
        predictions(REAL, REAL, "height")
    few = read_compared(people(30), PLAIN, name="rows")
    with pytest.raises(ParameterError, match="rows with a value of 'ill' must be"):
        predictions(few, few, "ill")


def test_subgroups_find_what_averages_hide() -> None:
    frame = people()
    there = frame["region"] == "islands"
    frame["sex"] = np.where(there, "F", frame["sex"])
    found = subgroups(
        REAL, read_compared(frame, PLAIN, name="rows"), "region", predictions(REAL, REAL, "ill")
    )
    north, _, islands = found.groups
    assert [one.group for one in found.groups] == ["north", "south", "islands"]
    assert north.total_variation == 0
    assert not north.small
    assert islands.worst == "sex"
    assert islands.worst_variation > 0.3
    assert islands.total_variation == pytest.approx(islands.worst_variation / 3)
    assert islands.small
    assert islands.rows == int(there.sum())
    assert (north.two_way, north.worst_pair_variation < 0) == (0.0, True)
    assert "sex" in islands.worst_pair
    assert islands.two_way > islands.total_variation > islands.two_way / 3
    assert north.on_real == pytest.approx(0.8, abs=0.12)


def test_a_group_that_only_one_side_has() -> None:
    found = subgroups(REAL, rows(region=["north"] * 1200), "region")
    gone = found.groups[-1]
    assert gone.synthetic_share == 0
    assert np.isnan(gone.total_variation)
    with pytest.raises(ParameterError, match="by must be one of"):
        subgroups(REAL, REAL, "height")

from __future__ import annotations

import numpy as np
import pytest

from holdfast.synth._evaluation.compared_rows import plain_schema, read_compared
from holdfast.synth._evaluation.distances import (
    auc_with_error,
    closest,
    closest_records,
    copies,
    train_discriminators,
)
from tests.synth.evaluation.samples import SCHEMA, people

PLAIN = plain_schema(SCHEMA)
REAL, FRESH, OTHER = (read_compared(people(seed=seed), PLAIN, name="rows") for seed in range(3))


def test_distances_are_gowers() -> None:
    one = {"age": [20.0], "sex": ["F"], "region": ["north"], "ill": ["no"]}
    two = {"age": [60.0, 40.0], "sex": ["M", "F"], "region": ["north", "south"], "ill": ["no", "no"]}
    a, b = read_compared(one, PLAIN, name="rows"), read_compared(two, PLAIN, name="rows")
    assert closest(a, b).tolist() == pytest.approx([(0.25 + 1) / 4])
    assert closest(a, a).tolist() == [0]


def test_copied_rows_are_found() -> None:
    copied = closest_records(REAL, REAL, FRESH)
    fair = closest_records(REAL, OTHER, FRESH)
    assert copied.copies == 1.0
    assert copied.median == 0 < copied.fresh_median
    assert copied.nearer_to_members is not None
    assert fair.nearer_to_members is not None
    assert copied.nearer_to_members > 0.95
    assert fair.nearer_error is not None
    assert abs(fair.nearer_to_members - 0.5) < 5 * fair.nearer_error
    assert fair.copies == pytest.approx(fair.fresh_copies, abs=0.1)


def test_without_a_holdout_the_other_half_is_fresh() -> None:
    found = closest_records(REAL, OTHER)
    assert not found.holdout
    assert found.nearer_to_members is None
    assert found.median == pytest.approx(found.fresh_median, rel=0.3)


def test_copies_are_of_whole_rows() -> None:
    changed = people()
    changed["ill"] = np.where(changed["ill"] == "yes", "no", "yes")
    some = read_compared({name: values[:1] for name, values in people().items()}, PLAIN, name="rows")
    flipped = read_compared({name: values[:1] for name, values in changed.items()}, PLAIN, name="rows")
    assert copies(some, some) == 1
    assert copies(flipped, some) == 0


def test_equal_laws_cannot_be_told_apart_and_others_can() -> None:
    same = train_discriminators(REAL, OTHER)
    assert same is not None
    assert abs(same.auc - 0.5) < 5 * same.auc_error
    assert 0.2 < same.pmse_ratio < 3
    shifted = people(seed=3)
    shifted["age"] = shifted["age"] ** 2 / 80
    found = train_discriminators(REAL, read_compared(shifted, PLAIN, name="rows"))
    assert found is not None
    assert found.auc > 0.6
    assert found.pmse_ratio > 5
    few = read_compared(people(10), PLAIN, name="rows")
    assert train_discriminators(few, few) is None


def test_the_area_and_its_error() -> None:
    draw = np.random.default_rng(0)
    found = [auc_with_error(draw.normal(size=50), draw.normal(0.5, 1, 60)) for _ in range(300)]
    values = [value for value, _ in found]
    assert np.mean(values) == pytest.approx(0.638, abs=0.01)
    assert np.mean([error for _, error in found]) == pytest.approx(np.std(values), rel=0.12)

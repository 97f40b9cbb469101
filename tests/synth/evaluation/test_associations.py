from __future__ import annotations

import math

import numpy as np
import pytest

from holdfast.data import Categorical, Numeric, Schema
from holdfast.synth._evaluation.associations import CRAMER, PEARSON, RATIO, association, associations
from holdfast.synth._evaluation.compared_rows import plain_schema, read_compared
from tests.synth.evaluation.samples import SCHEMA, people

DRAW = np.random.default_rng(4)
TABLE = DRAW.integers(1, 30, (4, 5)).astype(float)
X, Y = np.array([0.0, 1.0, 3.0, 4.0]), np.array([2.0, 1.0, 0.0, 5.0, 9.0])


def test_pearson_is_numpys() -> None:
    i, j = np.nonzero(TABLE)
    weights = TABLE[i, j].astype(int)
    wanted = np.corrcoef(np.repeat(X[i], weights), np.repeat(Y[j], weights))[0, 1]
    assert association(TABLE, X, Y) == pytest.approx(wanted)
    assert association(TABLE, X, -Y) == pytest.approx(-wanted)
    assert association(TABLE.T, Y, X) == pytest.approx(wanted)


def test_the_ratio_is_one_where_categories_decide() -> None:
    assert association(np.diag([3.0, 4.0, 5.0]), None, np.array([1.0, 7.0, 2.0])) == pytest.approx(1)
    assert association(np.ones((3, 2)), None, np.array([0.0, 1.0])) == pytest.approx(0)
    assert association(TABLE, None, Y) == pytest.approx(association(TABLE.T, Y, None))


def test_cramer_has_little_bias() -> None:
    draw = np.random.default_rng(0)
    none = [
        association(draw.multinomial(300, np.full(30, 1 / 30)).reshape(5, 6).astype(float), None, None)
        for _ in range(60)
    ]
    assert np.mean(none) < 0.06  # uncorrected it would be 0.13
    assert association(1000 * np.eye(4), None, None) == pytest.approx(1, abs=0.01)


def test_what_does_not_vary_has_no_correlation() -> None:
    assert math.isnan(association(np.array([[5.0, 0.0]]), None, None))
    assert math.isnan(association(np.array([[5.0], [3.0]]), X[:2], np.array([1.0])))
    assert math.isnan(association(np.zeros((2, 2)), None, None))


def test_missing_numbers_are_left_out() -> None:
    with_missing = np.concatenate([TABLE, np.full((1, 5), 100.0)])
    assert association(with_missing, np.append(X, np.nan), Y) == pytest.approx(association(TABLE, X, Y))


def test_differences_have_a_sign_and_an_order() -> None:
    real = read_compared(people(), plain_schema(SCHEMA), name="real")
    broken = people()
    broken["ill"] = np.random.default_rng(0).permutation(broken["ill"])
    other = read_compared(broken, plain_schema(SCHEMA), name="synthetic")
    found = associations(real.pair, other.pair, real.schema, real.names)
    (first, second, ours, theirs), *_ = found.largest(3)
    assert (first, second) == ("age", "ill")
    assert ours > 0.5 > theirs
    assert found.differences[0, 3] == pytest.approx(theirs - ours)
    assert found.differences[0, 3] < 0 < found.average


def test_each_pair_has_its_measure() -> None:
    schema = Schema(
        [Numeric("x", 0, 1), Numeric("y", 0, 1), Categorical("a", ["p", "q"]), Categorical("b", ["p", "q"])]
    )
    found = associations(lambda a, b: None, lambda a, b: None, schema, schema.names)
    assert found.kinds["x", "y"] == PEARSON
    assert found.kinds["x", "a"] == RATIO
    assert found.kinds["a", "b"] == CRAMER
    assert math.isnan(found.average)
    assert found.largest(2) == []

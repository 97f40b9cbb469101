from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast._arrays import Floats
from holdfast._assumption import NUMBER_OF_ROWS, Assumption
from holdfast.errors import ParameterError
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Logistic, Squared
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.learn._rows.moments import Moments, second_moments
from holdfast.learn._rows.summation import summation_error
from holdfast.learn.methods.adassp import METHOD as ADASSP
from holdfast.learn.methods.adassp import StatisticsSensitivity, adaptive_ridge, solve_noisy
from holdfast.privacy import ZCDP, Account, Adjacency, ApproxDP, GaussianDP, PrivacyUnit, PureDP

adassp = ADASSP.fit


def examples_of(
    features: Floats, labels: Floats, adjacency: str = "replace", **changes: Any
) -> ArrayExamples:
    arguments: dict[str, Any] = {"public_count": max(1, features.shape[0])} | changes
    return ArrayExamples(features=features, labels=labels, adjacency=Adjacency(adjacency), **arguments)


def problem_of(**changes: Any) -> Problem:
    arguments: dict[str, Any] = {"loss": Squared(target_bound=1.0), "dimension": 4} | changes
    return Problem(**arguments)


def clipped(features: Floats) -> Floats:
    return np.asarray(features / np.maximum(1.0, np.linalg.norm(features, axis=1, keepdims=True)))


def parts(features: Floats, labels: Floats, statistics: StatisticsSensitivity) -> tuple[Floats, ...]:
    stacked = statistics.stack(
        second_moments(
            examples_of(features, labels), problem_of(dimension=features.shape[1]), target_bound=1.0
        )
    )
    d = features.shape[1]
    return stacked[:1], stacked[1:-d], stacked[-d:]


def test_two_orthogonal_rows_attain_the_sensitivity_under_replace() -> None:
    # Soundness, section 20: x = e1, z = e2.
    one, other = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
    difference = one.T @ one - other.T @ other
    assert np.linalg.norm(difference) == pytest.approx(1.41421, abs=1e-5)
    statistics = StatisticsSensitivity.of(Adjacency.replace, row_norm=1.0, target_bound=1.0)
    assert statistics.gram == pytest.approx(np.linalg.norm(difference), rel=1e-12)
    first, second = parts(one, np.ones(1), statistics), parts(other, np.ones(1), statistics)
    assert np.linalg.norm(first[1] - second[1]) == pytest.approx(1.0)
    # "Sensitivity 1 under replace" is refuted by the same pair.
    wrong = StatisticsSensitivity(least_eigenvalue=1.0, gram=1.0, cross=2.0, together=math.sqrt(3.0))
    assert np.linalg.norm(parts(one, np.ones(1), wrong)[1] - parts(other, np.ones(1), wrong)[1]) > 1.4
    opposite = parts(one, -np.ones(1), statistics)
    assert np.linalg.norm(first[2] - opposite[2]) == pytest.approx(1.0), "2 X Y is attained"
    before = parts(np.array([[1.0]]), np.ones(1), statistics)[0]
    assert before - parts(np.array([[0.0]]), np.ones(1), statistics)[0] == pytest.approx(1.0)


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    n=st.integers(0, 20),
    d=st.integers(1, 5),
    rows=st.integers(1, 3),
    adjacency=st.sampled_from(list(Adjacency)),
)
def test_no_unit_moves_a_statistic_further(
    seed: int, n: int, d: int, rows: int, adjacency: Adjacency
) -> None:
    rng = np.random.default_rng(seed)

    def draw(size: int) -> Floats:
        return clipped(rng.normal(size=(size, d)) * 3)

    common, common_labels = draw(n), rng.uniform(-1, 1, size=n)
    statistics = StatisticsSensitivity.of(adjacency, row_norm=1.0, target_bound=1.0, rows_per_unit=rows)
    first = parts(
        np.vstack([common, draw(rows)]), np.append(common_labels, rng.choice([-1, 1], size=rows)), statistics
    )
    rest = draw(rows) if adjacency is Adjacency.replace else np.zeros((rows, d))
    second = parts(
        np.vstack([common, rest]), np.append(common_labels, rng.choice([-1, 1], size=rows)), statistics
    )
    for a, b in zip(first, second, strict=True):
        assert np.linalg.norm(a - b) <= 1 + 1e-9
    assert np.linalg.norm(np.concatenate(first) - np.concatenate(second)) <= statistics.together * (1 + 1e-9)


def test_the_three_together_attain_their_bound() -> None:
    """Under replace in the limit of many other rows: two rows of product 1/8, one in the empty direction."""
    turn = 0.5 * (math.pi / 2 - math.acos(1 / 8))
    one = np.array([[math.sin(turn), math.cos(turn)]])
    other = one[:, ::-1]
    crowd = np.tile([1.0, 0.0], (100_000, 1))
    for adjacency, (rows, labels) in {
        Adjacency.replace: (other, -np.ones(1)),
        Adjacency.add_remove: (np.zeros((0, 2)), np.ones(0)),
    }.items():
        statistics = StatisticsSensitivity.of(adjacency, row_norm=1.0, target_bound=1.0)
        mine = one if adjacency is Adjacency.replace else np.array([[0.0, 1.0]])
        first = np.concatenate(
            parts(np.vstack([crowd, mine]), np.append(np.zeros(len(crowd)), 1.0), statistics)
        )
        second = np.concatenate(
            parts(np.vstack([crowd, rows]), np.append(np.zeros(len(crowd)), labels), statistics)
        )
        assert np.linalg.norm(first - second) == pytest.approx(statistics.together, rel=1e-4)
    assert StatisticsSensitivity.of(
        Adjacency.replace, row_norm=3.0, target_bound=2.0
    ).together ** 2 == pytest.approx(81 / 32)


def regression(n: int) -> tuple[Floats, Floats, Floats]:
    rng = np.random.default_rng(0)
    features, weights = clipped(rng.normal(size=(n, 4))), np.array([0.5, -0.3, 0.2, 0.0])
    return features, np.clip(features @ weights + 0.05 * rng.normal(size=n), -1, 1), weights


@pytest.mark.parametrize("limit", [GaussianDP(5.0), ZCDP(12.0)])
@pytest.mark.parametrize("adjacency", ["replace", "zero_out", "add_remove"])
def test_learns_and_spends_exactly_its_limit(limit: Any, adjacency: str) -> None:
    features, labels, weights = regression(20_000)
    account = Account(limit, adjacency=adjacency, seed=1)
    fit = adassp(examples_of(features, labels, adjacency), problem_of(), account=account)
    assert np.linalg.norm(fit.weights - weights) < 0.05
    assert fit.parameters["ridge"] == 0.0, "well-conditioned data needs none"
    assert account.spent().within(limit)
    assert account.spent().epsilon(1e-6) == pytest.approx(limit.epsilon(1e-6), rel=1e-6)


def test_adapts_where_the_data_are_nearly_singular() -> None:
    features, labels, _ = regression(2_000)
    features[:, 3] = features[:, 2]
    fit = adassp(
        examples_of(features, labels),
        problem_of(),
        account=Account(ApproxDP(1.0, 1e-6), currency="gdp", seed=1),
    )
    assert fit.parameters["ridge"] > 0
    assert np.linalg.norm(fit.weights) < 2.0


def test_the_noise_has_the_declared_deviations() -> None:
    rows = examples_of(np.zeros((0, 2)), np.zeros(0), public_count=1)
    statistics = StatisticsSensitivity.of(Adjacency.replace, row_norm=1.0, target_bound=1.0)
    mechanisms = []

    class Watched(Account):
        def release(self, mechanism: Any, value: Any, **named: Any) -> Any:
            noisy = super().release(mechanism, value, **named)
            mechanisms.append(noisy)
            return noisy

    for seed in range(400):
        adassp(
            rows, problem_of(dimension=2), account=Watched(GaussianDP(0.5), seed=seed), arithmetic="idealised"
        )
    noise = np.array(mechanisms)
    # Three statistics that move together by 9 / (4 sqrt(2)) of their units, over mu.
    assert np.sqrt(np.mean(noise**2)) == pytest.approx(9 / (4 * math.sqrt(2)) / 0.5, rel=0.05)
    gram = np.array([statistics.unstack(row, 2)[1].gram for row in noise])
    deviation = statistics.together / 0.5 * math.sqrt(2)
    assert np.std(gram[:, 0, 0]) == pytest.approx(deviation, rel=0.12)
    assert np.std(gram[:, 0, 1]) == pytest.approx(deviation / math.sqrt(2), rel=0.12)
    assert np.array_equal(gram[:, 0, 1], gram[:, 1, 0])


def test_a_floor_keeps_a_noisy_matrix_solvable() -> None:
    moments = Moments(gram=np.diag([-5.0, 10.0]), cross=np.array([1.0, 1.0]))
    assert solve_noisy(moments, ridge=np.zeros(2), floor=2.0) == pytest.approx([0.5, 0.1])
    assert adaptive_ridge(1e9, eigenvalue_noise=1.0, gram_noise=1.0, dimension=3) == 0.0
    assert adaptive_ridge(-1e9, eigenvalue_noise=1.0, gram_noise=1.0, dimension=3) == pytest.approx(
        math.sqrt(3 * math.log(360))
    )


def test_the_radius_is_kept() -> None:
    features, labels, _ = regression(500)
    fit = adassp(
        examples_of(features, labels), problem_of(radius=0.1), account=Account(GaussianDP(1.0), seed=0)
    )
    assert np.linalg.norm(fit.weights) <= 0.1 * (1 + 1e-12)


def at_most(rows: int) -> Assumption:
    """What a bound on the number of rows assumes."""
    return Assumption(kind=NUMBER_OF_ROWS, subject=str(rows), text=f"the table has at most {rows} rows")


def test_counts_of_users_are_assumed_and_said() -> None:
    unit = PrivacyUnit("user", max_rows=2)
    rows = examples_of(np.eye(4), np.ones(4), public_count=10, unit=unit)
    fit = adassp(rows, problem_of(), account=Account(GaussianDP(1.0), unit=unit, seed=0), count_bound=15)
    assert [one.text for one in fit.assumptions] == ["the table has at most 15 rows"]
    # Ten users of two rows each: no table that the schema admits has more.
    assert rows.largest_count() == rows.largest_count(40) == (20, ())
    private = dataclasses.replace(rows, adjacency=Adjacency.add_remove)
    assert private.largest_count() == (320, (at_most(320),))
    assert private.largest_count(40) == (40, (at_most(40),))
    sums = Account(GaussianDP(1.0), seed=0)
    single = adassp(examples_of(np.eye(4), np.ones(4), public_count=10), problem_of(), account=sums)
    assert fit.parameters["gram_noise_std"] == pytest.approx(
        2 * single.parameters["gram_noise_std"], rel=1e-6
    )


def test_summation_error_covers_a_sum_in_single_chunks() -> None:
    rng = np.random.default_rng(0)
    values = rng.uniform(0, 1, size=200_000)
    exact = math.fsum(values * values)
    total = 0.0
    for start in range(0, values.size, 1024):
        total += float(values[start : start + 1024] @ values[start : start + 1024])
    assert abs(total - exact) <= summation_error(values.size) * exact


@pytest.mark.parametrize(
    ("changes", "limit", "word"),
    [
        ({}, PureDP(1.0), "delta"),
        ({"loss": Logistic()}, GaussianDP(1.0), "least squares"),
        ({"dimension": 3}, GaussianDP(1.0), "dimension"),
    ],
)
def test_refuses_before_spending(changes: dict[str, Any], limit: Any, word: str) -> None:
    features, labels, _ = regression(50)
    account = Account(limit, seed=0)
    with pytest.raises(ParameterError, match=word):
        adassp(examples_of(features, labels), problem_of(**changes), account=account)
    assert account.journal.spent("") is None

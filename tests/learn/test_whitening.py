"""The private second moment: its sensitivity, its noise, and the whitening that follows."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Logistic
from holdfast.learn._rows.clipped_blocks import ClippedBlocks
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.learn._whitening import (
    Clip,
    DiagonalWhitener,
    MomentReleases,
    Standardisation,
    from_upper_triangle,
    no_whitening,
    packed_moment,
    second_moment,
    second_moment_sensitivity,
    standard_of,
    upper_triangle,
    whitener,
)
from holdfast.privacy._account import Account
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._curves.gaussian import GaussianDP
from holdfast.privacy._mechanisms.gaussian import Gaussian

KINDS = ("full", "diagonal")


def moment(rows: np.ndarray, kind: str, adjacency: Adjacency = Adjacency.zero_out) -> np.ndarray:
    examples = ArrayExamples(
        features=rows, labels=np.ones(len(rows)), adjacency=adjacency, public_count=max(1, len(rows))
    )
    problem = Problem(loss=Logistic(), dimension=rows.shape[1])
    return second_moment(ClippedBlocks(examples, problem), dimension=rows.shape[1], kind=kind)  # type: ignore[arg-type]


def test_the_sensitivities_of_section_20() -> None:
    first, second = np.eye(2)
    moved = np.linalg.norm(np.outer(first, first) - np.outer(second, second))
    assert round(float(moved), 5) == 1.41421
    assert second_moment_sensitivity(Adjacency.replace, row_norm=1.0) >= moved
    assert second_moment_sensitivity(Adjacency.replace, row_norm=1.0) == math.sqrt(2.0)
    assert second_moment_sensitivity(Adjacency.zero_out, row_norm=3.0) == 9.0
    assert second_moment_sensitivity(Adjacency.add_remove, row_norm=1.0, rows_per_unit=4) == 4.0


@pytest.mark.parametrize("adjacency", list(Adjacency))
@pytest.mark.parametrize("kind", KINDS)
def test_neighbours_are_within_the_sensitivity_and_it_is_reached(adjacency: Adjacency, kind: str) -> None:
    generator = np.random.default_rng(1)
    claimed = second_moment_sensitivity(adjacency, row_norm=1.0) * (1 + 1e-8)
    largest = 0.0
    candidates = [*np.eye(4), *-np.eye(4), *generator.normal(size=(6, 4)), 1e6 * np.ones(4), np.zeros(4)]
    others = generator.normal(size=(20, 4))
    for row in candidates:
        for other in candidates if adjacency is Adjacency.replace else [np.zeros(4)]:
            first = moment(np.vstack([others, row]), kind, adjacency)
            second = moment(np.vstack([others, other]), kind, adjacency)
            largest = max(largest, float(np.linalg.norm(first - second)))
    assert claimed / 3 <= largest <= claimed
    assert largest > 0.99 * claimed  # a row along an axis moves both by everything


def test_a_user_of_several_rows_moves_the_sum_by_no_more_than_claimed() -> None:
    generator = np.random.default_rng(2)
    claimed = second_moment_sensitivity(Adjacency.replace, row_norm=1.0, rows_per_unit=3) * (1 + 1e-8)
    worst = [np.tile(np.eye(3)[0], (3, 1)), np.tile(np.eye(3)[1], (3, 1))]
    pairs = [worst] + [[generator.normal(size=(3, 3)) * 5 for _ in range(2)] for _ in range(50)]
    moved = [float(np.linalg.norm(moment(a, "full") - moment(b, "full"))) for a, b in pairs]
    assert max(moved) <= claimed
    assert max(moved) > 0.99 * claimed


def test_packing_keeps_the_frobenius_norm_and_noise_is_isotropic() -> None:
    rows = np.random.default_rng(0).normal(size=(50, 6))
    rows /= 10 * np.linalg.norm(rows, axis=1, keepdims=True)
    packed = moment(rows, "full")
    assert np.isclose(np.linalg.norm(packed), np.linalg.norm(rows.T @ rows))
    account = Account(GaussianDP(1.0), adjacency="zero_out", seed=3)
    zeros = upper_triangle(np.zeros((120, 120)))
    noise = from_upper_triangle(account.release(Gaussian(sigma=2.0, l2_sensitivity=2.0), zeros), 120)
    assert np.array_equal(noise, noise.T)
    above = noise[np.triu_indices(120, k=1)]
    assert abs(float(np.std(above)) - 2.0 / math.sqrt(2.0)) < 0.05
    assert abs(float(np.std(np.diag(noise))) - 2.0) < 0.6


@given(st.integers(1, 8), st.integers(0, 10_000))
def test_whitening_a_known_moment_gives_the_identity(dimension: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    factor = generator.normal(size=(dimension, dimension)) + 2 * np.eye(dimension)
    matrix = factor @ factor.T + 0.1 * np.eye(dimension)
    made = whitener(upper_triangle(matrix), kind="full", dimension=dimension, noise_std=1e-12, ridge=1.0)
    whitened = np.column_stack([made.forward(column) for column in matrix.T])
    turned = np.column_stack([made.forward(column) for column in whitened.T])
    assert np.allclose(turned, np.eye(dimension), atol=1e-5)
    assert abs(made.effective_dimension - dimension) < 1e-3


@pytest.mark.parametrize("kind", KINDS)
def test_norms_maps_and_shrinking_agree_with_the_matrix(kind: str) -> None:
    generator = np.random.default_rng(5)
    released = generator.normal(size=5 if kind == "diagonal" else 15)  # negative eigenvalues too
    made = whitener(released, kind=kind, dimension=5, noise_std=0.1, ridge=0.5)  # type: ignore[arg-type]
    matrix = np.column_stack([made.forward(column) for column in np.eye(5)])
    rows = generator.normal(size=(7, 5))
    vector = rows[0]
    assert np.allclose(made.norms(rows), np.linalg.norm(rows @ matrix.T, axis=1))
    assert np.allclose(made.backward(vector), matrix.T @ vector)
    assert np.allclose(
        made.shrunk(vector, np.full(5, 0.7)), np.linalg.solve(np.eye(5) + 0.7 * matrix @ matrix.T, vector)
    )
    assert np.linalg.norm(matrix, 2) <= made.size * (1 + 1e-9)
    assert np.all(np.isfinite(matrix))
    assert 0 <= made.effective_dimension <= 5


def clipped_moment(rows: np.ndarray, clip: Clip) -> np.ndarray:
    examples = ArrayExamples(
        features=rows, labels=np.ones(len(rows)), adjacency=Adjacency.zero_out, public_count=max(1, len(rows))
    )
    problem = Problem(loss=Logistic(), dimension=rows.shape[1])
    packed = second_moment(ClippedBlocks(examples, problem), dimension=rows.shape[1], kind="full", clip=clip)
    matrix = clip.standard.matrix
    return upper_triangle(matrix @ from_upper_triangle(packed, rows.shape[1]) @ matrix.T)


def test_neighbours_in_new_units_are_within_the_clip() -> None:
    standard = Standardisation(np.array([50.0, 3.0, 2.0]), np.array([0.4, -1.0, 0.0]))
    clip, generator = Clip(standard, 1.7), np.random.default_rng(3)
    others = generator.normal(size=(20, 3)) / 4
    moved = []
    for row in [*np.eye(3), *generator.normal(size=(6, 3))]:
        with_it, without = (clipped_moment(np.vstack([others, r]), clip) for r in (row, np.zeros(3)))
        moved.append(float(np.linalg.norm(with_it - without)))
    assert 0.9 * 1.7**2 < max(moved) <= 1.7**2 * (1 + 1e-8)


def test_the_release_in_new_units_has_the_clips_noise() -> None:
    rows = np.random.default_rng(0).normal(size=(300, 3)) / 9
    problem = Problem(loss=Logistic(), dimension=3)
    examples = ArrayExamples(
        features=rows, labels=np.ones(300), adjacency=Adjacency.replace, public_count=300
    )
    releases = MomentReleases(
        passes=ClippedBlocks(examples, problem),
        problem=problem,
        square=Fraction(4),
        count=300,
        most=300,
        account=Account(GaussianDP(2.0), adjacency="replace", seed=1),
        arithmetic="strict",
        label="moment",
    )
    clip = Clip(Standardisation(np.array([9.0, 9.0, 9.0]), np.zeros(3)), 2.0)
    _, noise = releases.of("full", 0.25, clip)
    assert noise == pytest.approx(math.sqrt(2.0) * 2.0**2 / (2.0 * 0.5) / 300, rel=1e-4)


def test_a_standard_has_mean_zero_and_variance_one() -> None:
    generator = np.random.default_rng(7)
    rows = np.column_stack([generator.normal(0.3, 0.001, 5_000), generator.normal(-0.1, 0.2, 5_000)])
    rows = np.column_stack([rows, np.full(5_000, 0.5)])
    arrow = packed_moment(rows.T @ rows / 5_000, "arrow")
    made = standard_of(arrow, dimension=3, noise_std=1e-12, floor=1.0, centred=True)
    turned = rows @ made.matrix.T
    assert np.allclose(turned.mean(axis=0), [0.0, 0.0, 1.0], atol=1e-6)
    assert np.allclose(turned[:, :2].std(axis=0), 1.0, rtol=1e-2)
    assert np.allclose(made.norms(rows), np.linalg.norm(turned, axis=1))
    assert np.linalg.norm(np.linalg.inv(made.matrix), 2) <= made.inverse_size


def test_no_whitening_is_the_identity() -> None:
    made = no_whitening(3)
    assert isinstance(made, DiagonalWhitener)
    assert np.array_equal(made.forward(np.arange(3.0)), np.arange(3.0))
    assert made.effective_dimension == 3.0


def test_an_empty_table_has_a_zero_moment() -> None:
    assert np.array_equal(moment(np.zeros((0, 3)), "full"), np.zeros(6))
    assert np.array_equal(moment(np.zeros((0, 3)), "diagonal"), np.zeros(3))

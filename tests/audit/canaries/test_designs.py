"""Canaries are public, regenerable, exactly as long as promised, and know nothing of the coins."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.audit._canaries import (
    Canaries,
    DiracCanaries,
    HadamardCanaries,
    LabelledCanaries,
    RademacherCanaries,
    SphereCanaries,
    inclusion_coins,
    mislabelled_classes,
    planted_rows,
    random_labels,
    worst_case_gradient,
)
from holdfast.audit._canaries.design import as_bytes, largest_entry, random_words, stream_key
from holdfast.audit._canaries.orthogonal import walsh_hadamard
from holdfast.errors import ParameterError
from holdfast.noise._source import Source


def _labelled(count: int, dimension: int) -> LabelledCanaries:
    features = RademacherCanaries(count=count, dimension=dimension, seed=2)
    return LabelledCanaries(features=features, labels=random_labels(count, seed=3))


DESIGNS: dict[str, Callable[[int, int], Canaries]] = {
    "rademacher": lambda m, d: RademacherCanaries(count=m, dimension=d, seed=7),
    "single": lambda m, d: RademacherCanaries(count=m, dimension=d, seed=7, precision="single"),
    "sphere": lambda m, d: SphereCanaries(count=m, dimension=d, seed=7),
    "hadamard": lambda m, d: HadamardCanaries(count=m, dimension=d, seed=7),
    "dirac": lambda m, d: DiracCanaries(count=m, dimension=d),
    "labelled": _labelled,
}
design = pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)


@design
@pytest.mark.parametrize(("count", "dimension"), [(1, 1), (5, 7), (65, 130), (70, 2100)])
def test_whatever_the_block_the_rows_are_the_same(
    design: Callable[[int, int], Canaries], count: int, dimension: int
) -> None:
    canaries = design(count, dimension)
    whole = canaries.rows(np.arange(count))
    assert whole.shape == (count, dimension)
    for rows in (1, 3, 64, 1000):
        starts, parts = zip(*canaries.blocks(rows), strict=True)
        assert list(starts) == list(range(0, count, rows))
        assert np.array_equal(np.concatenate(parts), whole)
    backwards = np.arange(count)[::-1]
    assert np.array_equal(design(count, dimension).rows(backwards), whole[::-1])


@design
@pytest.mark.parametrize(("count", "dimension"), [(1, 1), (65, 130), (70, 2100), (129, 4097)])
def test_products_are_those_of_the_matrix(
    design: Callable[[int, int], Canaries], count: int, dimension: int
) -> None:
    canaries, rng = design(count, dimension), np.random.default_rng(1)
    matrix = canaries.rows(np.arange(count))
    single = getattr(canaries, "precision", "double") == "single"
    close = 1e-5 if single else 1e-11
    direction, weights = rng.normal(size=dimension), rng.normal(size=count)
    assert np.allclose(canaries.project(direction), matrix @ direction, rtol=0, atol=close)
    assert np.allclose(canaries.combine(weights), weights @ matrix, rtol=0, atol=close)
    # With coins as weights nothing is lost even in single precision: a sum of signs is a whole number.
    coins = rng.random(count) < 0.5
    assert np.allclose(canaries.combine(coins), matrix[coins].sum(axis=0), rtol=0, atol=1e-11)


@design
def test_no_canary_is_longer_than_promised_and_none_is_noticeably_shorter(
    design: Callable[[int, int], Canaries],
) -> None:
    for row in design(40, 300).rows(np.arange(40)):
        square = sum(Fraction(float(entry)) ** 2 for entry in row)
        assert square <= 1
        assert square > 1 - Fraction(1, 10**10)


@given(st.floats(1e-6, 1e6), st.integers(1, 10**7))
def test_the_largest_entry_is_the_largest(row_norm: float, entries: int) -> None:
    size = largest_entry(row_norm, entries)
    assert Fraction(size) ** 2 * entries <= Fraction(row_norm) ** 2
    assert Fraction(float(np.nextafter(size, np.inf))) ** 2 * entries > Fraction(row_norm) ** 2


@pytest.mark.parametrize("dimension", [1, 2, 6, 64, 100, 257])
def test_hadamard_and_dirac_canaries_are_orthogonal_up_to_the_dimension(dimension: int) -> None:
    for canaries in (
        HadamardCanaries(count=dimension, dimension=dimension, seed=3, row_norm=2.0),
        DiracCanaries(count=dimension, dimension=dimension, row_norm=2.0),
    ):
        matrix = canaries.rows(np.arange(dimension))
        assert np.allclose(matrix @ matrix.T, 4.0 * np.eye(dimension), rtol=0, atol=1e-12)


def test_more_orthogonal_canaries_than_dimensions_are_refused_with_a_way_out() -> None:
    for kind in (HadamardCanaries, DiracCanaries):
        options = {"seed": 1} if kind is HadamardCanaries else {}
        with pytest.raises(ParameterError, match="RademacherCanaries"):
            kind(count=5, dimension=4, **options)


def test_hadamard_flips_are_random_and_seeded() -> None:
    first = HadamardCanaries(count=1, dimension=4096, seed=1).rows([0])[0]
    assert abs(int(np.sum(first > 0)) - 2048) < 5 * 32
    assert not np.array_equal(first, HadamardCanaries(count=1, dimension=4096, seed=2).rows([0])[0])


def test_the_fast_transform_is_the_matrix() -> None:
    identity = np.eye(16)
    for row in identity:
        walsh_hadamard(row)
    assert np.array_equal(identity @ identity, 16 * np.eye(16))
    assert np.array_equal(identity, identity.T)


def test_bits_are_the_reference_stream_and_bytes_are_in_order() -> None:
    # Vigna's splitmix64.c, seed 1234567.
    known = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    assert random_words(1234567, 0, 4).tolist() == known
    assert as_bytes(np.array([0x0102030405060708], np.uint64)).tolist() == [8, 7, 6, 5, 4, 3, 2, 1]


def test_signs_are_balanced_in_rows_columns_and_pairs() -> None:
    canaries = RademacherCanaries(count=400, dimension=900, seed=5)
    signs = np.sign(canaries.rows(np.arange(400)))
    assert np.all(np.abs(signs.sum(axis=1)) < 6 * 30)
    assert np.all(np.abs(signs.sum(axis=0)) < 6 * 20)
    gram = signs @ signs.T - 900 * np.eye(400)
    assert abs(float(np.mean(gram**2)) / 900 - 1) < 0.05
    assert float(np.abs(gram).max()) < 6.5 * 30


def test_purposes_and_seeds_have_streams_of_their_own() -> None:
    keys = {stream_key(seed, purpose) for seed in range(20) for purpose in range(1, 20)}
    assert len(keys) == 20 * 19
    # A mechanism seeded with the canaries' seed must not draw the canaries' bits as its noise.
    canary_words = random_words(stream_key(9, 0x5349474E), 0, 1000)
    assert not np.intersect1d(canary_words, Source(seed=9).words(1000)).size


def test_public_is_enough_to_make_the_same_canaries_again() -> None:
    canaries = RademacherCanaries(count=9, dimension=70, seed=11, row_norm=3.0)
    public = dict(canaries.public)
    assert public.pop("design") == "rademacher"
    again = RademacherCanaries(**public)  # type: ignore[arg-type]
    assert np.array_equal(canaries.rows(np.arange(9)), again.rows(np.arange(9)))


def test_coins_are_fair_and_independent_of_the_canaries() -> None:
    count = 40_000
    coins = inclusion_coins(Source(seed=5), count)
    assert coins.dtype == np.bool_
    assert abs(int(coins.sum()) - count / 2) < 5 * np.sqrt(count) / 2
    neighbours = int(np.sum(coins[1:] == coins[:-1]))
    assert abs(neighbours - count / 2) < 5 * np.sqrt(count) / 2
    # The same seed on both sides: no sign of a canary agrees with its coin more than by chance.
    signs = RademacherCanaries(count=2000, dimension=64, seed=5).rows(np.arange(2000)) > 0
    agreement = (signs == coins[:2000, None]).sum(axis=0)
    assert np.all(np.abs(agreement - 1000) < 5.5 * np.sqrt(500))
    assert not np.array_equal(inclusion_coins(Source(), 256), inclusion_coins(Source(), 256))


def test_planted_rows_are_those_whose_coin_is_true() -> None:
    canaries = SphereCanaries(count=10, dimension=4, seed=1)
    coins = np.array([True, False] * 5)
    rows = np.concatenate(list(planted_rows(canaries, coins, rows=2)))
    assert np.array_equal(rows, canaries.rows(np.flatnonzero(coins)))
    with pytest.raises(ParameterError, match="10 truth values"):
        list(planted_rows(canaries, np.ones(10)))  # numbers are no coins


def test_labelled_canaries_push_towards_label_times_features() -> None:
    canaries = _labelled(30, 50)
    features, labels = canaries.records([4, 8])
    assert np.array_equal(canaries.rows([4, 8]), features * labels[:, None])
    assert set(np.unique(canaries.labels)) == {-1.0, 1.0}
    with pytest.raises(ParameterError, match="labels"):
        LabelledCanaries(features=canaries.features, labels=np.zeros(30))


def test_the_worst_case_gradient_is_the_longest_for_its_direction() -> None:
    rng = np.random.default_rng(2)
    features, reference = SphereCanaries(count=50, dimension=5, seed=4, row_norm=2.0), 3 * rng.normal(size=5)
    canaries = worst_case_gradient(features, reference=reference, seed=1)
    x, y = canaries.records(np.arange(50))

    def length(labels: np.ndarray) -> np.ndarray:
        # The logistic gradient is -y x / (1 + exp(y <w, x>)).
        return np.asarray(np.linalg.norm(x, axis=1) / (1 + np.exp(labels * (x @ reference))))

    assert np.all(length(y) >= length(-y))
    assert np.all(length(y) >= 1.0 - 1e-9)  # half of L = 1 times the norm of 2
    at_rest = worst_case_gradient(features, reference=np.zeros(5), seed=1)
    assert 10 < int(np.sum(at_rest.labels > 0)) < 40


@given(st.integers(2, 6), st.integers(0, 50), st.integers(0, 1000))
def test_a_mislabelled_record_never_keeps_its_label(classes: int, count: int, seed: int) -> None:
    right = [index % classes for index in range(count)]
    wrong = mislabelled_classes(right, classes=range(classes), seed=seed)
    assert all(a != b and b in range(classes) for a, b in zip(right, wrong, strict=True))


def test_wrong_labels_are_uniform_over_the_other_classes() -> None:
    wrong = mislabelled_classes([1] * 9000, classes=[0, 1, 2, 3], seed=1)
    counts = [int(np.sum(wrong == label)) for label in (0, 2, 3)]
    assert all(abs(count - 3000) < 5 * np.sqrt(2000) for count in counts)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"count": 0}, "count"),
        ({"dimension": 0}, "dimension"),
        ({"row_norm": 0.0}, "row_norm"),
        ({"seed": -1}, "seed"),
    ],
)
def test_bad_numbers_are_refused_at_birth(change: dict[str, float], name: str) -> None:
    good = {"count": 3, "dimension": 4, "seed": 1, "row_norm": 1.0}
    for kind in (RademacherCanaries, SphereCanaries, HadamardCanaries):
        with pytest.raises(ParameterError, match=name):
            kind(**(good | change))  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="indices"):
        DiracCanaries(count=2, dimension=2).rows([2])


@pytest.mark.slow
def test_both_passes_over_many_canaries_fit_in_a_few_megabytes() -> None:
    canaries = RademacherCanaries(count=2048, dimension=100_000, seed=1)  # the matrix: 1.6 GB
    coins = inclusion_coins(Source(seed=1), canaries.count)
    tracemalloc.start()
    try:
        scores = canaries.project(canaries.combine(coins))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20e6
    assert float(scores[coins].mean() - scores[~coins].mean()) == pytest.approx(1.0, abs=0.05)

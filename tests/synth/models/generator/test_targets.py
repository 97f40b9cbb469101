"""A mixture's answers are those of its projections, and the derivative by hand is the derivative."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from holdfast.errors import ParameterError
from holdfast.noise._source import Source
from holdfast.synth._models.generator.heads import Heads, Singles
from holdfast.synth._models.generator.mixture import MixtureModel
from holdfast.synth._models.generator.targets import Targets
from holdfast.synth._models.model import Measurement
from holdfast.synth._workload.residual_basis import helmert, residual_table

DOMAIN = {"a": 3, "b": 2, "c": 1, "d": 2, "e": 4}
SETS = [
    ("a",),
    ("d",),
    ("b", "a"),
    ("a", "e"),
    ("c", "b"),
    ("d", "b", "a"),
    ("a", "d", "e"),
    ("e", "a", "b", "d"),
]
TOTAL = 50.0


def random_mixture(components: int = 7, seed: int = 0) -> tuple[Heads, Singles]:
    heads = Heads.of(DOMAIN)
    logits = np.random.default_rng(seed).normal(size=(components, heads.width)).astype(np.float32)
    return heads, heads.softmax(logits)


def model(heads: Heads, probabilities: Singles) -> MixtureModel:
    return MixtureModel.of_heads(DOMAIN, heads, probabilities, total=TOTAL)


def noisy(residuals: bool) -> list[Measurement]:
    heads, other = random_mixture(seed=1)
    random = np.random.default_rng(2)
    made = []
    for place, columns in enumerate(SETS):
        values = model(heads, other).project(columns)
        if residuals and "c" in columns:  # a column of one cell has no residual
            continue
        values = residual_table(values) if residuals else values
        made.append(
            Measurement(
                columns=columns, values=values + random.normal(size=values.shape), noise_std=1.0 + place
            )
        )
    return made


@pytest.mark.parametrize("residuals", [False, True], ids=["tables", "residuals"])
def test_the_distance_is_that_of_the_projections(residuals: bool) -> None:
    heads, now = random_mixture()
    measured = noisy(residuals)
    targets = Targets(heads, measured, helmert if residuals else np.eye, total=TOTAL)
    expected = 0.0
    for one in measured:
        table = model(heads, now).project(one.columns)
        table = residual_table(table) if residuals else table
        expected += float(np.sum((table - one.values) ** 2)) / one.noise_std**2
    assert targets.distance(now) == pytest.approx(expected, rel=1e-4)
    assert targets.gradient(now)[0] == pytest.approx(expected, rel=1e-4)
    assert targets.count == sum(one.values.size for one in measured)


@pytest.mark.parametrize("residuals", [False, True], ids=["tables", "residuals"])
def test_the_slope_is_the_derivative(residuals: bool) -> None:
    heads, _ = random_mixture()
    targets = Targets(heads, noisy(residuals), helmert if residuals else np.eye, total=TOTAL)
    logits = np.random.default_rng(3).normal(size=(7, heads.width)).astype(np.float32)
    now = heads.softmax(logits)
    slope = heads.softmax_slope(now, targets.gradient(now)[1])
    step = 0.02
    for k, cell in [(0, 0), (3, 5), (6, heads.width - 1), (2, 2), (4, 7)]:
        up, down = logits.copy(), logits.copy()
        up[k, cell] += step
        down[k, cell] -= step
        change = targets.distance(heads.softmax(up)) - targets.distance(heads.softmax(down))
        assert slope[k, cell] == pytest.approx(change / (2 * step), rel=0.02, abs=0.02)


def test_all_pairs_are_one_block_and_few_of_many_are_not() -> None:
    heads = Heads.of({f"x{place}": 2 for place in range(12)})

    def table(*columns: str) -> Measurement:
        return Measurement(columns=columns, values=np.ones((2,) * len(columns)), noise_std=1.0)

    every = [table(*pair) for pair in combinations(heads.names, 2)]
    assert len(Targets(heads, every, np.eye, total=4.0).blocks) == 1
    few = [table("x0", "x1"), table("x2", "x3"), table("x4", "x5"), table("x6", "x7")]
    assert len(Targets(heads, few, np.eye, total=4.0).blocks) == 4
    triples = [table(*three) for three in combinations(heads.names, 3)]
    assert len(Targets(heads, triples, np.eye, total=4.0).blocks) == 10


def test_two_measurements_of_one_set_are_one_that_weighs_more() -> None:
    heads, now = random_mixture()
    values = np.array([20.0, 18.0, 12.0])
    twice = [Measurement(columns=("a",), values=values, noise_std=2.0)] * 2
    once = [Measurement(columns=("a",), values=values, noise_std=np.sqrt(2.0))]
    found = [Targets(heads, one, np.eye, total=TOTAL).distance(now) for one in (twice, once)]
    assert found[0] == pytest.approx(found[1], rel=1e-5)


def test_rows_of_a_mixture_have_its_counts() -> None:
    heads, now = random_mixture(components=5)
    mixture = model(heads, now)
    codes = mixture.sample(4000, Source(seed=1))
    assert codes.shape == (4000, len(DOMAIN))
    for place, name in enumerate(DOMAIN):
        counts = np.bincount(codes[:, place], minlength=DOMAIN[name])
        # Up to one record in each of the five components.
        assert np.abs(counts - 80.0 * mixture.project((name,))).max() <= 5.0
    pair = np.zeros((3, 2))
    np.add.at(pair, (codes[:, 0], codes[:, 1]), 1.0)
    assert np.abs(pair / 4000 - mixture.project(("a", "b")) / TOTAL).max() < 0.02
    assert mixture.sample(0, Source(seed=1)).shape == (0, len(DOMAIN))
    assert mixture.sample(3, Source(seed=1)).shape == (3, len(DOMAIN))


def test_rows_of_a_mixture_are_right_on_average() -> None:
    """Fewer rows than components, and shares that are no whole numbers."""
    heads, now = random_mixture(components=5)
    mixture = model(heads, now)
    drawn = [mixture.sample(3, Source(seed=seed))[:, 0] for seed in range(1500)]
    found = np.bincount(np.concatenate(drawn), minlength=3) / 4500
    assert np.abs(found - mixture.project(("a",)) / TOTAL).max() < 0.025


@pytest.mark.parametrize(
    "columns",
    [{}, {"a": np.ones(3)}, {"a": -np.ones((2, 2))}, {"a": np.ones((2, 2)), "b": np.ones((3, 2))}],
    ids=["none", "flat", "negative", "unequal"],
)
def test_what_is_no_mixture_is_refused(columns: dict[str, np.ndarray]) -> None:
    with pytest.raises(ParameterError, match="columns"):
        MixtureModel(columns=columns, total=1.0)

"""Trees grown from noisy residuals: they hold what stands out of the noise, and little else."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from holdfast.synth._models.graphical.growing import GrownTree, _standing_out, grown_trees
from holdfast.synth._models.model import Measurement
from holdfast.synth._workload.residual_basis import residual_table, restored_table

ROWS, NOISE = 20_000, 60.0
Bits = NDArray[np.int64]


def chain(columns: int) -> Bits:
    """Each bit is the one before, but for one in seven."""
    random = np.random.default_rng(1)
    made = random.integers(0, 2, (ROWS, columns))
    for place in range(1, columns):
        made[:, place] = made[:, place - 1] ^ (random.random(ROWS) < 1 / 7)
    return made


def parities(columns: int) -> Bits:
    """The last of three bits is the parity of the others: no pair says anything."""
    made = np.random.default_rng(2).integers(0, 2, (ROWS, columns))
    made[:, 2] = made[:, 0] ^ made[:, 1]
    return made


def grow(bits: Bits, width: int, noise: float = NOISE, most_cells: int = 2**14) -> list[GrownTree]:
    """From noisy residuals of all tables of so many columns."""
    random = np.random.default_rng(3)
    names = [f"b{place:02d}" for place in range(bits.shape[1])]
    domain = dict.fromkeys(names, 2)
    parts = {}
    for size in range(1, width + 1):
        for places in combinations(range(len(names)), size):
            counts, _ = np.histogramdd(bits[:, places], bins=2)
            exact = residual_table(counts)
            parts[tuple(names[place] for place in places)] = exact + random.normal(0, noise, exact.shape)
    measured = [
        Measurement(columns=columns, values=values, noise_std=noise) for columns, values in parts.items()
    ]
    return list(
        grown_trees(
            domain,
            measured,
            lambda columns: _table(parts, columns, noise),
            residual_table,
            total=float(ROWS),
            most_cells=most_cells,
        )
    )


def _table(
    parts: Mapping[tuple[str, ...], NDArray[np.float64]], columns: tuple[str, ...], noise: float
) -> Measurement:
    """The marginal as a sum of its residuals, each spread evenly over the columns that it lacks."""
    made = np.full((2,) * len(columns), ROWS / 2.0 ** len(columns))
    for size in range(1, len(columns) + 1):
        for inner in combinations(columns, size):
            shape = [2 if name in inner else 1 for name in columns]
            made = made + restored_table(parts[inner]).reshape(shape) / 2.0 ** (len(columns) - size)
    return Measurement(columns=columns, values=made, noise_std=noise)


def test_the_first_turn_of_a_chain_is_the_chain() -> None:
    """The tree of Chow and Liu: neighbours, and nothing else."""
    trees = grow(chain(12), 2)
    assert trees[0].held == ()
    assert sorted(trees[1].held) == [(f"b{place:02d}", f"b{place + 1:02d}") for place in range(11)]
    assert len(trees[-1].held) <= 11 + 3  # about one table of pure noise a turn


def test_what_only_a_triple_says_is_held() -> None:
    trees = grow(parities(9), 3)
    assert ("b00", "b01", "b02") in trees[-1].held
    assert len(trees[-1].held) <= 3
    told = trees[-1].model.project(("b00", "b01", "b02"))
    assert told[0, 0, 1] < 0.05 * told[0, 0, 0]


def test_noise_alone_grows_no_tree() -> None:
    random = np.random.default_rng(4)
    trees = grow(random.integers(0, 2, (ROWS, 12)), 2, noise=200.0)
    assert len(trees[-1].held) <= 2


def test_residuals_are_those_of_the_model_and_room_is_kept() -> None:
    trees = grow(chain(8), 2, noise=5.0, most_cells=40)
    assert all(tree.model.tree.cells <= 40 for tree in trees)
    last = trees[-1]
    assert np.allclose(last.residuals[8], residual_table(last.model.project(("b00", "b01"))))


@pytest.mark.parametrize("degrees", [1, 3, 49])
def test_the_largest_of_many_noises_rarely_stands_out(degrees: int) -> None:
    """At most one of 500 on average; the threshold of one candidate would let hundreds pass."""
    drawn = np.random.default_rng(degrees).chisquare(degrees, (40, 500))
    passed = [sum(_standing_out([(gap, degrees)], 500) > 0 for gap in row) for row in drawn.tolist()]
    assert np.mean(passed) <= 1.0
    assert (
        np.mean([sum(_standing_out([(gap, degrees)], 1) > 0 for gap in row) for row in drawn.tolist()]) > 100
    )

"""Permutation SGD of several predictions: the kernel's own numbers for one, and the recursion's bound for more."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from holdfast._kernel import SgdOptions, start
from holdfast.errors import ParameterError
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import HuberHinge, Logistic, OneVsAll, Softmax
from holdfast.learn._risk.stacked_sgd import StackedSgd
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.learn.methods.bolt_on import SgdPlan
from holdfast.noise._source import Source
from holdfast.privacy import Adjacency


def rows(count: int, seed: int = 0, classes: int = 3) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    x = random.normal(size=(count, 4))
    return x / np.linalg.norm(x, axis=1)[:, None], random.integers(classes, size=count).astype(float)


@pytest.mark.parametrize("average", [0, 3])
@pytest.mark.parametrize("radius", [np.inf, 0.3])
def test_one_prediction_is_the_kernels(average: int, radius: float) -> None:
    x, y = rows(23, classes=2)
    x[3] *= 50.0  # clipped
    x[5, 0] = np.nan  # a null record
    problem = Problem(loss=Logistic(), dimension=4, penalty=0.1, radius=radius)
    steps = 1.0 / np.arange(1.0, 11.0)
    told: dict[str, Any] = {"batch": 5, "steps": steps, "penalty": 0.1, "average_from": average}
    kernel = start(SgdOptions(dimension=4, radius=radius, **told))
    ours = StackedSgd(problem, **told)
    for _ in range(2):
        for run in (kernel, ours):
            run.feed(x[:7], y[:7] * 2 - 1)
            run.feed(x[7:], y[7:] * 2 - 1, order=np.arange(16)[::-1])
            run.end_pass()
    np.testing.assert_allclose(ours.final(), kernel.final(), atol=1e-13)
    assert (ours.steps_taken, ours.rejected_rows) == (kernel.steps_taken, 0)
    with pytest.raises(ParameterError, match="10 entries and one more batch"):
        ours.feed(x[:5], np.ones(5))


@pytest.mark.parametrize(
    "loss", [Softmax(classes=3), OneVsAll(classes=3), OneVsAll(classes=3, binary=HuberHinge())]
)
@pytest.mark.parametrize("adjacency", ["replace", "zero_out", "add_remove"])
@pytest.mark.parametrize("penalty", [0.0, 0.2])
def test_neighbours_stay_within_the_recursion(loss: Any, adjacency: str, penalty: float) -> None:
    problem = Problem(loss=loss, dimension=4, penalty=penalty)
    world = Adjacency.of(adjacency)
    run = SgdPlan(
        problem=problem,
        adjacency=world,
        records=17,
        batch=4,
        passes=3,
        schedule="strongly_convex" if penalty else "constant",
    )
    reached = 0.0
    for seed in range(40):
        x, y = rows(17, seed % 7)
        if seed % 2:
            x[:], y[:] = x[0], 0.0  # all alike, against the one that is exchanged
        other, labels = x.copy(), y.copy()
        other[6], labels[6] = (-x[6], (y[6] + 1) % 3) if adjacency == "replace" else (0 * x[6], y[6])
        found = []
        for features, codes in ((x, y), (other, labels)):
            table = ArrayExamples(features=features, labels=codes, adjacency=world, public_count=17)
            found.append(run.train(table, Source(seed)))
        reached = max(reached, float(np.linalg.norm(found[0] - found[1])) / run.l2_sensitivity)
    assert 0.05 < reached <= 1.0
    assert run.train(table, Source(0)).shape == (12,)


def test_noise_counts_every_class() -> None:
    several = SgdPlan(
        problem=Problem(loss=OneVsAll(classes=9), dimension=4, penalty=0.1),
        adjacency=Adjacency.replace,
        records=100,
        batch=10,
        passes=1,
        schedule="strongly_convex",
    )
    one = dataclasses.replace(several, problem=dataclasses.replace(several.problem, loss=Logistic()))
    assert several.l2_sensitivity == pytest.approx(3.0 * one.l2_sensitivity, rel=1e-9)

"""Projected histograms: counts by hand, what a neighbour moves, public columns, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from holdfast.errors import ParameterError
from holdfast.learn import PrivateLinearRegression, PrivateLogisticRegression
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Logistic, Softmax, Squared
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.learn.classics.projected_histogram import METHOD, HistogramCells, score_sensitivity
from holdfast.privacy import Account, ApproxDP, PureDP
from holdfast.privacy._adjacency import Adjacency

LOSSES: tuple[Any, ...] = (Logistic(), Softmax(classes=3), Squared(target_bound=1.0))
NEAR = tuple(Adjacency)
pytestmark = [
    pytest.mark.filterwarnings(f"ignore::holdfast.errors.{name}")
    for name in ("AssumptionWarning", "BudgetWarning", "NotPrivateWarning")
]


def a_table(loss: Any, adjacency: Adjacency, *, seed: int = 0, rows: int = 40) -> ArrayExamples:
    random = np.random.default_rng(seed)
    x = random.normal(size=(rows, 4))
    x /= np.maximum(1.0, np.linalg.norm(x, axis=1))[:, None]
    y = {
        "logistic": np.sign(x[:, 0]),
        "softmax": random.integers(3, size=rows).astype(float),
        "squared": x[:, 1],
    }[loss.name]
    return ArrayExamples(features=x, labels=y, adjacency=adjacency, public_count=rows)


def some_cells(loss: Any) -> HistogramCells:
    return HistogramCells(problem=Problem(loss=loss, dimension=4), bins=3, label_bins=4, reach=0.9)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_every_row_is_in_the_cell_of_its_values(loss: Any) -> None:
    cells, examples = some_cells(loss), a_table(loss, Adjacency.replace)
    found = cells.table(examples, [2, 0])
    assert found.shape == (9, cells.label_cells)
    assert found.sum() == 40
    edges = np.array([-0.3, 0.3])
    by_hand = np.zeros_like(found)
    for row, label in zip(examples.features, examples.labels, strict=True):
        cell = np.searchsorted(edges, row[[2, 0]], side="right")
        if loss.name == "squared":
            place = int(np.searchsorted([-0.5, 0.0, 0.5], label, side="right"))
        else:
            place = int(label) if loss.name == "softmax" else int(label > 0)
        by_hand[3 * cell[0] + cell[1], place] += 1
    np.testing.assert_array_equal(found, by_hand)
    # Every centre lies in its own cell, in the order of the table.
    for place, centre in enumerate(cells.centres(2)):
        at = np.zeros((1, 4))
        at[0, [2, 0]] = centre
        one = ArrayExamples(
            features=np.where(at == 0, 1e-9, at),
            labels=np.ones(1),
            adjacency=Adjacency.replace,
            public_count=1,
        )
        assert np.flatnonzero(cells.table(one, [2, 0]).sum(axis=1)).tolist() == [place]


@pytest.mark.parametrize("near", NEAR, ids=lambda near: near.value)
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_a_neighbour_moves_no_more_than_is_declared(loss: Any, near: Adjacency) -> None:
    cells, examples = some_cells(loss), a_table(loss, near)
    account = Account(PureDP(1.0), adjacency=near)
    declared = score_sensitivity(examples, cells.problem, account, most=40)
    assert declared == pytest.approx(2.0 if near is Adjacency.replace else 1.0, rel=1e-6)
    random = np.random.default_rng(5)
    far, moved = 0.0, 0.0
    for place in range(40):
        x, y = examples.features.copy(), examples.labels.copy()
        keep = np.arange(40) != place if near is Adjacency.add_remove else np.full(40, True)
        turned = random.normal(size=4)
        x[place] = 0.0 if near is Adjacency.zero_out else turned / np.linalg.norm(turned)
        y[place] = 0.0 if near is Adjacency.zero_out else random.choice(examples.labels)
        other = ArrayExamples(features=x[keep], labels=y[keep], adjacency=near, public_count=40)
        counts = [cells.table(each, [1, 3]) for each in (examples, other)]
        far = max(far, float(np.linalg.norm(counts[0] - counts[1])))
        sums = [
            np.linalg.norm(cells.signals(each.labels).T @ each.features, axis=0) for each in (examples, other)
        ]
        moved = max(moved, float(np.abs(sums[0] - sums[1]).max()))
    assert far == pytest.approx(math.sqrt(2.0) if near is Adjacency.replace else 1.0)
    assert 0.2 < moved <= declared


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_it_finds_the_columns_that_matter(delta: float) -> None:
    random = np.random.default_rng(1)
    x = random.normal(size=(20_000, 12)) / 6.0
    y = 2.0 * x[:, 3] - 1.0 * x[:, 8] + 0.05 * random.normal(size=20_000)
    told: Any = {"method": "projected_histogram", "delta": delta, "random_state": 0, "fit_intercept": False}
    model: Any = PrivateLinearRegression(2.0, target_bounds=(-1, 1), options={"columns": 2}, **told).fit(x, y)
    assert set(np.flatnonzero(model.coef_.ravel())) == {3, 8}
    assert model.score(x, y) > 0.85
    assert model.release_.guarantee.curve.epsilon(1e-6) <= 2.0 + 1e-9
    classes: Any = PrivateLogisticRegression(2.0, classes=[0, 1], options={"places": (3, 8)}, **told)
    assert classes.fit(x, (y > 0).astype(int)).score(x, (y > 0).astype(int)) > 0.9
    assert classes.release_.provenance.parameters["columns"] == [3, 8]


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"places": (0, 0)}, "places must be different columns from 0 to 3"),
        ({"places": (4,)}, "places must be different columns from 0 to 3"),
        ({"columns": 4, "bins": 40}, "few enough for at most 1048576 cells"),
        ({"bins": 1}, "bins must be >= 2"),
        ({"share": 1.0}, "share must be in"),
        ({"reach": 0.0}, "reach must be > 0"),
    ],
)
def test_what_is_refused_costs_nothing(options: dict[str, Any], match: str) -> None:
    account = Account(ApproxDP(1.0, 1e-6), adjacency="replace", currency="zcdp")
    before = account.remaining()
    with pytest.raises(ParameterError, match=match):
        METHOD.fit(
            a_table(Logistic(), Adjacency.replace),
            Problem(loss=Logistic(), dimension=4),
            account=account,
            **options,
        )
    assert account.remaining() == before

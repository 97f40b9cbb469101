"""Finding L7: what a fit costs grows smoothly with the number of weights, counted in work and not in seconds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import HuberHinge, Logistic, Softmax
from holdfast.learn._risk import minimise as module
from holdfast.learn._risk.curvature import Dense, Dual, Products
from holdfast.learn._risk.multiclass_risk import MulticlassRisk
from holdfast.learn._risk.risk import PenalisedRisk, Risk
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.learn.methods.objective import METHOD as OBJECTIVE
from holdfast.learn.methods.output import METHOD as OUTPUT
from holdfast.learn.methods.softmax import METHOD as SOFTMAX
from holdfast.privacy import Account, Adjacency, ApproxDP, PureDP


def some(
    rows: int, columns: int, *, classes: int = 2, correlated: float = 0.0, seed: int = 0
) -> ArrayExamples:
    """Rows of norm 1, in all directions alike or most of them near one."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(rows, columns)) + correlated * random.normal(size=columns)
    x /= np.linalg.norm(x, axis=1)[:, None]
    scores = x @ random.normal(size=columns)
    labels = (
        np.where(scores > 0, 1.0, -1.0) if classes == 2 else np.digitize(scores, [-0.5, 0.5]).astype(float)
    )
    return ArrayExamples(features=x, labels=labels, adjacency=Adjacency.replace, public_count=rows)


@settings(max_examples=40, deadline=None)
@given(
    rows=st.integers(1, 40),
    columns=st.integers(1, 40),
    shift=st.floats(0.01, 10.0),
    seed=st.integers(0, 1000),
)
def test_all_three_ways_solve_the_same_system(rows: int, columns: int, shift: float, seed: int) -> None:
    random = np.random.default_rng(seed)
    factor, vector = random.normal(size=(rows, columns)), random.normal(size=columns)
    matrix = factor.T @ factor + shift * np.eye(columns)
    expected = np.linalg.solve(matrix, vector)
    size = float(np.linalg.norm(expected))
    assert np.linalg.norm(Dense(matrix=matrix).solve(vector) - expected) <= 1e-9 * size
    # Single precision, and three digits: a step of Newton's needs no more.
    dual = Dual(factor.astype(np.float32), shift).solve(vector)
    assert np.linalg.norm(matrix @ dual - vector) <= 1e-2 * np.linalg.norm(vector)
    products = Products(multiply=lambda v: matrix @ v).solve(vector)
    assert np.linalg.norm(matrix @ products - vector) <= 1.01e-3 * np.linalg.norm(vector)


@pytest.mark.parametrize("shape", [(60, 20), (20, 60)])
@pytest.mark.parametrize("several", [False, True])
def test_products_are_those_of_the_matrix(shape: tuple[int, int], several: bool) -> None:
    rows, columns = shape
    loss: Any = Softmax(classes=3) if several else Logistic()
    risk: Any = (
        MulticlassRisk(
            examples=some(rows, columns, classes=3),
            problem=Problem(loss=loss, dimension=columns),
            loss=loss,
            penalty=0.3,
            divisor=7.0,
        )
        if several
        else Risk(
            examples=some(rows, columns),
            problem=Problem(loss=loss, dimension=columns),
            penalty=0.3,
            divisor=7.0,
        )
    )
    random = np.random.default_rng(1)
    w, along = random.normal(size=risk.weights), random.normal(size=risk.weights)
    expected = risk.hessian(w) @ along
    assert np.linalg.norm(risk._curvature_times(w, along) + 0.3 * along - expected) <= 1e-5 * np.linalg.norm(
        expected
    )
    solved = risk.curvature(w, shift=0.5).solve(along)
    left = risk.hessian(w) @ solved + 0.5 * solved - along
    assert np.linalg.norm(left) <= 1e-4 * np.linalg.norm(along)


def work(monkeypatch: pytest.MonkeyPatch, fit: Any) -> float:
    """Gradients and products with a vector, those in long doubles as ten; the number of matrices is bounded here."""
    done = {"gradient": 0.0, "matrix": 0.0, "precise": 0.0}
    for kind in (Risk, MulticlassRisk):
        gradient, curvature, turned = kind.gradient, kind.curvature, kind._curvature_times

        def counted(self: Any, w: Any, *, precise: bool = False, _real: Any = gradient) -> Any:
            done["precise" if precise else "gradient"] += 1.0
            return _real(self, w, precise=precise)

        def built(self: Any, *given: Any, _real: Any = curvature, **told: Any) -> Any:
            done["matrix"] += 1.0 if self.dense else 0.0
            return _real(self, *given, **told)

        def multiplied(self: Any, *given: Any, _real: Any = turned) -> Any:
            done["gradient"] += 1.0
            return _real(self, *given)

        monkeypatch.setattr(kind, "gradient", counted)
        monkeypatch.setattr(kind, "curvature", built)
        monkeypatch.setattr(kind, "_curvature_times", multiplied)

    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError("the slow fallback was needed")

    monkeypatch.setattr(module, "gradient_descent", never)
    fit()
    monkeypatch.undo()
    assert done["matrix"] <= 16  # of which the hinge, whose second derivatives jump, needs most
    return done["gradient"] + 10.0 * done["precise"]


SHAPES = ((300, 100), (300, 299), (300, 301), (300, 700), (150, 1_400), (150, 1_700), (150, 2_500))
"""Rows and columns: few columns, as many as rows, more; and on both sides of where the solver once changed."""


@pytest.mark.parametrize("correlated", [0.0, 3.0])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(
    ("method", "loss", "pure"),
    [
        (OBJECTIVE, Logistic(), False),
        (OBJECTIVE, Logistic(), True),
        (OUTPUT, Logistic(), False),
        (OUTPUT, HuberHinge(), False),
        (SOFTMAX, Softmax(classes=3), True),
    ],
    ids=["objective", "objective-pure", "output", "output-huber", "softmax-pure"],
)
def test_no_number_of_columns_needs_much_more_work(
    monkeypatch: pytest.MonkeyPatch,
    method: Any,
    loss: Any,
    pure: bool,
    shape: tuple[int, int],
    correlated: float,
) -> None:
    rows, columns = shape
    examples = some(rows, columns, classes=3 if isinstance(loss, Softmax) else 2, correlated=correlated)
    problem = Problem(loss=loss, dimension=columns, penalty=0.01)
    limit = PureDP(4.0) if pure else ApproxDP(4.0, 1e-6)
    account = Account(limit, currency="pure" if pure else method.currency, seed=1)
    done = work(monkeypatch, lambda: method.fit(examples, problem, account=account))
    assert done <= 250, f"{done:g} gradients"


def test_both_sides_of_a_threshold_find_the_same_minimum(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dense, dual and by products alone: one minimiser, each certified."""
    risk = Risk(
        examples=some(80, 120), problem=Problem(loss=Logistic(), dimension=120), penalty=0.05, divisor=80.0
    )
    found = [module.minimise_certified(risk, tolerance=1e-9)]
    monkeypatch.setattr(Risk, "dense", property(lambda self: False))
    found.append(module.minimise_certified(risk, tolerance=1e-9))
    monkeypatch.undo()
    monkeypatch.setattr(Risk, "rows", 200)
    found.append(module.minimise_certified(risk, tolerance=1e-9))
    assert isinstance(risk, PenalisedRisk)
    for other in found[1:]:
        assert np.linalg.norm(other - found[0]) <= 2e-9 / 0.05


def test_steps_end_where_only_the_doubt_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tolerance below what plain arithmetic can show: no more matrices are made for it."""
    risk = Risk(examples=some(60, 90), problem=Problem(loss=Logistic(), dimension=90), penalty=0.05)
    made, real = [], Risk.curvature

    def counted(self: Risk, *given: Any, **told: Any) -> Any:
        made.append(1)
        return real(self, *given, **told)

    monkeypatch.setattr(Risk, "curvature", counted)
    doubt = risk.gradient(np.ones(90))[1]
    module.newton(risk, np.zeros(90), tolerance=doubt)
    assert len(made) <= 4

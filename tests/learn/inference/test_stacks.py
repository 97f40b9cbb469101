"""The benchmark's releases of stacks of tables are those of the shipped code, draw by draw."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from studies.benchmarks.interval_runs import DESIGNS, NORM, Cell, logistic_runs, population, squared_runs

from holdfast._arrays import Floats
from holdfast.errors import NoIntervals
from holdfast.learn._inference.coefficients import coefficient_intervals
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Logistic, Squared
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.learn._whitening import upper_triangle
from holdfast.learn.methods import newton, ssp
from holdfast.learn.methods.newton import JointScore, newton_steps, score_of
from holdfast.privacy import Account, Adjacency, ApproxDP, GaussianDP

LINEAR = Cell(design="linear, clipped", adjacency="replace", rows=1_000, epsilon=0.5)
LOGISTIC = Cell(design="logistic", adjacency="zero_out", rows=500, epsilon=4.0)


@pytest.mark.parametrize("cell", [LINEAR, LOGISTIC], ids=lambda cell: cell.key)
def test_estimates_errors_and_refusals(cell: Cell) -> None:
    draw: Any = squared_runs if cell is LINEAR else logistic_runs
    stack = draw(cell, 40, np.random.default_rng(1))
    estimate, issued = stack.solution, ~stack.strength.too_low_for_intervals
    error = np.sqrt(np.diagonal(stack.covariance(), axis1=1, axis2=2))
    assert 0 < issued.sum() < 40, "both kinds"
    for run in range(40):
        ones = np.ones(3)
        stored = {"score": stack[run].value(), "scales": ones, "shifts": 0 * ones}
        stored |= {"row_norm": 1.0, "longest_row": None}
        if not issued[run]:
            with pytest.raises(NoIntervals):
                coefficient_intervals(stored, names=("a", "b", "c"))
            continue
        found = coefficient_intervals(stored, names=("a", "b", "c"))
        assert found.estimate == pytest.approx(estimate[run], rel=1e-9)
        assert found.std_error == pytest.approx(error[run], rel=1e-9)


def test_newton_steps() -> None:
    log: list[Any] = []
    stack = logistic_runs(LOGISTIC, 3, np.random.default_rng(2), log)
    joint = JointScore.of(Adjacency.zero_out, row_norm=NORM)
    problem = Problem(loss=Logistic(), dimension=3, row_norm=NORM)
    for run in range(3):
        todo = iter(log)

        def released(
            theta: Floats, share: Fraction, along: Floats | None, run: int = run, todo: Any = todo
        ) -> tuple[Floats, float]:
            at, gradient, curvature, tilt = (part[run] for part in next(todo))
            assert theta == pytest.approx(at, rel=1e-9)
            assert (along is None) == (tilt.size == 0)
            sigma = joint.l2_sensitivity / (LOGISTIC.mu * float(share) ** 0.5)
            parts = [gradient, joint.lift * upper_triangle(curvature), joint.tilt_lift * tilt]
            return np.concatenate(parts), sigma

        steps = newton_steps(released, problem, joint=joint, penalties=np.zeros(problem.dimension))[0]
        shipped = score_of(steps, LOGISTIC.rows, bend=NORM)
        for name, value in stack[run].value().items():
            if isinstance(value, np.ndarray | float):
                assert getattr(shipped, name) == pytest.approx(value, rel=1e-9), name


@pytest.mark.parametrize("cell", [LINEAR, LOGISTIC], ids=lambda cell: cell.key)
def test_the_noise_is_the_shipped_one(cell: Cell) -> None:
    """And without any, a table of every kind of row gives the population's coefficients."""
    rows, targets = DESIGNS[cell.design].support
    method = ssp.METHOD if cell is LINEAR else newton.METHOD
    loss: Any = Squared(target_bound=1.0) if cell is LINEAR else Logistic()
    if cell is LOGISTIC:  # classes in proportion to their chances
        times = np.column_stack([targets, 1 - targets]) * 4_000
        rows = np.repeat(np.repeat(rows, 2, axis=0), times.ravel().round().astype(int), axis=0)
        targets = np.repeat(np.tile([1.0, -1.0], len(times)), times.ravel().round().astype(int))
    data = ArrayExamples(
        features=rows, labels=targets, adjacency=Adjacency(cell.adjacency), public_count=cell.rows
    )
    problem = Problem(loss=loss, dimension=3, row_norm=NORM)
    draw: Any = squared_runs if cell is LINEAR else logistic_runs
    stack = draw(cell, 1, np.random.default_rng(0))
    limit = ApproxDP(cell.epsilon, cell.rows**-1.5)
    account = Account(limit, adjacency=cell.adjacency, currency="gdp", seed=0)
    score = method.fit(data, problem, account=account).score
    assert score is not None
    for name in ("gradient_noise", "curvature_noise", "weights", "pilot_noise", "bend"):
        assert getattr(score, name) == pytest.approx(getattr(stack, name), rel=1e-6)
    quiet = Account(GaussianDP(1e5), adjacency=cell.adjacency, seed=0)
    weights = method.fit(data, problem, account=quiet, arithmetic="idealised").weights
    assert weights == pytest.approx(population(cell.design).truth, abs=2e-3)

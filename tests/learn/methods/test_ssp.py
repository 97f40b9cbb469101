from __future__ import annotations

import math

import numpy as np
import pytest

from holdfast._arrays import Floats
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Squared
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.learn._whitening import second_moment_sensitivity
from holdfast.learn.methods.ssp import METHOD, PILOT_SHARE, joint_moment
from holdfast.privacy import Account, Adjacency, GaussianDP, PrivacyUnit

PROBLEM = Problem(loss=Squared(target_bound=2.0), dimension=2)


def examples_of(
    rows: Floats, labels: Floats, adjacency: str = "zero_out", unit: PrivacyUnit | None = None
) -> ArrayExamples:
    return ArrayExamples(
        features=rows,
        labels=labels,
        adjacency=Adjacency(adjacency),
        public_count=max(1, len(rows)),
        unit=unit or PrivacyUnit(),
    )


def joint(rows: list[list[float]], labels: list[float]) -> Floats:
    """Targets of 2 count as rows of norm 1."""
    return joint_moment(examples_of(np.array(rows), np.array(labels)), PROBLEM, bound=2.0, omega=0.5)


def test_rows_and_targets_move_the_moment_together() -> None:
    assert np.linalg.norm(joint([[1.0, 0.0]], [2.0])) == pytest.approx(2.0)
    apart = joint([[1.0, 0.0]], [2.0]) - joint([[0.0, 1.0]], [0.0])
    assert np.linalg.norm(apart) <= second_moment_sensitivity(Adjacency.replace, row_norm=math.sqrt(2.0))
    # Orthogonal in rows and targets together, both at their bounds: attained.
    one, other = joint([[1.0, 0.0]], [2.0]), joint([[-1.0, 0.0]], [2.0])
    assert np.linalg.norm(one - other) == pytest.approx(math.sqrt(2.0) * 2.0)


@pytest.mark.parametrize(
    ("adjacency", "factor"), [("zero_out", 1.0), ("add_remove", 1.0), ("replace", math.sqrt(2.0))]
)
def test_the_noise_is_what_the_sensitivity_asks(adjacency: str, factor: float) -> None:
    fits = [
        METHOD.fit(
            examples_of(np.zeros((0, 2)), np.zeros(0), adjacency),
            PROBLEM,
            account=Account(GaussianDP(0.5), adjacency=adjacency, seed=seed),
            arithmetic="idealised",
            count_bound=10,
        )
        for seed in range(150)
    ]
    scores = [fit.score for fit in fits if fit.score is not None]
    s = 2.0 * factor / (0.5 * math.sqrt(1 - PILOT_SHARE))
    alone = factor / (0.5 * math.sqrt(PILOT_SHARE))
    assert scores[0].curvature_noise == pytest.approx([s], rel=1e-6)
    assert scores[0].gradient_noise == pytest.approx([s / (math.sqrt(2.0) * 0.5)], rel=1e-6)
    assert np.std([one.curvature[0, 0] for one in scores]) == pytest.approx(s, rel=0.15)
    assert np.std([one.curvature[0, 1] for one in scores]) == pytest.approx(s / math.sqrt(2.0), rel=0.15)
    assert np.std([one.target for one in scores]) == pytest.approx(scores[0].gradient_noise[0], rel=0.15)
    pilots = [one.pilot[0, 0] for one in scores if one.pilot is not None]
    assert np.std(pilots) == pytest.approx(alone, rel=0.15)
    assert abs(np.corrcoef(pilots, [one.curvature[0, 0] for one in scores])[0, 1]) < 0.3, "another draw"
    assert np.std([float(one.square or 0.0) for one in scores]) == pytest.approx(s / 0.25, rel=0.15)


def test_users_count_all_their_rows() -> None:
    unit = PrivacyUnit("user", max_rows=3)
    rows = np.tile(np.eye(2), (30, 1))
    told = [
        METHOD.fit(
            examples_of(rows, np.ones(60), unit=one),
            PROBLEM,
            account=Account(GaussianDP(1.0), adjacency="zero_out", unit=one, seed=0),
        ).parameters["moment_noise_std"]
        for one in (PrivacyUnit(), unit)
    ]
    assert told[1] == pytest.approx(3 * told[0], rel=1e-6)


def test_plenty_of_rows_give_the_coefficients() -> None:
    random = np.random.default_rng(0)
    rows = random.uniform(-0.7, 0.7, size=(50_000, 2))
    fit = METHOD.fit(
        examples_of(rows, rows @ [1.0, -0.5]),
        PROBLEM,
        account=Account(GaussianDP(1.0), adjacency="zero_out", seed=0),
    )
    assert fit.weights == pytest.approx([1.0, -0.5], abs=0.01)
    assert fit.score is not None
    assert fit.weights == pytest.approx(fit.score.solution), "the intervals are around what is released"


def test_targets_are_clipped_before_they_are_summed() -> None:
    assert joint([[1.0, 0.0]], [50.0]) == pytest.approx(joint([[1.0, 0.0]], [2.0]))

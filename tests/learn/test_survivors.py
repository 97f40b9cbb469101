"""Laws that drawn faults asked for: each lived until its law was written (docs/mutation.md)."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from holdfast.data import Categorical, Numeric, Schema, open_table
from holdfast.errors import BudgetWarning
from holdfast.learn import PrivateAdditiveRegressor, PrivateScaler
from holdfast.learn._additive.cell_rows import CellRows, batches_of_matrix
from holdfast.learn._additive.cells import cells_of_columns
from holdfast.learn._additive.prepare import additive_arrays
from holdfast.learn._estimators import estimator_of
from holdfast.learn._estimators.exact import _hinge
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import (
    Hinge,
    HuberRegression,
    Logistic,
    OneVsAll,
    Softmax,
    Squared,
)
from holdfast.learn._problem.problem import NumberLabels
from holdfast.learn._risk.ball import BallRisk
from holdfast.learn._risk.descent import ClippedGradients
from holdfast.learn._risk.multiclass_risk import MulticlassRisk
from holdfast.learn._risk.risk import Risk
from holdfast.learn._risk.stacked_sgd import StackedSgd
from holdfast.learn._rows.clipped_blocks import ClippedBlocks
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.learn._rows.private_file import PrivateFile
from holdfast.learn._rows.summation import BLOCK, UNIT_ROUNDOFF
from holdfast.learn._sampling.rounds import SamplingPlan
from holdfast.learn._whitening import no_whitening, second_moment_sensitivity
from holdfast.learn.classics.bst14 import METHOD as BST14
from holdfast.learn.classics.dp_sgd import DpSgdOptions, Sgd
from holdfast.learn.classics.projected_histogram import METHOD as HISTOGRAM
from holdfast.learn.methods.bolt_on import METHOD as BOLT_ON
from holdfast.learn.methods.method import PublicFacts, Rank
from holdfast.learn.methods.ridge import RidgeBounds
from holdfast.learn.methods.ssp import METHOD as SSP
from holdfast.privacy import Account, Adjacency, ApproxDP, GaussianDP, Witness


def examples_of(features: Any, labels: Any, adjacency: str = "zero_out") -> ArrayExamples:
    return ArrayExamples(
        features=np.asarray(features, dtype=np.float64),
        labels=np.asarray(labels, dtype=np.float64),
        adjacency=Adjacency(adjacency),
        public_count=max(1, len(labels)),
    )


@pytest.mark.parametrize("clip", [0.02, 0.3, 1.0])
@pytest.mark.parametrize(
    "loss",
    [Logistic(), Squared(target_bound=2.0), Softmax(classes=4), OneVsAll(classes=3)],
    ids=lambda loss: loss.name,
)
def test_no_row_adds_more_than_the_clip_and_none_is_clipped_for_nothing(loss: Any, clip: float) -> None:
    """Also where slopes are larger and smaller than 1, and for several predictions."""
    random, problem = np.random.default_rng(5), Problem(loss=loss, dimension=3, row_norm=1.0, radius=4.0)
    weights = random.normal(size=(problem.predictions, 3))
    rows = random.normal(size=(40, 3)) * np.geomspace(0.01, 1.0, 40)[:, None]
    rows /= np.maximum(1.0, np.linalg.norm(rows, axis=1, keepdims=True))
    labels = (
        random.integers(0, 2, 40) * 2.0 - 1 if problem.predictions == 1 else random.integers(0, 3, 40) * 1.0
    )
    clipped = set()
    for row, label in zip(rows, labels, strict=True):
        passes = ClippedBlocks(examples_of([row], [label]), problem)
        gradients = ClippedGradients(problem=problem, passes=passes, whitening=no_whitening(3), clip=clip)
        whole = problem.slopes(row[None] @ weights.T, np.array([label])).T @ row[None]
        size = float(np.linalg.norm(whole))
        clipped.add(size > clip)
        expected = whole * min(1.0, clip / size) if size else whole
        assert np.linalg.norm(gradients.at(weights)) <= clip * (1 + 1e-12)
        assert gradients.at(weights) == pytest.approx(expected, rel=1e-9, abs=1e-15)
    assert True in clipped or clip == 1.0


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.7, 1e-3, 1 / 3, 1.0])
def test_rows_are_drawn_no_more_often_than_the_accountant_is_told(rate: float) -> None:
    """As written, and as the double is."""
    run = Sgd.of(Problem(loss=Logistic(), dimension=2), count=1000, options=DpSgdOptions(rate=rate))
    assert run.coin == min(Fraction(rate), Fraction(repr(rate)))


def test_slopes_of_all_classes_together() -> None:
    for binary in (Logistic(), Hinge(), HuberRegression(width=0.25)):
        for classes in (2, 5, 9):
            loss = OneVsAll(classes=classes, binary=binary)
            assert loss.slope == pytest.approx(math.sqrt(classes) * binary.slope, rel=1e-15)


@pytest.mark.parametrize("classes", [2, 9, 16, 25, 100])
def test_rounding_of_all_slopes_together_is_counted(classes: int) -> None:
    """K slopes, each off by 8 units, are off by 8 sqrt(K) together; sums of rows come on top."""
    risk = MulticlassRisk(
        examples=examples_of(np.ones((7, 2)) / 2, np.zeros(7)),
        problem=Problem(loss=OneVsAll(classes=classes), dimension=2),
        loss=OneVsAll(classes=classes),
        penalty=1.0,
        divisor=7.0,
    )
    unit = float(np.finfo(np.float64).eps) / 2
    sums = (BLOCK + classes**1.5) * risk.loss.slope
    assert risk._doubt(np.zeros(2 * classes), 0, 0.0) >= (8 * math.sqrt(classes) + sums) * unit


def test_sufficient_statistics_pay_for_their_rounding() -> None:
    problem = Problem(loss=Squared(target_bound=1.0), dimension=2)
    account = Account(GaussianDP(1.0), adjacency="zero_out", seed=1)
    SSP.fit(examples_of([[0.5, 0.5], [0.1, 0.9]], [1.0, -1.0]), problem, account=account)
    charges = [entry.charge.mechanism for entry in account.journal.entries]
    pilot, joint = (float(charge["l2_sensitivity"]) for charge in charges if charge is not None)
    alone = second_moment_sensitivity(Adjacency.zero_out, row_norm=problem.norm_bound)
    assert alone < pilot < alone * (1 + 1e-9)
    assert joint > alone


def test_the_model_that_a_command_names_has_its_penalty() -> None:
    schema = Schema([Numeric("x", 0, 1), Numeric("y", 0, 1), Categorical("c", ["a", "b"])])
    for target, model in (("y", None), ("y", "linear"), ("c", None)):
        assert estimator_of(schema, target, model, penalty=0.25).penalty == 0.25
        plain = estimator_of(schema, target, model)
        assert plain.penalty == type(plain)().penalty


def test_steps_on_fixed_batches_see_every_row() -> None:
    """Batches are sets of all rows, not the first rows again and again."""
    rows = np.zeros((40, 2))
    rows[20:] = [0.6, 0.8]
    account, witness = Account(ApproxDP(1.0, 1e-6), currency="renyi"), Witness(seed=3)
    account.watch(witness)
    BST14.fit(
        examples_of(rows, np.ones(40), "replace"),
        Problem(loss=Logistic(), dimension=2, radius=1.0),
        account=account,
        batch=4,
        passes=3,
    )
    sums = [float(np.abs(step.value).sum()) for step in witness.seen.steps]
    assert len(sums) == 30
    assert sum(size > 0 for size in sums) > 20


def test_the_rounding_of_ridge_counts_the_ridge_itself() -> None:
    """However short rows are: the solver errs by units of the matrix, the ridge included."""
    bounds = RidgeBounds(row_norm=1e-6, target_bound=1.0, ridge=1.0, count_bound=1)
    for dimension in (1, 4):
        assert bounds.rounding(dimension) >= 100 * UNIT_ROUNDOFF * dimension**2 * bounds.weight_norm


def test_the_gradient_of_a_barrier_is_doubted_the_more_the_nearer_its_wall_is() -> None:
    rows = examples_of(np.eye(2) / 2, np.ones(2), "replace")
    problem = Problem(loss=Logistic(), dimension=2, radius=1.0)
    risk = BallRisk(examples=rows, problem=problem, penalty=0.1, linear=np.zeros(2), weight=0.5)
    plain = Risk(examples=rows, problem=problem, penalty=0.1, linear=np.zeros(2))
    for gap in (0.5, 1e-3, 1e-6):
        w = np.array([math.sqrt(1.0 - gap), 0.0])
        own = 2.0 * risk.weight / gap
        # |w|^2 errs by two units of itself, relative to the gap by 2 |w|^2 / gap of them.
        assert risk.gradient(w)[1] >= plain.gradient(w)[1] + own * 2 * UNIT_ROUNDOFF * (1 - gap) / gap


def test_a_rank_for_free_models_is_not_for_constrained_ones() -> None:
    for changes, free in (({}, True), ({"penalty": 0.1}, False), ({"radius": 1.0}, False)):
        problem = Problem(loss=Logistic(), dimension=2, **changes)  # type: ignore[arg-type]
        facts = PublicFacts(problem=problem, count=100, limit=GaussianDP(1.0), adjacency=Adjacency.replace)
        assert Rank(place=1.0, unconstrained=True).applies(facts) is free
        assert Rank(place=1.0).applies(facts)


def test_a_count_that_was_read_from_a_matrix_is_assumed_public_by_the_additive_models_too() -> None:
    coding = NumberLabels(low=0.0, high=1.0, centred=True)
    for public, assumed in ((None, 1), (3, 0)):
        data = additive_arrays(
            np.eye(3),
            (coding, ()),
            np.ones(3),
            names=("a", "b", "c"),
            bounds=(0.0, 1.0),
            adjacency=Adjacency.add_remove,
            n_public=public,
        )
        assert len(data.undeclared) == assumed


def test_a_declared_column_is_learned_as_bounds_of_targets_are() -> None:
    declared = PrivateAdditiveRegressor()._column_coding(Numeric("y", 2, 6))
    assert declared == PrivateAdditiveRegressor(target_bounds=(2.0, 6.0))._column_coding(Numeric("y", 2, 6))


def test_a_histogram_says_which_cells_are_whose() -> None:
    account = Account(ApproxDP(4.0, 1e-6), seed=1)
    rows = examples_of(np.eye(2), [0.5, -0.5], "replace")
    problem = Problem(loss=Squared(target_bound=1.0), dimension=2)
    fit = HISTOGRAM.fit(rows, problem, account=account, columns=1, bins=4, label_bins=3)
    assert fit.parameters["bins"] == 4


@pytest.mark.parametrize("average", ["last", "uniform", 3])
def test_several_predictions_are_averaged_as_one_is(average: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The noise is that of the average that was asked for."""
    started: list[int] = []

    class Noted(StackedSgd):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            started.append(options.get("average_from", 0))
            super().__init__(*arguments, **options)

    monkeypatch.setattr("holdfast.learn._risk.stacked_sgd.StackedSgd", Noted)
    rows = examples_of(np.eye(3), [0.0, 1.0, 2.0], "replace")
    problem = Problem(loss=Softmax(classes=3), dimension=3, penalty=0.1)
    BOLT_ON.fit(rows, problem, account=Account(GaussianDP(1.0), seed=1), average=average, passes=2, batch=1)
    assert set(started) == {{"last": 0, "uniform": 1}.get(average, average)}


def test_a_hopeless_start_gives_up_after_a_number_of_proposals() -> None:
    plan = SamplingPlan(
        dimension=4,
        inverse_temperature=1e6,
        penalty=0.1,
        smoothness=0.25,
        total_variation=1e-6,
    )
    caps = [plan.cap(residual) for residual in (0.0, 1.0, 1e3, 1e9)]
    assert caps == sorted(caps)
    assert not plan.is_direct
    assert all(isinstance(cap, int) for cap in caps)


def test_two_additive_models_of_one_table_are_two_fits_and_an_account_is_known_to_have_paid() -> None:
    schema = Schema([Numeric("x", 0, 1, bins=4), Numeric("y", 0, 1)])
    values = np.linspace(0.05, 0.95, 60)
    table = open_table({"x": values, "y": values}, schema=schema)
    models = [PrivateAdditiveRegressor(interactions=False) for _ in range(3)]
    models[0].fit(table, target="y")
    with pytest.warns(BudgetWarning):
        models[1].fit(table, target="y")
    account = Account(ApproxDP(1.0, 1e-6), adjacency=table.adjacency)
    models[2].fit(table, target="y", account=account)
    assert models[2]._payer is account


def test_no_warning_of_a_step_depends_on_a_count_that_was_read() -> None:
    for epsilon in (0.001, 0.05, 1.0):
        said = []
        for rows in (20, 4000):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                step = PrivateScaler(epsilon=epsilon, delta=1e-9, adjacency="add_remove")
                step.fit(np.linspace(-1.0, 1.0, rows)[:, None])
            said.append([str(warning.message) for warning in caught])
        assert said[0] == said[1]


def test_a_pass_that_was_broken_off_leaves_no_rows_behind() -> None:
    schema = Schema([Numeric("x", 0, 1, bins=4)])
    halves = np.linspace(0.0, 1.0, 20)[:, None].reshape(2, 10, 1)
    rows = CellRows(
        cells=cells_of_columns(list(schema.columns)),
        read=lambda: (chunk for half in halves for chunk in batches_of_matrix(schema, half, np.ones(10))),
        adjacency=Adjacency.replace,
        unit=schema.confirmed_unit,
        public_count=20,
        most_cached_bytes=0,
        file=PrivateFile(),
    )
    first = rows.chunks()
    next(first)
    first.close()  # type: ignore[attr-defined]
    for _ in range(3):
        assert sum(len(labels) for _, labels in rows.chunks()) == 20
    rows.close()


def test_the_minimiser_without_noise_is_one() -> None:
    """The hinge, whose solver penalises a long column in place of the intercept."""
    random = np.random.default_rng(2)
    features = np.column_stack([random.normal(size=(50, 2)), np.ones(50)])
    labels = np.where(features[:, 0] > 0.8, 1.0, -1.0)
    problem = Problem(loss=Hinge(), dimension=3, penalty=0.05, constant=1.0)

    def objective(weights: Any) -> float:
        losses = np.maximum(0.0, 1.0 - labels * (features @ weights))
        return float(losses.mean() + 0.5 * 0.05 * weights[:2] @ weights[:2])

    weights = _hinge(features, labels, problem)
    for _ in range(200):
        assert objective(weights) <= objective(weights + 0.1 * random.normal(size=3)) + 1e-4

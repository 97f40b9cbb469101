"""Noisy gradient descent: what a neighbour can move, what is charged, and that it learns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from holdfast.errors import AdjacencyError, ParameterError
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Hinge, HuberHinge, Logistic, Loss, Squared
from holdfast.learn._risk.descent import ClippedGradients, Whitener
from holdfast.learn._rows.clipped_blocks import ClippedBlocks
from holdfast.learn._rows.examples import ArrayExamples, Chunk, DerivedExamples
from holdfast.learn._whitening import no_whitening, whitener
from holdfast.learn.methods.noisy_gd import METHOD
from holdfast.privacy import ZCDP, Account, ApproxDP, GaussianDP, PureDP
from holdfast.privacy._adjacency import Adjacency, PrivacyUnit

noisy_gd = METHOD.fit


def examples_of(
    rows: np.ndarray,
    labels: np.ndarray,
    adjacency: str = "zero_out",
    *,
    count: int | None = None,
    unit: PrivacyUnit | None = None,
) -> ArrayExamples:
    return ArrayExamples(
        features=rows,
        labels=labels,
        adjacency=Adjacency.of(adjacency),
        public_count=max(1, len(rows)) if count is None else count,
        unit=PrivacyUnit() if unit is None else unit,
    )


def separable(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows of norm 1 with columns of very different sizes, and labels that follow a direction."""
    generator = np.random.default_rng(seed)
    rows = generator.normal(size=(n, d)) * np.geomspace(1.0, 0.05, d)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows, np.where(rows @ np.geomspace(1.0, 10.0, d) > 0, 1.0, -1.0)


def made_whitener(d: int, seed: int = 0) -> Whitener:
    released = np.random.default_rng(seed).normal(size=d * (d + 1) // 2)
    return whitener(released, kind="full", dimension=d, noise_std=0.05, ridge=0.5)


def gradients_of(
    rows: np.ndarray, labels: np.ndarray, *, whitening: Whitener, clip: float, loss: Loss
) -> ClippedGradients:
    problem = Problem(loss=loss, dimension=rows.shape[1])
    return ClippedGradients(
        problem=problem,
        passes=ClippedBlocks(examples_of(rows, labels), problem),
        whitening=whitening,
        clip=clip,
    )


@pytest.mark.parametrize("adjacency", list(Adjacency))
@pytest.mark.parametrize("loss", [Logistic(), HuberHinge(), Hinge(), Squared(target_bound=1.0)])
def test_neighbours_move_the_gradient_sum_by_at_most_the_sensitivity(
    adjacency: Adjacency, loss: Loss
) -> None:
    generator = np.random.default_rng(3)
    others, labels = separable(30, 4)
    whitening, clip = made_whitener(4), 0.8
    # A direction that whitening stretches most: after whitening far beyond the clip.
    stretched = whitening.forward(generator.normal(size=4))
    unit = stretched / np.linalg.norm(stretched)
    records = [(unit, -1.0), (unit, 1.0), (-unit, 1.0), (np.zeros(4), 1.0), (1e9 * unit, -1.0)]
    records += [(row, 1.0) for row in generator.normal(size=(6, 4))]
    if adjacency is not Adjacency.replace:
        pairs: list[tuple[Any, Any]] = [(first, None) for first in records]
    else:
        pairs = [(first, second) for first in records for second in records]
    made = gradients_of(others, labels, whitening=whitening, clip=clip, loss=loss)
    claimed = made.l2_sensitivity(adjacency, rows_per_unit=1, most=31)
    largest = 0.0
    for weights in (np.zeros(4), 50.0 * whitening.forward(unit), -50.0 * whitening.forward(unit)):
        sums = {}
        for record in {id(r): r for pair in pairs for r in pair}.values():
            row, label = (np.zeros(4), 1.0) if record is None else record
            table = gradients_of(
                np.vstack([others, row]), np.append(labels, label), whitening=whitening, clip=clip, loss=loss
            )
            sums[id(record)] = table.at(weights[None])
        largest = max(largest, *(float(np.linalg.norm(sums[id(a)] - sums[id(b)])) for a, b in pairs))
    assert largest <= claimed
    assert largest >= claimed / 3
    assert claimed <= adjacency.gradient_factor * clip * (1 + 1e-6)


def test_clipping_before_whitening_only_is_not_enough() -> None:
    # The wrong version of section 20: rows of norm 1, whitened, gradients not clipped again.
    whitening, clip = made_whitener(4), 0.8
    rows = np.eye(4)[:1]
    moved = 0.5 * float(whitening.norms(rows)[0])
    made = gradients_of(rows, np.ones(1), whitening=whitening, clip=clip, loss=Logistic())
    assert moved > made.l2_sensitivity(Adjacency.zero_out, rows_per_unit=1, most=1)
    assert float(np.linalg.norm(made.at(np.zeros((1, 4))))) <= clip * (1 + 1e-9)


def test_units_of_several_rows_multiply_the_sensitivity() -> None:
    made = gradients_of(*separable(5, 3), whitening=no_whitening(3), clip=1.0, loss=Logistic())
    one = made.l2_sensitivity(Adjacency.add_remove, rows_per_unit=1, most=5)
    four = made.l2_sensitivity(Adjacency.add_remove, rows_per_unit=4, most=5)
    assert 3.999 * one < four < 4.001 * one


@pytest.mark.parametrize("adjacency", ["replace", "zero_out", "add_remove"])
@pytest.mark.parametrize("limit", [GaussianDP(0.7), ZCDP(0.3), ApproxDP(1.0, 1e-6)])
def test_all_of_the_limit_is_spent_and_no_more(adjacency: str, limit: GaussianDP) -> None:
    rows, labels = separable(200, 4)
    account = Account(limit, adjacency=adjacency, seed=1)
    whole = account.remaining()
    noisy_gd(examples_of(rows, labels, adjacency), Problem(loss=Logistic(), dimension=4), account=account)
    assert account.spent().within(whole)
    spent, given = account.spent().as_zcdp(), whole.as_zcdp()
    assert spent is not None
    assert given is not None
    assert 1 - Fraction(1, 10**8) <= spent / given <= 1


@pytest.mark.parametrize("kind", ["full", "diagonal", "none"])
def test_moments_and_t_gradients_are_charged(kind: Any) -> None:
    rows, labels = separable(100, 3)
    account = Account(GaussianDP(1.0), adjacency="zero_out", seed=1)
    noisy_gd(
        examples_of(rows, labels),
        Problem(loss=Logistic(), dimension=3),
        account=account,
        preconditioner=kind,
        steps=7,
        unit_share=0.1,
        share=0.3,
    )
    entries = account.journal.entries
    times = [entry.charge.times for entry in entries]
    moments = {"none": [], "diagonal": [0.1], "full": [0.1, 0.3]}[kind]
    assert times == [1] * len(moments) + [7]
    shares = [float(entry.charge.cost.amounts[0]) for entry in entries]
    assert np.allclose(shares, [*moments, 1.0 - sum(moments)])


@pytest.mark.parametrize(("adjacency", "factor"), [("zero_out", 1.0), ("add_remove", 1.0), ("replace", 2.0)])
@pytest.mark.parametrize("arithmetic", ["strict", "idealised"])
def test_the_noise_of_a_step_has_the_deviation_of_its_proof(
    adjacency: str, factor: float, arithmetic: Any
) -> None:
    # Null rows: the gradient is 0, so one plain step is nothing but noise, of deviation G sqrt(T) / mu.
    d, n, mu = 3_000, 50, 2.0
    account = Account(GaussianDP(mu), adjacency=adjacency, seed=7)
    fit = noisy_gd(
        examples_of(np.zeros((n, d)), np.ones(n), adjacency),
        Problem(loss=Logistic(), dimension=d),
        account=account,
        preconditioner="none",
        steps=1,
        step=1.0,
        momentum=0.0,
        arithmetic=arithmetic,
    )
    expected = factor / mu / n
    assert abs(float(np.std(fit.weights)) / expected - 1.0) < 0.06
    assert fit.parameters["gradient_noise_std"] == pytest.approx(factor / mu, rel=1e-6)


def test_more_steps_mean_more_noise_in_each() -> None:
    rows, labels = separable(50, 3)
    stds = []
    for steps in (1, 4):
        account = Account(GaussianDP(1.0), adjacency="zero_out", seed=1)
        fit = noisy_gd(
            examples_of(rows, labels),
            Problem(loss=Logistic(), dimension=3),
            account=account,
            preconditioner="none",
            steps=steps,
        )
        stds.append(fit.parameters["gradient_noise_std"])
    assert stds[1] / stds[0] == pytest.approx(2.0)


@pytest.mark.parametrize("kind", [None, "full", "diagonal", "none"])
@pytest.mark.parametrize("loss", [Logistic(), HuberHinge(), Hinge()])
def test_it_learns_where_noise_is_small(kind: Any, loss: Loss) -> None:
    rows, labels = separable(4_000, 6)
    account = Account(GaussianDP(50.0), adjacency="zero_out", seed=2)
    fit = noisy_gd(
        examples_of(rows, labels), Problem(loss=loss, dimension=6), account=account, preconditioner=kind
    )
    # Whitening makes small columns count; without it a few steps see the large ones only.
    assert np.mean((rows @ fit.weights > 0) == (labels > 0)) > (0.8 if kind == "none" else 0.95)


def test_regression_with_a_radius() -> None:
    rows, _ = separable(3_000, 3)
    targets = np.clip(rows @ np.array([0.5, -0.3, 0.2]), -1, 1)
    account = Account(GaussianDP(50.0), adjacency="replace", seed=2)
    problem = Problem(loss=Squared(target_bound=1.0, prediction_bound=1.0), dimension=3, radius=1.0)
    fit = noisy_gd(examples_of(rows, targets, "replace"), problem, account=account, steps=30)
    assert np.mean((rows @ fit.weights - targets) ** 2) < 0.3 * np.var(targets)
    assert np.linalg.norm(fit.weights) <= 1.0 + 1e-9


def test_regression_without_a_radius() -> None:
    rows, _ = separable(3_000, 3)
    targets = np.clip(rows @ np.array([0.5, -0.3, 0.2]), -1, 1)
    account = Account(GaussianDP(50.0), adjacency="replace", seed=2)
    problem = Problem(loss=Squared(target_bound=1.0), dimension=3)
    fit = noisy_gd(examples_of(rows, targets, "replace"), problem, account=account)
    assert np.mean((rows @ fit.weights - targets) ** 2) < 0.1 * np.var(targets)


def test_units_and_origins_of_columns_do_not_matter() -> None:
    """A column that uses a thousandth of its range, far from its middle, counts like any other."""
    generator = np.random.default_rng(4)
    signal = generator.normal(size=(20_000, 2))
    rows = np.column_stack([0.3 * signal[:, 0], 0.5 + 3e-4 * signal[:, 1], np.full(20_000, 0.5)])
    labels = np.where(signal.sum(axis=1) > 0, 1.0, -1.0)
    problem = Problem(loss=Logistic(), dimension=3, row_norm=2.0, constant=0.5)
    account = Account(GaussianDP(1.0), adjacency="zero_out", seed=2)
    fit = noisy_gd(examples_of(rows, labels), problem, account=account)
    assert np.mean((rows @ fit.weights > 0) == (labels > 0)) > 0.9


def test_a_penalty_shrinks_however_large() -> None:
    rows, labels = separable(500, 3)
    sizes = []
    for penalty in (0.0, 1.0, 1e6):
        account = Account(GaussianDP(50.0), adjacency="zero_out", seed=2)
        problem = Problem(loss=Logistic(), dimension=3, penalty=penalty)
        sizes.append(
            float(np.linalg.norm(noisy_gd(examples_of(rows, labels), problem, account=account).weights))
        )
    assert sizes[0] > sizes[1] > sizes[2] >= 0
    assert sizes[2] < 1e-3


@dataclass(frozen=True, eq=False)
class Streamed(DerivedExamples):
    """The same rows, in another order in every pass and in short chunks: as an engine may give them."""

    examples: ArrayExamples
    state: list[int]

    def chunks(self) -> Iterator[Chunk]:
        self.state[0] += 1
        order = np.random.default_rng(self.state[0]).permutation(self.public_count)
        for start in range(0, order.size, 70):
            chosen = order[start : start + 70]
            yield self.examples.features[chosen], self.examples.labels[chosen]

    def shuffled_chunks(self, source: object) -> Iterator[Chunk]:
        return self.chunks()


def test_rows_streamed_in_any_order_are_clipped_by_their_own_norms() -> None:
    rows, labels = separable(300, 4)
    base = examples_of(rows, labels)
    problem = Problem(loss=Logistic(), dimension=4)
    fits = [
        noisy_gd(given, problem, account=Account(GaussianDP(3.0), adjacency="zero_out", seed=5))
        for given in (base, Streamed(base, [0]))
    ]
    assert np.allclose(fits[0].weights, fits[1].weights, rtol=1e-6)


def test_the_schedule_does_not_look_at_values() -> None:
    public = ("preconditioner", "share", "ridge", "steps", "step", "momentum", "average")
    seen = []
    for seed in (1, 2):
        rows, labels = separable(400, 5, seed)
        account = Account(GaussianDP(0.5), adjacency="zero_out", seed=9)
        fit = noisy_gd(
            examples_of(rows * seed / 2, labels), Problem(loss=Logistic(), dimension=5), account=account
        )
        seen.append([fit.parameters[name] for name in public])
    assert seen[0] == seen[1]


@pytest.mark.parametrize(
    ("problem", "limit", "options"),
    [
        (Problem(loss=Logistic(), dimension=3), PureDP(1.0), {}),
        (Problem(loss=Logistic(), dimension=4), GaussianDP(1.0), {}),
        (Problem(loss=Logistic(), dimension=3), GaussianDP(1.0), {"steps": 0}),
        (Problem(loss=Logistic(), dimension=3), GaussianDP(1.0), {"share": 1.0}),
        (Problem(loss=Logistic(), dimension=3), GaussianDP(1.0), {"preconditioner": "half"}),
        (Problem(loss=Logistic(), dimension=3), GaussianDP(1.0), {"momentum": 1.0}),
        (Problem(loss=Logistic(), dimension=3), GaussianDP(1.0), {"speed": 1.0}),
    ],
)
def test_bad_constants_are_refused_before_anything_is_spent(
    problem: Problem, limit: GaussianDP, options: dict[str, Any]
) -> None:
    account = Account(limit, adjacency="zero_out", seed=1)
    with pytest.raises(ParameterError):
        noisy_gd(examples_of(*separable(20, 3)), problem, account=account, **options)
    assert not account.journal.entries


def test_another_adjacency_is_refused() -> None:
    account = Account(GaussianDP(1.0), adjacency="replace", seed=1)
    with pytest.raises(AdjacencyError):
        noisy_gd(examples_of(*separable(20, 3)), Problem(loss=Logistic(), dimension=3), account=account)


def test_an_empty_table_gives_noise_only() -> None:
    account = Account(GaussianDP(1.0), adjacency="add_remove", seed=1)
    fit = noisy_gd(
        examples_of(np.zeros((0, 3)), np.zeros(0), "add_remove", count=100),
        Problem(loss=Logistic(), dimension=3),
        account=account,
    )
    assert np.all(np.isfinite(fit.weights))
    assert METHOD.name == "noisy_gd"


def test_units_of_several_rows_get_their_noise() -> None:
    rows, labels = separable(100, 3)
    stds = []
    for rows_per_unit in (1, 3):
        unit = PrivacyUnit("user", max_rows=rows_per_unit)
        account = Account(GaussianDP(1.0), adjacency="add_remove", unit=unit, seed=1)
        fit = noisy_gd(
            examples_of(rows, labels, "add_remove", unit=unit),
            Problem(loss=Logistic(), dimension=3),
            account=account,
            preconditioner="none",
            steps=2,
        )
        stds.append(fit.parameters["gradient_noise_std"])
    assert stds[1] / stds[0] == pytest.approx(3.0, rel=1e-6)


def test_least_squares_of_clipped_rows_tends_to_that_of_the_rows() -> None:
    """Half of every whitened row is clipped away; with it goes half of its label (finding L3, as a class)."""
    random = np.random.default_rng(5)
    x = random.normal(size=(4_000, 3))
    x /= np.maximum(1.0, np.linalg.norm(x, axis=1))[:, None]
    y = np.clip(x @ np.array([0.5, -0.3, 0.2]) + 0.05 * random.normal(size=4_000), -1.0, 1.0)
    rows = ArrayExamples(features=x, labels=y, adjacency=Adjacency.zero_out, public_count=4_000)
    problem = Problem(loss=Squared(target_bound=1.0, prediction_bound=2.0), dimension=3, radius=2.0)
    account = Account(GaussianDP(50.0), adjacency="zero_out", seed=1)
    found = METHOD.fit(rows, problem, account=account).weights
    exact = np.linalg.lstsq(x, y, rcond=None)[0]
    assert np.linalg.norm(found - exact) < 0.1 * np.linalg.norm(exact)

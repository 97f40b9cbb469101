"""Objective perturbation: the theorem's numbers, the true laws of small problems, and the method."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import trapezoid

from holdfast._arrays import Floats
from holdfast.errors import HoldfastError, ParameterError
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import HuberHinge, Logistic, Softmax, Squared
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.learn.methods.objective import METHOD, PURE_OUTPUT_SHARE, Losses, objective_mechanism
from holdfast.learn.methods.softmax_objective import SoftmaxLosses
from holdfast.noise._source import Source
from holdfast.privacy import (
    Account,
    Adjacency,
    ApproxDP,
    GaussianDP,
    ObjectivePerturbation,
    PrivacyUnit,
    PureDP,
    PureObjectivePerturbation,
)
from holdfast.privacy._curves.objective import ObjectiveCurve

objective_perturbation = METHOD.fit


def table(x: Any, y: Any, adjacency: str = "replace", count: int | None = None) -> ArrayExamples:
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    return ArrayExamples(
        features=x, labels=y, adjacency=Adjacency.of(adjacency), public_count=count or max(1, len(y))
    )


def learnable(adjacency: str = "replace", rows: int = 4000) -> ArrayExamples:
    rng = np.random.Generator(np.random.PCG64(3))
    x = rng.normal(size=(rows, 5))
    x /= np.maximum(1.0, np.linalg.norm(x, axis=1))[:, None]
    return table(x, np.sign(x @ np.array([2.0, -1.0, 0.5, 0.0, 0.0])), adjacency)


# The curve.


def test_the_numbers_of_the_notes() -> None:
    """Soundness, section 4: mu = 0.5; replace has twice the gradient change and a Rayleigh variable."""
    one = ObjectiveCurve(mu=0.5, log_ratio=math.log(1.5), freedom=1)
    assert one.delta(1.0) == pytest.approx(0.07563, abs=5e-6)
    assert one.delta(2.0) == pytest.approx(4.166e-4, abs=5e-8)
    add = ObjectiveCurve(mu=0.5, log_ratio=0.4, freedom=1)
    swap = ObjectiveCurve(mu=1.0, log_ratio=0.4, freedom=2)
    assert [add.renyi(2.0), swap.renyi(2.0)] == pytest.approx([0.97420, 2.39896], abs=6e-6)
    assert [add.renyi(8.0), swap.renyi(8.0)] == pytest.approx([1.49899, 4.80926], abs=6e-6)


def by_quadrature(mu: float, c: float, freedom: int, output_mu: float, epsilon: float) -> float:
    """E[(1 - e^(epsilon - loss))_+] on fine grids, written from the statement."""
    x = np.linspace(0.0, 12.0, 6001)
    density = 2 * np.exp(-x * x / 2) / math.sqrt(2 * math.pi) if freedom == 1 else x * np.exp(-x * x / 2)
    z = np.linspace(-10.0, 10.0, 801) if output_mu else np.zeros(1)
    normal = np.exp(-z * z / 2) / math.sqrt(2 * math.pi) * (z[1] - z[0]) if output_mu else np.ones(1)
    total = 0.0
    for own, weight in zip(z, normal, strict=True):
        loss = c + mu**2 / 2 + mu * x + output_mu**2 / 2 + output_mu * own
        gain = np.maximum(0.0, 1.0 - np.exp(np.minimum(epsilon - loss, 0.0)))
        total += weight * float(trapezoid(density * gain, x))
    return total


@pytest.mark.parametrize("freedom", [1, 2])
@pytest.mark.parametrize("mu", [0.1, 0.7, 2.0])
@pytest.mark.parametrize("output_mu", [0.0, 0.05])
def test_delta_is_the_integral_and_never_below(freedom: int, mu: float, output_mu: float) -> None:
    curve = ObjectiveCurve(mu=mu, log_ratio=0.3, freedom=freedom, output_mu=output_mu)
    for epsilon in (0.0, 0.2, 0.32, 0.5, 1.0, 2.0):
        integral = by_quadrature(mu, 0.3, freedom, output_mu, epsilon)
        assert curve.delta(epsilon) >= integral * (1 - 1e-4) - 1e-12
        assert curve.delta(epsilon) <= integral * 1.03 + 1e-6


@given(
    mu=st.floats(0.01, 3.0), c=st.floats(0.0, 3.0), freedom=st.sampled_from([1, 2]), after=st.floats(0.0, 0.5)
)
def test_the_curve_is_a_curve(mu: float, c: float, freedom: int, after: float) -> None:
    curve = ObjectiveCurve(mu=mu, log_ratio=c, freedom=freedom, output_mu=after)
    deltas = curve.deltas(np.linspace(-2.0, 12.0, 141))
    assert np.all(np.diff(deltas) <= 1e-12)
    assert np.all((deltas >= 0) & (deltas <= 1))
    # The bound by Renyi divergences is never below it, and every ingredient only adds.
    for order in (1.5, 3.0, 20.0):
        divergence = curve.renyi(order)
        for epsilon in (0.5, 2.0, 6.0):
            assert curve.delta(epsilon) <= math.exp(min(0.0, (order - 1) * (divergence - epsilon))) + 1e-9
    assert curve.delta(1.0) >= ObjectiveCurve(mu=mu, log_ratio=0.0, freedom=freedom).delta(1.0) - 1e-12
    assert curve.delta(1.0) >= GaussianDP(mu).delta(1.0) * (1 - 1e-9)
    assert curve.as_gdp() is None
    assert curve.as_zcdp() is None


# True laws, in one dimension: theta has density nu(b(theta)) |b'(theta)|.


def log_density(
    records: list[float], penalty: float, log_noise: Callable[[Floats], Floats], at: Floats
) -> Floats:
    """Logistic records with label +1; b(theta) = -(sum of gradients) - penalty theta."""
    x = np.array(records)[:, None]
    s = 1.0 / (1.0 + np.exp(np.clip(x * at, -700, 700)))
    b = np.sum(x * s, axis=0) - penalty * at
    return np.asarray(log_noise(b) + np.log(np.sum(x**2 * s * (1 - s), axis=0) + penalty))


def test_the_pure_example_of_the_notes() -> None:
    """Records (.01, .01, .01, 1) against (.01) x 4, penalty 1e-3, scale 4: without the log term, 0.5 claimed."""
    at = np.linspace(-30, 30, 400_001)
    laws = [
        log_density(records, 1e-3, lambda b: -np.abs(b) / 4.0, at)
        for records in ([0.01, 0.01, 0.01, 1.0], [0.01] * 4)
    ]
    true = float(np.max(np.abs(laws[0] - laws[1])))
    assert true == pytest.approx(5.31, abs=0.01)
    mechanism = PureObjectivePerturbation(
        scale=4.0, lipschitz=1.0, smoothness=0.25, penalty=1e-3, tolerance=1e-9, output_epsilon=1e-6
    )
    claimed = float(mechanism.curve.as_pure() or 0)
    assert claimed == pytest.approx(6.03, abs=0.01)
    assert 2.0 * 1.0 / 4.0 < true <= claimed


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
def test_true_laws_of_neighbours_stay_below_the_curve(seed: int, adjacency: str) -> None:
    rng = np.random.Generator(np.random.PCG64(seed))
    penalty, sigma = float(rng.choice([0.05, 0.5])), float(rng.choice([1.0, 3.0]))
    others = [*rng.uniform(-1, 1, size=int(rng.integers(0, 6))).tolist(), 0.01]
    changed = [[1.0], [-1.0]] if adjacency == "replace" else [[1.0], []]
    mechanism = ObjectivePerturbation(
        sigma=sigma,
        output_sigma=1.0,
        lipschitz=1.0,
        smoothness=0.25,
        penalty=penalty,
        tolerance=1e-12,
        adjacency=Adjacency.of(adjacency),
    )
    reach = 12 * sigma / penalty
    at = np.linspace(-reach, reach, 400_001)
    p, q = (
        np.exp(log_density(others + extra, penalty, lambda b: -(b**2) / (2 * sigma**2), at))
        / (sigma * math.sqrt(2 * math.pi))
        for extra in changed
    )
    assert trapezoid(p, at) == pytest.approx(1.0, abs=1e-3)
    for epsilon in (0.0, 0.3, 1.0, 2.0):
        allowed = mechanism.curve.delta(epsilon)
        for one, two in ((p, q), (q, p)):
            assert trapezoid(np.maximum(one - math.exp(epsilon) * two, 0.0), at) <= allowed + 1e-6


def test_without_the_determinants_the_claim_is_false() -> None:
    """One large record among tiny ones, small penalty: the Hessian's jump alone is seen."""
    at = np.linspace(-200.0, 200.0, 800_001)
    penalty, sigma = 0.02, 4.0
    p, q = (
        np.exp(log_density(records, penalty, lambda b: -(b**2) / (2 * sigma**2), at))
        / (sigma * math.sqrt(2 * math.pi))
        for records in ([0.01, 1.0], [0.01])
    )
    true = float(trapezoid(np.maximum(p - math.exp(1.0) * q, 0.0), at))
    assert true > 2 * ObjectiveCurve(mu=0.25, log_ratio=0.0, freedom=1).delta(1.0)
    assert true <= ObjectiveCurve(mu=0.25, log_ratio=math.log1p(0.25 / 0.02), freedom=1).delta(1.0)


# The mechanism on tables.


@pytest.mark.parametrize("arithmetic", ["strict", "idealised"])
def test_minimisers_of_a_table_have_the_declared_law(arithmetic: Any) -> None:
    """P[theta <= t] = P[-b <= sum of gradients + penalty t], since the map is monotone."""
    from scipy.special import ndtr

    x = np.array([[1.0], [0.5], [-0.25]])
    problem = Problem(loss=Logistic(), dimension=1)
    mechanism = ObjectivePerturbation(
        sigma=1.5,
        output_sigma=1e-7,
        lipschitz=1.0,
        smoothness=0.25,
        penalty=0.7,
        tolerance=1e-10,
        arithmetic=arithmetic,
    )
    source, losses = Source(seed=2), Losses(examples=table(x, np.ones(3)), problem=problem)
    draws = np.sort([float(mechanism.sample(losses, source)[0]) for _ in range(600)])
    slopes = -x / (1.0 + np.exp(x * draws))
    law = ndtr((np.sum(slopes * 1.0, axis=0) + 0.7 * draws) / 1.5)
    distance = np.max(np.abs(law - (np.arange(600) + 0.5) / 600))
    assert distance < 0.08  # Dvoretzky-Kiefer-Wolfowitz at 600 draws, one in a thousand


def test_the_solver_gets_half_the_tolerance_and_its_error_is_charged() -> None:
    asked = []

    class Recorder:
        dimension = 3

        def minimise(self, linear: Floats, *, penalty: float, tolerance: float) -> Floats:
            asked.append((linear, penalty, tolerance))
            return np.zeros(3)

    mechanism = ObjectivePerturbation(
        sigma=2.0, output_sigma=0.5, lipschitz=1.0, smoothness=0.25, penalty=4.0, tolerance=0.01
    )
    mechanism.sample(Recorder(), Source(seed=1))
    ((linear, penalty, tolerance),) = asked
    assert (penalty, tolerance) == (4.0, 0.005)
    # b lies on a grid whose rounding is within the other half.
    steps = linear / 2.0 ** np.floor(np.log2(0.01 / math.sqrt(3)) - 1)
    assert np.array_equal(steps, np.rint(steps))
    assert float(mechanism.output_sensitivity) == pytest.approx(2 * 0.01 / 4.0)
    assert float(mechanism.curve.output_mu) == pytest.approx(2 * 0.01 / 4.0 / 0.5)


# The method.

ACCOUNTS = {
    "pure": lambda adjacency: Account(PureDP(8.0), adjacency=adjacency, seed=1),
    "basic": lambda adjacency: Account(ApproxDP(8.0, 1e-6), currency="basic", adjacency=adjacency, seed=1),
    "renyi": lambda adjacency: Account(ApproxDP(8.0, 1e-6), currency="renyi", adjacency=adjacency, seed=1),
}


@pytest.mark.parametrize("adjacency", METHOD.adjacencies)
@pytest.mark.parametrize("currency", ACCOUNTS)
def test_learns_and_spends_its_limit(currency: str, adjacency: str) -> None:
    rows = learnable(adjacency)
    account = ACCOUNTS[currency](adjacency)
    fit = objective_perturbation(rows, Problem(loss=Logistic(), dimension=5), account=account)
    assert np.mean(np.sign(rows.features @ fit.weights) == rows.labels) > 0.95
    left = account.remaining()
    if currency == "pure":
        assert 0 <= float(left.as_pure() or 0) < 1e-12
    elif currency == "basic":
        point = left.as_approximate()
        assert point is not None
        assert 0 <= float(point[0]) < 1e-7
        assert float(point[1]) == 0.0
    else:
        order = account.currency.order  # type: ignore[attr-defined]
        assert 0 <= left.renyi(order) < 1e-6


def test_by_a_plan_and_with_too_small_constants_refused() -> None:
    rows, problem = learnable("add_remove", 500), Problem(loss=Logistic(), dimension=5)
    limit = ApproxDP(2.0, 1e-6)
    mechanism = objective_mechanism(problem, limit=limit, adjacency="add_remove", public_count=500)
    account = Account(limit, adjacency="add_remove", plan=[(mechanism, 1)], seed=1)
    assert objective_perturbation(rows, problem, account=account, mechanism=mechanism).weights.shape == (5,)
    for name in ("lipschitz", "smoothness"):
        changed: dict[str, Any] = {name: 0.1}
        small: Any = dataclasses.replace(mechanism, **changed)
        again = Account(limit, adjacency="add_remove", currency="basic", seed=1)
        with pytest.raises(ParameterError, match=name):
            objective_perturbation(rows, problem, account=again, mechanism=small)
        assert again.journal.entries == ()


@pytest.mark.parametrize(("adjacency", "factor"), [("add_remove", 1.0), ("zero_out", 1.0), ("replace", 2.0)])
@pytest.mark.parametrize("arithmetic", ["strict", "idealised"])
def test_the_noise_is_as_large_as_the_theorem_says(adjacency: str, factor: float, arithmetic: Any) -> None:
    """Null records: the minimiser is -b / penalty."""
    width = 900
    problem = Problem(loss=Logistic(), dimension=width)
    rows = table(np.zeros((5, width)), np.zeros(5), adjacency)
    pure = Account(PureDP(2.0), adjacency=adjacency, seed=1)
    plain = dataclasses.replace(problem, penalty=1e-9)
    fit = objective_perturbation(rows, plain, account=pure, penalty_factor=10.0, arithmetic=arithmetic)
    penalty = 10 * 0.25 / (1 - math.exp(-2.0))
    # Soundness, section 4: scale = G / (epsilon - ln(1 + beta/penalty) - the output's share).
    scale = factor / (2.0 - math.log1p(0.25 / penalty) - 2.0 * PURE_OUTPUT_SHARE)
    # Strict: independent Laplace coordinates of scale sqrt(d) scale; idealised: Gamma norm.
    spread = math.sqrt(2 * width if arithmetic == "strict" else width + 1)
    assert float(np.std(fit.weights)) == pytest.approx(scale * spread / penalty, rel=0.12)
    # Mapped rows have sizes that add up to half of sqrt(d) at most: coordinates of that scale. Usual rows would be
    # shortened to 0.5 / 0.8 by it, for which weights make up.
    mapped = Account(PureDP(2.0), adjacency=adjacency, seed=1)
    fit = objective_perturbation(rows, problem, account=mapped, penalty_factor=10.0, arithmetic=arithmetic)
    reach = 0.5 * math.sqrt(width)
    assert float(np.std(fit.weights)) == pytest.approx(
        0.625 * scale * math.sqrt(2.0) * reach / penalty, rel=0.12
    )
    basic = Account(ApproxDP(2.0, 1e-6), currency="basic", adjacency=adjacency, seed=1)
    fit = objective_perturbation(rows, problem, account=basic, arithmetic=arithmetic)
    sigma = float(np.std(fit.weights)) * penalty
    # A fifth less noise than was drawn would not be within the limit, by the integral; a fifth more would.
    change, c, freedom = factor / (0.8 * sigma), math.log1p(0.25 / penalty), 2 if factor == 2.0 else 1
    assert by_quadrature(change, c, freedom, 0.0, 2.0) > 1e-6
    assert by_quadrature(factor / (1.2 * sigma), c, freedom, 0.0, 2.0) < 1e-6


def test_a_penalty_above_the_least_is_used() -> None:
    least, more = (
        objective_mechanism(
            Problem(loss=Logistic(), dimension=5, penalty=penalty),
            limit=ApproxDP(1.0, 1e-6),
            adjacency="replace",
            public_count=1000,
        )
        for penalty in (0.0, 0.1)
    )
    assert float(least.penalty) == pytest.approx(2.5 / (1 - math.exp(-1.0)), rel=1e-6)
    assert float(more.penalty) == pytest.approx(100.0)
    assert isinstance(least, ObjectivePerturbation)
    assert isinstance(more, ObjectivePerturbation)
    assert float(more.sigma) < float(least.sigma)


@pytest.mark.parametrize(
    ("problem", "options", "named"),
    [
        (Problem(loss=HuberHinge(), dimension=5), {}, "huber"),
        (
            Problem(loss=Squared(target_bound=1.0, prediction_bound=0.5), dimension=5, radius=1.0),
            {},
            "prediction_bound",
        ),
        (Problem(loss=Squared(target_bound=1.0), dimension=5), {}, "radius"),
        (Problem(loss=Logistic(), dimension=4), {}, "dimension"),
        (Problem(loss=Logistic(), dimension=5), {"penalty_factor": 1.0}, "penalty_factor"),
        (Problem(loss=Logistic(), dimension=5), {"steps": 3}, "steps"),
    ],
)
def test_bad_constants_are_refused_before_spending(
    problem: Problem, options: dict[str, Any], named: str
) -> None:
    account = Account(ApproxDP(1.0, 1e-6), currency="basic", seed=1)
    with pytest.raises(ParameterError, match=named):
        objective_perturbation(learnable(rows=60), problem, account=account, **options)
    assert account.journal.entries == ()


def test_currencies_without_a_theorem_are_refused() -> None:
    """No Gaussian-DP or zCDP statement is proved for the Gaussian version (soundness, section 19)."""
    for currency in ("gdp", "zcdp"):
        account = Account(ApproxDP(1.0, 1e-6), currency=currency, seed=1)
        with pytest.raises(ParameterError, match="basic"):
            objective_perturbation(learnable(rows=60), Problem(loss=Logistic(), dimension=5), account=account)
        assert account.journal.entries == ()
    user = PrivacyUnit("user", max_rows=3)
    with pytest.raises(HoldfastError, match="max_rows"):
        objective_perturbation(
            dataclasses.replace(learnable(rows=10), unit=user),
            Problem(loss=Logistic(), dimension=5),
            account=Account(PureDP(1.0), unit=user, seed=1),
        )


def test_the_pure_penalty_is_a_rule_in_public_quantities() -> None:
    """D sigma^2 / (n h); less where the signal is strong; never so small that determinants eat epsilon."""
    problem = Problem(loss=Logistic(), dimension=50)

    def penalty_of(epsilon: float, count: int, **told: Any) -> float:
        made = objective_mechanism(
            problem, limit=PureDP(epsilon), adjacency="replace", public_count=count, **told
        )
        return float(made.penalty)

    sigma = math.sqrt(2.0) * 3.0 * 2.0 / 0.1
    weak = penalty_of(0.1, 1000, l1_factor=3.0, effective_dimension=20.0)
    faint = 1.0 + 1.0 / (1.0 + (0.1 * 1000 / (2.0 * 20.0) / 40.0) ** 2)
    assert weak == pytest.approx(faint * 20.0 * sigma**2 / (1000 * 0.25), rel=0.01)
    assert penalty_of(0.1, 1000) > weak * (50 / 9) * 2.4  # coordinates of sqrt(50), and all of them count
    assert penalty_of(0.1, 10**6, l1_factor=3.0) < weak / 5
    for epsilon in (1e-3, 0.1, 1.0, 8.0):
        for count in (10, 10**4, 10**8):
            assert math.log1p(0.25 / penalty_of(epsilon, count)) <= 0.5 * epsilon * (1 + 1e-6)


def test_gradients_that_are_short_in_the_l1_norm() -> None:
    """Distances count in both norms, and one that is longer than was said is seen."""
    mechanism = PureObjectivePerturbation(
        scale=2.0,
        output_epsilon=0.1,
        lipschitz=1.0,
        smoothness=0.25,
        penalty=1.0,
        tolerance=1e-6,
        l1_factor=1.2,
        adjacency=Adjacency.zero_out,
    )
    none, one = np.zeros(2), np.array([0.6, 0.6])
    assert mechanism.distance(none, one) == pytest.approx(1.0)
    assert mechanism.distance(none, np.array([0.7, 0.7])) > 1.1
    assert abs(mechanism.linear_log_ratio(none, one)) == pytest.approx(0.5)
    assert PureObjectivePerturbation.from_json(mechanism.to_json()) == mechanism
    for wrong in (0.9, math.inf, math.nan):
        with pytest.raises(ParameterError, match="l1_factor"):
            dataclasses.replace(mechanism, l1_factor=wrong)


@pytest.mark.parametrize("arithmetic", ["strict", "idealised"])
def test_pure_minimisers_of_a_table_have_the_declared_law(arithmetic: Any) -> None:
    """As for normal noise: P[theta <= t] = P[-b <= sum of gradients + penalty t], b Laplace in one dimension."""
    x = np.array([[1.0], [0.5], [-0.25]])
    problem = Problem(loss=Logistic(), dimension=1)
    mechanism = PureObjectivePerturbation(
        scale=1.5,
        output_epsilon=0.1,
        lipschitz=1.0,
        smoothness=0.25,
        penalty=0.7,
        tolerance=1e-10,
        arithmetic=arithmetic,
    )
    source, losses = Source(seed=4), Losses(examples=table(x, np.ones(3)), problem=problem)
    draws = np.sort([float(mechanism.sample(losses, source)[0]) for _ in range(600)])
    at = (np.sum(-x / (1.0 + np.exp(x * draws)), axis=0) + 0.7 * draws) / 1.5
    law = np.where(at < 0, 0.5 * np.exp(-np.abs(at)), 1.0 - 0.5 * np.exp(-np.abs(at)))
    assert np.max(np.abs(law - (np.arange(600) + 0.5) / 600)) < 0.08  # as above


def test_the_strict_linear_term_is_on_a_grid_within_the_tolerance() -> None:
    """Cut towards zero by less than a step, and sqrt(d) steps are within half the tolerance."""
    mechanism = PureObjectivePerturbation(
        scale=1.0, output_epsilon=0.1, lipschitz=1.0, smoothness=0.25, penalty=1.0, tolerance=0.5
    )
    term = mechanism.linear_term(100, Source(seed=1))
    step = np.gcd.reduce(np.round(term * 2**20).astype(np.int64)) / 2**20
    assert 0.5 * 0.25 / 2 <= math.sqrt(100) * step <= 0.25
    assert float(np.mean(np.abs(term))) == pytest.approx(10.0, rel=0.4)


@pytest.mark.parametrize("several", [False, True])
def test_objectives_are_compared_where_they_were_released(several: bool) -> None:
    """Distance and log-ratio of real losses, against finite differences of the density of the minimiser."""
    random = np.random.default_rng(3)
    x = random.uniform(-0.4, 0.4, size=(12, 2))
    y = random.integers(0, 3, size=12).astype(float) if several else np.sign(random.normal(size=12))
    loss: Any = Softmax(classes=3) if several else Logistic()
    problem = Problem(loss=loss, dimension=2)

    def losses(rows: int) -> Any:
        examples = ArrayExamples(
            features=x[:rows], labels=y[:rows], adjacency=Adjacency.add_remove, public_count=12
        )
        if several:
            return SoftmaxLosses(examples=examples, problem=problem, loss=loss)
        return Losses(examples=examples, problem=problem)

    penalty = 0.7
    mechanism = PureObjectivePerturbation(
        scale=1.0,
        output_epsilon=0.01,
        tolerance=1e-9,
        lipschitz=problem.lipschitz,
        smoothness=2.0,
        penalty=penalty,
        adjacency=Adjacency.add_remove,
        arithmetic="idealised",
    )
    one, two = losses(12), losses(11)
    at = random.normal(size=one.dimension)
    gap = np.linalg.norm(one.gradient(at) - two.gradient(at)) / float(mechanism.gradient_change)
    assert 0 < gap <= mechanism.distance(one, two, at=at) <= 1
    with pytest.raises(ParameterError, match="at must be a released point"):
        mechanism.distance(one, two)

    def log_density(objective: Any) -> float:
        def b(w: Any) -> Any:
            return -(objective.gradient(w) + penalty * w)

        steps = 1e-6 * np.eye(at.size)
        jacobian = np.stack([(b(at + step) - b(at - step)) / 2e-6 for step in steps])
        return float(-np.linalg.norm(b(at)) + np.linalg.slogdet(jacobian)[1])

    assert mechanism.log_ratio(one, two, at) == pytest.approx(log_density(one) - log_density(two), abs=1e-6)

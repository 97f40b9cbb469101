"""Small statements of the sources, each as a computation: what holds, and what does not.

Larger ones have tests where their code is; `studies/reproductions/items` points to both.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.special import logsumexp, rel_entr, softmax
from scipy.stats import binom, norm

from holdfast._arrays import Floats

RANDOM = np.random.default_rng(28)


@pytest.fixture(autouse=True)
def fresh() -> None:
    """Every test draws the same numbers, whichever ran before it."""
    RANDOM.bit_generator.state = np.random.default_rng(28).bit_generator.state


def simplex(size: int, count: int = 1) -> Floats:
    return RANDOM.dirichlet(np.ones(size), size=count)


# Micali 2022.


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("prior", [0.01, 0.5, 0.9])
def test_the_posterior_stays_within_e_to_epsilon_of_the_prior(prior: float, epsilon: float) -> None:
    for ratio in (math.exp(epsilon), math.exp(-epsilon)):  # the two worst outputs
        posterior = prior * ratio / (prior * ratio + 1.0 - prior)
        assert prior * math.exp(-epsilon) <= posterior <= prior * math.exp(epsilon)


def test_post_processing_never_tells_laws_apart_better() -> None:
    for _ in range(50):
        p, q = simplex(5, 2)
        channel = simplex(4, 5)  # what each output becomes
        for epsilon in (0.0, 0.3, 1.0):
            before, after = (
                np.maximum(a - math.exp(epsilon) * b, 0).sum()
                for a, b in ((p, q), (p @ channel, q @ channel))
            )
            assert after <= before + 1e-12


def _second_wins(gap: float, scale: float) -> float:
    """Of two candidates that lie `gap` apart, with Laplace noise of that scale on each."""
    return math.exp(-gap / scale) * (2 + gap / scale) / 4


def test_noisy_max_with_scale_l_over_epsilon_reaches_twice_epsilon() -> None:
    assert math.log(_second_wins(38.0, 1.0) / _second_wins(40.0, 1.0)) > 1.9  # promised: 1


def test_noisy_max_with_scale_n_l_over_epsilon_keeps_epsilon() -> None:
    for gap in np.linspace(2.0, 80.0, 40):  # n = 2, and each score moves by 1
        assert math.log(_second_wins(gap - 2.0, 2.0) / _second_wins(gap, 2.0)) <= 1.0


def test_the_privacy_loss_of_normal_noise_is_a_line() -> None:
    at = np.linspace(-5, 5, 101)
    assert np.allclose(np.diff(norm.logpdf(at) - norm.logpdf(at, loc=1.0), n=2), 0, atol=1e-12)


def test_a_threshold_above_all_entropies_is_right_in_half_of_the_cases() -> None:
    entropies, members = RANDOM.random(200), np.repeat([True, False], 100)
    assert np.mean((entropies <= entropies.max()) == members) == 0.5


@pytest.mark.parametrize("rate", [0.01, 0.3, 0.9])
def test_twice_rate_times_epsilon_bounds_the_amplified_epsilon(rate: float) -> None:
    for epsilon in np.linspace(0.01, 1.0, 50):
        assert math.log1p(rate * math.expm1(epsilon)) <= 2 * rate * epsilon


def test_the_largest_of_k_laplace_numbers() -> None:
    for k in (2, 10, 1000):
        largest = RANDOM.laplace(size=(4000, k)).max(axis=1).mean()
        assert largest <= 2 * math.log(4 * k)  # lemma 28, as its proof ends
    t = 0.5
    assert np.exp(t * RANDOM.laplace(size=400_000)).mean() == pytest.approx(
        1 / (1 - t * t), rel=0.02
    )  # no 2 above


def test_a_mean_of_b_gradients_errs_by_at_most_g_over_root_b_in_the_euclidean_norm() -> None:
    for b in (1, 4, 64):
        drawn = RANDOM.standard_normal((500, b, 7))
        drawn /= np.linalg.norm(drawn, axis=2, keepdims=True)  # G = 1, mean 0
        assert np.linalg.norm(drawn.mean(axis=1), axis=1).mean() <= 1 / math.sqrt(b)


def test_the_recursion_of_frank_wolfe_is_within_its_solution() -> None:
    m1, m2, risk, a = 0.3, 2.0, 50.0, 1.0
    for t in range(400):
        gamma = 2.0 / (2.0 + t)
        risk = (1 - gamma) * risk + gamma * m1 + gamma**2 * m2
        a = a * (1 - gamma) + gamma**2
        assert risk <= m1 + m2 * a + 1e-12
        assert a <= 4.0 / (t + 3)


def test_the_regularised_primal_and_dual_agree() -> None:
    query, table, alpha = np.array([1.0, 0.0, 0.3]), np.array([0.6, 0.3, 0.1]), 0.1

    def primal(z: Floats) -> float:
        p = softmax(z)
        return float(abs(query @ (table - p)) + alpha * np.sum(p * np.log(p)))

    def dual(c: float) -> float:
        return float(-(c * query @ table - alpha * logsumexp(c * query / alpha)))

    best = min(
        minimize(primal, z, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-12}).fun
        for z in RANDOM.normal(size=(5, 3))
    )
    assert best == pytest.approx(-minimize_scalar(dual, bounds=(-1, 1), method="bounded").fun, abs=1e-6)


def test_negative_entropy_is_strongly_convex_in_the_sum_and_so_in_the_largest_entry() -> None:
    for x, y in zip(simplex(6, 200), simplex(6, 200), strict=True):
        beyond = float(np.sum(rel_entr(y, x)))  # H(y) - H(x) - <H'(x), y - x>
        assert beyond >= 0.5 * np.abs(y - x).sum() ** 2 - 1e-12
        assert np.abs(y - x).sum() >= np.abs(y - x).max()


def test_value_entropy_and_conjugate_add_up_at_the_softmax() -> None:
    alpha, q = 0.7, RANDOM.normal(size=9)
    p = softmax(q / alpha)
    assert q @ p == pytest.approx(alpha * np.sum(p * np.log(p)) + alpha * logsumexp(q / alpha))


def test_the_population_loss_is_lipschitz_and_smooth_as_printed() -> None:
    alpha = 0.3
    for _ in range(200):
        one, two = RANDOM.normal(size=(2, 5))
        distance = np.abs(one - two).sum()
        losses = [q[0] - alpha * logsumexp(q / alpha) for q in (one, two)]
        assert abs(losses[0] - losses[1]) <= 2 * distance
        assert np.abs(softmax(one / alpha) - softmax(two / alpha)).max() <= distance / alpha


def test_sixty_three_is_not_a_thousand_to_two_thirds() -> None:
    assert round(1000 ** (2 / 3)) == 100
    assert round(1000**0.6) == 63


def test_the_log_likelihood_of_logistic_regression() -> None:
    z, y = RANDOM.normal(size=50), RANDOM.integers(0, 2, size=50)
    p = 1 / (1 + np.exp(-z))
    assert -np.sum(y * np.log(p) + (1 - y) * np.log(1 - p)) == pytest.approx(
        np.sum(np.log1p(np.exp(z)) - y * z)
    )


# Wu 2016.


def test_a_private_rule_is_stable() -> None:
    """Proposition 4.1 for randomised response, whose expected losses differ the most: at most B (e^epsilon - 1)."""
    for epsilon in (0.1, 1.0, 3.0):
        keep = math.exp(epsilon) / (1 + math.exp(epsilon))
        assert 2 * keep - 1 <= math.expm1(epsilon)


def test_the_regret_of_online_descent_is_within_its_bound() -> None:
    radius, lipschitz, steps = 1.0, 1.0, 300
    eta = radius / (lipschitz * math.sqrt(steps))
    w, losses, slopes = 0.0, 0.0, RANDOM.choice([-1.0, 1.0], p=[0.4, 0.6], size=steps)
    for slope in slopes:
        losses += slope * w
        w = float(np.clip(w - eta * slope, -radius, radius))
    regret = losses - min(-radius * slopes.sum(), radius * slopes.sum())
    assert regret <= radius**2 * 2 / eta + lipschitz**2 * steps * eta / 2  # the set has diameter 2 R


def test_noise_changes_a_lipschitz_loss_by_at_most_its_length_either_way() -> None:
    """Lemma 3.17 prints L(w) - L(w + noise); what utility needs is the other sign, and both hold."""
    rows, w = RANDOM.normal(size=(30, 4)), RANDOM.normal(size=4)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    noise = RANDOM.normal(size=4)
    change = np.mean(np.logaddexp(0, -rows @ (w + noise))) - np.mean(np.logaddexp(0, -rows @ w))
    assert abs(change) <= np.linalg.norm(noise)


def test_the_printed_hinge_has_no_loss_on_negatives() -> None:
    margins = RANDOM.normal(size=20)
    assert np.all(np.maximum(0, 0 * (1 - margins)) == 0)  # y = 0 in max(0, y (1 - <w, x>))
    assert np.any(np.maximum(0, 1 + margins) > 0)  # y = -1 in max(0, 1 - y <w, x>)


# Liang 2024.


def test_a_curve_for_positive_epsilon_does_not_determine_the_trade_off() -> None:
    p, q, other = np.full(3, 1 / 3), np.array([2 / 3, 1 / 6, 1 / 6]), np.array([2 / 3, 1 / 3, 0.0])

    def curve(second: Floats, epsilon: float) -> float:
        return float(np.maximum(second - math.exp(epsilon) * p, 0).sum())

    for epsilon in np.linspace(0.0, 3.0, 61):
        assert curve(q, epsilon) == pytest.approx(curve(other, epsilon), abs=1e-12)

    def least(second: Floats, mass: float) -> float:
        sets = itertools.chain.from_iterable(itertools.combinations(range(3), r) for r in range(4))
        return min(float(second[list(s)].sum()) for s in sets if p[list(s)].sum() == pytest.approx(mass))

    assert least(q, 1 / 3) == pytest.approx(1 / 6)
    assert least(other, 1 / 3) == 0.0


def test_the_mean_of_a_gibbs_law_is_within_d_over_k_of_the_least_value() -> None:
    for k in (1.0, 10.0, 200.0):
        x = np.linspace(-1, 1, 20_001)
        for f in (np.abs(x), x**2, np.maximum(0.2, x), x):
            weights = np.exp(-k * (f - f.min()))
            assert np.sum(weights * f) / weights.sum() <= f.min() + 1 / k


def test_gibbs_laws_that_differ_by_a_slope_are_no_farther_apart_than_normal_ones() -> None:
    x, mu, slope = np.linspace(-12, 12, 240_001), 2.0, 1.5
    for bend in (np.abs(x), 0.3 * x**4, np.logaddexp(0, 3 * x)):
        laws = [np.exp(-(mu / 2 * x**2 + bend + s * slope * x)) for s in (0, 1)]
        p, q = (law / law.sum() for law in laws)
        shift = slope / math.sqrt(mu)
        for epsilon in (0.0, 0.5, 1.0, 2.0):
            found = float(np.maximum(p - math.exp(epsilon) * q, 0).sum())
            allowed = norm.cdf(shift / 2 - epsilon / shift) - math.exp(epsilon) * norm.cdf(
                -shift / 2 - epsilon / shift
            )
            assert found <= allowed + 1e-6


# Fine 2020.


def test_a_clipped_network_may_be_steeper_than_printed() -> None:
    width, clip = 50, 0.1
    slope = (clip * math.sqrt(1 * width)) * (
        clip * math.sqrt(width * 1)
    )  # one input, one output, all weights at the clip
    assert slope == pytest.approx(0.5)
    assert slope > (1.0 * clip) ** 2  # (K w)^l, which does not know the width
    assert np.linalg.norm(np.full((width, width), clip), 2) == pytest.approx(clip * width)


def test_conjunctions_are_one_layer_with_relu_and_not_with_softplus() -> None:
    for p, size in ((3, 1), (4, 2), (5, 4)):
        rows = np.array(list(itertools.product((0, 1), repeat=p)))
        theta = (np.arange(p) < size).astype(float)
        inside = rows @ theta + 1 - size
        wanted = rows[:, :size].prod(axis=1)
        assert np.array_equal(np.maximum(inside, 0), wanted)
        assert np.abs(np.logaddexp(0, inside) - wanted).max() > 0.3


def test_softplus_is_monotone_convex_and_has_slopes_of_at_most_one() -> None:
    x = np.linspace(-30, 30, 2001)
    first = 1 / (1 + np.exp(-x))
    assert np.all((first > 0) & (first <= 1))
    assert np.all(first * (1 - first) >= 0)
    assert (first * (1 - first)).max() == pytest.approx(0.25)


def test_the_second_term_of_advanced_composition_is_not_free() -> None:
    epsilon, steps, delta = 8.0, 10, 1e-5
    each = epsilon / math.sqrt(2 * steps * math.log(1 / delta))  # algorithm 4
    assert math.sqrt(2 * steps * math.log(1 / delta)) * each + steps * each * math.expm1(
        each
    ) == pytest.approx(11.66, abs=0.01)


def test_a_game_at_equilibrium_answers_every_query_of_a_closed_class() -> None:
    """Theorem 2.3.1 on a small universe: the value of the generator's best mixture bounds every error."""
    from scipy.optimize import linprog

    universe = np.array(list(itertools.product((0, 1), repeat=3)))
    table = simplex(8)[0]
    queries = np.array(
        [universe[:, list(s)].prod(axis=1) for r in (1, 2) for s in itertools.combinations(range(3), r)]
    )
    signed = np.vstack([queries, -queries])
    size = len(universe)
    found = linprog(
        c=[0] * size + [1],
        A_ub=np.column_stack([-signed, -np.ones(len(signed))]),
        b_ub=-signed @ table,
        A_eq=[[1] * size + [0]],
        b_eq=[1],
        bounds=[(0, 1)] * size + [(None, None)],
    )
    assert found.x is not None
    assert found.fun is not None
    assert np.abs(queries @ (table - found.x[:size])).max() <= found.fun + 1e-9


def test_players_without_regret_come_to_an_equilibrium() -> None:
    game, rounds = RANDOM.uniform(-1, 1, size=(5, 6)), 2000
    eta = math.sqrt(8 * math.log(6) / rounds) / 2
    rows, columns = np.zeros(5), np.zeros(6)
    plays = []
    for _ in range(rounds):
        x, y = softmax(-eta * rows), softmax(eta * columns)
        plays.append((x, y))
        rows, columns = rows + game @ y, columns + x @ game
    x, y = (np.mean([play[side] for play in plays], axis=0) for side in (0, 1))
    regrets = [
        sum(x @ game @ y for x, y in plays) - rows.min(),
        columns.max() - sum(x @ game @ y for x, y in plays),
    ]
    assert (x @ game).max() - (game @ y).min() <= sum(regrets) / rounds + 1e-9
    assert sum(regrets) / rounds <= 4 * math.sqrt(math.log(6) / rounds)


def test_following_the_leader_regrets_at_most_what_leaders_change() -> None:
    losses = RANDOM.normal(size=(40, 6))  # six actions
    leaders = [0, *(int(losses[:t].sum(axis=0).argmin()) for t in range(1, 41))]
    regret = sum(losses[t, leaders[t]] for t in range(40)) - losses.sum(axis=0).min()
    assert regret <= sum(losses[t, leaders[t]] - losses[t, leaders[t + 1]] for t in range(40)) + 1e-9


# Homework, IIT Madras 2024.


def test_sherman_and_morrison_and_where_they_stop() -> None:
    a, u = np.eye(3) * 2.0, np.array([1.0, 2.0, 0.5])
    v = RANDOM.normal(size=3)
    inverse = np.linalg.inv(a)
    right = inverse - np.outer(inverse @ u, v @ inverse) / (1 + v @ inverse @ u)
    assert np.allclose(np.linalg.inv(a + np.outer(u, v)), right)
    stop = -u * 2.0 / (u @ u)  # v' A^-1 u = -1: singular; the printed v' A u = -4 says nothing
    assert np.linalg.det(a + np.outer(u, stop)) == pytest.approx(0.0, abs=1e-9)
    assert stop @ a @ u == pytest.approx(-4.0)


def test_adding_a_row_to_ridge_regression_moves_it_as_printed() -> None:
    x, y, penalty = RANDOM.normal(size=(40, 3)), RANDOM.normal(size=40), 2.0
    h, b = x.T @ x + penalty * np.eye(3), x.T @ y
    theta = np.linalg.solve(h, b)
    assert np.allclose(x.T @ (x @ theta - y) + penalty * theta, 0, atol=1e-9)  # Q 1.1
    row, target = np.array([0.6, 0.0, -0.8]), 0.4
    other = np.linalg.solve(h + np.outer(row, row), b + target * row)  # Q 1.2
    moved = np.linalg.solve(h, row) * (row @ theta - target) / (1 + row @ np.linalg.solve(h, row))
    assert np.allclose(theta - other, moved)  # Q 1.3
    assert np.linalg.norm(np.linalg.solve(h, row)) <= 1 / penalty  # Q 1.4
    assert np.linalg.norm(theta - other) <= abs(row @ theta - target) / penalty  # Q 1.5
    back = np.linalg.solve(h, row) * (row @ other - target)  # Q 1.6: removal, residual with the row in
    assert np.allclose(theta - other, back)


def test_scores_are_centred_where_the_canary_is_absent() -> None:
    canaries = RANDOM.standard_normal((400, 200))
    canaries /= np.linalg.norm(canaries, axis=1, keepdims=True)
    inside = RANDOM.integers(0, 2, size=400).astype(bool)
    scores = canaries @ canaries[inside].sum(axis=0)
    assert scores[inside].mean() == pytest.approx(1.0, abs=0.3)
    assert scores[~inside].mean() == pytest.approx(0.0, abs=0.3)


def test_hoeffding_by_hand_is_above_the_binomial_tail() -> None:
    for v in (70, 80, 90):
        for q in (0.5, 0.6):
            assert binom.sf(v - 1, 100, q) <= math.exp(-2 * 100 * max(v / 100 - q, 0) ** 2)

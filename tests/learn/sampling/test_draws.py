"""The sampler draws from the density: against quadrature, closed forms and itself; versions that do not are seen."""

from __future__ import annotations

import math

import numpy as np
import pytest

from holdfast._arrays import Floats
from holdfast.learn._problem.losses import HuberHinge, HuberRegression
from holdfast.learn._sampling import proximal, rounds
from holdfast.learn._sampling.acceptance import Coins, is_accepted
from holdfast.learn._sampling.potential import Potential
from holdfast.learn._sampling.proximal import ProximalRounds
from holdfast.learn._sampling.sampled_risk import SampledRisk
from holdfast.learn._sampling.start import certified_minimiser
from holdfast.privacy._mechanisms.tempered_risk import share_below

from .sampling_cases import always, direct_draws, ks_p, marginal, plan_of, potential_of, proximal_draws

ENOUGH = 1e-4
DIRECTIONS = {1: [np.ones(1)], 2: [np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.array([0.6, 0.8])]}


def worst(potential: Potential, *found: Floats) -> list[float]:
    """Of each set of draws the least p-value over directions, times their number."""
    laws = [(one, marginal(potential, one)) for one in DIRECTIONS[potential.dimension]]
    return [min(ks_p(draws @ one, law) for one, law in laws) * len(laws) for draws in found]


@pytest.mark.parametrize("proposals", [400.0, 20.0], ids=["few rounds", "many rounds"])
@pytest.mark.parametrize("dimension", [1, 2])
def test_rounds_draw_the_density_and_do_not_without_the_accept_step(
    dimension: int, proposals: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds, "ROUND_PROPOSALS", proposals)
    potential = potential_of(dimension)
    assert plan_of(potential, eta=1e-6).rounds > (3 if proposals == 20.0 else 0)
    right, wrong = worst(
        potential, proximal_draws(potential, 500), proximal_draws(potential, 500, accept=always)
    )
    assert wrong < 1e-6 < ENOUGH < right


def test_a_bad_tangent_costs_time_and_not_the_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tangency is put elsewhere: what is left of the gradient moves the proposals instead."""
    monkeypatch.setattr(rounds, "ROUND_PROPOSALS", 20.0)
    potential = potential_of(1)

    near = ProximalRounds._near

    def moved(self: ProximalRounds, y: Floats) -> tuple[proximal.Tangent, Floats]:
        at = near(self, y)[0].at + 0.4
        gradient, predictions = potential.gradient(at)
        k, a, h = self._plan.inverse_temperature, self._plan.strong_convexity, self._plan.step
        tangent = proximal.Tangent(at=at, gradient=gradient, predictions=predictions)
        return tangent, k * gradient + a * at + (at - y) / h

    monkeypatch.setattr(ProximalRounds, "_near", moved)
    assert worst(potential, proximal_draws(potential, 400))[0] > ENOUGH


@pytest.mark.parametrize("loss", [HuberHinge(width=0.5), HuberRegression()], ids=lambda loss: loss.name)
def test_other_losses(loss: HuberHinge | HuberRegression) -> None:
    potential = potential_of(2, loss=loss, k=15.0)
    both = worst(potential, proximal_draws(potential, 400, seed=1), direct_draws(potential, 400, seed=2))
    assert min(both) > ENOUGH


@pytest.mark.parametrize("exact", [True, False], ids=["direct", "proximal"])
def test_linear_losses_give_the_normal_law_in_any_dimension(exact: bool) -> None:
    """Huber's loss far from every label is a line: N(-gradient / penalty, 1 / (k penalty)), and nothing is rejected."""
    from scipy.stats import chi2

    far = HuberRegression(width=1e-3)
    potential = potential_of(25, loss=far, penalty=1.0, k=10.0)
    potential.rows.labels[:] = np.where(potential.rows.labels > 0, 1e4, -1e4)
    found = (direct_draws if exact else proximal_draws)(potential, 200)
    gradient = potential.gradient(np.zeros(25))[0]
    scores = (found + gradient / potential.penalty) * math.sqrt(
        potential.inverse_temperature * potential.penalty
    )
    assert (
        ks_p(scores.ravel(), lambda at: np.asarray(0.5 * (1 + np.vectorize(math.erf)(at / math.sqrt(2)))))
        > ENOUGH
    )
    assert ENOUGH < chi2.cdf(np.sum(scores**2), scores.size) < 1 - ENOUGH


def test_direct_and_proximal_agree_at_sixteen_columns() -> None:
    from scipy.stats import ks_2samp

    potential = potential_of(16, k=40.0, penalty=0.02, rows=200)
    one, two = direct_draws(potential, 200, seed=3), proximal_draws(potential, 200, seed=4)
    centre = certified_minimiser(potential, plan_of(potential))
    values = [potential.values(found) for found in (one, two)]
    lengths = [np.linalg.norm(found - centre, axis=1) for found in (one, two)]
    sides = [found @ np.ones(16) for found in (one, two)]
    for first, second in (values, lengths, sides):
        assert ks_2samp(first, second).pvalue > ENOUGH


@pytest.mark.parametrize("dimension", [1, 2])
def test_draws_on_a_box(dimension: int) -> None:
    potential = potential_of(dimension, penalty=0.0)
    found = direct_draws(potential, 120, half_side=1.0)
    assert np.all(np.abs(found) <= 1.0)
    risk = SampledRisk(potential=potential, plan=plan_of(potential, half_side=1.0))
    # Given the other coordinates, the share below is uniform.
    shares = np.array([share_below(risk, one, number % dimension) for number, one in enumerate(found)])
    assert ks_p(shares, lambda at: np.clip(at, 0.0, 1.0)) > ENOUGH
    wrong = np.array([share_below(risk, 0.3 * one, number % dimension) for number, one in enumerate(found)])
    assert ks_p(wrong, lambda at: np.clip(at, 0.0, 1.0)) < 1e-4


def langevin(potential: Potential, count: int, *, step: float, steps: int) -> Floats:
    """Unadjusted Langevin steps. NOT PRIVATE: no usable bound on its distance from the density is known."""
    random = np.random.Generator(np.random.PCG64(0))
    k, found = potential.inverse_temperature, np.zeros((count, potential.dimension))
    for place in range(count):
        x = certified_minimiser(potential, plan_of(potential, eta=1e-6))
        for _ in range(steps):
            slope = k * (potential.gradient(x)[0] + potential.penalty * x)
            x = x - step * slope + math.sqrt(2 * step) * random.normal(size=x.size)
        found[place] = x
    return found


def test_unadjusted_langevin_is_seen_by_the_same_test() -> None:
    """At two fifths of the largest stable step, and long enough to have forgotten its start."""
    potential = potential_of(1)
    smooth = potential.inverse_temperature * (0.25 + potential.penalty)
    assert worst(potential, langevin(potential, 1000, step=0.8 / smooth, steps=15))[0] < ENOUGH


def turned(potential: Potential, kind: str) -> Potential:
    """Tables that are as bad as a bound allows: one row again and again, rows along axes, and none."""
    count, d = potential.rows.features.shape
    if kind == "one row":
        potential.rows.features[:] = np.eye(d)[0]
        potential.rows.labels[:] = np.where(np.arange(count) % 2 == 0, 1.0, -1.0)
    elif kind == "axes":
        potential.rows.features[:] = np.eye(d)[np.arange(count) % d]
        potential.rows.labels[:] = np.where(np.arange(count) // d % 2 == 0, 1.0, -1.0)
    return potential


@pytest.mark.parametrize("kind", ["random", "one row", "axes"])
@pytest.mark.parametrize("exact", [True, False], ids=["direct", "proximal"])
def test_no_table_needs_more_proposals_than_the_public_bound(
    kind: str, exact: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    potential = turned(potential_of(4, penalty=0.02, k=60.0), kind)
    asked = 0

    def counting(*args: object) -> bool:
        nonlocal asked
        asked += 1
        return is_accepted(*args)  # type: ignore[arg-type]

    if exact:
        monkeypatch.setattr("holdfast.learn._sampling.direct.is_accepted", counting)
        direct_draws(potential, 300)
        # The certified tolerance may cost e^START.
        assert asked / 300 <= 1.2 * math.exp(rounds.START_ALLOWANCE) * plan_of(potential).direct_bound
    else:
        plan = plan_of(potential, eta=1e-6)
        proximal_draws(potential, 100, accept=counting)
        assert asked / (100 * plan.rounds) <= 1.2 * rounds.ROUND_PROPOSALS * math.exp(0.5)
    assert asked > 300  # something is rejected


def test_all_gaps_at_once_or_thinned_is_the_same_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    from holdfast.learn._sampling import acceptance
    from holdfast.noise._source import Source

    potential = potential_of(3, rows=40)
    v, predictions = np.array([0.5, -0.2, 0.4]), potential.gradient(np.zeros(3))[1]
    chance = math.exp(-potential.weight * potential.gaps.total(predictions, v))
    for share in (0.0, 1e9):
        monkeypatch.setattr(acceptance, "WHOLE_SHARE", share)
        coins = Coins(Source(seed=7))
        kept = np.mean([is_accepted(potential, predictions, v, coins) for _ in range(4000)])
        assert abs(kept - chance) < 4.5 * math.sqrt(chance * (1 - chance) / 4000)

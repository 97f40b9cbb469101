from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import AlreadyReleased, BudgetExceeded, LedgerError, ParameterError
from holdfast.noise._source import Source
from holdfast.privacy import (
    ZCDP,
    Account,
    ApproxDP,
    DiscreteGaussian,
    Exponential,
    Gaussian,
    GaussianDP,
    Laplace,
    PermuteAndFlip,
    PrivacyCurve,
    PureDP,
    SubsampledGaussian,
    WithSlack,
)
from holdfast.privacy._account.journal import MemoryJournal

TENTH = Laplace(scale=10.0, l1_sensitivity=1.0)


class Spy(Laplace):
    """Counts how often noise is drawn."""

    drawn = 0

    def sample(self, value: np.ndarray, source: Source) -> np.ndarray:
        type(self).drawn += 1
        return super().sample(value, source)


def test_ten_tenths_fit_into_one_and_the_eleventh_does_not() -> None:
    account = Account(PureDP(1.0), seed=0)
    for _ in range(10):
        account.release(TENTH, [1.0])
    with pytest.raises(BudgetExceeded, match="nothing was charged"):
        account.release(TENTH, [1.0])
    assert account.spent() == PureDP(Fraction(1))
    assert account.remaining() == PureDP(Fraction(0))


def test_thirds_of_mu_fit_nine_times() -> None:
    account = Account(GaussianDP(1.0), seed=0)
    third = Gaussian(sigma=3.0, l2_sensitivity=1.0)
    for _ in range(9):
        account.release(third, [1])
    with pytest.raises(BudgetExceeded):
        account.release(third, [1])


def test_a_refused_charge_draws_nothing_and_changes_nothing() -> None:
    Spy.drawn = 0
    account = Account(PureDP(0.05), seed=0)
    with pytest.raises(BudgetExceeded):
        account.release(Spy(scale=10.0, l1_sensitivity=1.0), [1.0])
    assert Spy.drawn == 0
    assert account.journal.spent("") is None


def test_failed_sampling_stays_charged_and_abandoned() -> None:
    class Broken(Laplace):
        def sample(self, value: np.ndarray, source: Source) -> np.ndarray:
            raise MemoryError

    account = Account(PureDP(1.0), seed=0)
    with pytest.raises(MemoryError):
        account.release(Broken(scale=1.0, l1_sensitivity=1.0), [1.0])
    assert isinstance(account.journal, MemoryJournal)
    assert [e.state for e in account.journal.entries] == ["abandoned"]
    assert account.remaining() == PureDP(Fraction(0))


def test_a_key_pays_once_and_gives_the_same_value() -> None:
    account = Account(PureDP(1.0), seed=0)
    first = account.release(TENTH, [1.0, 2.0], key="job/1")
    again = account.release(TENTH, [5.0, 5.0], key="job/1")
    assert np.array_equal(first, again)
    assert account.spent() == PureDP(Fraction(1, 10))
    with pytest.raises(LedgerError, match="another mechanism"):
        account.release(Laplace(scale=2.0, l1_sensitivity=1.0), [1.0], key="job/1")


def test_of_two_runs_with_one_key_one_value_leaves() -> None:
    """A second run of the same job draws and settles while the first is still drawing."""
    account = Account(PureDP(1.0), seed=0)
    inner: list[np.ndarray] = []

    class Overtaken(Laplace):
        def sample(self, value: np.ndarray, source: Source) -> np.ndarray:
            if not inner:
                inner.append(np.zeros(0))
                inner[0] = account.release(self, value, key="job")
            return super().sample(value, source)

    outer = account.release(Overtaken(scale=10.0, l1_sensitivity=1.0), [1.0], key="job")
    assert np.array_equal(outer, inner[0])
    assert account.spent() == PureDP(Fraction(1, 10))


def test_a_permit_is_charged_at_once_and_ends() -> None:
    account = Account(ZCDP(1.0), seed=0)
    permit = account.permit(Gaussian(sigma=10.0, l2_sensitivity=1.0, arithmetic="idealised"), times=3)
    assert account.spent() == ZCDP(Fraction(3, 200))
    for _ in range(3):
        permit.release([0.0])
    with pytest.raises(BudgetExceeded):
        permit.release([0.0])
    with pytest.raises(ParameterError, match="times"):
        account.permit(TENTH, times=0)


def test_a_drawn_permit_is_not_resumed_by_its_key() -> None:
    account = Account(ZCDP(1.0), seed=0)
    permit = account.permit(TENTH, times=2, key="loop")
    twin = account.permit(TENTH, times=2, key="loop")
    assert account.spent() == ZCDP(Fraction(1, 100))
    permit.release([0.0])
    with pytest.raises(AlreadyReleased):
        twin.release([0.0])
    with pytest.raises(AlreadyReleased):
        account.permit(TENTH, times=2, key="loop")


def test_shares_have_their_own_limit_and_the_parents() -> None:
    account = Account(PureDP(1.0), seed=0)
    small, large = account.split(0.1, 0.9)
    small.release(TENTH, [1.0])
    with pytest.raises(BudgetExceeded, match="share"):
        small.release(TENTH, [1.0])
    for _ in range(9):
        large.release(TENTH, [1.0])
    assert account.spent() == PureDP(Fraction(1))
    squeezed, _ = Account(PureDP(1.0), seed=0).split(0.5, 0.5)
    assert squeezed.guarantee().curve == PureDP(Fraction(1, 2))


def test_a_share_is_stopped_by_its_parent() -> None:
    account = Account(PureDP(1.0), seed=0)
    (share,) = account.split(1.0)
    account.release(Laplace(scale=1.0, l1_sensitivity=1.0), [0.0])
    with pytest.raises(BudgetExceeded):
        share.release(TENTH, [1.0])
    assert share.remaining() == PureDP(Fraction(0))


@pytest.mark.parametrize("shares", [(), (0.6, 0.6), (-0.1,), (0.0,)])
def test_bad_shares(shares: tuple[float, ...]) -> None:
    with pytest.raises(ParameterError, match="shares"):
        Account(PureDP(1.0)).split(*shares)


@pytest.mark.parametrize("currency", ["gdp", "zcdp", "renyi"])
@pytest.mark.parametrize("limit", [(1.0, 1e-6), (0.05, 1e-9), (8.0, 1e-3), (0.01, 1e-12)])
def test_a_translated_limit_is_within_what_was_asked(currency: str, limit: tuple[float, float]) -> None:
    account = Account(ApproxDP(*limit), currency=currency)
    promised = account.guarantee().curve
    assert promised.delta(limit[0]) <= limit[1]
    assert promised.epsilon(limit[1]) <= limit[0] * (1 + 1e-9)
    assert promised.delta(limit[0]) >= 0.99 * limit[1], "the translation should not waste the limit"


def test_an_account_never_recomputes_its_limit() -> None:
    """Soundness, section 19, test (ii)."""
    account = Account(ApproxDP(1.0, 1e-6), currency="zcdp", seed=0)
    before = account.guarantee().curve
    account.release(Gaussian(sigma=100.0, l2_sensitivity=1.0), [1.0])
    assert account.guarantee().curve == before


@given(st.lists(st.sampled_from([0.25, 0.5, 1.0, 3.0]), min_size=1, max_size=30), st.integers(0, 2**32))
def test_adaptive_charges_are_refused_exactly_when_the_sum_passes_the_limit(
    scales: list[float], seed: int
) -> None:
    """Soundness, section 19, test (i): each charge is chosen from the noisy answer before it."""
    account = Account(ZCDP(2.0), seed=seed)
    total, answer = Fraction(0), 0.0
    for scale in scales:
        sigma = scale * (2.0 if answer > 0 else 1.0)
        cost = 1 / (2 * Fraction(str(sigma)) ** 2)
        mechanism = Gaussian(sigma=sigma, l2_sensitivity=1.0)
        if total + cost <= 2:
            answer = float(account.release(mechanism, [0.0])[0])
            total += cost
        else:
            with pytest.raises(BudgetExceeded):
                account.release(mechanism, [0.0])
    assert account.spent() == ZCDP(total)


def test_what_each_currency_refuses() -> None:
    """Soundness, section 19: mixed entries, test (iii)."""
    subsampled = SubsampledGaussian(sigma=1.0, l2_sensitivity=1.0, rate=0.01)
    for currency in ("gdp", "zcdp", "basic"):
        account = Account(ApproxDP(1.0, 1e-6), currency=currency, adjacency="add_remove", seed=0)
        with pytest.raises(ParameterError, match="currency"):
            account.release(subsampled, [0.0])
    gdp = Account(GaussianDP(2.0), seed=0)
    with pytest.raises(ParameterError, match="gdp"):
        gdp.release(DiscreteGaussian(sigma=2.0, l2_sensitivity=1), [1])


def test_a_selection_costs_its_bounded_range_in_gdp_never_an_eighth() -> None:
    account = Account(GaussianDP(2.0), seed=0)
    account.release(Exponential(epsilon=1.0, sensitivity=1.0), [0.0, 1.0])
    spent = account.spent().as_gdp()
    assert spent is not None
    # mu = 2 Phi^-1(e^(1/2) / (1 + e^(1/2))) = 0.6239; an eighth in zCDP would be 0.5.
    assert float(spent) ** 0.5 == pytest.approx(0.62389, abs=1e-4)


def test_zcdp_costs() -> None:
    account = Account(ZCDP(10.0), seed=0)
    account.release(Exponential(epsilon=1.0, sensitivity=1.0), [0.0, 1.0])
    account.release(PermuteAndFlip(epsilon=1.0, sensitivity=1.0), [0.0, 1.0])
    account.release(DiscreteGaussian(sigma=2.0, l2_sensitivity=1), [1])
    account.release(Gaussian(sigma=2.0, l2_sensitivity=1.0), [1.0])
    account.release(Laplace(scale=2.0, l1_sensitivity=1.0), [1.0])
    assert account.spent() == ZCDP(
        Fraction(1, 8) + Fraction(1, 2) + Fraction(1, 8) + Fraction(1, 8) + Fraction(1, 8)
    )


def test_subsampled_noise_in_a_renyi_account() -> None:
    account = Account(ApproxDP(2.0, 1e-5), currency="renyi", adjacency="add_remove", seed=0)
    step = SubsampledGaussian(sigma=2.0, l2_sensitivity=1.0, rate=0.01, arithmetic="idealised")
    permit = account.permit(step, times=500)
    permit.release(np.zeros(3))
    assert account.guarantee().curve.epsilon(1e-5) <= 2.0
    with pytest.raises(BudgetExceeded):
        account.permit(step, times=100_000)


def test_subsampled_noise_at_one_point_of_a_basic_account() -> None:
    account = Account(ApproxDP(2.0, 1e-5), currency="basic", adjacency="add_remove", seed=0)
    step = SubsampledGaussian(sigma=1.0, l2_sensitivity=1.0, rate=0.01)
    account.permit(step, times=500, delta=1e-6)
    spent = account.spent().as_approximate()
    assert spent is not None
    assert float(spent[0]) == pytest.approx(step.curve.repeat(500).epsilon(1e-6))


def test_a_plan_may_use_any_curve_and_nothing_else() -> None:
    step = SubsampledGaussian(sigma=1.0, l2_sensitivity=1.0, rate=0.01)
    choice = Exponential(epsilon=0.1, sensitivity=1.0)
    plan = [(step, 100), (choice, 1)]
    account = Account(ApproxDP(1.0, 1e-5), plan=plan, adjacency="add_remove", seed=0)
    account.release(choice, [0.0, 1.0])
    with pytest.raises(BudgetExceeded):
        account.release(choice, [0.0, 1.0])
    with pytest.raises(ParameterError, match="plan"):
        account.release(Exponential(epsilon=0.2, sensitivity=1.0), [0.0, 1.0])
    account.permit(step, times=100)
    assert account.guarantee().curve.epsilon(1e-5) <= 1.0
    with pytest.raises(ParameterError, match="does not fit"):
        Account(ApproxDP(0.2, 1e-5), plan=plan, adjacency="add_remove")


def test_slack_is_refused_unless_the_limit_has_room_for_it() -> None:
    class Close(Gaussian):
        """A sampler that is only close to its law."""

        @property
        def curve(self) -> PrivacyCurve:  # type: ignore[override]
            return WithSlack(GaussianDP(Fraction(1, 10)), 1e-12, 1e-9)

    close = Close(sigma=10.0, l2_sensitivity=1.0)
    with pytest.raises(BudgetExceeded, match="slack"):
        Account(GaussianDP(1.0), seed=0).release(close, [0.0])
    with pytest.raises(BudgetExceeded, match="slack"):
        Account(WithSlack(GaussianDP(1.0), 1e-10), seed=0).release(close, [0.0])
    account = Account(WithSlack(GaussianDP(1.0), 1e-10, 2e-9), seed=0)
    account.release(close, [0.0])
    assert account.spent().failure == Fraction(1, 10**9)
    assert account.guarantee().curve.delta(3.0) > GaussianDP(1.0).delta(3.0)


@pytest.mark.parametrize(
    ("limit", "currency"),
    [
        (PureDP(1.0), "zcdp"),
        (PureDP(1.0), "gdp"),
        (ZCDP(1.0), "pure"),
        (GaussianDP(1.0), "zcdp"),
        (ZCDP(1.0), "gdp"),
    ],
)
def test_limits_that_have_no_meaning_in_a_currency(limit: PrivacyCurve, currency: str) -> None:
    with pytest.raises(ParameterError, match=currency):
        Account(limit, currency=currency)


def test_unknown_currency_and_order() -> None:
    with pytest.raises(ParameterError, match="currency"):
        Account(PureDP(1.0), currency="euro")
    with pytest.raises(ParameterError, match="order"):
        Account(ApproxDP(1.0, 1e-6), currency="renyi", order=1.0)


class Interrupted(Laplace):
    """Drawing is interrupted as often as told."""

    left = 0

    def sample(self, value: np.ndarray, source: Source) -> np.ndarray:
        if type(self).left > 0:
            type(self).left -= 1
            raise KeyboardInterrupt
        return super().sample(value, source)


@pytest.mark.parametrize("key", [None, "loop"])
def test_an_interrupted_permit_is_charged_and_not_released(key: str | None) -> None:
    """Finding E8: the record says what happened; nothing left, so that a job of the same key may draw after all."""
    account, noise = Account(PureDP(1.0), seed=0), Interrupted(scale=10.0, l1_sensitivity=1.0)
    permit = account.permit(noise, times=3, key=key)
    Interrupted.left = 1
    with pytest.raises(KeyboardInterrupt):
        permit.release([0.0])
    assert [entry.state for entry in account.journal.entries] == ["charged"]
    if key is not None:
        permit = account.permit(noise, times=3, key=key)
    permit.release([0.0])
    assert [entry.state for entry in account.journal.entries] == ["released"]
    assert account.spent() == PureDP(Fraction(3, 10))
    Interrupted.left = 1
    with pytest.raises(KeyboardInterrupt):
        permit.release([0.0])
    assert [entry.state for entry in account.journal.entries] == ["released"]  # one value has left

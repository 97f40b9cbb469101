"""The numbers of soundness section 27: bounds, orientation, top-k, and intervals that hold."""

from __future__ import annotations

import math

import numpy as np
import pytest

from holdfast.attack._attributes.informed import informed_accuracy, informed_accuracy_of_many
from holdfast.attack._attributes.outcome import Gain, MemberGap, RightGuesses, Surest, group_risks
from holdfast.attack._roc import Rate
from holdfast.privacy import ApproxDP, GaussianDP, PureDP
from holdfast.privacy._tradeoff import TradeOff
from tests.studies.size import Study, trials


def _gap(fresh: float) -> MemberGap:
    right = np.arange(1000) < round(1000 * fresh)
    return MemberGap.of(right, right)


@pytest.mark.parametrize(
    ("curve", "allowed"),
    [
        (ApproxDP(1.0, 1e-5), (0.8161, 0.8896, 0.9632)),
        (ApproxDP(4.0, 1e-5), (0.9908, 0.9945, 0.9982)),
        (GaussianDP(0.5), (0.6915, 0.8472, 0.9626)),
        (GaussianDP(1.0), (0.8413, 0.9363, 0.9887)),
    ],
    ids=str,
)
def test_what_a_proof_allows_on_members(curve: ApproxDP | GaussianDP, allowed: tuple[float, ...]) -> None:
    found = [_gap(fresh).bound(curve.trade_off()) for fresh in (0.5, 0.7, 0.9)]
    # The polygon of a curve proves slightly less than the curve, never more.
    assert all(most - 6e-5 <= one <= most + 2e-3 for one, most in zip(found, allowed, strict=True))


def test_the_largest_difference_that_proofs_allow() -> None:
    assert PureDP(1.0).trade_off().advantage() == pytest.approx(0.4621, abs=5e-5)
    assert GaussianDP(1.0).trade_off().advantage() == pytest.approx(0.3829, abs=6e-5)


def test_fresh_people_are_the_null_of_an_asymmetric_curve() -> None:
    """A release by which members are guessed at 0.9 and others at 0.5: the curve's labels exchanged would forbid it."""
    proved = TradeOff([0.0, 0.5, 1.0], [1.0, 0.1, 0.0], claim="proved")
    exchanged = TradeOff([0.0, 0.1, 1.0], [1.0, 0.5, 0.0], claim="proved")
    assert _gap(0.5).bound(proved) == pytest.approx(0.9)
    assert _gap(0.5).bound(exchanged) == pytest.approx(0.722, abs=5e-4)


def test_a_measured_curve_bounds_nothing() -> None:
    with pytest.raises(ValueError, match="proved"):
        _gap(0.5).bound(TradeOff([0.0, 1.0], [1.0, 0.0], claim="measured"))


def test_someone_who_knows_all_else() -> None:
    curve = PureDP(1.0).trade_off()
    assert informed_accuracy(curve, prior=0.7) == pytest.approx(0.7311, abs=5e-5)
    assert informed_accuracy(curve, prior=0.9) == pytest.approx(0.9)
    assert informed_accuracy_of_many(1.0, kinds=5) == pytest.approx(0.4046, abs=5e-5)


def test_the_gap_is_fishers_test_inverted() -> None:
    from scipy.stats import fisher_exact

    gap = MemberGap.of(np.arange(80) < 60, np.arange(70) < 40)
    p = fisher_exact(np.array([[60, 20], [40, 30]]), alternative="greater")[1]
    assert gap.p_value == pytest.approx(float(p))
    assert gap.low < gap.value < gap.high
    # The limits exclude zero exactly when one tail of the test is below its half of the error.
    for right in range(30, 70):
        one = MemberGap.of(np.arange(80) < right, np.arange(70) < 40)
        assert (one.low > 0) == (one.p_value <= 0.025)


def test_the_gap_covers_nothing_at_its_rate(study: Study) -> None:
    runs, random, missed = trials(2000), np.random.default_rng(5), 0
    for _ in range(runs):
        right = random.random(160) < 0.7
        who = random.permutation(160) < 80
        gap = MemberGap.of(right[who], right[~who])
        missed += not gap.low <= 0.0 <= gap.high
    study.alarms(missed, rate=0.05, runs=runs, chance=0.01)


def test_a_gain_is_paired() -> None:
    right = np.random.default_rng(0).random(500) < 0.6
    same = Gain.of(right, right)
    assert same.value == 0.0
    assert same.low == pytest.approx(-same.high)
    assert same.p_value == 1.0
    better = Gain.of(right | (np.arange(500) < 40), right)
    assert better.low > 0
    assert better.p_value < 1e-3


def _drawn(random: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    sure = random.random(count)
    return random.random(count) < 0.4 + 0.5 * sure, sure


def test_the_surest_are_covered_although_they_were_chosen(study: Study) -> None:
    """Top 50 of 1,000, k fixed: the limits hold for the mean chance of those chosen."""
    runs, random, missed = trials(2000), np.random.default_rng(1), 0
    for _ in range(runs):
        right, sure = _drawn(random, 1000)
        top = np.argsort(-sure)[:50]
        rate = Rate.of(int(right[top].sum()), 50)
        missed += not rate.low <= float(np.mean(0.4 + 0.5 * sure[top])) <= rate.high
    study.alarms(missed, rate=0.05, runs=runs, chance=0.01)


def test_the_best_of_several_k_is_no_test_at_its_level() -> None:
    """One k alarms at most at its rate; the best of five k alarms far more often (soundness: 0.029 and 0.099)."""
    random, fixed, best = np.random.default_rng(2), 0, 0
    for _ in range(2000):
        right = random.random(500) < 0.5
        alarms = [Rate.of(int(right[:k].sum()), k, confidence=0.9).low > 0.5 for k in (10, 25, 50, 100, 200)]
        fixed, best = fixed + alarms[2], best + any(alarms)
    assert fixed / 2000 <= 0.05
    assert best / 2000 > 1.8 * fixed / 2000


def test_members_among_the_surest_are_told_by_the_coins() -> None:
    random = np.random.default_rng(3)
    fresh, fresh_sure = _drawn(random, 300)
    members, members_sure = _drawn(random, 300)
    quiet = RightGuesses(members=members, fresh=fresh, members_sure=members_sure, fresh_sure=fresh_sure)
    loud = RightGuesses(
        members=np.ones(300, bool),
        fresh=random.random(300) < 0.3,
        members_sure=members_sure,
        fresh_sure=fresh_sure,
    )
    assert Surest.of(quiet, k=50).p_value > 0.01
    found = Surest.of(loud, k=50)
    assert found.members == 1.0
    assert found.p_value == pytest.approx(1e-3)


def test_groups_share_one_error() -> None:
    random = np.random.default_rng(4)
    imputer = random.random(4000) < 0.5
    groups = {f"g{k}": np.arange(4000) // 200 == k for k in range(20)}
    attack = imputer.copy()
    attack[groups["g7"]] |= random.random(200) < 0.3
    found = group_risks(groups, attack, imputer)
    assert [one.group for one in found if one.at_risk] == ["g7"]
    assert found[0].group == "g7"
    # A coin that helps as often as it hurts: twenty groups together accuse at most one time in twenty.
    accused = 0
    for _ in range(200):
        noisy = np.where(random.random(4000) < 0.1, random.random(4000) < 0.5, imputer)
        even = np.where(noisy != imputer, random.random(4000) < 0.5, imputer)
        accused += any(one.at_risk for one in group_risks(groups, even, imputer))
    assert accused <= 21  # a binomial of rate 0.05 exceeds it once in a thousand times
    assert math.isfinite(found[0].gain.value)

"""Figures about guesses: the gain over the imputer, members against fresh people, and the surest guesses.

Only the difference between members and fresh people, by the same guesser and the same model, is a leak about members,
and only that is bounded by a proof (soundness, section 27). How well fresh people are guessed is bounded by nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast._arrays import Bools, Floats
from holdfast.attack._roc import Rate
from holdfast.errors import require
from holdfast.privacy._tradeoff import TradeOff, clopper_pearson_lower, clopper_pearson_upper

PERMUTATIONS = 999


@dataclass(frozen=True, kw_only=True, eq=False)
class RightGuesses:
    """Who was guessed right, members and fresh people, and how sure the guesser was of each."""

    members: Bools
    fresh: Bools
    members_sure: Floats
    fresh_sure: Floats

    def accuracy(self, confidence: float = 0.95) -> Rate:
        """The share of fresh people guessed right."""
        return Rate.of(int(self.fresh.sum()), self.fresh.size, confidence=confidence)

    def member_accuracy(self) -> float:
        """The share of members guessed right; outcomes depend on each other through the model."""
        return float(self.members.mean())


@dataclass(frozen=True, kw_only=True)
class Gain:
    """How much more often one guesser is right than another, on the same people."""

    value: float
    low: float
    high: float
    p_value: float
    """Of no gain, by the sign test on those about whom they differ, one-sided."""

    @classmethod
    def of(cls, attack: Bools, imputer: Bools, *, confidence: float = 0.95) -> Gain:
        """The gain of an attack over the imputer; half of the error is for each of the two kinds of disagreement.

        >>> gain = Gain.of(np.array([True] * 60 + [False] * 40), np.array([True] * 40 + [False] * 60))
        >>> gain.value, gain.low > 0, gain.p_value < 1e-5
        (0.2, True, True)
        """
        from scipy.stats import binom

        require(attack.size == imputer.size >= 1, "attack", attack.size, "one outcome per person")
        n, up, down = attack.size, int(np.sum(attack & ~imputer)), int(np.sum(~attack & imputer))
        error = (1.0 - confidence) / 4.0
        return cls(
            value=(up - down) / n,
            low=clopper_pearson_lower(up, n, error=error) - clopper_pearson_upper(down, n, error=error),
            high=clopper_pearson_upper(up, n, error=error) - clopper_pearson_lower(down, n, error=error),
            p_value=float(binom.sf(up - 1, up + down, 0.5)),
        )

    def summary(self) -> str:
        """The number and its limits."""
        return f"{self.value:+.3f} [{self.low:+.3f}, {self.high:+.3f}]"


@dataclass(frozen=True, kw_only=True)
class MemberGap:
    """Accuracy on members minus accuracy on fresh people.

    Where members were chosen by coins, the p-value of "no leak" is exact: given who is guessed right, the number of
    members among them is hypergeometric.

    The limits are of the *attributable* share: that of the members who are guessed right only because they are members
    (Rosenbaum 2001). Take a number of such members away, and what is left must look like coins; the numbers for which
    neither tail of the hypergeometric law is below half of the error are inside. Three things follow. The limits are
    about these people and this model: another sample or another training is no part of them. They presume that being
    a member never makes a guess wrong that would be right otherwise (a negative lower end only says how many fresh
    people are ahead by chance). And `value`, the plain difference of two shares, is no estimate made by that test, so
    the limits need not lie evenly around it.
    """

    members: float
    fresh: float
    low: float
    high: float
    p_value: float

    @classmethod
    def of(cls, members: Bools, fresh: Bools, *, confidence: float = 0.95) -> MemberGap:
        """The gap between members and fresh people, from whether each was guessed right.

        >>> gap = MemberGap.of(np.arange(100) < 90, np.arange(100) < 60)
        >>> round(gap.value, 2), gap.low > 0.1, gap.p_value < 1e-6
        (0.3, True, True)
        """
        from scipy.stats import hypergeom

        m, n = members.size, fresh.size
        require(m >= 1 and n >= 1, "members", (m, n), "one member and one fresh person or more")
        inside, outside = int(members.sum()), int(fresh.sum())
        error = (1.0 - confidence) / 2.0
        # `usual` is how many members would be guessed right even if they were not members.
        usual = np.arange(m + 1)
        above = np.asarray(hypergeom.sf(usual - 1, m + n, usual + outside, m))
        below = hypergeom.cdf(usual, m + n, usual + outside, m)
        possible = usual[(above > error) & (below > error)]
        return cls(
            members=inside / m,
            fresh=outside / n,
            low=(inside - int(possible.max())) / m,
            high=(inside - int(possible.min())) / m,
            p_value=float(above[inside]),
        )

    @property
    def value(self) -> float:
        """Members minus fresh people."""
        return self.members - self.fresh

    def bound(self, proved: TradeOff) -> float:
        """No guesser is right about members more often than this, on average over trainings: 1 - f(fresh).

        Fresh people are the null of the curve: a right guess about one of them is a false alarm.

        >>> gap = MemberGap.of(np.arange(10) < 8, np.arange(10) < 7)
        >>> from holdfast.privacy import GaussianDP
        >>> round(gap.bound(GaussianDP(1.0).trade_off()), 4)
        0.9363
        """
        require(proved.claim == "proved", "proved.claim", proved.claim, "'proved'")
        return proved.detection_at(self.fresh)

    def summary(self) -> str:
        """The number, its limits and how likely it is without a leak."""
        return f"{self.value:+.3f} [{self.low:+.3f}, {self.high:+.3f}], p = {self.p_value:.2g}"


@dataclass(frozen=True, kw_only=True)
class Surest:
    """How often the guess is right about the k people that the guesser is surest of; k was fixed in advance."""

    k: int
    fresh: Rate
    """Exact limits: given the model and the next score, the k outcomes are independent and alike."""
    members: float
    p_value: float
    """Of "no leak": how often, the coins permuted, members are ahead of fresh people by as much."""

    @classmethod
    def of(cls, outcome: RightGuesses, *, k: int, confidence: float = 0.95, seed: Any = 0) -> Surest:
        """The surest guesses about members and about fresh people; `k` must not exceed the smaller group."""
        smaller = min(outcome.members.size, outcome.fresh.size)
        require(1 <= k <= smaller, "surest", k, f"from 1 to {smaller}, the smaller of both groups")
        fresh = _precision(outcome.fresh, outcome.fresh_sure, k)
        members = _precision(outcome.members, outcome.members_sure, k)
        right = np.concatenate([outcome.members, outcome.fresh])
        sureness = np.concatenate([outcome.members_sure, outcome.fresh_sure])
        right_by_sureness = right[np.argsort(-sureness, kind="stable")]
        random, is_member = np.random.default_rng(seed), np.arange(right.size) < outcome.members.size
        at_least_as_far = 1
        for _ in range(PERMUTATIONS):
            coins = random.permutation(is_member)
            difference = int(right_by_sureness[coins][:k].sum()) - int(right_by_sureness[~coins][:k].sum())
            at_least_as_far += difference >= members - fresh
        return cls(
            k=k,
            fresh=Rate.of(fresh, k, confidence=confidence),
            members=members / k,
            p_value=at_least_as_far / (PERMUTATIONS + 1),
        )


def _precision(right: Bools, sureness: Floats, k: int) -> int:
    """How many of the k surest guesses are right; among equally sure ones the first count."""
    order = np.argsort(-sureness, kind="stable")[:k]
    return int(right[order].sum())


@dataclass(frozen=True, kw_only=True)
class GroupRisk:
    """What the release adds about a group of people."""

    group: str
    people: int
    gain: Gain
    at_risk: bool
    """Whether the gain is above 0 by Holm's rule over all groups that were looked at."""


def group_risks(
    groups: dict[str, Bools], attack: Bools, imputer: Bools, *, confidence: float = 0.95
) -> tuple[GroupRisk, ...]:
    """The gain in each group, those at risk first and the largest first; Holm's rule shares the error."""
    gains = {
        name: Gain.of(attack[inside], imputer[inside], confidence=confidence)
        for name, inside in groups.items()
        if inside.any()
    }
    ordered = sorted(gains, key=lambda name: gains[name].p_value)
    exposed, error = set(), 1.0 - confidence
    for step, name in enumerate(ordered):
        if gains[name].p_value > error / (len(ordered) - step):
            break
        exposed.add(name)
    risks = [
        GroupRisk(group=name, people=int(groups[name].sum()), gain=gain, at_risk=name in exposed)
        for name, gain in gains.items()
    ]
    return tuple(sorted(risks, key=lambda risk: (not risk.at_risk, -risk.gain.value)))

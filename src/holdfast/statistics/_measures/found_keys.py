"""Finding keys: which keys enough units have, with their counts or without (soundness, section 25).

With counts, epsilon is never split between choosing keys and counting them: what is released of a key is its noisy
count, where that reaches the threshold. Without counts, the rule depends on how many keys a unit has: the best rule for
one key, each unit giving one of its own; twice, with a tenth and the rest of the budget, for a handful; all keys of a
unit weighed, for many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from holdfast._arrays import Floats
from holdfast.data._key_counts import KeyCounts, KeyTexts, UnitsByKeys, sorted_counts
from holdfast.data._order import KEY_BYTES
from holdfast.data._table import Table
from holdfast.privacy._account import Account
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._curves.curve import ApproxDP
from holdfast.privacy._mechanisms.key_selection import KeySelection
from holdfast.privacy._mechanisms.laplace import DiscreteLaplace
from holdfast.privacy._mechanisms.thresholded import Thresholded
from holdfast.statistics._table_facts import TableFacts
from holdfast.statistics._unknown_keys import UnknownKeys

WEIGHT_STEPS = 1024
"""A unit with one key adds so many steps to it."""
BORDER = 8
"""From so many keys a unit on, all of them are weighed."""
COMPARISON_SHARE = Fraction(1, 50)
FIRST_ROUND = Fraction(1, 10)
LEAST_EPSILON_OF_ROUNDS = Fraction(1, 2)
Rule = Literal["one key", "rounds of one key", "weighed keys"]


@dataclass(frozen=True, kw_only=True, eq=False)
class FoundKeys:
    """The released keys in the order of their bytes, and what was released with them. Public."""

    keys: tuple[KeyTexts, ...]
    rule: str
    counts: Floats | None = None
    """The noisy counts, in steps."""
    mechanism: Thresholded | None = None


@dataclass(frozen=True, kw_only=True)
class KeyPurse:
    """What pays for finding keys: an account of (epsilon, delta), and how much of both."""

    account: Account
    epsilon: Fraction
    delta: Fraction
    label: str

    def part(self, share: Fraction) -> KeyPurse:
        """The same part of both."""
        return KeyPurse(
            account=self.account, epsilon=self.epsilon * share, delta=self.delta * share, label=self.label
        )

    @property
    def limit(self) -> ApproxDP:
        """As a limit."""
        return ApproxDP(self.epsilon, self.delta)


def find_keys(
    table: Table, unknown: UnknownKeys, purse: KeyPurse, facts: TableFacts, *, counted: bool
) -> FoundKeys:
    """Ask the engine once a round, pay, draw; what is left out leaves no trace."""
    if counted:
        return _thresholded(table, unknown, purse, facts, mechanism=counting_mechanism(unknown, purse, facts))
    if not facts.users:
        return _selected(table, unknown, purse, facts, without=())
    rule: Rule
    if unknown.typical is None:
        most_have_many, purse = _many_keys(table, unknown, purse, facts)
        rule = "weighed keys" if most_have_many else "rounds of one key"
    else:
        rule = (
            "one key"
            if unknown.typical == 1
            else "rounds of one key"
            if unknown.typical < BORDER
            else "weighed keys"
        )
    shares = [FIRST_ROUND, 1 - FIRST_ROUND]
    if rule == "one key" or purse.epsilon < LEAST_EPSILON_OF_ROUNDS:
        shares = [Fraction(1)]
    keys: tuple[KeyTexts, ...] = ()
    for share in shares:
        part = purse.part(share)
        if rule == "weighed keys":
            found = _thresholded(
                table, unknown, part, facts, mechanism=_weighed(unknown, part, facts), without=keys
            )
        else:
            found = _selected(table, unknown, part, facts, without=keys)
        keys = tuple(sorted((*keys, *found.keys), key=lambda key: [text.encode() for text in key]))
    return FoundKeys(keys=keys, rule=f"{rule}, {len(shares)} times" if len(shares) > 1 else rule)


def counting_mechanism(unknown: UnknownKeys, purse: KeyPurse, facts: TableFacts) -> Thresholded:
    """Where units count once: Laplace or normal noise, whichever has the lower threshold; else units are weighed."""
    if facts.users and unknown.typical != 1:
        return _weighed(unknown, purse, facts)
    options = [
        Thresholded.within(purse.limit, family=family, adjacency=facts.adjacency)
        for family in ("laplace", "gaussian")
    ]
    return min(options, key=lambda mechanism: mechanism.threshold)


def _weighed(unknown: UnknownKeys, purse: KeyPurse, facts: TableFacts) -> Thresholded:
    return Thresholded.within(
        purse.limit, family="gaussian", steps=WEIGHT_STEPS, most=unknown.most, adjacency=facts.adjacency
    )


def _asked(
    unknown: UnknownKeys, without: Sequence[KeyTexts], steps: int, most: int, *, purse: KeyPurse
) -> KeyCounts:
    """The coins of units are fresh for each release, from where its noise is from, and leave with it."""
    names = unknown.names
    other = () if unknown.other is None else ((unknown.other,) * len(names),)
    return KeyCounts(
        columns=names,
        where=unknown.where,
        without=(*without, *other),
        steps=steps,
        most=most,
        secret=purse.account.source.bytes(KEY_BYTES),
    )


def _thresholded(
    table: Table,
    unknown: UnknownKeys,
    purse: KeyPurse,
    facts: TableFacts,
    *,
    mechanism: Thresholded,
    without: Sequence[KeyTexts] = (),
) -> FoundKeys:
    """Keys whose noisy count reaches the threshold, with that count."""
    keys, exact = sorted_counts(
        table.aggregate(_asked(unknown, without, mechanism.steps, mechanism.most, purse=purse))
    )
    # A key that nobody has is never released: with it, no table is without keys.
    noisy = purse.account.release(mechanism, [*exact, 0], label=purse.label)[:-1]
    places = np.flatnonzero(noisy)
    how = "units" if mechanism.steps == 1 else f"units of at most {mechanism.most} keys, weighed"
    return FoundKeys(
        keys=tuple(keys[place] for place in places.tolist()),
        rule=f"{how}, with {mechanism.family} noise and a threshold of {mechanism.threshold / mechanism.steps:.4g}",
        counts=noisy[places].astype(np.float64),
        mechanism=mechanism,
    )


def _selected(
    table: Table, unknown: UnknownKeys, purse: KeyPurse, facts: TableFacts, *, without: Sequence[KeyTexts]
) -> FoundKeys:
    """Keys by the best rule for units of one key."""
    mechanism = KeySelection(epsilon=purse.epsilon, delta=purse.delta, adjacency=facts.adjacency)
    keys, exact = sorted_counts(table.aggregate(_asked(unknown, without, 1, 1, purse=purse)))
    released = purse.account.release(mechanism, [*exact, 0], label=purse.label)[:-1]
    return FoundKeys(keys=tuple(keys[place] for place in np.flatnonzero(released).tolist()), rule="one key")


def _many_keys(
    table: Table, unknown: UnknownKeys, purse: KeyPurse, facts: TableFacts
) -> tuple[bool, KeyPurse]:
    """Whether more units have many keys than few, which is paid for; and what is left for finding keys."""
    epsilon = purse.epsilon * COMPARISON_SHARE
    sensitivity = 2 if facts.adjacency is Adjacency.replace else 1
    noise = DiscreteLaplace(
        scale=sensitivity / epsilon, l1_sensitivity=sensitivity, adjacency=facts.adjacency
    )
    exact = table.aggregate(UnitsByKeys(counts=_asked(unknown, (), 1, 1, purse=purse), border=BORDER))
    few, many = purse.account.release(noise, exact, label=f"{purse.label}, units with few and with many keys")
    left = KeyPurse(
        account=purse.account, epsilon=purse.epsilon - epsilon, delta=purse.delta, label=purse.label
    )
    return bool(many > few), left

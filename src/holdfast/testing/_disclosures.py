"""The contract of a disclosure attack: it finds copies, treats both groups alike, and finds nothing in other people.

Unlike other attacks, it is given members and control group by name, so it could favour one of them. So the checks
exchange the two groups: the counts must follow the people, whichever group is called members.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from holdfast._arguments import Seed
from holdfast.attack._attack import Attack
from holdfast.attack._rows.disclosure_case import DisclosureCase, Successes
from holdfast.attack._rows.disclosure_result import DisclosureResult
from holdfast.attack._rows.released_rows import by_spread
from holdfast.testing._contract import Check, ensure

PEOPLE, COLUMNS, ATTACKS = 300, 5, 200
GAMES = 8


def disclosure_case(*, leak: bool, seed: Seed, attacks: int = ATTACKS) -> DisclosureCase:
    """Released rows that are copies of the members (`leak`) or independent of them, and a control group as large."""
    random = np.random.default_rng(seed)
    members, control, others = (random.normal(size=(PEOPLE, COLUMNS)) for _ in range(3))
    rows = members if leak else others
    reader = by_spread(rows)
    return DisclosureCase(
        rows=reader(rows),
        members=reader(members),
        control=reader(control),
        attacks=attacks,
        seed=seed,
        names=tuple(f"c{place}" for place in range(COLUMNS)),
    )


def _counts_attacks(attack: Attack) -> None:
    """Each result has a name and counts no more attacks than were asked for, as many on each group."""
    results = attack(disclosure_case(leak=False, seed=1, attacks=50))
    ensure(bool(results), "no result on five columns")
    for name, (members, control, blind) in results.items():
        DisclosureResult(attack=name, members=members, control=control, blind=blind)
        attacks_made = max(members[1], control[1])
        ensure(attacks_made <= 50, f"{name}: {attacks_made} attacks were made, and 50 were asked for")
        ensure(
            members[1] == control[1],
            f"{name}: {members[1]} attacks on members and {control[1]} on the control group",
        )


def _finds_copies(attack: Attack) -> None:
    """If the rows are copies of the members, the lower limit of some risk, at 99.9 %, is above 0."""
    lower_limits = [
        _result(name, counts).limits[0] for name, counts in attack(disclosure_case(leak=True, seed=2)).items()
    ]
    ensure(
        max(lower_limits) > 0.0,
        "rows that are the members' own are not found to tell more about them than about others",
    )


def _finds_nothing_in_other_people(attack: Attack) -> None:
    """If the rows are from neither group, both groups come out alike."""
    z_scores: dict[str, list[float]] = {}
    for seed in range(10, 10 + GAMES):
        for name, (members, control, _) in attack(disclosure_case(leak=False, seed=seed)).items():
            z_scores.setdefault(name, []).append(_rate_z_score(members, control))
    for name, group_z_scores in z_scores.items():
        shift = float(np.sum(group_z_scores)) / np.sqrt(len(group_z_scores))
        ensure(
            abs(shift) <= 5.0,
            f"{name}: two groups of strangers come out {shift:+.1f} standard errors apart: they are not treated alike",
        )


def _follows_the_people_and_not_the_word(attack: Attack) -> None:
    """With members and control group exchanged, the copies are found in the control group."""
    case = disclosure_case(leak=True, seed=3)
    as_given = attack(case)
    exchanged = attack(replace(case, members=case.control, control=case.members))
    for name, (members, control, _) in as_given.items():
        if _rate_z_score(members, control) > 5.0:
            ensure(name in exchanged, f"{name} is gone when the groups are exchanged")
            z_score = _rate_z_score(exchanged[name][1], exchanged[name][0])
            ensure(
                z_score > 1.0,
                f"{name}: copies are found among those who are called members only ({z_score:+.1f})",
            )


def _repeats_itself(attack: Attack) -> None:
    """The same case gives the same counts; coins come from case.seed."""
    results = [attack(disclosure_case(leak=False, seed=4)) for _ in range(2)]
    ensure(
        results[0] == results[1], "two runs on one case differ: draw from np.random.default_rng(case.seed)"
    )


def _result(name: str, counts: Successes) -> DisclosureResult:
    return DisclosureResult(
        attack=name, members=counts[0], control=counts[1], blind=counts[2], confidence=0.999
    )


def _rate_z_score(first: tuple[int, int], second: tuple[int, int]) -> float:
    """The difference of two rates in standard errors."""
    rates = first[0] / first[1], second[0] / second[1]
    share = (first[0] + second[0]) / (first[1] + second[1])
    spread = np.sqrt(max(share * (1.0 - share), 1e-12) * (1.0 / first[1] + 1.0 / second[1]))
    return float((rates[0] - rates[1]) / spread)


DISCLOSURE_CHECKS: tuple[Callable[[Attack], None], ...] = (
    _counts_attacks,
    _finds_copies,
    _finds_nothing_in_other_people,
    _follows_the_people_and_not_the_word,
    _repeats_itself,
)


def disclosure_checks(attack: Attack) -> Iterator[Check]:
    """What must hold of an attack of disclosure."""
    for check in DISCLOSURE_CHECKS:
        yield Check(name=check.__name__[1:], run=partial(check, attack))

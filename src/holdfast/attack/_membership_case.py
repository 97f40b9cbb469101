"""MembershipCase: a case in which each record gets a membership score; and the results of attacks on such a case."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import Seed, checked
from holdfast._arrays import Floats
from holdfast._ranges import require_numbers
from holdfast.attack._attack import Attack, Case, playable
from holdfast.attack._membership_result import MembershipResult
from holdfast.attack._records import set_aside
from holdfast.errors import require
from holdfast.privacy._tradeoff import TradeOff


@checked
class MembershipCase(Case):
    """A case in which each record is judged; of a model or of released rows."""

    @property
    @abstractmethod
    def count(self) -> int:
        """The number of records to judge."""

    @abstractmethod
    def setting_aside(self, judged: NDArray[np.bool_], aside: NDArray[np.intp]) -> Self:
        """The same case, some of its records being judged and others a population of known non-members."""

    def check_guesses(self, guesses: Any) -> Floats:
        """The guesses: one finite number per record."""
        scores = require_numbers("scores", guesses)
        require(scores.shape == (self.count,), "scores", scores.shape, "one number per record")
        require(bool(np.all(np.isfinite(scores))), "scores", "...", "finite")
        return scores


C = TypeVar("C", bound=MembershipCase)


def arranged_case(attack: Attack, case: C, members: int, seed: Seed | None) -> tuple[C, NDArray[np.bool_]]:
    """The case of one attack, and who is a member: some non-members become the population where one is needed."""
    is_member = np.arange(case.count) < members
    if "population" not in attack.knows or case.lacks("population") is None:
        return case, is_member
    scored, aside = set_aside(is_member, seed, otherwise="reference=")
    return case.setting_aside(scored, aside), is_member[scored]


def measured_results(
    attacks: Sequence[Attack],
    case: MembershipCase,
    members: int,
    *,
    proved: TradeOff | None,
    seed: Seed | None,
    training_seconds: float = 0.0,
) -> tuple[tuple[MembershipResult, ...], dict[str, str]]:
    """What each attack reaches on a case whose first records are the members, and why some cannot be made.

    `training_seconds` are those of the reference models, and count for each attack that knows them.
    """
    games = {attack.name: arranged_case(attack, case, members, seed) for attack in attacks}
    playing, skipped = playable(attacks, lambda attack: games[attack.name][0])
    results = []
    for attack in playing:
        own_case, is_member = games[attack.name]
        start = time.perf_counter()
        scores = attack(own_case)
        seconds = time.perf_counter() - start
        result = MembershipResult(
            attack=attack.name,
            member_scores=scores[is_member],
            non_member_scores=scores[~is_member],
            tried=len(playing),
            proved=proved,
            seconds=seconds + (training_seconds if "references" in attack.knows else 0.0),
        )
        results.append(result)
    return tuple(results), skipped

"""Findings P1 and P2: nothing is drawn or spent beyond what was paid for, under threads, forks and copies."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from holdfast.errors import HoldfastError
from holdfast.privacy import Account, Laplace, Permit, PureDP
from tests.review.support import Gate, all_at_once, in_child_and_parent

NOISE = Laplace(scale=1.0, l1_sensitivity=1.0)
"""It costs the whole of PureDP(1)."""


# P1: a permit is drawn from as often as was paid for, whoever asks and whatever the value does.


@dataclass
class Tricky:
    """A value that does something when it is looked at."""

    on_look: Callable[[], Any]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        self.on_look()
        return np.zeros(1)


def _drawn(permit: Permit, value: Any = (0.0,)) -> bool:
    try:
        permit.release(value)
    except HoldfastError:
        return False
    return True


@pytest.mark.parametrize("before", [0, 1])
def test_threads_draw_no_more_often_than_was_paid_for(before: int) -> None:
    """Four threads are past the check when the first of them draws; one use is left."""
    drawn: list[bool] = []
    for _ in range(5 if before == 0 else 1):
        permit = Account(PureDP(1.0 + before)).permit(NOISE, times=1 + before)
        for _ in range(before):
            permit.release([0.0])
        gate = Gate(4)
        now: list[bool] = []
        all_at_once(lambda p=permit, n=now, g=gate: n.append(_drawn(p, Tricky(g.wait))), threads=4)  # type: ignore[misc]
        drawn = max(drawn, now, key=sum)
    assert sum(drawn) == 1


@pytest.mark.parametrize("depth", [1, 5])
def test_a_value_cannot_draw_from_the_permit_that_releases_it(depth: int) -> None:
    permit = Account(PureDP(1.0)).permit(NOISE, times=1)
    drawn: list[bool] = []

    def draw(left: int) -> None:
        drawn.append(_drawn(permit, Tricky(lambda: draw(left - 1)) if left else [0.0]))

    # In a thread, so that a lock which is not re-entrant fails here and does not hang the run.
    runner = threading.Thread(target=draw, args=(depth,), daemon=True)
    runner.start()
    runner.join(10.0)
    assert not runner.is_alive()
    assert sum(drawn) <= 1
    assert permit.left >= 0


def test_a_copy_of_a_permit_brings_no_further_draws() -> None:
    permit = Account(PureDP(2.0)).permit(NOISE, times=2)
    permit.release([0.0])
    try:
        twin = copy.copy(permit)
    except (HoldfastError, TypeError):
        return
    assert _drawn(permit) + _drawn(twin) == 1


# P2: an account without a ledger keeps its limit under threads and forks.


def _paid(account: Account) -> bool:
    try:
        account.release(NOISE, [0.0])
    except HoldfastError:
        return False
    return True


def _one_race(gate: Gate | None) -> int:
    """Eight threads want a budget that suffices for one of them; how many got it."""
    account = Account(PureDP(1.0))
    if gate is not None:
        # All threads have read what was spent before the first of them writes.
        read = account.journal.spent

        def slow(share: str) -> Any:
            found = read(share)
            gate.wait()
            return found

        account.journal.spent = slow  # type: ignore[method-assign]
    got: list[bool] = []
    all_at_once(lambda: got.append(_paid(account)), threads=8)
    return sum(got)


def test_threads_spend_no_more_than_the_limit() -> None:
    most = _one_race(Gate(8))
    for _ in range(40):
        if most > 1:
            break
        most = max(most, _one_race(None))
    assert most == 1


def test_a_fork_does_not_double_the_budget() -> None:
    account = Account(PureDP(1.0))
    assert in_child_and_parent(lambda: _paid(account)) <= 1


@pytest.mark.parametrize("before", [0, 1])
def test_a_fork_does_not_double_a_permit(before: int) -> None:
    permit = Account(PureDP(1.0 + before)).permit(NOISE, times=1 + before)
    for _ in range(before):
        permit.release([0.0])
    assert in_child_and_parent(lambda: _drawn(permit)) <= 1

"""One account and one permit under many threads: exactly what was paid for is drawn, never more."""

from __future__ import annotations

import copy
import pickle

import pytest

from holdfast.errors import BudgetExceeded
from holdfast.privacy import Account, DiscreteLaplace, Permit, PureDP
from tests.review.support import Gate, all_at_once

NOISE = DiscreteLaplace(scale=1.0, l1_sensitivity=1.0)
THREADS = 16


def _draw_until_refused(permit: Permit, drawn: list[int]) -> None:
    count = 0
    try:
        while True:
            permit.release([0])
            count += 1
    except BudgetExceeded:
        drawn.append(count)


@pytest.mark.parametrize("times", [1, 7, 2000])
def test_sixteen_threads_draw_exactly_what_was_paid_for(times: int) -> None:
    permit = Account(PureDP(float(times))).permit(NOISE, times=times)
    drawn: list[int] = []
    all_at_once(lambda: _draw_until_refused(permit, drawn), threads=THREADS)
    assert (sum(drawn), permit.left) == (times, 0)


def test_no_thread_is_refused_while_uses_are_left() -> None:
    """The count of one thread is waited for, and not taken for the end."""
    each = 300
    permit = Account(PureDP(float(THREADS * each))).permit(NOISE, times=THREADS * each)
    done: list[int] = []

    def draw() -> None:
        for _ in range(each):
            permit.release([0])
        done.append(each)

    all_at_once(draw, threads=THREADS)
    assert (sum(done), permit.left) == (THREADS * each, 0)


class Watched(Permit):
    """A permit on which every reader of the count waits for another one, so that an unlocked count is caught."""

    gate: Gate

    @property
    def _left(self) -> int:
        found = int(self.__dict__["count"])
        self.gate.wait()
        return found

    @_left.setter
    def _left(self, count: int) -> None:
        self.__dict__["count"] = count


def test_no_thread_reads_the_count_before_another_has_written_it() -> None:
    account = Account(PureDP(2.0))
    paid = account.permit(NOISE, times=2)
    paid.release([0])
    permit = object.__new__(Watched)
    permit.gate = Gate(2)
    permit.__dict__.update({name: value for name, value in paid.__dict__.items() if name != "_left"})
    permit._left = 1
    drawn: list[int] = []
    all_at_once(lambda: _draw_until_refused(permit, drawn), threads=2)
    assert sum(drawn) == 1


@pytest.mark.parametrize("affordable", [1, 5, 400])
def test_sixteen_threads_charge_exactly_what_fits(affordable: int) -> None:
    account = Account(PureDP(float(affordable)))
    paid: list[int] = []

    def spend() -> None:
        count = 0
        try:
            while True:
                account.release(NOISE, [0])
                count += 1
        except BudgetExceeded:
            paid.append(count)

    all_at_once(spend, threads=THREADS)
    assert (sum(paid), len(account.journal.entries)) == (affordable, affordable)
    assert account.remaining() == PureDP(0)


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, pickle.dumps], ids=["copy", "deepcopy", "pickle"])
def test_what_counts_uses_is_never_copied(way: object) -> None:
    account = Account(PureDP(1.0))
    for thing in (account.permit(NOISE, times=1), account.journal):
        with pytest.raises(TypeError, match="never copied"):
            way(thing)  # type: ignore[operator]

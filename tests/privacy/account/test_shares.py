"""Shares: however an account is split, each is counted by itself, and none spends more than its limit (finding P12)."""

from __future__ import annotations

import threading
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.errors import BudgetExceeded, LedgerError
from holdfast.ledger import Ledger
from holdfast.privacy import Account, DiscreteLaplace, PureDP
from holdfast.privacy._account.currency import Cost
from holdfast.privacy._account.journal import shares_above
from holdfast.privacy._account.resume import ResumableAccount

LIMIT = 8.0


def _noise(epsilon: Fraction) -> DiscreteLaplace:
    return DiscreteLaplace(scale=1 / epsilon, l1_sensitivity=1)


def _spend(account: Account, epsilon: Fraction) -> bool:
    try:
        account.release(_noise(epsilon), [0])
    except BudgetExceeded:
        return False
    return True


def _split(account: Account, steps: list[tuple[int, list[float], int]]) -> list[Account]:
    """Split off shares of shares, and spend in between; all shares that there are."""
    known = [account]
    for which, fractions, amount in steps:
        known += known[which % len(known)].split(*fractions)
        _spend(known[(which + amount) % len(known)], Fraction(amount, 4))
    return known


fractions = st.sampled_from([[0.5], [0.5, 0.5], [0.25, 0.25], [0.1, 0.9], [1.0]])
steps = st.lists(st.tuples(st.integers(0, 20), fractions, st.integers(1, 9)), max_size=6)


def _sound(known: list[Account]) -> None:
    """Every share within its limit, by its own figures; what it has left is what fits."""
    for account in known:
        spent, limit = account.spent().as_pure(), account.promised.as_pure()
        assert spent is not None
        assert limit is not None
        assert spent <= limit
        left = account.remaining().as_pure()
        assert left is not None
        if left > 0:
            assert not _spend(account, left * 2)


@given(steps)
def test_no_two_shares_have_one_name_and_none_spends_more_than_its_limit(
    steps: list[tuple[int, list[float], int]],
) -> None:
    known = _split(Account(PureDP(LIMIT)), steps)
    names = [account.share for account in known]
    assert len(set(names)) == len(names)
    _sound(known)


@given(first=steps, second=steps)
def test_jobs_of_two_keys_never_share_a_name_and_a_job_that_runs_again_has_its_own(
    first: list[tuple[int, list[float], int]], second: list[tuple[int, list[float], int]]
) -> None:
    account = Account(PureDP(LIMIT))
    begun = _split(ResumableAccount.of(account, "first"), first)
    other = _split(ResumableAccount.of(account, "second"), second)
    assert not {one.share for one in begun[1:]} & {one.share for one in other[1:]}
    spent = account.spent()
    again = _split(ResumableAccount.of(account, "first"), first)
    assert [one.share for one in again] == [one.share for one in begun]
    assert account.spent() == spent
    for one in (*begun, *other):
        assert (one.spent().as_pure() or 0) <= (one.promised.as_pure() or 0)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=steps, second=steps)
def test_an_account_of_a_ledger_that_is_opened_again_keeps_its_shares_apart(
    first: list[tuple[int, list[float], int]], second: list[tuple[int, list[float], int]], tmp_path: Path
) -> None:
    path = tmp_path / f"ledger-{len(list(tmp_path.iterdir()))}"
    ledger = Ledger.create(path)
    ledger.dataset("table", limit=PureDP(LIMIT))
    _sound(_split(ledger.account("table", name="work"), first))
    _sound(_split(ledger.account("table", name="work"), second))
    assert ledger.verify().ok
    limits: dict[str, Cost] = {}
    for entry in ledger.account("table", name="work").journal.entries:
        for share in shares_above(entry.charge.share)[1:]:
            found = ledger.account("table", name="work").journal.cap(share)
            assert found is not None
            assert limits.setdefault(share, found) == found
    ledger.close()


def test_the_keys_of_a_second_split_are_not_those_of_the_first() -> None:
    """Two splits of a job, one after the other: the second is asked for its own values."""
    job = ResumableAccount.of(Account(PureDP(LIMIT), seed=1), "job")
    noise = DiscreteLaplace(scale=1000.0, l1_sensitivity=1)
    answers = [job.split(0.25)[0].release(noise, [place * 10**9]) for place in range(3)]
    assert [round(float(answer[0]) / 1e9) for answer in answers] == [0, 1, 2]


def test_two_handles_of_one_name_cannot_hold_two_limits(tmp_path: Path) -> None:
    """Both were split before either spent: the second is told to split again."""
    ledger = Ledger.create(tmp_path / "ledger")
    ledger.dataset("table", limit=PureDP(LIMIT))
    (mine,) = ledger.account("table", name="work").split(0.5)
    (yours,) = ledger.account("table", name="work").split(0.25)
    assert mine.share == yours.share
    assert _spend(mine, Fraction(3))
    with pytest.raises(LedgerError, match="split the account again"):
        yours.release(_noise(Fraction(1)), [0])
    assert yours.split(0.5)[0].share != mine.share
    (again,) = ledger.account("table", name="work").split(0.25)
    assert _spend(again, Fraction(1))


def test_threads_that_split_one_account_get_shares_of_their_own() -> None:
    account = Account(PureDP(LIMIT))
    shares: list[Account] = []
    threads = [threading.Thread(target=lambda: shares.extend(account.split(*[0.01] * 20))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({one.share for one in shares}) == len(shares) == 160

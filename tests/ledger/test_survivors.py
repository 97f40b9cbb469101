"""Laws that drawn faults asked for: each lived until its law was written (docs/mutation.md)."""

from __future__ import annotations

from pathlib import Path

from holdfast.ledger import Ledger
from holdfast.privacy import ZCDP, Gaussian
from holdfast.privacy._account import Account
from holdfast.privacy._account.resume import ResumableAccount


def test_who_approved_a_ledger_is_not_what_it_is_for(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "ledger", purpose="a census", approver="an officer") as ledger:
        with ledger._store.reading() as chain:
            first = chain.entry(0)
    assert (first.body["purpose"], first.body["approver"]) == ("a census", "an officer")


def test_uses_of_a_permit_are_called_as_it_is() -> None:
    account, noise = Account(ZCDP(1.0), seed=1), Gaussian(sigma=2.0, l2_sensitivity=1.0)
    job = ResumableAccount.of(account, "job")
    job.permit(noise, times=1, label="steps").release([1.0])
    job.permit(noise, times=1).release([1.0])
    assert [entry.charge.label for entry in account.journal.entries] == ["steps", "Gaussian"]


def test_without_a_key_every_charge_counts_by_itself() -> None:
    account, noise = Account(ZCDP(1.0), seed=1), Gaussian(sigma=2.0, l2_sensitivity=1.0)
    for _ in range(3):
        account.release(noise, [1.0])
    assert len(ResumableAccount.of(account, None)._not_repeated) == 3

"""A ledger as it stood at one entry, and what it says about the payment for a release."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Literal

from holdfast.dossier._record import DatasetBudget, PaidEntry, Payment
from holdfast.errors import ParameterError
from holdfast.ledger import Ledger, LedgerEntry
from holdfast.ledger._amounts import cost_of
from holdfast.ledger._entry import Kind
from holdfast.ledger._report import Standing, share
from holdfast.release import Provenance, Release


@dataclass(frozen=True, kw_only=True)
class LedgerSnapshot:
    """A ledger as it stood at one head: whoever looks later, when it has moved on, sees the same."""

    ledger: Ledger
    head: str
    number: int
    """Of the entry that the head is the hash of."""

    @classmethod
    def of(cls, ledger: Ledger, *, head: str | None = None, after: int = -1) -> LedgerSnapshot:
        """The ledger at the entry of this head, which comes after a number; without a head, as it stands.

        Refused where the ledger does not hold the head.
        """
        with ledger._store.reading() as chain:
            if head is None:
                last = chain.durable()
                return cls(ledger=ledger, head=last.hash, number=last.number)
            number = chain.number_of(head, after=after)
        if number is None:
            raise ParameterError(
                "the ledger must hold the head of the dossier; it is an older copy, or another ledger"
            )
        return cls(ledger=ledger, head=head, number=number)

    def number_of(self, head: str, *, after: int = -1) -> int | None:
        """The number of the entry that has this hash and comes after a number."""
        with self.ledger._store.reading() as chain:
            number = chain.number_of(head, after=after)
        return number if number is not None and number <= self.number else None

    def entry(self, number: int) -> LedgerEntry | None:
        """The entry of this number; None where it came later."""
        if not 0 <= number <= self.number:
            return None
        with self.ledger._store.reading() as chain:
            return chain.entry(number)

    def charges(self, provenance: Provenance) -> list[LedgerEntry]:
        """The entries that a release says it was paid by."""
        entries = (self.entry(number) for number in provenance.entries)
        return [entry for entry in entries if entry is not None]

    def entries(self, kind: Kind, *, account: str | None = None) -> Iterator[LedgerEntry]:
        """The entries of a kind, all or those about an account."""
        entries = self.ledger.entries(kind=kind, account=account)
        return takewhile(lambda entry: entry.number <= self.number, entries)

    def budget(self, dataset: str, *, release_hashes: Collection[str] = ()) -> DatasetBudget:
        """Where a dataset stood; `release_hashes` are those of the releases that are on the page."""
        with self.ledger._store.reading() as chain:
            standing = Standing.at(chain, dataset, head=self.head, after=self.number - 1)
            accounts = {account_name for account_name, _, _ in chain.accounts(dataset)}
        closed_hashes = {
            entry.body["sha256"] for entry in self.entries("release") if entry.body["account"] in accounts
        }
        return DatasetBudget.from_json(
            standing.to_json() | {"elsewhere": len(closed_hashes - {*release_hashes})}
        )

    def closing(self, sha256: str) -> LedgerEntry | None:
        """The entry that closed a release of this hash."""
        closing = None
        for entry in self.entries("release"):
            closing = entry if entry.body["sha256"] == sha256 else closing
        return closing

    def opening(self, kind: Literal["account", "dataset"], name: str) -> LedgerEntry:
        """The entry that opened an account or a dataset."""
        with self.ledger._store.reading() as chain:
            row = chain.account(name) if kind == "account" else chain.dataset(name)
            if row is not None and row.opened <= self.number:
                return chain.entry(row.opened)
        raise ParameterError(f"the ledger must hold the {kind} that paid for the release")


def payment(release: Release[Any], snapshot: LedgerSnapshot, *, sha256: str) -> Payment:
    """How a release was paid: entries with their hashes, account and dataset, with approvers and purposes.

    Refused where the ledger did not pay for the release: another ledger, or an entry that is not there.
    """
    provenance = release.provenance
    if not provenance.entries or not provenance.account.startswith(f"{snapshot.ledger.id}/"):
        raise ParameterError(
            "ledger must be the one that paid for the release, got another one; "
            f"the release names {provenance.account.partition('/')[0] or 'none'}"
        )
    entries = [snapshot.entry(number) for number in provenance.entries]
    charges = [entry for entry in entries if entry is not None and entry.kind == "charge"]
    accounts = {entry.body.get("account") for entry in charges}
    if len(charges) != len(entries) or len(accounts) != 1:
        raise ParameterError(
            "the ledger must hold the charges that the release names; it is an older copy, or another ledger"
        )
    (account_name,) = accounts
    account = snapshot.opening("account", str(account_name))
    dataset = snapshot.opening("dataset", account.body["dataset"])
    closing_entry = snapshot.closing(sha256)
    other_hashes = {
        entry.body["sha256"] for entry in snapshot.entries("release", account=str(account_name))
    } - {sha256}
    approvals = list(snapshot.entries("approval", account=str(account_name)))
    return Payment(
        ledger=snapshot.ledger.id,
        dataset=dataset.body["dataset"],
        dataset_purpose=dataset.body["purpose"],
        dataset_approver=dataset.body["approver"],
        account=str(account_name),
        purpose=account.body["purpose"],
        approver=account.body["approver"] or (approvals[-1].body["approver"] if approvals else ""),
        opened=account.at,
        entries=tuple(PaidEntry(number=entry.number, hash=entry.hash) for entry in charges),
        head=provenance.head,
        closed=None
        if closing_entry is None
        else PaidEntry(number=closing_entry.number, hash=closing_entry.hash),
        others=len(other_hashes),
        approval_key=approvals[-1].body["public_key"] if approvals else "",
        takes=share(cost_of(account.body["amount"]), cost_of(dataset.body["amount"])),
    )

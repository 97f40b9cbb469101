"""The record: everything a dossier says, each section a function of its sources.

The page is drawn from the record and from nothing else, and embeds it as JSON; whoever has the sources can build the
sections again and compare.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal, Self

from holdfast._arguments import checked
from holdfast._assumption import Assumption, distinct
from holdfast._regular_file import sha256_of
from holdfast._stored_fields import require_format
from holdfast.dossier._evidence import Attempt, Picture
from holdfast.dossier._promise import Chapter, Promise, stored_guarantee
from holdfast.dossier._section import Audience, Section
from holdfast.dossier._utility import Accuracy, Utility, utility
from holdfast.errors import FormatError, ParameterError, require
from holdfast.ledger import Ledger, LedgerEntry
from holdfast.ledger._amounts import cost_of
from holdfast.ledger._entry import Kind
from holdfast.ledger._report import Standing, share
from holdfast.release import Provenance, Release
from holdfast.release._certificate import Certificate

FORMAT = "holdfast-dossier/1"
"""Its number rises whenever a version makes another record of the same sources."""


@dataclass(frozen=True, kw_only=True)
class ReleaseFacts(Section):
    """One release: what it holds, how it came about, and the hash of its file."""

    name: str
    sha256: str
    title: str
    created: str
    private: bool
    guarantee: Mapping[str, Any]
    theorem: str
    provenance: Provenance
    certificates: tuple[Certificate, ...]
    utility: Utility
    useless: tuple[str, ...] = ()
    """Why it cannot be of use, as far as released and public numbers tell."""


@checked
@dataclass(frozen=True, kw_only=True)
class Bars(Section):
    """A released table of counts to draw, with the error that holds for all its cells at once.

    Parameters
    ----------
    title : str
        The title of the drawing.
    labels : tuple of str
        The name of each bar.
    counts : tuple of float
        The released count of each.
    error : float
        How far off all the counts may be, for the error bars.

    Examples
    --------
    >>> bars = Bars(title="visits", labels=("2024", "2025"), counts=(105.2, 98.7), error=9.4)
    >>> bars.to_json()["error"]
    9.4
    """

    title: str
    labels: tuple[str, ...]
    counts: tuple[float, ...]
    error: float

    def __post_init__(self) -> None:
        require(
            len(self.labels) == len(self.counts) > 0, "labels", len(self.labels), "as many as counts, > 0"
        )


@dataclass(frozen=True, kw_only=True)
class PaidEntry(Section):
    """A charge in the ledger."""

    number: int
    hash: str


@dataclass(frozen=True, kw_only=True)
class Payment(Section):
    """Which entries of a ledger paid for a release, which one closed it, and who allowed it.

    `others` counts the other releases of the same account; `approval_key` signed the approval, if one did. `takes` is
    how much of the dataset's limit the account may spend, all of which its releases promise.
    """

    ledger: str
    dataset: str
    dataset_purpose: str
    dataset_approver: str
    account: str
    purpose: str
    approver: str
    opened: str
    entries: tuple[PaidEntry, ...]
    head: str
    closed: PaidEntry | None = None
    others: int = 0
    approval_key: str = ""
    takes: str = ""


@dataclass(frozen=True, kw_only=True)
class BudgetPoint(Section):
    """An amount, read as (epsilon, delta)."""

    epsilon: float | None
    delta: float


@dataclass(frozen=True, kw_only=True)
class BudgetPart(Section):
    """What is spent, held or free, in per cent of the limit and as (epsilon, delta)."""

    name: str
    share: float
    epsilon: float | None
    delta: float


@dataclass(frozen=True, kw_only=True)
class WhatIf(Section):
    """What one more release would take and leave."""

    epsilon: float
    delta: float
    takes: str
    leaves: BudgetPoint
    leaves_share: str


@dataclass(frozen=True, kw_only=True)
class BudgetReset(Section):
    """Who let the limit begin again."""

    at: str
    approver: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class DatasetBudget(Section):
    """Where a dataset stood at one entry of its ledger, as `Standing.to_json` writes it.

    `elsewhere` counts the releases of the dataset that the ledger closed and that are not on the page.
    """

    dataset: str
    limit: str
    limit_point: BudgetPoint
    currency: str
    theorem: str
    head: str
    entry: int
    parts: tuple[BudgetPart, ...]
    what_if: tuple[WhatIf, ...]
    reset: BudgetReset | None
    elsewhere: int = 0


@dataclass(frozen=True, kw_only=True)
class Record(Section):
    """Everything a dossier says; `audits` are stored as `AuditResult.to_json` writes them."""

    format: str = FORMAT
    title: str
    audience: Audience
    created: str
    holdfast: str
    releases: tuple[ReleaseFacts, ...]
    promise: Promise
    picture: Picture
    confidence: float
    tried: tuple[Attempt, ...]
    audits: tuple[Mapping[str, Any], ...]
    contradictions: tuple[str, ...]
    tables: tuple[Bars, ...]
    accuracy: tuple[Accuracy, ...]
    not_tested: tuple[str, ...]
    payments: tuple[Payment, ...]
    budgets: tuple[DatasetBudget, ...]
    also_run: int = 0
    """Audits and attacks that were run and are not on the page: they share the error."""
    doubts: tuple[Assumption, ...] = ()
    """What a reader must believe besides the proof, the gravest first."""
    story: tuple[Chapter, ...] = ()
    """Several releases one after the other; none for one."""
    renderer: str = ""

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """The record that `to_json` wrote; `FormatError` for another format, and for anything more or less."""
        require_format("record of a page", data, FORMAT)
        record = super().from_json(data)
        if record.to_json() != data:
            raise FormatError("a stored record lacks a field, or holds one that it does not have")
        return record


# Sections whose sources are a release and the ledger that paid for it.


def release_facts(release: Release[Any], *, name: str, sha256: str) -> ReleaseFacts:
    """One release: what it holds, how it came about, and the hash of its file."""
    provenance = release.provenance
    return ReleaseFacts(
        name=name,
        sha256=sha256,
        title=provenance.title,
        created=provenance.created,
        private=release.private,
        guarantee=stored_guarantee(release.guarantee),
        theorem=release.guarantee.theorem,
        provenance=provenance,
        certificates=release.certificates,
        utility=utility(release),
        useless=release.useless,
    )


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    return sha256_of(path, what="a release")


@dataclass(frozen=True, kw_only=True)
class Books:
    """A ledger as it stood at one head: whoever looks later, when it has moved on, sees the same."""

    ledger: Ledger
    head: str
    number: int
    """Of the entry that the head is the hash of."""

    @classmethod
    def of(cls, ledger: Ledger, *, head: str | None = None, after: int = -1) -> Books:
        """At this head, which comes after a number, or as it stands; refused where the ledger does not hold it."""
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
        found = self.ledger.entries(kind=kind, account=account)
        return takewhile(lambda entry: entry.number <= self.number, found)

    def budget(self, dataset: str, *, shown: Collection[str] = ()) -> DatasetBudget:
        """Where a dataset stood; `shown` are the hashes of the releases that are on the page."""
        with self.ledger._store.reading() as chain:
            standing = Standing.at(chain, dataset, head=self.head, after=self.number - 1)
            accounts = {name for name, _, _ in chain.accounts(dataset)}
        closed = {
            entry.body["sha256"] for entry in self.entries("release") if entry.body["account"] in accounts
        }
        return DatasetBudget.from_json(standing.to_json() | {"elsewhere": len(closed - {*shown})})

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


def payment(release: Release[Any], books: Books, *, sha256: str) -> Payment:
    """Entries with their hashes, account and dataset, with approvers and purposes.

    Refused where the ledger did not pay for the release: another ledger, or an entry that is not there.
    """
    provenance = release.provenance
    if not provenance.entries or not provenance.account.startswith(f"{books.ledger.id}/"):
        raise ParameterError(
            "ledger must be the one that paid for the release, got another one; "
            f"the release names {provenance.account.partition('/')[0] or 'none'}"
        )
    paid = [books.entry(number) for number in provenance.entries]
    accounts = {entry.body.get("account") for entry in paid if entry is not None and entry.kind == "charge"}
    if None in paid or len(accounts) != 1 or any(e is not None and e.kind != "charge" for e in paid):
        raise ParameterError(
            "the ledger must hold the charges that the release names; it is an older copy, or another ledger"
        )
    (name,) = accounts
    account = books.opening("account", str(name))
    dataset = books.opening("dataset", account.body["dataset"])
    closed = books.closing(sha256)
    others = {e.body["sha256"] for e in books.entries("release", account=str(name))} - {sha256}
    approvals = list(books.entries("approval", account=str(name)))
    return Payment(
        ledger=books.ledger.id,
        dataset=dataset.body["dataset"],
        dataset_purpose=dataset.body["purpose"],
        dataset_approver=dataset.body["approver"],
        account=str(name),
        purpose=account.body["purpose"],
        approver=account.body["approver"] or (approvals[-1].body["approver"] if approvals else ""),
        opened=account.at,
        entries=tuple(PaidEntry(number=entry.number, hash=entry.hash) for entry in paid if entry is not None),
        head=provenance.head,
        closed=None if closed is None else PaidEntry(number=closed.number, hash=closed.hash),
        others=len(others),
        approval_key=approvals[-1].body["public_key"] if approvals else "",
        takes=share(cost_of(account.body["amount"]), cost_of(dataset.body["amount"])),
    )


def doubts(releases: Sequence[ReleaseFacts], payments: Sequence[Payment]) -> tuple[Assumption, ...]:
    """What a reader must believe besides the proof, the gravest first."""
    believed: list[Assumption] = []
    for release in releases:
        if not release.private:
            text = f"{release.name} was drawn from a seed: whoever knows it takes the noise away"
            believed.append(Assumption(kind="seed", subject=release.name, voids=True, text=text))
        believed += [Assumption.from_json(stored) for stored in release.guarantee["assumptions"]]
        if not release.provenance.head:
            text = (
                f"no ledger counted {release.name}: if it was chosen among several fits, or if more was released about "
                "these data, the promise is worth less than it says"
            )
            believed.append(Assumption(kind="no ledger", subject=release.name, voids=True, text=text))
        elif not payments:
            text = (
                f"the ledger that paid for {release.name} was not at hand: what it says of budget, approval and other "
                "releases is not on this page"
            )
            believed.append(Assumption(kind="ledger not at hand", subject=release.name, text=text))
    for release, paid in zip(releases, payments, strict=False):
        if paid.closed is None:
            text = f"the ledger does not hold the hash of {release.name}: nothing binds its values to what was paid"
            believed.append(
                Assumption(kind="release not closed", subject=release.name, voids=True, text=text)
            )
        if not paid.approver:
            text = f"nobody is named who approved the account {paid.account}"
            believed.append(Assumption(kind="no approver", subject=paid.account, text=text))
        if paid.others:
            text = (
                f"the account {paid.account} also paid for {paid.others} other release{'s' * (paid.others > 1)}: "
                "the promise is about all of them together"
            )
            believed.append(Assumption(kind="other releases", subject=paid.account, text=text))
    return tuple(sorted(distinct(believed), key=lambda assumption: not assumption.voids))

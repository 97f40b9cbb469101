"""The record: everything a dossier says, each section a function of its sources.

The page is drawn from the record and from nothing else, and embeds it as JSON; whoever has the sources can build the
sections again and compare.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from holdfast.dossier.evidence import Attempt, Picture
from holdfast.dossier.promise import Promise, stored_guarantee
from holdfast.dossier.section import Audience, Section
from holdfast.dossier.utility import Accuracy, Utility, utility
from holdfast.errors import FormatError, ParameterError, require
from holdfast.ledger import Ledger, LedgerEntry
from holdfast.release import Provenance, Release
from holdfast.release.certificate import Certificate

FORMAT = "holdfast-dossier/2"
OLDER = ("holdfast-dossier/1",)
"""Formats of earlier versions: their records lack fields that came later, and hold nothing that went away."""


@dataclass(frozen=True, kw_only=True)
class ReleaseFacts(Section):
    """One release: what it holds, how it came about, and the hash of its file."""

    name: str
    sha256: str
    method: str
    created: str
    private: bool
    guarantee: Mapping[str, Any]
    theorem: str
    provenance: Provenance
    certificates: tuple[Certificate, ...]
    utility: Utility


@dataclass(frozen=True, kw_only=True)
class Bars(Section):
    """A released table of counts to draw, with the error that holds for all its cells at once."""

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
    """Which entries of a ledger paid for a release, and who allowed it."""

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
    """Where a dataset stood at one entry of its ledger, as `Standing.to_json` writes it."""

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

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """The record that `to_json` wrote, now or in an earlier version; `FormatError` for anything more or less."""
        made = super().from_json(data)
        if made.format not in (FORMAT, *OLDER):
            raise FormatError(f"a stored record has the format {FORMAT} or an older one")
        if not _holds(made.to_json(), data, older=made.format in OLDER):
            raise FormatError("a stored record holds what this version does not know")
        return made


def _holds(made: Any, written: Any, *, older: bool) -> bool:
    """Whether what was read is what was written; an older record may lack what came later."""
    match made, written:
        case dict(), dict():
            same = written.keys() <= made.keys() if older else written.keys() == made.keys()
            return same and all(_holds(made[key], written[key], older=older) for key in written)
        case list(), list():
            pairs = zip(made, written, strict=False)
            return len(made) == len(written) and all(_holds(a, b, older=older) for a, b in pairs)
    return bool(made == written)


# Sections whose sources are a release and the ledger that paid for it.


def described(release: Release[Any], *, name: str, sha256: str) -> ReleaseFacts:
    """One release: what it holds, how it came about, and the hash of its file."""
    made = release.provenance
    return ReleaseFacts(
        name=name,
        sha256=sha256,
        method=made.method,
        created=made.created,
        private=release.private,
        guarantee=stored_guarantee(release.guarantee),
        theorem=release.guarantee.theorem,
        provenance=made,
        certificates=release.certificates,
        utility=utility(release),
    )


def release_digest(release: Release[Any]) -> str:
    """The hash of the file that `release.save` writes: the same release always gives the same bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "release"
        release.save(path)
        return file_digest(path)


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def payment(release: Release[Any], ledger: Ledger) -> Payment:
    """Entries with their hashes, account and dataset, with approvers and purposes.

    Refused where the ledger did not pay for the release: another ledger, or an entry that is not there.
    """
    made = release.provenance
    if not made.entries or not made.account.startswith(f"{ledger.id}/"):
        raise ParameterError(
            "ledger must be the one that paid for the release, got another one; "
            f"the release names {made.account.partition('/')[0] or 'none'}"
        )
    entries = {entry.number: entry for entry in ledger.history()}
    paid = [entries.get(number) for number in made.entries]
    accounts = {entry.body.get("account") for entry in paid if entry is not None and entry.kind == "charge"}
    if None in paid or len(accounts) != 1 or any(e is not None and e.kind != "charge" for e in paid):
        raise ParameterError(
            "the ledger must hold the charges that the release names; it is an older copy, or another ledger"
        )
    (name,) = accounts
    account = _opening(entries, "account", str(name))
    dataset = _opening(entries, "dataset", account.body["dataset"])
    return Payment(
        ledger=ledger.id,
        dataset=dataset.body["dataset"],
        dataset_purpose=dataset.body["purpose"],
        dataset_approver=dataset.body["approver"],
        account=str(name),
        purpose=account.body["purpose"],
        approver=account.body["approver"],
        opened=account.at,
        entries=tuple(PaidEntry(number=entry.number, hash=entry.hash) for entry in paid if entry is not None),
        head=made.head,
    )


def _opening(entries: dict[int, LedgerEntry], kind: str, name: str) -> LedgerEntry:
    found = [e for e in entries.values() if e.kind == kind and e.body[kind] == name]
    if not found:
        raise ParameterError(f"the ledger must hold the {kind} that paid for the release")
    return found[0]

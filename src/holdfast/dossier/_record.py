"""The record: everything a dossier says, each section a function of its sources.

The page is drawn from the record and from nothing else, and embeds it as JSON; whoever has the sources can build the
sections again and compare.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from holdfast._arguments import checked
from holdfast._assumption import Assumption
from holdfast._regular_file import sha256_of
from holdfast._stored_fields import require_format
from holdfast.dossier._evidence import Attempt, Picture
from holdfast.dossier._promise import Chapter, Promise, stored_guarantee
from holdfast.dossier._section import Audience, Section
from holdfast.dossier._utility import Accuracy, Utility, utility_of
from holdfast.errors import FormatError, require
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
        utility=utility_of(release),
        useless=release.useless,
    )


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    return sha256_of(path, what="a release")

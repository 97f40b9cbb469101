"""Checks that hold releases and a page against the ledger that paid for them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from holdfast._assumption import Assumption
from holdfast._extensions import OWN_PACKAGE, Author
from holdfast._regular_file import sha256_of
from holdfast.dossier._ledger_snapshot import LedgerSnapshot, payment
from holdfast.dossier._record import Record, file_digest
from holdfast.dossier._verification.findings import Findings
from holdfast.ledger import Ledger, LedgerEntry
from holdfast.ledger._amounts import cost_of
from holdfast.ledger._dataset import Dataset
from holdfast.ledger._journal import charge_of, kept_value
from holdfast.ledger._recompute import recompute
from holdfast.privacy._wording import epsilon_text
from holdfast.release import Provenance, Release
from holdfast.release._release import foreign_mechanisms, foreign_proofs

if TYPE_CHECKING:
    from holdfast.ledger._recompute import Recomputed

_TOLERANCE = 2e-5
"""Numbers computed again on another machine may differ in the last of their six digits."""


def check_accounts(releases: Sequence[Release[Any]], ledger: Ledger, findings: Findings) -> None:
    """Each release promises what its account promises, names all its charges, and does not call them better."""
    snapshot = LedgerSnapshot.of(ledger)
    for release in releases:
        provenance, account_payment = release.provenance, payment(release, snapshot, sha256="")
        name = f"{provenance.title} (account {account_payment.account})"
        charges = list(snapshot.entries("charge", account=account_payment.account))
        head = snapshot.number_of(provenance.head)
        # A release may be of a share of its account; then it names the charges of that share.
        shares = [
            share
            for share in _share_names(charges)
            if head is not None and _is_account_head(charges, share, head, provenance.entries)
        ]
        findings.hold(
            provenance.account
            == f"{account_payment.ledger}/{account_payment.dataset}/{account_payment.account}",
            f"{name}: ledger, dataset and account are the ones that paid",
            f"{name}: it names another ledger, dataset or account than the one that paid",
        )
        if not findings.hold(
            bool(shares),
            f"{name}: names all {len(provenance.entries)} charges of its account",
            f"{name}: charges of its account are missing, or it names others",
        ):
            continue
        dataset = Dataset.of(snapshot.opening("dataset", account_payment.dataset))
        promises = [
            _promised_curve(dataset, snapshot.opening("account", account_payment.account), charges, share)
            for share in shares
        ]
        stored = release.guarantee.to_json()
        findings.hold(
            any(not list(differences(stored["curve"], promise)) for promise in promises),
            f"{name}: the guarantee is the account's",
            f"{name}: the guarantee is not the account's",
        )
        findings.hold(
            {key: stored[key] for key in ("adjacency", "unit")}
            == {key: dataset.terms[key] for key in ("adjacency", "unit")},
            f"{name}: adjacency and unit are the dataset's",
            f"{name}: adjacency or unit is not the dataset's",
        )
        account_charges = [entry.body for entry in charges if entry.number in provenance.entries]
        for what, best, stated in (
            ("noise", "secure", provenance.noise),
            ("arithmetic", "strict", provenance.arithmetic),
        ):
            findings.hold(
                stated != best or all(body[what] == best for body in account_charges),
                f"{name}: {stated} {what}, as its charges allow",
                f"{name}: it is called {best}, and the charges were not",
            )


def _share_names(charges: Sequence[LedgerEntry]) -> list[str]:
    return sorted({share for entry in charges for share in entry.body["caps"]})


def _is_account_head(charges: Sequence[LedgerEntry], share: str, head: int, named: Sequence[int]) -> bool:
    """Whether the named charges are all of this share up to the head, and none of another."""
    numbers = {entry.number for entry in charges if entry.body["share"].startswith(share)}
    return {number for number in numbers if number <= head} <= set(named) <= numbers


def _promised_curve(dataset: Dataset, opened: LedgerEntry, charges: Sequence[LedgerEntry], share: str) -> Any:
    """The limit of an account, or of a share of it, as the curve that it promises."""
    caps = [entry.body["caps"][share] for entry in charges if share in entry.body["caps"]]
    amount = opened.body["amount"] if not share else caps[0]
    return dataset.currency.promise(cost_of(amount)).to_json()


@dataclass(frozen=True, kw_only=True)
class Closings:
    """The files that a ledger closed, by their hashes, and up to which entry a trusted key signed for it."""

    numbers: Mapping[str, int]
    signed_up_to: int | None

    def is_signed(self, path: Path) -> bool:
        """Whether the ledger closed this very file, in an entry that a trusted key signed for."""
        number = self.numbers.get(file_digest(path))
        return number is not None and self.signed_up_to is not None and number <= self.signed_up_to

    def sentence(self, path: Path) -> str:
        """One sentence on how the ledger closed this file, which carries no signature of its own."""
        number = self.numbers.get(file_digest(path))
        if number is None:
            return "carries no signature, and the ledger did not close it"
        if self.is_signed(path):
            return "is closed in the ledger, under the signature of a trusted key"
        return f"carries no signature; the ledger closed it as entry {number}, which no trusted key has signed yet"


@dataclass(frozen=True, kw_only=True)
class ListedRelease:
    """A release that a page is about: its name there, the hash of its file, and how it came about."""

    name: str
    sha256: str
    provenance: Provenance


@dataclass(frozen=True, kw_only=True)
class PageFacts:
    """What a page says of itself and of its releases, as far as the ledger knows it too; `hashes` are of them all."""

    title: object
    audience: object
    hashes: Sequence[str]
    releases: Sequence[ListedRelease]

    @classmethod
    def of(cls, record: Record) -> PageFacts:
        """From a record of this version's format."""
        listed = [
            ListedRelease(name=release.name, sha256=release.sha256, provenance=release.provenance)
            for release in record.releases
        ]
        return cls(
            title=record.title,
            audience=record.audience,
            hashes=[release.sha256 for release in listed],
            releases=listed,
        )

    @classmethod
    def of_another_format(
        cls, written: Mapping[str, Any], hashes: Sequence[str], releases: Sequence[Release[Any]]
    ) -> PageFacts:
        """From the fields that every format has, and the releases themselves, as far as they are at hand."""
        listed = [
            ListedRelease(name=str(place), sha256=digest, provenance=release.provenance)
            for place, (digest, release) in enumerate(zip(hashes, releases, strict=False), start=1)
        ]
        return cls(title=written["title"], audience=written["audience"], hashes=hashes, releases=listed)


def check_closings(
    page_facts: PageFacts, page: Path, ledger: Ledger, findings: Findings, *, signed_up_to: int | None
) -> Closings:
    """The ledger closed exactly these releases, and this page; returns what it closed, and what is signed of it."""
    snapshot = LedgerSnapshot.of(ledger)
    closing_entries = _check_release_closings(page_facts.releases, snapshot, findings)
    page_entry = _check_page_closing(page_facts, page, snapshot, findings)
    if page_entry is not None:
        closing_entries.append(page_entry)
    last = max((entry.number for entry in closing_entries), default=0)
    if signed_up_to is not None and page_entry is not None:
        if signed_up_to < last:
            findings.skipped.append(
                f"entries {signed_up_to + 1} to {last}: not yet signed (sign the ledger again)"
            )
        else:
            findings.checked.append(f"the signature up to entry {signed_up_to} covers page and releases")
    return Closings(
        numbers={entry.body["sha256"]: entry.number for entry in closing_entries}, signed_up_to=signed_up_to
    )


def _check_release_closings(
    releases: Sequence[ListedRelease], snapshot: LedgerSnapshot, findings: Findings
) -> list[LedgerEntry]:
    """The ledger closed each release as the page describes it; returns the entries that did."""
    closing_entries = []
    for release in releases:
        entry = snapshot.closing(release.sha256)
        if entry is None:
            findings.problems.append(
                f"release {release.name}: the ledger did not close it, so nothing binds its value to what was paid"
            )
            continue
        paying_accounts = {charge.body["account"] for charge in snapshot.charges(release.provenance)}
        provenance, body = release.provenance, entry.body
        facts = ("method", "estimator", "package", "noise", "arithmetic", "schema_hash", "head")
        stated = (*(getattr(provenance, name) for name in facts), len(provenance.entries))
        recorded = tuple(body[name] for name in (*facts, "charges"))
        findings.hold(
            stated == recorded and paying_accounts == {body["account"]},
            f"release {release.name}: the ledger closed it with this hash, noise, schema and account",
            f"release {release.name}: the ledger closed it with another account, noise, schema or method",
        )
        closing_entries.append(entry)
    return closing_entries


def _check_page_closing(
    page_facts: PageFacts, page: Path, snapshot: LedgerSnapshot, findings: Findings
) -> LedgerEntry | None:
    """The ledger closed this very page, if it closed any about these releases; returns the entry that did."""
    hashes = set(page_facts.hashes)
    page_entries = [entry for entry in snapshot.entries("page") if hashes & set(entry.body["releases"])]
    digest = sha256_of(page, what="a page")
    page_entry = next((entry for entry in page_entries if entry.body["sha256"] == digest), None)
    if page_entry is not None:
        findings.hold(
            (page_entry.body["title"], page_entry.body["audience"], page_entry.body["releases"])
            == (page_facts.title, page_facts.audience, list(page_facts.hashes)),
            f"the page: the ledger closed it as entry {page_entry.number}",
            "the page: the ledger closed it under another title, for others, or about other releases",
        )
    elif page_entries:
        findings.problems.append(
            "the page: the ledger closed other pages about these releases, and not this one"
        )
    else:
        findings.skipped.append(
            "title, date, names, audits, attacks and labels: the ledger holds no page, so nothing binds them"
        )
    return page_entry


def check_recomputed(
    releases: Sequence[Release[Any]], ledger: Ledger, findings: Findings, *, epsilons: bool
) -> None:
    """Charge the mechanisms that were recorded for each release again; tell what epsilon they give."""
    snapshot = LedgerSnapshot.of(ledger)
    for release in releases:
        dataset = Dataset.of(snapshot.opening("dataset", payment(release, snapshot, sha256="").dataset))
        charges = [(charge.number, charge_of(charge)) for charge in snapshot.charges(release.provenance)]
        check_unrecorded_assumptions(release, [charge.mechanism for _, charge in charges], findings)
        foreign_names = foreign_mechanisms([charge.mechanism for _, charge in charges])
        if foreign_names:
            findings.skipped.append(
                f"what {', '.join(sorted(foreign_names))} costs: holdfast does not know it, and took its author's word"
            )
            continue
        recomputation = recompute(dataset, charges)
        promised = dataset.currency.amounts(release.guarantee.curve)
        within = promised is not None and all(
            a <= b for a, b in zip(recomputation.recomputed.amounts, promised, strict=True)
        )
        findings.hold(
            recomputation.sound and within,
            f"{len(charges)} recorded mechanisms, charged again by today's proofs, stay within the promise",
            "; ".join(recomputation.problems)
            or "the recorded mechanisms cost more than the release promises",
        )
        findings.recomputed += _epsilon_lines(release, recomputation) if epsilons else []


def check_released_values(releases: Sequence[Release[Any]], ledger: Ledger, findings: Findings) -> None:
    """What was released under the key of a charge is what the ledger keeps of that charge.

    A value that was changed after it was drawn (cut at zero, rounded) is no forgery, and nothing here can tell it from
    an invented one: it is not judged.
    """
    snapshot = LedgerSnapshot.of(ledger)
    for release in releases:
        title = release.provenance.title
        for name, value, number in _values_by_key(release, snapshot):
            noisy = kept_value(ledger, number)
            if noisy is None:
                continue
            if np.array_equal(np.asarray(value), np.asarray(noisy)):
                findings.checked.append(f"{title}: {name} is the noisy value that the ledger keeps")
            else:
                findings.skipped.append(
                    f"{title}: {name} is not the noisy value that the ledger keeps of entry {number}; "
                    "it was computed from it, or invented"
                )


def _values_by_key(release: Release[Any], snapshot: LedgerSnapshot) -> Iterator[tuple[str, Any, int]]:
    """Released values under the keys of charges, each with the number of the charge; a bare value has one charge."""
    charges = {str(entry.body["key"]): entry.number for entry in snapshot.charges(release.provenance)}
    value = release.value
    if isinstance(value, Mapping):
        for key, number in charges.items():
            if key in value and isinstance(value[key], np.ndarray | float | int):
                yield key, value[key], number
    elif isinstance(value, np.ndarray | float | int) and len(charges) == 1:
        ((key, number),) = charges.items()
        yield key or "the value", value, number


def unrecorded_assumptions(
    release: Release[Any], mechanisms: Sequence[Mapping[str, Any]] = ()
) -> list[Assumption]:
    """What a release rests on by its charges and by the package of its method, and does not say that it does."""
    provenance, unstated = release.provenance, foreign_proofs(mechanisms)
    if provenance.package != OWN_PACKAGE:
        author = Author(
            noun="method", name=provenance.method, promise="is private", package=provenance.package
        )
        unstated.append(author.assumption)
    stated = {_identity(assumption) for assumption in release.guarantee.assumptions}
    return [assumption for assumption in unstated if _identity(assumption) not in stated]


def _identity(assumption: Assumption) -> tuple[str, str, bool]:
    """The facts of an assumption, without the sentence that is made from them."""
    return assumption.kind, assumption.subject, assumption.voids


def check_unrecorded_assumptions(
    release: Release[Any], mechanisms: Sequence[Mapping[str, Any]], findings: Findings
) -> None:
    """A release that rests on the mechanism or the method of another package must name that package."""
    findings.problems += [
        f"{release.provenance.title}: it does not say what it rests on: {assumption.text}"
        for assumption in unrecorded_assumptions(release, mechanisms)
    ]


def _epsilon_lines(release: Release[Any], recomputation: Recomputed) -> list[str]:
    if recomputation.composed is None:
        return []
    return [
        f"  {recomputation.composed.point_words(delta)} from the recorded mechanisms, "
        f"{epsilon_text(release.guarantee.epsilon(delta))} promised"
        for delta in (1e-5, 1e-6, 1e-9)
    ]


def released_arrays(value: Any) -> list[list[float]]:
    """The arrays of a released value, as lists."""
    parts = value.values() if isinstance(value, Mapping) else [value]
    return [part.ravel().astype(float).tolist() for part in parts if isinstance(part, np.ndarray)]


def differences(written: Any, recomputation: Any, place: str = "") -> Iterator[str]:
    """Where two trees of plain data differ, by more than the last digits of a number.

    >>> list(differences({"a": [1.0, 2.0]}, {"a": [1.0, 2.5]}))
    ['a/1']
    """
    match written, recomputation:
        case dict(), dict():
            for key in sorted(written.keys() | recomputation.keys()):
                inner = f"{place}/{key}" if place else str(key)
                if key in written and key in recomputation:
                    yield from differences(written[key], recomputation[key], inner)
                else:
                    yield inner
        case list(), list():
            if len(written) != len(recomputation):
                yield place or "its length"
                return
            for index, (left, right) in enumerate(zip(written, recomputation, strict=True)):
                yield from differences(left, right, f"{place}/{index}" if place else str(index))
        case (bool(), _) | (_, bool()):
            if written is not recomputation:
                yield place or "its value"
        case int(), int():
            if written != recomputation:
                yield place or "its value"
        case ((int() | float()), (int() | float())):
            if not math.isclose(written, recomputation, rel_tol=_TOLERANCE, abs_tol=1e-12):
                yield place or "its value"
        case _:
            if written != recomputation:
                yield place or "its value"

"""What a verification found, and the checks that hold releases against the ledger that paid for them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import holdfast
from holdfast._arguments import checked
from holdfast._assumption import Assumption
from holdfast._extensions import OWN_PACKAGE, Author
from holdfast._regular_file import sha256_of
from holdfast.dossier._record import Books, Record, file_digest, payment
from holdfast.ledger import Ledger, LedgerEntry
from holdfast.ledger._amounts import cost_of
from holdfast.ledger._dataset import Dataset
from holdfast.ledger._journal import charge_of
from holdfast.ledger._recompute import recompute
from holdfast.privacy._wording import epsilon_text
from holdfast.release import Provenance, Release
from holdfast.release._release import foreign_mechanisms, foreign_proofs

if TYPE_CHECKING:
    from holdfast.ledger._recompute import Recomputed

_TOLERANCE = 2e-5
"""Numbers computed again on another machine may differ in the last of their six digits."""
Verdict = Literal["ok", "wrong", "not judged"]


@checked
@dataclass(frozen=True, kw_only=True)
class DossierVerification:
    """What was checked, what does not hold, and what could not be checked.

    `verify_dossier` makes one.

    Parameters
    ----------
    checked : tuple of str
        What was checked, and holds.
    problems : tuple of str
        What does not hold.
    skipped : tuple of str
        What could not be checked with what was given.
    recomputed : tuple of str
        What epsilon the recorded mechanisms give today, where that was asked for.
    judge : str
        The version of holdfast that made the page and can judge it, where that is another one; else empty.

    Examples
    --------
    >>> DossierVerification(checked=("the seal",), skipped=("the ledger (give --ledger)",)).verdict
    'not judged'
    """

    checked: tuple[str, ...]
    problems: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    recomputed: tuple[str, ...] = ()
    judge: str = ""

    @property
    def verdict(self) -> Verdict:
        """Wrong where something does not hold; not judged where something that a judgement needs was not checked."""
        return "wrong" if self.problems else "not judged" if self.judge or self.skipped else "ok"

    @property
    def ok(self) -> bool:
        """Whether everything was checked and holds."""
        return self.verdict == "ok"

    @property
    def exit_code(self) -> int:
        """0 for ok, 1 for wrong, 3 for not judged."""
        return {"ok": 0, "wrong": 1, "not judged": 3}[self.verdict]

    def first_line(self) -> str:
        """The verdict, and what it takes to come to one where there is none."""
        if self.problems:
            return f"WRONG: {self.problems[0]}"
        if self.judge:
            return (
                f"NOT JUDGED: holdfast {self.judge} can judge this page, which names it as its maker; "
                f"this is holdfast {holdfast.__version__}"
            )
        if self.skipped:
            return f"NOT JUDGED: not everything could be checked: {self.skipped[0]}"
        return "OK: everything was checked, and holds"

    def summary(self) -> str:
        """The verdict, then one line a check."""
        lines = [self.first_line()]
        lines += [f"ok: {text}" for text in self.checked]
        lines += list(self.recomputed)
        lines += [f"not checked: {text}" for text in self.skipped]
        lines += [f"PROBLEM: {text}" for text in self.problems]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "ok": self.ok,
            "verdict": self.verdict,
            "judge": self.judge,
            "checked": list(self.checked),
            "problems": list(self.problems),
            "skipped": list(self.skipped),
            "recomputed": list(self.recomputed),
        }


@dataclass
class Findings:
    """Collects what was found."""

    checked: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    recomputed: list[str] = field(default_factory=list)
    judge: str = ""

    def hold(self, fine: bool, said: str, wrong: str) -> bool:
        """Note one check; returns whether it held."""
        (self.checked if fine else self.problems).append(said if fine else wrong)
        return fine

    def result(self) -> DossierVerification:
        """What was found, in full."""
        return DossierVerification(
            checked=tuple(self.checked),
            problems=tuple(self.problems),
            skipped=tuple(self.skipped),
            recomputed=tuple(self.recomputed),
            judge=self.judge,
        )


def check_accounts(releases: Sequence[Release[Any]], ledger: Ledger, findings: Findings) -> None:
    """Each release promises what its account promises, names all its charges, and does not call them better."""
    books = Books.of(ledger)
    for release in releases:
        provenance, paid = release.provenance, payment(release, books, sha256="")
        name = f"{provenance.title} (account {paid.account})"
        charges = list(books.entries("charge", account=paid.account))
        head = books.number_of(provenance.head)
        # A release may be of a share of its account; then it names the charges of that share.
        shares = [
            share
            for share in _shares(charges)
            if head is not None and _is_account_head(charges, share, head, provenance.entries)
        ]
        findings.hold(
            provenance.account == f"{paid.ledger}/{paid.dataset}/{paid.account}",
            f"{name}: ledger, dataset and account are the ones that paid",
            f"{name}: it names another ledger, dataset or account than the one that paid",
        )
        if not findings.hold(
            bool(shares),
            f"{name}: names all {len(provenance.entries)} charges of its account",
            f"{name}: charges of its account are missing, or it names others",
        ):
            continue
        dataset = Dataset.of(books.opening("dataset", paid.dataset))
        promises = [
            _promise(dataset, books.opening("account", paid.account), charges, share) for share in shares
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
        own = [entry.body for entry in charges if entry.number in provenance.entries]
        for what, best, said in (
            ("noise", "secure", provenance.noise),
            ("arithmetic", "strict", provenance.arithmetic),
        ):
            findings.hold(
                said != best or all(body[what] == best for body in own),
                f"{name}: {said} {what}, as its charges allow",
                f"{name}: it is called {best}, and the charges were not",
            )


def _shares(charges: Sequence[LedgerEntry]) -> list[str]:
    return sorted({share for entry in charges for share in entry.body["caps"]})


def _is_account_head(charges: Sequence[LedgerEntry], share: str, head: int, named: Sequence[int]) -> bool:
    """Whether the named charges are all of this share up to the head, and none of another."""
    own = {entry.number for entry in charges if entry.body["share"].startswith(share)}
    return {number for number in own if number <= head} <= set(named) <= own


def _promise(dataset: Dataset, opened: LedgerEntry, charges: Sequence[LedgerEntry], share: str) -> Any:
    """The limit of an account, or of a share of it, as the curve that it promises."""
    caps = [entry.body["caps"][share] for entry in charges if share in entry.body["caps"]]
    amount = opened.body["amount"] if not share else caps[0]
    return dataset.currency.promise(cost_of(amount)).to_json()


@dataclass(frozen=True, kw_only=True)
class Closings:
    """The files that a ledger closed, by their hashes, and up to which entry a trusted key signed for it."""

    numbers: Mapping[str, int]
    signed_up_to: int | None

    def signed(self, path: Path) -> bool:
        """Whether the ledger closed this very file, in an entry that a trusted key signed for."""
        number = self.numbers.get(file_digest(path))
        return number is not None and self.signed_up_to is not None and number <= self.signed_up_to

    def words(self, path: Path) -> str:
        """What is so of this file, which carries no signature of its own."""
        number = self.numbers.get(file_digest(path))
        if number is None:
            return "carries no signature, and the ledger did not close it"
        if self.signed(path):
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
    shown: PageFacts, page: Path, ledger: Ledger, findings: Findings, *, signed_up_to: int | None
) -> Closings:
    """The ledger closed exactly these releases, and this page; returns what it closed, and what is signed of it."""
    books = Books.of(ledger)
    closed = []
    for release in shown.releases:
        entry = books.closing(release.sha256)
        charged = {charge.body["account"] for charge in books.charges(release.provenance)}
        if entry is not None:
            provenance, body = release.provenance, entry.body
            facts = ("method", "estimator", "package", "noise", "arithmetic", "schema_hash", "head")
            same = (*(getattr(provenance, name) for name in facts), len(provenance.entries))
            recorded = tuple(body[name] for name in (*facts, "charges"))
            findings.hold(
                same == recorded and charged == {body["account"]},
                f"release {release.name}: the ledger closed it with this hash, noise, schema and account",
                f"release {release.name}: the ledger closed it with another account, noise, schema or method",
            )
            closed.append(entry)
        else:
            findings.problems.append(
                f"release {release.name}: the ledger did not close it, so nothing binds its value to what was paid"
            )
    wanted = set(shown.hashes)
    pages = [e for e in books.entries("page") if wanted & set(e.body["releases"])]
    digest = sha256_of(page, what="a page")
    mine = next((e for e in pages if e.body["sha256"] == digest), None)
    if mine is not None:
        findings.hold(
            (mine.body["title"], mine.body["audience"], mine.body["releases"])
            == (shown.title, shown.audience, list(shown.hashes)),
            f"the page: the ledger closed it as entry {mine.number}",
            "the page: the ledger closed it under another title, for others, or about other releases",
        )
        closed.append(mine)
    elif pages:
        findings.problems.append(
            "the page: the ledger closed other pages about these releases, and not this one"
        )
    else:
        findings.skipped.append(
            "title, date, names, audits, attacks and labels: the ledger holds no page, so nothing binds them"
        )
    last = max((entry.number for entry in closed), default=0)
    if signed_up_to is not None and mine is not None:
        if signed_up_to < last:
            findings.skipped.append(
                f"entries {signed_up_to + 1} to {last}: not yet signed (sign the ledger again)"
            )
        else:
            findings.checked.append(f"the signature up to entry {signed_up_to} covers page and releases")
    return Closings(
        numbers={entry.body["sha256"]: entry.number for entry in closed}, signed_up_to=signed_up_to
    )


def check_recomputed(
    releases: Sequence[Release[Any]], ledger: Ledger, findings: Findings, *, epsilons: bool
) -> None:
    """Charge the mechanisms that were recorded for each release again; tell what epsilon they give."""
    books = Books.of(ledger)
    for release in releases:
        dataset = Dataset.of(books.opening("dataset", payment(release, books, sha256="").dataset))
        charges = [(charge.number, charge_of(charge)) for charge in books.charges(release.provenance)]
        check_told(release, [charge.mechanism for _, charge in charges], findings)
        strange = foreign_mechanisms([charge.mechanism for _, charge in charges])
        if strange:
            findings.skipped.append(
                f"what {', '.join(sorted(strange))} costs: holdfast does not know it, and took its author's word"
            )
            continue
        again = recompute(dataset, charges)
        promised = dataset.currency.amounts(release.guarantee.curve)
        within = promised is not None and all(
            a <= b for a, b in zip(again.recomputed.amounts, promised, strict=True)
        )
        findings.hold(
            again.sound and within,
            f"{len(charges)} recorded mechanisms, charged again by today's proofs, stay within the promise",
            "; ".join(again.problems) or "the recorded mechanisms cost more than the release promises",
        )
        findings.recomputed += _epsilons(release, again) if epsilons else []


def unrecorded_assumptions(
    release: Release[Any], charged: Sequence[Mapping[str, Any]] = ()
) -> list[Assumption]:
    """What a release rests on by its charges and by the package of its method, and does not say that it does."""
    provenance, wanted = release.provenance, foreign_proofs(charged)
    if provenance.package != OWN_PACKAGE:
        author = Author(
            noun="method", name=provenance.method, promise="is private", package=provenance.package
        )
        wanted.append(author.assumption)
    said = {_facts(assumption) for assumption in release.guarantee.assumptions}
    return [assumption for assumption in wanted if _facts(assumption) not in said]


def _facts(assumption: Assumption) -> tuple[str, str, bool]:
    """What an assumption says, without its sentence."""
    return assumption.kind, assumption.subject, assumption.voids


def check_told(release: Release[Any], charged: Sequence[Mapping[str, Any]], findings: Findings) -> None:
    """A release that rests on a mechanism or a method of somebody else says whose."""
    findings.problems += [
        f"{release.provenance.title}: it does not say what it rests on: {assumption.text}"
        for assumption in unrecorded_assumptions(release, charged)
    ]


def _epsilons(release: Release[Any], again: Recomputed) -> list[str]:
    if again.composed is None:
        return []
    return [
        f"  {again.composed.point_words(delta)} from the recorded mechanisms, "
        f"{epsilon_text(release.guarantee.epsilon(delta))} promised"
        for delta in (1e-5, 1e-6, 1e-9)
    ]


def released_arrays(value: Any) -> list[list[float]]:
    """The arrays of a released value, as lists."""
    parts = value.values() if isinstance(value, Mapping) else [value]
    return [part.ravel().astype(float).tolist() for part in parts if isinstance(part, np.ndarray)]


def differences(written: Any, again: Any, place: str = "") -> Iterator[str]:
    """Where two trees of plain data differ, by more than the last digits of a number.

    >>> list(differences({"a": [1.0, 2.0]}, {"a": [1.0, 2.5]}))
    ['a/1']
    """
    match written, again:
        case dict(), dict():
            for key in sorted(written.keys() | again.keys()):
                inner = f"{place}/{key}" if place else str(key)
                if key in written and key in again:
                    yield from differences(written[key], again[key], inner)
                else:
                    yield inner
        case list(), list():
            if len(written) != len(again):
                yield place or "its length"
                return
            for index, (left, right) in enumerate(zip(written, again, strict=True)):
                yield from differences(left, right, f"{place}/{index}" if place else str(index))
        case (bool(), _) | (_, bool()):
            if written is not again:
                yield place or "its value"
        case int(), int():
            if written != again:
                yield place or "its value"
        case ((int() | float()), (int() | float())):
            if not math.isclose(written, again, rel_tol=_TOLERANCE, abs_tol=1e-12):
                yield place or "its value"
        case _:
            if written != again:
                yield place or "its value"

"""Verification: every hash, rule and total of a ledger checked again, from its entries alone."""

from __future__ import annotations

import os
from dataclasses import dataclass

from holdfast._arguments import checked
from holdfast.errors import FormatError, HoldfastError, LedgerError
from holdfast.ledger._chain import Chain
from holdfast.ledger._entry import BEGINNING_HASH, LedgerEntry, entry_digest
from holdfast.ledger._replay import Book, BrokenRule
from holdfast.ledger._signing.signature import Signature, SignedHead
from holdfast.ledger._signing.trust import Trust
from holdfast.ledger._store import Store

_MOST_PROBLEMS = 20


@checked
@dataclass(frozen=True, kw_only=True)
class Verification:
    """What a check of the whole ledger found.

    A ledger file alone cannot show that it is an old copy of itself. A `head` can, taken from a later release or from
    a signed head: the chain of the true ledger holds it and an older copy does not.

    Parameters
    ----------
    entries : int
        How many entries there are.
    head : str
        The hash of the newest one.
    problems : tuple of str
        What is wrong, in words; empty for a sound ledger.
    looked_for : str, optional
        The head that was to be in the chain.
    found_at : int, optional
        The number of the entry that has it.
    signed_up_to : int, optional
        The number of the newest entry that a signature covers.
    signatures_checked : bool
        Whether a public key was given to check signatures by.

    Examples
    --------
    >>> Verification(entries=3, head="ab12").ok
    True
    """

    entries: int
    head: str
    problems: tuple[str, ...] = ()
    looked_for: str | None = None
    found_at: int | None = None
    signed_up_to: int | None = None
    signatures_checked: bool = False

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def require(self) -> None:
        """Raise `LedgerError` unless nothing is wrong."""
        if self.problems:
            raise LedgerError(f"the ledger does not verify: {self.problems[0]}; nothing was released")

    def summary(self) -> str:
        """What was checked and what was found."""
        lines = [f"{self.entries} entries, head {self.head}"]
        if self.ok:
            lines.append("the chain of hashes, the limits and the totals are sound")
        lines += [f"PROBLEM: {problem}" for problem in self.problems]
        if self.found_at is not None:
            lines.append(f"the head that was looked for is entry {self.found_at}")
        elif self.looked_for is None:
            lines.append(
                "no head was given: whether this is an old copy of the ledger cannot be seen from it alone"
            )
        if self.signed_up_to is not None:
            known = "by the given key" if self.signatures_checked else "by a key that was not checked"
            lines.append(f"signed up to entry {self.signed_up_to} {known}")
        return "\n".join(lines)


def verify(
    store: Store, *, head: str | None = None, public_key: str | os.PathLike[str] | Trust | None = None
) -> Verification:
    """Check the file, the chain, the rules, the pointers, the kept values, a head, and signatures."""
    problems: list[str] = []
    book, hashes = Book(), _Hashes(head)
    try:
        with store.reading() as chain:
            if chain.integrity() != "ok":
                problems.append("SQLite finds the file damaged")
            _check_chain(chain, book, hashes, problems)
            if not problems:
                _check_pointers(chain, book, problems)
                _check_payloads(chain, book, problems)
    except LedgerError as error:
        problems.append(str(error))
    if head is not None and hashes.found_at is None:
        problems.append(
            "the head that was looked for is not in this ledger: it is an older copy, or another ledger"
        )
    signed = _check_signatures(book, public_key, problems)
    return Verification(
        entries=hashes.count,
        head=hashes.last,
        problems=tuple(problems[:_MOST_PROBLEMS]),
        looked_for=head,
        found_at=hashes.found_at,
        signed_up_to=signed,
        signatures_checked=public_key is not None,
    )


class _Hashes:
    """How far the chain was followed, and which entry has the head that was looked for."""

    def __init__(self, looked_for: str | None) -> None:
        self.looked_for = looked_for
        self.found_at: int | None = None
        self.count = 0
        self.last = BEGINNING_HASH

    def add(self, entry: LedgerEntry, entry_hash: str) -> None:
        if entry_hash == self.looked_for:
            self.found_at = entry.number
        self.count, self.last = self.count + 1, entry_hash


def _check_chain(chain: Chain, book: Book, hashes: _Hashes, problems: list[str]) -> None:
    for number, text, entry_hash in chain.rows():
        try:
            entry = LedgerEntry.parse(text, entry_hash)
            if not entry.number == number == hashes.count:
                raise BrokenRule("is not in its place; an entry is missing or was added")
            if entry.previous != hashes.last:
                raise BrokenRule("does not follow the entry before it")
            book.apply(entry)
        except (BrokenRule, HoldfastError) as error:
            problems.append(f"entry {number}: {error}")
            return  # every later entry rests on this one
        hashes.add(entry, entry_hash)
    if hashes.count == 0:
        problems.append("the ledger is empty: its creation was interrupted")


def _check_pointers(chain: Chain, book: Book, problems: list[str]) -> None:
    for table, expected in book.pointers().items():
        if chain.pointers(table) != expected:
            problems.append(f"the table {table} does not say what the entries say")


def _check_payloads(chain: Chain, book: Book, problems: list[str]) -> None:
    expected = {
        number: charge.payload for number, charge in book.charges.items() if charge.payload is not None
    }
    for number, payload in chain.payloads():
        if expected.pop(number, None) != entry_digest(payload):
            problems.append(f"entry {number}: the value that is kept for it was changed")
    problems.extend(f"entry {number}: the value that was kept for it is gone" for number in expected)


def _check_signatures(
    book: Book, public_key: str | os.PathLike[str] | Trust | None, problems: list[str]
) -> int | None:
    """Check that every signature, of heads and of approvals, is of a trusted key; the last entry that one covers."""
    trust = public_key if public_key is None or isinstance(public_key, Trust) else Trust.of(public_key)
    try:
        heads = [SignedHead.of(entry) for entry in book.signatures]
        approvals = [approval_of(entry) for entry in book.approvals]
        if trust is None:
            return heads[-1].number if heads else None
        if not heads:
            problems.append("the ledger holds no signature")
        for head in heads:
            if not trust.accepts(head, "ledger"):
                problems.append(f"the signature up to entry {head.number} is not of the given key")
        for entry, approval in zip(book.approvals, approvals, strict=True):
            if not trust.accepts(approval, "approval", name=entry.body["approver"]):
                problems.append(
                    f"entry {entry.number}: the approval is not signed by a trusted key of that name"
                )
    except FormatError as error:
        problems.append(f"a signature of the ledger: {error}")
        return None
    return heads[-1].number if heads else None


def approval_of(entry: LedgerEntry) -> Signature:
    """The signature of an approval, over everything else that its entry says."""
    content = {name: value for name, value in entry.body.items() if name not in ("public_key", "signature")}
    try:
        return Signature(
            about="approval",
            content=content,
            public_key=entry.body["public_key"],
            signature=entry.body["signature"],
        )
    except KeyError as error:
        raise FormatError("an approval lacks a field") from error

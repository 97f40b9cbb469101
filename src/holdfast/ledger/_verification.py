"""Verification: every hash, rule and total of a ledger checked again, from its entries alone."""

from __future__ import annotations

import os
from dataclasses import dataclass

from holdfast._arguments import checked
from holdfast.errors import FormatError, HoldfastError, LedgerError
from holdfast.ledger._chain import Chain
from holdfast.ledger._entry import BEGINNING_HASH, LedgerEntry, parse_entry
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
    checked : int
        How many entries this check read; an earlier one found the others in order.

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
    checked: int = 0

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
    store: Store,
    *,
    since_last: bool = False,
    head: str | None = None,
    public_key: str | os.PathLike[str] | Trust | None = None,
) -> Verification:
    """Check the file, the chain, the rules, the pointers, the kept values, a head, and signatures.

    `since_last` checks what came after the entry up to which an earlier check noted that it found all in order. That
    note saves work; it proves nothing, as whoever can write the file can write it.
    """
    problems: list[str] = []
    trust = public_key if public_key is None or isinstance(public_key, Trust) else Trust.of(public_key)
    signatures, hashes = _Signatures(trust, problems), _Hashes(head)
    try:
        with store.reading() as chain:
            start = _start(chain, hashes, problems) if since_last else -1
            if start < 0 and chain.integrity() != "ok":
                problems.append("SQLite finds the file damaged")
            if not problems:
                _check_chain(chain, hashes, signatures, problems, after=start)
    except LedgerError as error:
        problems.append(str(error))
    if head is not None and hashes.found_at is None:
        problems.append(
            "the head that was looked for is not in this ledger: it is an older copy, or another ledger"
        )
    if trust is not None and not signatures.heads:
        problems.append("the ledger holds no signature")
    return Verification(
        entries=hashes.count,
        head=hashes.last,
        problems=tuple(problems[:_MOST_PROBLEMS]),
        looked_for=head,
        found_at=hashes.found_at,
        signed_up_to=signatures.signed_up_to,
        signatures_checked=trust is not None,
        checked=hashes.checked,
    )


class _Hashes:
    """How far the chain was followed, and which entry has the head that was looked for."""

    def __init__(self, looked_for: str | None) -> None:
        self.looked_for = looked_for
        self.found_at: int | None = None
        self.count = 0
        self.last = BEGINNING_HASH
        self.checked = 0

    def begin_after(self, number: int, entry_hash: str) -> None:
        self.count, self.last = number + 1, entry_hash

    def add(self, entry: LedgerEntry, entry_hash: str) -> None:
        if entry_hash == self.looked_for:
            self.found_at = entry.number
        self.count, self.last, self.checked = self.count + 1, entry_hash, self.checked + 1


def _start(chain: Chain, hashes: _Hashes, problems: list[str]) -> int:
    """The entry up to which an earlier check found everything in order; -1 where none noted that."""
    noted = chain.verified()
    if noted is None:
        return -1
    number, entry_hash = noted
    if chain.entry(number).hash != entry_hash:
        problems.append(f"entry {number} is another than the one that was verified before")
    hashes.begin_after(number, entry_hash)
    return number


def _check_chain(
    chain: Chain, hashes: _Hashes, signatures: _Signatures, problems: list[str], *, after: int
) -> None:
    book = Book(chain, ledger="" if after < 0 else str(chain.entry(0).body["ledger"]))
    noted = chain.verified()
    for stored in chain.rows(after=after):
        try:
            entry = parse_entry(stored.text, stored.hash)
            if not entry.number == stored.number == hashes.count:
                raise BrokenRule("is not in its place; an entry is missing or was added")
            if entry.previous != hashes.last:
                raise BrokenRule("does not follow the entry before it")
            if noted is not None and noted[0] == entry.number and noted[1] != entry.hash:
                raise BrokenRule("is another than the one that was verified before")
            book.apply(entry, stored)
        except (BrokenRule, HoldfastError) as error:
            problems.append(f"entry {stored.number}: {error}")
            return  # every later entry rests on this one
        hashes.add(entry, stored.hash)
        signatures.add(entry)
    if hashes.count == 0:
        problems.append("the ledger is empty: its creation was interrupted")
        return
    try:
        if after < 0:
            book.require_rows()
        if noted is not None and noted[0] >= hashes.count:
            raise BrokenRule("entries that were verified before are gone")
        durable = chain.durable_number()
        if durable is not None and durable >= hashes.count:
            raise BrokenRule(f"entry {durable}, which was on the disk, is gone")
        if book.durable is not None and durable != book.durable:
            raise BrokenRule("the table durable does not say what the entries say")
    except BrokenRule as error:
        problems.append(str(error))


class _Signatures:
    """Whether every signature, of heads and of approvals, is of a trusted key; up to where the last one goes."""

    def __init__(self, trust: Trust | None, problems: list[str]) -> None:
        self.heads = 0
        self.signed_up_to: int | None = None
        self._trust, self._problems = trust, problems

    def add(self, entry: LedgerEntry) -> None:
        """Judge one more entry."""
        try:
            if entry.kind == "signature":
                self._add_head(SignedHead.of(entry))
            if entry.kind == "approval":
                self._add_approval(entry, approval_of(entry))
        except FormatError as error:
            self._problems.append(f"entry {entry.number}: {error}")

    def _add_head(self, head: SignedHead) -> None:
        self.heads, self.signed_up_to = self.heads + 1, head.number
        if self._trust is not None and not self._trust.accepts(head, "ledger"):
            self._problems.append(f"the signature up to entry {head.number} is not of the given key")

    def _add_approval(self, entry: LedgerEntry, approval: Signature) -> None:
        name = entry.body["approver"]
        if self._trust is not None and not self._trust.accepts(approval, "approval", name=name):
            self._problems.append(
                f"entry {entry.number}: the approval is not signed by a trusted key of that name"
            )


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

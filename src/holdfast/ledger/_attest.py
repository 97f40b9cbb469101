"""What a ledger attests with a key: that an account was approved, and an extract for those who may not see the rest.

An extract holds every entry about some datasets, each with its exact text, so that a stranger can hash it again;
the signature says that these are entries of the ledger up to its head, and that none about these datasets is left out.
docs/format.md describes it so that a verifier can be written without this package.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from holdfast.errors import LedgerError, require
from holdfast.ledger._chain import Chain
from holdfast.ledger._entry import LedgerEntry, canonical, entry_digest
from holdfast.ledger._signing.signature import Signature

EXTRACT_FORMAT = "holdfast-extract/1"


def approve(
    chain: Chain, ledger: str, account: str, private_key: str | os.PathLike[str], *, approver: str
) -> Signature:
    """Sign the entry that opened an account, which holds its limit and purpose, under the approver's name."""
    require(bool(approver), "approver", approver, "a non-empty text")
    known = chain.account(account)
    if known is None:
        raise LedgerError(f"there is no account {account!r}")
    opened = chain.entry(known[1])
    if opened.body["approver"] not in ("", approver):
        raise LedgerError(
            f"account {account!r} names {opened.body['approver']!r} as its approver, not {approver!r}"
        )
    content = {
        "approver": approver,
        "ledger": ledger,
        "account": account,
        "entry": opened.number,
        "hash": opened.hash,
    }
    signed = Signature.sign(private_key, about="approval", content=content)
    chain.append("approval", content | {"public_key": signed.public_key, "signature": signed.signature})
    return signed


def extract(
    chain: Chain, ledger: str, datasets: Sequence[str], private_key: str | os.PathLike[str]
) -> dict[str, Any]:
    """Every entry about these datasets, and the pages about their releases, signed."""
    require(bool(datasets), "datasets", datasets, "one or more names")
    unknown = sorted(set(datasets) - set(chain.datasets()))
    if unknown:
        raise LedgerError(f"the ledger has no dataset {unknown[0]!r}")
    accounts = {name for dataset in datasets for name, _, _ in chain.accounts(dataset)}
    closed: set[str] = set()
    chosen: list[LedgerEntry] = []
    last = None
    for _, text, entry_hash in chain.rows():
        last = entry = LedgerEntry.parse(text, entry_hash)
        body = entry.body
        if entry.kind == "release" and body["account"] in accounts:
            closed.add(body["sha256"])
        about_page = entry.kind == "page" and bool(closed & set(body["releases"]))
        about_data = body.get("dataset") in datasets or body.get("account") in accounts
        if entry.kind in ("ledger", "signature") or about_page or about_data:
            chosen.append(entry)
    assert last is not None
    entries = [{"hash": entry.hash, "text": entry.text} for entry in chosen]
    content = {
        "ledger": ledger,
        "head": last.hash,
        "number": last.number,
        "datasets": sorted(datasets),
        "sha256": entry_digest(canonical(entries)),
    }
    signed = Signature.sign(private_key, about="extract", content=content)
    return {"format": EXTRACT_FORMAT, "signature": signed.to_json(), "entries": entries}

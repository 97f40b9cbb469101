"""What is signed about a ledger: the approval of an account, and an extract of the entries about some datasets.

An extract is for readers who may not see the rest of the ledger. It holds the exact text of each entry, so that a
stranger can hash it again. The signature says that these are entries of the ledger up to its head, and that no entry
about these datasets is missing. docs/format.md describes the format, so that a verifier can be written without this
package.
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
    if chain.account(account) is None:
        raise LedgerError(f"there is no account {account!r}")
    opening = chain.opening("account", account)
    if opening.body["approver"] not in ("", approver):
        raise LedgerError(
            f"account {account!r} names {opening.body['approver']!r} as its approver, not {approver!r}"
        )
    content = {
        "approver": approver,
        "ledger": ledger,
        "account": account,
        "entry": opening.number,
        "hash": opening.hash,
    }
    approval = Signature.sign(private_key, about="approval", content=content)
    chain.append("approval", content | {"public_key": approval.public_key, "signature": approval.signature})
    return approval


def extract(
    chain: Chain, ledger: str, datasets: Sequence[str], private_key: str | os.PathLike[str]
) -> dict[str, Any]:
    """Every entry about these datasets and every page about their releases, signed."""
    require(bool(datasets), "datasets", datasets, "one or more names")
    unknown = sorted(set(datasets) - set(chain.datasets()))
    if unknown:
        raise LedgerError(f"the ledger has no dataset {unknown[0]!r}")
    accounts = {name for dataset in datasets for name, _, _ in chain.accounts(dataset)}
    release_hashes: set[str] = set()
    chosen: list[LedgerEntry] = []
    last = None
    for stored in chain.rows():
        last = entry = LedgerEntry.parse(stored.text, stored.hash)
        body = entry.body
        if entry.kind == "release" and body["account"] in accounts:
            release_hashes.add(body["sha256"])
        about_page = entry.kind == "page" and bool(release_hashes & set(body["releases"]))
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

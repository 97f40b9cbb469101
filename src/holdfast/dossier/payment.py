"""Payment: which entries of a ledger paid for a release, and who allowed it."""

from __future__ import annotations

from typing import Any

from holdfast.errors import ParameterError
from holdfast.ledger import Ledger, LedgerEntry
from holdfast.release import Release


def payment(release: Release[Any], ledger: Ledger) -> dict[str, Any]:
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
    return {
        "ledger": ledger.id,
        "dataset": dataset.body["dataset"],
        "dataset_purpose": dataset.body["purpose"],
        "dataset_approver": dataset.body["approver"],
        "account": name,
        "purpose": account.body["purpose"],
        "approver": account.body["approver"],
        "opened": account.at,
        "entries": [{"number": entry.number, "hash": entry.hash} for entry in paid if entry is not None],
        "head": made.head,
    }


def _opening(entries: dict[int, LedgerEntry], kind: str, name: str) -> LedgerEntry:
    found = [e for e in entries.values() if e.kind == kind and e.body[kind] == name]
    if not found:
        raise ParameterError(f"the ledger must hold the {kind} that paid for the release")
    return found[0]

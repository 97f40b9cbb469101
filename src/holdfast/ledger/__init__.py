"""The ledger: a file that remembers every charge, and hands out accounts that cannot forget one.

Contents
--------
Keep a ledger
    `Ledger.create`, `Ledger.open`, `Ledger.dataset`, `Ledger.account`, `Ledger.temporary_account`.
Do a piece of work once, whatever is killed
    `once`, `kept_result`.
Show that it is true
    `Ledger.verify`, `Ledger.recompute`, `create_key`, `Ledger.sign`, `SignedHead`.

Public and private
------------------
Everything in the file may be shown to whoever may know what was asked of the data: datasets, limits, purposes,
names, charges and dates. Kept noisy values are public as soon as they are released. Nothing in it was computed
from rows without noise.
"""

from __future__ import annotations

from holdfast.ledger._dataset import Dataset
from holdfast.ledger._entry import LedgerEntry
from holdfast.ledger._jobs import Job, PaidOnce, kept_result, once
from holdfast.ledger._ledger import Ledger
from holdfast.ledger._signing.signature import SignedHead, create_key
from holdfast.ledger._verification import Verification

__all__ = [
    "Dataset",
    "Job",
    "Ledger",
    "LedgerEntry",
    "PaidOnce",
    "SignedHead",
    "Verification",
    "create_key",
    "kept_result",
    "once",
]

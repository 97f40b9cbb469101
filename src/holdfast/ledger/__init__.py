"""The ledger: a file that remembers every charge, and hands out accounts that cannot forget one."""

from __future__ import annotations

from holdfast.ledger._dataset import Dataset
from holdfast.ledger._entry import LedgerEntry
from holdfast.ledger._jobs import Job, PaidOnce, kept, once
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
    "kept",
    "once",
]

"""The ledger: a file that remembers every charge, and hands out accounts that cannot forget one."""

from __future__ import annotations

from holdfast.ledger.dataset import Dataset
from holdfast.ledger.entry import LedgerEntry
from holdfast.ledger.jobs import PaidOnce, kept, once
from holdfast.ledger.ledger import Ledger
from holdfast.ledger.signing.signature import SignedHead, create_key
from holdfast.ledger.verification import Verification

__all__ = [
    "Dataset",
    "Ledger",
    "LedgerEntry",
    "PaidOnce",
    "SignedHead",
    "Verification",
    "create_key",
    "kept",
    "once",
]

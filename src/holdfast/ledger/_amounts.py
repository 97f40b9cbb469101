"""Amounts: exact costs as entries of a ledger hold them, read from files that anybody may have written."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import Any

from holdfast.errors import LedgerError
from holdfast.privacy._account.currency import Cost

_FRACTION = re.compile(r"[0-9]{1,2000}(/0*[1-9][0-9]{0,2000})?", re.ASCII)


def cost_of(data: Any) -> Cost:
    """The exact cost that an entry holds as texts; refused unless each is a whole number or a fraction."""
    if not isinstance(data, list) or len(data) < 3 or set(map(type, data)) != {str}:
        raise LedgerError("an amount in the ledger is not a list of fractions; nothing was released")
    return _cost(tuple(data))


@lru_cache(maxsize=1024)  # a ledger repeats a few prices and limits many times
def _cost(parts: tuple[str, ...]) -> Cost:
    *amounts, total_variation, failure = map(_fraction, parts)
    return Cost(tuple(amounts), total_variation, failure)


def _fraction(text: str) -> Fraction:
    if not _FRACTION.fullmatch(text):
        raise LedgerError("an amount in the ledger is not a fraction; nothing was released")
    return Fraction(text)

"""Journal: where charges are written down before any noise is drawn.

An entry goes charged -> released, or charged -> abandoned; either way it stays charged. The
journal in memory serves one process; the ledger's journal is a file and serves many. Released values
are kept as text, so that a journal can give them back exactly as they were.
"""

from __future__ import annotations

import base64
import json
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, Protocol

import numpy as np

from holdfast.errors import BudgetExceeded, FormatError, LedgerError
from holdfast.privacy.account.currency import Cost


def encode_payload(value: Any) -> str:
    """JSON for numbers, and base64 for arrays.

    >>> decode_payload(encode_payload(np.array([1.5, 2.0]))).tolist()
    [1.5, 2.0]
    """
    if isinstance(value, np.ndarray):
        data = np.ascontiguousarray(value)
        body = {
            "dtype": data.dtype.str,
            "shape": list(value.shape),
            "data": base64.b64encode(data.tobytes()).decode(),
        }
        return json.dumps({"array": body})
    return json.dumps({"value": value.item() if isinstance(value, np.generic) else value})


def decode_payload(text: str) -> Any:
    """The value that `encode_payload` wrote."""
    try:
        data = json.loads(text)
        if "array" not in data:
            return data["value"]
        body = data["array"]
        dtype = np.dtype(body["dtype"])
        if dtype.hasobject:
            raise FormatError("a stored value may hold numbers only")
        flat = np.frombuffer(base64.b64decode(body["data"]), dtype=dtype)
        return flat.reshape(body["shape"]).copy()
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError("a stored value cannot be read back") from error


State = Literal["charged", "released", "abandoned"]


@dataclass(frozen=True, kw_only=True)
class Charge:
    """One payment: for which mechanism, how often, what it costs, and what it is for."""

    mechanism: dict[str, Any]
    curve: dict[str, Any]
    times: int
    cost: Cost
    arithmetic: str
    noise: str
    key: str | None = None
    label: str = ""
    share: str = ""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A charge as it stands in the journal."""

    number: int
    charge: Charge
    state: State = "charged"
    payload: str | None = None


class Journal(Protocol):
    """Checks and records charges, atomically."""

    def charge(self, charge: Charge, caps: Sequence[tuple[str, Cost]]) -> Entry:
        """Record the charge if it fits under every cap (share prefix, limit), else raise `BudgetExceeded`.

        A key that was seen before gives back its entry and charges nothing.
        """

    def settle(self, number: int, state: State, payload: str | None) -> Entry:
        """Move an entry on from `charged`, once; whoever comes second gets the entry as it stands."""

    def close_release(self, facts: dict[str, Any]) -> None:
        """Write down what was made of the charges: the hash of the whole release, and what it says of itself."""

    def spent(self, share: str) -> Cost | None:
        """The sum of all charges of a share and of those below it; None if there are none."""

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Everything charged so far, in order."""

    @property
    def head(self) -> str:
        """A hash of everything written so far; empty where nothing is kept."""

    @property
    def name(self) -> str:
        """Which ledger, dataset and account this is; empty where nothing is kept."""


class MemoryJournal:
    """The journal of an account without a ledger: for one process and all its threads, gone with it."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._keys: dict[str, int] = {}
        self._totals: dict[str, Cost] = {}
        self._lock = threading.RLock()
        self._process = os.getpid()

    def charge(self, charge: Charge, caps: Sequence[tuple[str, Cost]]) -> Entry:
        """Check every cap, then append; no other thread's charge comes between."""
        with self._alone():
            if charge.key is not None and charge.key in self._keys:
                known = self._entries[self._keys[charge.key]]
                same_payment(known.charge, charge)
                return known
            check_caps(charge, caps, [self.spent(share) for share, _ in caps])
            entry = Entry(number=len(self._entries), charge=charge)
            self._entries.append(entry)
            if charge.key is not None:
                self._keys[charge.key] = entry.number
            for share in shares_above(charge.share):
                self._totals[share] = add_up(self._totals.get(share), charge.cost)
            return entry

    def settle(self, number: int, state: State, payload: str | None) -> Entry:
        """Move on from `charged`, once."""
        with self._alone():
            entry = self._entries[number]
            if entry.state == "charged":
                entry = self._entries[number] = replace(entry, state=state, payload=payload)
            return entry

    def close_release(self, facts: dict[str, Any]) -> None:
        """Nothing is kept."""

    def spent(self, share: str) -> Cost | None:
        """The share's running total."""
        return self._totals.get(share)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Everything charged so far."""
        return tuple(self._entries)

    @property
    def head(self) -> str:
        """Nothing is kept."""
        return ""

    @property
    def name(self) -> str:
        """Nothing is kept."""
        return ""

    def _alone(self) -> threading.RLock:
        """The lock, in the process that opened the account: after a fork each copy would spend the whole limit."""
        if os.getpid() != self._process:
            raise LedgerError(
                "an account without a ledger belongs to the process that opened it; nothing was charged. "
                "Open it there, or pay from a Ledger, which serves many processes"
            )
        return self._lock

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError(
            "a journal in memory is never copied or stored: each copy would spend the whole limit"
        )


def shares_above(share: str) -> tuple[str, ...]:
    """The whole account, every share above this one, and this one: all of them pay.

    >>> shares_above("0/1/")
    ('', '0/', '0/1/')
    """
    parts = share.split("/")[:-1]
    return ("", *("".join(f"{part}/" for part in parts[: depth + 1]) for depth in range(len(parts))))


_LONGEST_BITS = 2048


def add_up(total: Cost | None, cost: Cost) -> Cost:
    """The running total after a charge: exact, until its fractions grow past 2,048 bits.

    Charges with many different denominators would make the exact sum, and with it every later
    charge, as long as the history. From there on it is rounded up to a multiple of 2^-1024.
    """
    exact = cost if total is None else total + cost
    amounts = tuple(_short(amount) for amount in exact.amounts)
    return Cost(amounts, _short(exact.total_variation), _short(exact.failure))


def _short(amount: Fraction) -> Fraction:
    if amount.denominator.bit_length() <= _LONGEST_BITS:
        return amount
    return Fraction(-((-amount.numerator << 1024) // amount.denominator), 1 << 1024)


def same_payment(known: Charge, asked: Charge) -> None:
    """Refuse a key that is used again for something else."""
    if (known.mechanism, known.times, known.share) != (asked.mechanism, asked.times, asked.share):
        raise LedgerError(f"key {asked.key!r} was used for another mechanism; give each release its own key")


def check_caps(charge: Charge, caps: Sequence[tuple[str, Cost]], spent: Sequence[Cost | None]) -> None:
    """Raise `BudgetExceeded` unless the charge fits under every cap."""
    for (share, limit), before in zip(caps, spent, strict=True):
        total = charge.cost if before is None else before + charge.cost
        if not total.fits(limit):
            where = f" of share {share!r}" if share else ""
            asked, left = _shown(charge.cost), _shown(limit if before is None else limit - before)
            raise BudgetExceeded(
                f"{charge.mechanism['mechanism']} costs {asked}, only {left} of the budget{where} is left; "
                "nothing was charged and no noise was drawn"
            )


def _shown(cost: Cost) -> str:
    amounts = ", ".join(f"{float(a):.6g}" for a in cost.amounts)
    slack = f" (slack {float(cost.total_variation):.3g}, {float(cost.failure):.3g})"
    return amounts + (slack if cost.total_variation or cost.failure else "")

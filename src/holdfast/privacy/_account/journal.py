"""Journal: where charges are written down before any noise is drawn.

An entry goes charged -> released, or charged -> abandoned; either way it stays charged. The
journal in memory serves one process; the ledger's journal is a file and serves many.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, Protocol

from holdfast.errors import BudgetExceeded, LedgerError
from holdfast.privacy._account.currency import Cost

_PROCESS_MARK = [object()]
"""One object for each life of a process: a child that was forked from it gets another."""


def _renew_process_mark() -> None:
    _PROCESS_MARK[0] = object()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_process_mark)


class Process:
    """This process: whatever was paid here is drawn here, and not a second time in a copy of its memory.

    The number alone does not tell: a child in a namespace of its own can have its parent's.

    >>> Process().here
    True
    """

    def __init__(self) -> None:
        self._number, self._mark = os.getpid(), _PROCESS_MARK[0]

    @property
    def here(self) -> bool:
        """Whether it is still the one that runs."""
        return os.getpid() == self._number and _PROCESS_MARK[0] is self._mark


def require_here(process: Process, name: str) -> None:
    """Refuse to hand out what a copy of the process that paid has drawn: it draws by itself, and one was paid for.

    Asked again after each draw, so that a fork between charge and draw gives one of the two its value.
    """
    if not process.here:
        raise LedgerError(
            f"what was paid for {name} belongs to the process that paid for it; nothing was released here. "
            "Pay in each process, from one ledger"
        )


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

    def cap(self, share: str) -> Cost | None:
        """The limit under which a share was charged; None if it was not. A name has one limit, for good."""

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
        self._limits: dict[str, Cost] = {}
        self._lock = threading.RLock()
        self._busy = False
        self._process = Process()

    def charge(self, charge: Charge, caps: Sequence[tuple[str, Cost]]) -> Entry:
        """Check every cap, then append; no other thread's charge comes between."""
        with self._alone():
            if charge.key is not None and charge.key in self._keys:
                earlier = self._entries[self._keys[charge.key]]
                same_payment(earlier.charge, charge)
                return earlier
            same_limits(caps, [self.cap(share) for share, _ in caps])
            check_caps(charge, caps, [self.spent(share) for share, _ in caps])
            # Totals come first: an interrupt from here on charges for nothing, and a draw always has its charge.
            for share in shares_above(charge.share):
                self._totals[share] = add_up(self._totals.get(share), charge.cost)
            self._limits.update((share, cap) for share, cap in caps if share)
            entry = Entry(number=len(self._entries), charge=charge)
            self._entries.append(entry)
            if charge.key is not None:
                self._keys[charge.key] = entry.number
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

    def cap(self, share: str) -> Cost | None:
        """The share's limit."""
        return self._limits.get(share)

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

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """No other thread, no other process, and no other code of this thread either.

        After a fork each copy would spend the whole limit. A signal handler or a finaliser can run in the middle of
        a charge, in the very thread that holds the lock, and would be checked against the same totals.
        """
        if not self._process.here:
            raise LedgerError(
                "an account without a ledger belongs to the process that opened it; nothing was charged. "
                "Open it there, or pay from a Ledger, which serves many processes"
            )
        with self._lock:
            if self._busy:
                raise LedgerError(
                    "a signal handler or a finaliser cannot pay in the middle of another payment; nothing was "
                    "charged. Let it set a flag, and pay where the program goes on"
                )
            try:
                self._busy = True
                yield
            finally:
                self._busy = False

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


_MOST_DENOMINATOR_BITS = 2048


def add_up(total: Cost | None, cost: Cost) -> Cost:
    """The running total after a charge: exact, until its fractions grow past 2,048 bits.

    Charges with many different denominators would make the exact sum, and with it every later
    charge, as long as the history. From there on it is rounded up to a multiple of 2^-1024.
    """
    exact = cost if total is None else total + cost
    amounts = tuple(_short(amount) for amount in exact.amounts)
    return Cost(amounts, _short(exact.total_variation), _short(exact.failure))


def _short(amount: Fraction) -> Fraction:
    if amount.denominator.bit_length() <= _MOST_DENOMINATOR_BITS:
        return amount
    return Fraction(-((-amount.numerator << 1024) // amount.denominator), 1 << 1024)


def same_payment(known: Charge, repeated: Charge) -> None:
    """Refuse a key that is used again for something else."""
    if (known.mechanism, known.times, known.share) != (repeated.mechanism, repeated.times, repeated.share):
        raise LedgerError(
            f"key {repeated.key!r} was used for another mechanism, or with other parameters, by this work before or by "
            "another run of it: wait for that run, or give each release its own key. Nothing was charged"
        )


def same_limits(caps: Sequence[tuple[str, Cost]], known: Sequence[Cost | None]) -> None:
    """Refuse a share whose name was charged under another limit: two splits would be counted as one."""
    for (share, limit), earlier_limit in zip(caps, known, strict=True):
        if share and earlier_limit is not None and earlier_limit != limit:
            raise LedgerError(
                f"share {share!r} was split off with another limit before; split the account again, which gives the "
                "shares names of their own. Nothing was charged"
            )


def check_caps(charge: Charge, caps: Sequence[tuple[str, Cost]], spent: Sequence[Cost | None]) -> None:
    """Raise `BudgetExceeded` unless the charge fits under every cap."""
    for (share, limit), spent_so_far in zip(caps, spent, strict=True):
        total = charge.cost if spent_so_far is None else spent_so_far + charge.cost
        if not total.fits(limit):
            where = f" of share {share!r}" if share else ""
            cost, left = (
                _cost_text(charge.cost),
                _cost_text(limit if spent_so_far is None else limit - spent_so_far),
            )
            raise BudgetExceeded(
                f"{charge.mechanism['mechanism']} costs {cost}, only {left} of the budget{where} is left; "
                "nothing was charged and no noise was drawn. A mechanism within account.remaining() fits"
            )


def _cost_text(cost: Cost) -> str:
    amounts = ", ".join(f"{float(a):.6g}" for a in cost.amounts)
    slack = f" (slack {float(cost.total_variation):.3g}, {float(cost.failure):.3g})"
    return amounts + (slack if cost.total_variation or cost.failure else "")

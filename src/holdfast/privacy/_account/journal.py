"""Journal: the record of charges; a charge is recorded before its noise is drawn.

The state of an entry goes from `charged` to `released` or to `abandoned`; the charge counts in either case. The journal
in memory serves one process. A ledger's journal is a file and serves many.
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
"""An object that identifies this process; a child that is forked from it gets another."""


def _renew_process_mark() -> None:
    _PROCESS_MARK[0] = object()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_process_mark)


class Process:
    """The process that paid; noise must be drawn there, and not again by a forked copy.

    The process number is not enough: a child in a namespace of its own can have its parent's number.

    >>> Process().here
    True
    """

    def __init__(self) -> None:
        self._number, self._mark = os.getpid(), _PROCESS_MARK[0]

    @property
    def here(self) -> bool:
        """Whether the code runs in the process that made this object."""
        return os.getpid() == self._number and _PROCESS_MARK[0] is self._mark


def require_here(process: Process, name: str) -> None:
    """Refuse a draw in a copy of the process that paid: both copies would draw, and only one draw was paid for.

    It is called again after each draw, so that after a fork between charge and draw only one of the two gets a value.
    """
    if not process.here:
        raise LedgerError(
            f"what was paid for {name} belongs to the process that paid for it; nothing was released here. "
            "Pay in each process, from one ledger"
        )


State = Literal["charged", "released", "abandoned"]


@dataclass(frozen=True, kw_only=True)
class Charge:
    """One payment: the mechanism, the number of uses, the cost and the purpose."""

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
    """A charge in the journal, with its state."""

    number: int
    charge: Charge
    state: State = "charged"
    payload: str | None = None


class Journal(Protocol):
    """Checks and records charges; each operation is atomic."""

    def charge(self, charge: Charge, caps: Sequence[tuple[str, Cost]]) -> Entry:
        """Record the charge if it fits under every cap (share prefix, limit), else raise `BudgetExceeded`.

        A key that was seen before gives back its entry and charges nothing.
        """

    def settle(self, number: int, state: State, payload: str | None) -> Entry:
        """Change the state of an entry from `charged`, once; a second call returns the entry unchanged."""

    def close_release(self, facts: dict[str, Any]) -> None:
        """Record the release that the charges paid for: its hash and its facts."""

    def spent(self, share: str) -> Cost | None:
        """The sum of all charges of a share and of those below it; None if there are none."""

    def cap(self, share: str) -> Cost | None:
        """The limit under which a share was charged; None if it was not. The limit of a name never changes."""

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Everything charged so far, in order."""

    @property
    def head(self) -> str:
        """A hash of everything recorded so far; empty for a journal in memory."""

    @property
    def name(self) -> str:
        """The ledger, dataset and account; empty for a journal in memory."""


class MemoryJournal:
    """The journal of an account without a ledger: it serves all threads of one process and ends with it."""

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
            # Totals come first: an interrupt after this line leaves a charge without a draw, and never a draw without a
            # charge.
            for share in shares_above(charge.share):
                self._totals[share] = add_up(self._totals.get(share), charge.cost)
            self._limits.update((share, cap) for share, cap in caps if share)
            entry = Entry(number=len(self._entries), charge=charge)
            self._entries.append(entry)
            if charge.key is not None:
                self._keys[charge.key] = entry.number
            return entry

    def settle(self, number: int, state: State, payload: str | None) -> Entry:
        """Change the state from `charged`, once."""
        with self._alone():
            entry = self._entries[number]
            if entry.state == "charged":
                entry = self._entries[number] = replace(entry, state=state, payload=payload)
            return entry

    def close_release(self, facts: dict[str, Any]) -> None:
        """Empty: a journal in memory is not stored."""

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
        """Empty: a journal in memory is not stored."""
        return ""

    @property
    def name(self) -> str:
        """Empty: a journal in memory is not stored."""
        return ""

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Exclusive access: no other thread or process, and no other code of this thread, may charge meanwhile.

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

    Charges with many different denominators would make the exact sum as long as the history. A longer fraction is
    rounded up to a multiple of 2^-1024.
    """
    exact = cost if total is None else total + cost
    parts = (*exact.amounts, exact.total_variation, exact.failure)
    if max(part.denominator for part in parts).bit_length() <= _MOST_DENOMINATOR_BITS:
        return exact
    amounts = tuple(_short(amount) for amount in exact.amounts)
    return Cost(amounts, _short(exact.total_variation), _short(exact.failure))


def _short(amount: Fraction) -> Fraction:
    if amount.denominator.bit_length() <= _MOST_DENOMINATOR_BITS:
        return amount
    return Fraction(-((-amount.numerator << 1024) // amount.denominator), 1 << 1024)


def same_payment(known: Charge, repeated: Charge) -> None:
    """Refuse a key that was used before for another payment."""
    if (known.mechanism, known.times, known.share) != (repeated.mechanism, repeated.times, repeated.share):
        raise LedgerError(
            f"key {repeated.key!r} was used for another mechanism, or with other parameters, by this work before or by "
            "another run of it: wait for that run, or give each release its own key. Nothing was charged"
        )


def same_limits(caps: Sequence[tuple[str, Cost]], known: Sequence[Cost | None]) -> None:
    """Refuse a share whose name was charged under another limit before: two splits would count as one."""
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

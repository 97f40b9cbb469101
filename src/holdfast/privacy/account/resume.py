"""ResumableAccount: a job that was killed and runs again neither pays twice nor draws twice.

Every release gets the next number under the job's key. A job that runs again with the same key asks the same
questions in the same order and is given the values that were released then, until it comes to the first one that
was not. Whatever a method decides from what remains, it decides again in the same way: charges that wait to be
repeated count as not yet spent.

Accounts that can be used again by a run that was killed: what was paid is not paid twice.

Every release gets a key from its place in the run. A second run of the same step asks in the same order, so
that the ledger gives back what was already released and charges only what is new. A permit for many draws gets no
key, because what was drawn from it is gone: asking for it again is a new charge, which does not fit. The account's
limit is the step's whole cost, fixed when it was opened: no history of kills and restarts spends more.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from holdfast.errors import BudgetExceeded, require
from holdfast.noise.source import Source
from holdfast.privacy.account.account import Account, Permit
from holdfast.privacy.account.currency import Cost
from holdfast.privacy.account.journal import Charge, Entry, Journal, State, add_up, shares_above
from holdfast.privacy.curves.curve import PrivacyCurve
from holdfast.privacy.mechanisms.mechanism import Mechanism


@dataclass
class ReplayedJournal:
    """A journal that reads as it did at this point of the first run: `spent` counts what this run asked for.

    Methods size their noise by what remains, so a second run must see what the first one saw. The limits
    themselves are checked by the journal inside, against everything that was ever charged.
    """

    inside: Journal
    seen: dict[str, Cost] = field(default_factory=dict)

    def charge(self, charge: Charge, caps: Sequence[tuple[str, Cost]]) -> Entry:
        """Charge, or find what was charged, and count it."""
        entry = self.inside.charge(charge, caps)
        for share in shares_above(charge.share):
            self.seen[share] = add_up(self.seen.get(share), charge.cost)
        return entry

    def settle(self, number: int, state: State, payload: str | None) -> Entry:
        """As the journal inside does."""
        return self.inside.settle(number, state, payload)

    def spent(self, share: str) -> Cost | None:
        """What this run asked for."""
        return self.seen.get(share)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Everything that was ever charged."""
        return self.inside.entries

    @property
    def head(self) -> str:
        """The ledger's head."""
        return self.inside.head

    @property
    def name(self) -> str:
        """Ledger, dataset and account."""
        return self.inside.name


class OrderKeyedAccount(Account):
    """An account whose releases are keyed by their order."""

    _asked: int

    @classmethod
    def over(cls, account: Account) -> OrderKeyedAccount:
        """The same account, with keys."""
        made = object.__new__(cls)
        made.__dict__.update(account.__dict__)
        if not isinstance(account.journal, ReplayedJournal):
            made.journal = ReplayedJournal(account.journal)
        made._asked = 0
        return made

    def release(self, mechanism: Mechanism, value: Any, *, key: str | None = None, label: str = "") -> Any:
        """Charge and draw, or give back what the first run drew."""
        return super().release(mechanism, value, key=self._key(key), label=label)

    def split(self, *shares: float) -> tuple[Account, ...]:
        """Shares with keys of their own."""
        return tuple(OrderKeyedAccount.over(share) for share in super().split(*shares))

    def _key(self, key: str | None) -> str:
        self._asked += 1
        return f"{self.share}{self._asked}" if key is None else key


class ResumableAccount(Account):
    """An account whose releases are numbered under a key.

    >>> from holdfast.privacy import Gaussian, ZCDP
    >>> account = Account(ZCDP(1.0), seed=1)
    >>> first = ResumableAccount.of(account, "job").release(Gaussian(sigma=1.0, l2_sensitivity=1.0), [3])
    >>> again = ResumableAccount.of(account, "job").release(Gaussian(sigma=1.0, l2_sensitivity=1.0), [3])
    >>> bool(first == again), account.remaining()
    (True, ZCDP(rho=0.5))
    """

    _paying: Account
    _prefix: str
    _count: int
    _waiting: dict[str, Charge]
    """Charges of an earlier run that this one has not asked for yet."""

    @classmethod
    def of(cls, account: Account, key: str) -> ResumableAccount:
        """The same account, for a job of this key."""
        require(isinstance(key, str) and bool(key), "key", key, "a non-empty text")
        waiting = {
            entry.charge.key: entry.charge
            for entry in account.journal.entries
            if entry.charge.key is not None and entry.charge.key.startswith(f"{key}/")
        }
        return cls._wrapped(account, prefix=f"{key}/", waiting=waiting)

    @classmethod
    def _wrapped(cls, account: Account, *, prefix: str, waiting: dict[str, Charge]) -> ResumableAccount:
        made = object.__new__(cls)
        made.__dict__.update(account.__dict__)
        made._paying = account
        made._prefix, made._count, made._waiting = prefix, 0, waiting
        # Noise is drawn by the account that pays. Coins that a method flips besides protect nobody, and a job that
        # runs again must flip them alike: they are made from the key.
        made.source = Source(seed=int.from_bytes(hashlib.sha256(prefix.encode()).digest()[:16], "little"))
        return made

    def release(self, mechanism: Mechanism, value: Any, *, key: str | None = None, label: str = "") -> Any:
        """As an account does, under the next number (or under the given name, within the job's key)."""
        return self._paying.release(mechanism, value, key=self._next(key), label=label)

    def permit(
        self,
        mechanism: Mechanism,
        *,
        times: int,
        parts: int = 1,
        delta: float | None = None,
        key: str | None = None,
        label: str = "",
    ) -> Permit:
        """Uses that are charged one by one as they are drawn, so that each can be given back.

        The sum is the same in every currency in which charges add up; another has no such permit.
        """
        require(times >= 1, "times", times, "a whole number >= 1")
        require(parts == 1 and delta is None, "parts", parts, "1, and delta left out, in a job with a key")
        cost = self.currency.cost(mechanism, times)
        left = self.currency.amounts(self.remaining())
        if left is None or not all(asked <= free for asked, free in zip(cost.amounts, left, strict=True)):
            raise BudgetExceeded(
                f"{times} uses of {mechanism.name} do not fit into what is left; nothing was charged"
            )
        return _OneByOne(self, mechanism, times, label or mechanism.name)

    def remaining(self) -> PrivacyCurve:
        """What is left, with the charges of an earlier run that this one has not asked for yet."""
        left = []
        for share, limit in self._caps:
            spent = self.journal.spent(share) or self.currency.nothing
            for charge in self._waiting.values():
                if charge.share.startswith(share):
                    spent = spent - charge.cost
            left.append(limit - spent)
        amounts = tuple(
            max(Fraction(0), min(cost.amounts[part] for cost in left)) for part in range(self.currency.parts)
        )
        slack = (min(cost.total_variation for cost in left), min(cost.failure for cost in left))
        return self.currency.promise(Cost(amounts, *slack))

    def split(self, *shares: float) -> tuple[Account, ...]:
        """Shares that are resumed with the whole."""
        return tuple(
            self._wrapped(child, prefix=f"{self._prefix}{place}/", waiting=self._waiting)
            for place, child in enumerate(self._paying.split(*shares))
        )

    def _next(self, name: str | None) -> str:
        key = f"{self._prefix}{self._count if name is None else name}"
        self._count += name is None
        self._waiting.pop(key, None)
        return key


class _OneByOne(Permit):
    """A permit of a resumable account."""

    def __init__(self, account: ResumableAccount, mechanism: Mechanism, times: int, label: str) -> None:
        self.mechanism = mechanism
        self.left = times
        self._account = account
        self._label = label

    def release(self, value: Any) -> Any:
        """Draw once, or be given what was drawn."""
        if self.left < 1:
            raise BudgetExceeded(
                f"all uses of this permit for {self.mechanism.name} are drawn; nothing was drawn now"
            )
        drawn = self._account.release(self.mechanism, value, label=self._label)
        self.left -= 1
        return drawn

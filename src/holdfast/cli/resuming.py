"""Accounts that can be used again by a run that was killed: what was paid is not paid twice.

Every release gets a key from its place in the run. A second run of the same step asks in the same order, so
that the ledger gives back what was already released and charges only what is new. A permit for many draws gets no
key, because what was drawn from it is gone: asking for it again is a new charge, which does not fit. The account's
limit is the step's whole cost, fixed when it was opened: no history of kills and restarts spends more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from holdfast.privacy.account import Account
from holdfast.privacy.currency import Cost
from holdfast.privacy.journal import Charge, Entry, Journal, State, add_up, shares_above
from holdfast.privacy.mechanism import Mechanism


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


class ResumableAccount(Account):
    """An account whose releases are keyed by their order."""

    _asked: int

    @classmethod
    def over(cls, account: Account) -> ResumableAccount:
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
        return tuple(ResumableAccount.over(share) for share in super().split(*shares))

    def _key(self, key: str | None) -> str:
        self._asked += 1
        return f"{self.share}{self._asked}" if key is None else key

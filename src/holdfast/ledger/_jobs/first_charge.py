"""An account that its first charge opens, so that work which is refused earlier sets nothing aside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from holdfast.errors import BudgetExceeded, LedgerError
from holdfast.ledger._dataset import free_share, require_terms
from holdfast.ledger._holder import Holder
from holdfast.ledger._ledger import Ledger
from holdfast.privacy._account import Account
from holdfast.privacy._account.currency import Cost
from holdfast.privacy._account.journal import Charge, Entry, Journal, State


def opened_by_first_charge(ledger: Ledger, dataset: str, name: str, **options: Any) -> Account:
    """The account of this name if there is one; else an account that its first charge opens."""
    known = ledger.dataset(dataset)
    require_terms(known, options["adjacency"], options["unit"])
    with ledger._store.reading() as chain:
        exists = chain.account(name) is not None
        amount, refusal = free_share(chain, known, options["limit"])
    if exists or refusal is not None:
        return ledger.account(dataset, name=name, **options)  # which records a refusal

    def open_journal() -> Journal:
        opened = ledger.account(dataset, name=name, **options)
        require_first(ledger, name)
        if opened._caps != (("", amount),):
            raise BudgetExceeded(
                f"the budget of dataset {dataset!r} moved meanwhile; nothing was charged. Try again"
            )
        return opened.journal

    account = Account(
        known.currency.promise(amount) if options["limit"] is None else options["limit"],
        adjacency=known.adjacency,
        unit=known.unit,
        currency=known.currency,
        journal=OpenedByFirstCharge(open_journal),
        translated=amount,
    )
    account.read_at = known.read_at if account.read_at is None else account.read_at
    return account


def first_holder(ledger: Ledger, name: str) -> Holder:
    """The process that opened an account, of those that have it open and still run; this one where there is none."""
    with ledger._store.reading() as chain:
        return next((holder for row in chain.holders(name) if (holder := Holder(*row)).alive), Holder.this())


def require_first(ledger: Ledger, name: str) -> None:
    """Refuse an account that another process has opened in the meantime to do the same work."""
    first = first_holder(ledger, name)
    if first != Holder.this():
        raise LedgerError(
            f"account {name!r} was opened meanwhile by {first.summary()}, which does the same work; wait for it and "
            "ask again. This run charged nothing"
        )


class OpenedByFirstCharge:
    """The journal of an account that is opened when something is charged to it, and holds nothing before."""

    def __init__(self, opening: Callable[[], Journal]) -> None:
        self._opening = opening
        self._journal: Journal | None = None

    def charge(self, charge: Charge, caps: Any) -> Entry:
        """Charge, and open the account before if this is the first charge."""
        if self._journal is None:
            self._journal = self._opening()
        return self._journal.charge(charge, caps)

    def settle(self, number: int, state: State, payload: str | None) -> Entry:
        """Settle a charge; where there is one the account is open."""
        assert self._journal is not None
        return self._journal.settle(number, state, payload)

    def close_release(self, facts: dict[str, Any]) -> None:
        """Close a release; where nothing was charged there is nothing to close."""
        if self._journal is not None:
            self._journal.close_release(facts)

    def spent(self, share: str) -> Cost | None:
        """Nothing before the first charge."""
        return None if self._journal is None else self._journal.spent(share)

    def cap(self, share: str) -> Cost | None:
        """None before the first charge."""
        return None if self._journal is None else self._journal.cap(share)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """None before the first charge."""
        return () if self._journal is None else self._journal.entries

    @property
    def head(self) -> str:
        """Empty before the first charge."""
        return "" if self._journal is None else self._journal.head

    @property
    def name(self) -> str:
        """Empty before the first charge."""
        return "" if self._journal is None else self._journal.name

"""RunningBudget: what the accounts of a dataset take from its limit, as running sums that entries write down.

An open account takes its whole amount, a closed one what it spent: so on every history the charges of all accounts
together stay within the dataset's limit. Each entry that changes these sums holds them as they are after it. What is
left of a dataset is therefore read from one entry, whether ten accounts were opened or ten thousand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from holdfast.ledger._amounts import cost_of
from holdfast.ledger._chain import Chain
from holdfast.ledger._entry import LedgerEntry
from holdfast.privacy._account.currency import Cost
from holdfast.privacy._account.journal import add_up


@dataclass(frozen=True, kw_only=True)
class RunningBudget:
    """The sums over the accounts of the present period of a dataset."""

    limit: Cost
    taken: Cost
    """What they hold or have spent."""
    spent: Cost
    """What was charged to them."""
    open_accounts: int

    @classmethod
    def of(cls, chain: Chain, dataset: str, limit: Cost, *, upto: int | None = None) -> RunningBudget:
        """After the newest entry that changed it, or the newest up to a number."""
        return cls.after(chain.budget_entry(dataset, upto=upto), limit)

    @classmethod
    def after(cls, entry: LedgerEntry, limit: Cost) -> RunningBudget:
        """As an entry left it: one that opens a dataset or a period leaves nothing taken."""
        if entry.kind in ("dataset", "reset"):
            nothing = limit - limit
            return cls(limit=limit, taken=nothing, spent=nothing, open_accounts=0)
        sums = entry.body["budget"]
        return cls(
            limit=limit,
            taken=cost_of(sums["taken"]),
            spent=cost_of(sums["spent"]),
            open_accounts=sums["open"],
        )

    @property
    def free(self) -> Cost:
        """What new accounts can be opened on."""
        return self.limit - self.taken

    @property
    def held(self) -> Cost:
        """What open accounts may still spend; sums that were rounded up differ by less than any charge."""
        return _componentwise(max, self.taken - self.spent, self.limit - self.limit)

    def opened(self, amount: Cost) -> dict[str, Any]:
        """The sums after an account of this amount was opened."""
        return self._sums(self.taken + amount, self.spent, self.open_accounts + 1)

    def charged(self, cost: Cost) -> dict[str, Any]:
        """The sums after a charge to an open account, which has set its amount aside already."""
        return self._sums(self.taken, self.spent + cost, self.open_accounts)

    def closed(self, amount: Cost, spent: Cost) -> dict[str, Any]:
        """The sums after an account gave back what it did not spend of its amount."""
        return self._sums(self.taken - (amount - spent), self.spent, self.open_accounts - 1)

    def _sums(self, taken: Cost, spent: Cost, open_accounts: int) -> dict[str, Any]:
        """As an entry holds them. Long fractions are rounded up, but never past the limit, within which they are."""
        rounded = _componentwise(min, add_up(None, taken), self.limit)
        return {
            "taken": rounded.to_json(),
            "spent": add_up(None, spent).to_json(),
            "open": open_accounts,
        }


def _componentwise(choice: Any, one: Cost, other: Cost) -> Cost:
    """A cost made of the smaller, or the larger, components of two."""
    amounts = tuple(choice(a, b) for a, b in zip(one.amounts, other.amounts, strict=True))
    return Cost(
        amounts,
        choice(one.total_variation, other.total_variation),
        choice(one.failure, other.failure),
    )

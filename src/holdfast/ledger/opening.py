"""Opening accounts: on whose terms, with how much, and which one goes on."""

from __future__ import annotations

from holdfast.errors import AdjacencyError, BudgetExceeded, LedgerError
from holdfast.ledger.chain import Chain
from holdfast.ledger.dataset import Dataset, committed
from holdfast.ledger.entry import LedgerEntry, canonical
from holdfast.ledger.journal import cost_of
from holdfast.privacy.adjacency import Adjacency, PrivacyUnit
from holdfast.privacy.currency import Cost
from holdfast.privacy.curve import PrivacyCurve


def known_dataset(chain: Chain, name: str) -> Dataset:
    """The dataset of this name, which must be open."""
    place = chain.dataset(name)
    if place is None:
        raise LedgerError(
            f"the ledger has no dataset {name!r}; open it with ledger.dataset({name!r}, limit=...)"
        )
    return Dataset.of(chain.entry(place[0]))


def require_terms(dataset: Dataset, adjacency: Adjacency | str | None, unit: PrivacyUnit | None) -> None:
    """Refuse an account whose neighbours or units are others than its dataset's."""
    same = adjacency is None or Adjacency.of(adjacency) is dataset.adjacency
    if not same or (unit is not None and unit != dataset.unit):
        raise AdjacencyError(
            f"dataset {dataset.name!r} is kept for adjacency {dataset.adjacency.value!r} and "
            f"{dataset.unit.summary()}; an account with other terms cannot share its limit"
        )


def free_share(
    chain: Chain, dataset: Dataset, limit: PrivacyCurve | None
) -> tuple[Cost, BudgetExceeded | None]:
    """The amount that a new account takes, and the refusal if it is not there."""
    free = dataset.amount
    for _, _, amount in committed(chain, dataset.name):
        free = free - amount
    if limit is None:
        empty = not any(free.amounts)
        return free, BudgetExceeded(f"nothing is left of dataset {dataset.name!r}") if empty else None
    asked = cost_of(dataset.currency.limit(limit).to_json())
    if asked.fits(free):
        return asked, None
    return asked, BudgetExceeded(
        f"an account of {limit!r} asks for more than {dataset.currency.promise(free)!r}, "
        f"which is what is left of dataset {dataset.name!r}; nothing was opened"
    )


def resumed(
    chain: Chain, known: tuple[str, int, int | None], *, name: str, dataset: str, limit: PrivacyCurve | None
) -> LedgerEntry:
    """The entry that opened an account, if a caller with this limit may go on with it."""
    if known[2] is not None:
        raise LedgerError(f"account {name!r} is closed; choose another name")
    opened = chain.entry(known[1])
    other_limit = limit is not None and canonical(limit.to_json()) != canonical(opened.body["limit"])
    if known[0] != dataset or other_limit:
        raise LedgerError(
            f"account {name!r} was opened on another dataset or with another limit; choose another name"
        )
    return opened

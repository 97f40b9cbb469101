"""The ledger in words, for whoever has to answer for it."""

from __future__ import annotations

from holdfast.ledger.chain import Chain
from holdfast.ledger.dataset import Dataset, committed
from holdfast.ledger.journal import cost_of
from holdfast.privacy.currency import Cost


def summary(chain: Chain, ledger: str) -> str:
    """Every dataset with its limit, its accounts, and what is left."""
    last = chain.last()
    assert last is not None
    lines = [f"ledger {ledger}: {last.number + 1} entries, head {last.hash}"]
    for name in chain.datasets():
        lines += _dataset(chain, name)
    return "\n".join(lines)


def _dataset(chain: Chain, name: str) -> list[str]:
    place = chain.dataset(name)
    assert place is not None
    dataset = Dataset.of(chain.entry(place[0]))
    spent, reserved, free = standing(chain, dataset)
    lines = [
        "",
        f"{name}: {dataset.limit!r} for {dataset.unit.summary()}, adjacency {dataset.adjacency.value}, "
        f"counted in {dataset.currency.name}",
        *([f"  purpose: {dataset.purpose}"] if dataset.purpose else []),
        *([f"  approved by: {dataset.approver}"] if dataset.approver else []),
        f"  spent {share(spent, dataset.amount)}, held by open accounts {share(reserved, dataset.amount)}, "
        f"free {share(free, dataset.amount)}",
    ]
    for account, opened, closed in chain.accounts(name):
        body = chain.entry(opened).body
        limit, used = cost_of(body["amount"]), account_spent(chain, account, dataset)
        state = "closed" if closed is not None else "open"
        period = ", before the last reset" if opened < place[1] else ""
        purpose = f": {body['purpose']}" if body["purpose"] else ""
        lines.append(
            f"  account {account} ({state}{period}) spent {share(used, limit)} of its limit{purpose}"
        )
    if place[1] != place[0]:
        reset = chain.entry(place[1])
        lines.append(
            f"  RESET at {reset.at} by {reset.body['approver']}: {reset.body['reason']}; "
            "the limit above holds for each period alone, all periods together spent "
            f"{share(lifetime(chain, dataset), dataset.amount)} of it"
        )
    return lines


def standing(chain: Chain, dataset: Dataset) -> tuple[Cost, Cost, Cost]:
    """Spent, held back for what open accounts may still spend, and free, in the present period."""
    spent, reserved = dataset.currency.nothing, dataset.currency.nothing
    for account, is_open, amount in committed(chain, dataset.name):
        used = account_spent(chain, account, dataset)
        spent = spent + used
        if is_open:
            reserved = reserved + (amount - used)
    return spent, reserved, dataset.amount - spent - reserved


def lifetime(chain: Chain, dataset: Dataset) -> Cost:
    """What all periods spent together."""
    total = dataset.currency.nothing
    for account, _, _ in chain.accounts(dataset.name):
        total = total + account_spent(chain, account, dataset)
    return total


def account_spent(chain: Chain, account: str, dataset: Dataset) -> Cost:
    """The running total of a whole account."""
    total = chain.total(account, "")
    return dataset.currency.nothing if total is None else cost_of(total)


def share(part: Cost, whole: Cost) -> str:
    """The largest share over the components, in per cent.

    >>> from fractions import Fraction
    >>> share(Cost((Fraction(1), Fraction(1))), Cost((Fraction(4), Fraction(8))))
    '25 %'
    """
    pairs = zip(
        (*part.amounts, part.total_variation, part.failure),
        (*whole.amounts, whole.total_variation, whole.failure),
        strict=True,
    )
    shares = [100 * a / b for a, b in pairs if b > 0]
    return f"{float(max(shares, default=0)):.4g} %"

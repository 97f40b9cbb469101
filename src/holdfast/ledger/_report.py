"""Standing: the budget of a dataset, as spent, held and free, and what one more release would leave of it.

A standing belongs to one head of the ledger: whoever checks a page later, when the ledger has more entries, can
compute the numbers of that head again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from holdfast.errors import ParameterError
from holdfast.ledger._amounts import cost_of
from holdfast.ledger._budget import RunningBudget
from holdfast.ledger._chain import Chain
from holdfast.ledger._dataset import Dataset, known_dataset
from holdfast.ledger._entry import Kind, LedgerEntry
from holdfast.ledger._holder import abandoned_accounts
from holdfast.privacy._account.currency import Cost
from holdfast.privacy._curves.curve import ApproxDP, PrivacyCurve, PureDP
from holdfast.privacy._rounding import round_down

USUAL_DELTA = 1e-6
"""The delta at which epsilon is read where the limit names none."""
_MOST_STEPS = 30


@dataclass(frozen=True, kw_only=True)
class Standing:
    """The budget of a dataset at one entry of the ledger."""

    dataset: Dataset
    spent: Cost
    held: Cost
    free: Cost
    """What new accounts can be opened on."""
    reset: LedgerEntry | None
    head: str
    number: int

    @classmethod
    def now(cls, chain: Chain, name: str) -> Standing:
        """At the newest entry that is known to be on the disk."""
        return cls._at(chain, known_dataset(chain, name), chain.durable())

    @classmethod
    def at(cls, chain: Chain, name: str, *, head: str, after: int = -1) -> Standing:
        """At the entry that has this hash, which comes after a number: near it it is found soon."""
        number, row = chain.number_of(head, after=after), chain.dataset(name)
        if number is None or row is None or row.opened > number:
            raise ParameterError(
                f"the ledger must hold dataset {name!r} and the head of the dossier; "
                "it is an older copy, or another ledger"
            )
        return cls._at(chain, known_dataset(chain, name), chain.entry(number))

    @classmethod
    def _at(cls, chain: Chain, dataset: Dataset, last: LedgerEntry) -> Standing:
        """From the sums that one entry holds: as fast in a long ledger as in a short one."""
        budget = RunningBudget.of(chain, dataset.name, dataset.amount, upto=last.number)
        resets = chain.entries(kind="reset")
        own = [e for e in resets if e.body["dataset"] == dataset.name and e.number <= last.number]
        return cls(
            dataset=dataset,
            spent=budget.spent,
            held=budget.held,
            free=budget.free,
            reset=own[-1] if own else None,
            head=last.hash,
            number=last.number,
        )

    @property
    def delta(self) -> float:
        """The delta at which epsilon is read."""
        point = self.dataset.limit.as_approximate()
        return USUAL_DELTA if point is None else float(point[1])

    def point(self, cost: Cost) -> dict[str, float | None]:
        """An amount as (epsilon, delta)."""
        if not any(cost.amounts):
            return {"epsilon": 0.0, "delta": self.delta}
        curve = self.dataset.currency.promise(cost)
        named = curve.as_approximate()
        if named is not None:
            return {"epsilon": _finite_or_none(float(named[0])), "delta": float(named[1])}
        return {"epsilon": _finite_or_none(curve.epsilon(self.delta)), "delta": self.delta}

    def what_if(self) -> list[dict[str, Any]]:
        """What accounts of round epsilons would take and leave, by the arithmetic of the ledger."""
        largest = self.point(self.free)["epsilon"]
        if not largest:
            return []
        step = _round_step(largest)
        rows = [self._row(Cost((Fraction(0),) * len(self.free.amounts)), 0.0, self.delta)]
        for multiple in range(1, math.floor(largest / step + 1e-9) + 1):
            epsilon = float(f"{multiple * step:.6g}")
            limit = self._limit(epsilon, largest)
            try:
                cost = self.dataset.currency.limit(limit)
            except ParameterError:
                continue  # too small to be promised at the Renyi order of this ledger
            if cost.fits(self.free):
                named = limit.as_approximate()
                rows.append(self._row(cost, epsilon, float(named[1]) if named else self.delta))
        return rows

    def _limit(self, epsilon: float, largest: float) -> PrivacyCurve:
        if self.delta == 0:
            return PureDP(epsilon)
        if self.dataset.currency.name == "basic":  # deltas add up too: take the same part of both
            part = Fraction(epsilon) / Fraction(largest)
            return ApproxDP(epsilon, round_down(self.free.amounts[1] * min(part, Fraction(1))))
        return ApproxDP(epsilon, self.delta)

    def _row(self, cost: Cost, epsilon: float, delta: float) -> dict[str, Any]:
        rest = self.free - cost
        return {
            "epsilon": epsilon,
            "delta": delta,
            "takes": share(cost, self.dataset.amount),
            "leaves": self.point(rest),
            "leaves_share": least_share(rest, self.dataset.amount),
        }

    def to_json(self) -> dict[str, Any]:
        """Plain numbers for the page."""
        dataset, whole = self.dataset, self.dataset.amount
        return {
            "dataset": dataset.name,
            "limit": repr(dataset.limit),
            "limit_point": self.point(whole),
            "currency": dataset.currency.name,
            "theorem": dataset.currency.theorem,
            "head": self.head,
            "entry": self.number,
            "parts": [
                {"name": name, "share": _as_shown(part), **self.point(cost)}
                for name, cost, part in (
                    ("spent", self.spent, _most_share(self.spent, whole)),
                    ("held", self.held, _most_share(self.held, whole)),
                    ("free", self.free, _least_share(self.free, whole)),
                )
            ],
            "what_if": self.what_if(),
            "reset": None
            if self.reset is None
            else {
                "at": self.reset.at,
                "approver": self.reset.body["approver"],
                "reason": self.reset.body["reason"],
            },
        }


def summary(chain: Chain, ledger: str) -> str:
    """Every dataset with its limit, its accounts, and what is left."""
    last = chain.last()
    assert last is not None
    lines = [f"ledger {ledger}: {last.number + 1} entries, head {last.hash}"]
    for name in chain.datasets():
        lines += _dataset_lines(chain, name)
    return "\n".join(lines)


def _dataset_lines(chain: Chain, name: str) -> list[str]:
    row = chain.dataset(name)
    assert row is not None
    dataset = known_dataset(chain, name)
    now = Standing.now(chain, name)
    lines = [
        "",
        f"{name}: {dataset.limit.words()} for {dataset.unit.summary()}, adjacency {dataset.adjacency.value}, "
        f"counted in {dataset.currency.name}",
        *([f"  purpose: {dataset.purpose}"] if dataset.purpose else []),
        *([f"  approved by: {dataset.approver}"] if dataset.approver else []),
        f"  spent {share(now.spent, dataset.amount)}, held by open accounts {share(now.held, dataset.amount)}, "
        f"free {least_share(now.free, dataset.amount)} ({dataset.free_words(now.free)})",
    ]
    ownerless = set(abandoned_accounts(chain, name))
    for account, opened, closed in chain.accounts(name):
        body = chain.entry(opened).body
        limit, used = cost_of(body["amount"]), account_spent(chain, account, dataset)
        state = (
            "closed"
            if closed is not None
            else "open, its process is gone"
            if account in ownerless
            else "open"
        )
        period = ", before the last reset" if opened < row.period else ""
        purpose = f": {body['purpose']}" if body["purpose"] else ""
        lines.append(
            f"  account {account} ({state}{period}) spent {share(used, limit)} of its limit{purpose}"
        )
    if row.period != row.opened:
        reset = chain.entry(row.period)
        lines.append(
            f"  RESET at {reset.at} by {reset.body['approver']}: {reset.body['reason']}; "
            "the limit above holds for each period alone, all periods together spent "
            f"{share(lifetime(chain, dataset), dataset.amount)} of it"
        )
    return lines


def lifetime(chain: Chain, dataset: Dataset) -> Cost:
    """What all periods spent together: each reset comes after the last charge of its period."""
    resets = [e.number for e in chain.entries(kind="reset") if e.body["dataset"] == dataset.name]
    ends = [RunningBudget.of(chain, dataset.name, dataset.amount, upto=number - 1) for number in resets]
    now = RunningBudget.of(chain, dataset.name, dataset.amount)
    return sum((budget.spent for budget in ends), start=now.spent)


def account_spent(chain: Chain, account: str, dataset: Dataset) -> Cost:
    """The running total of a whole account."""
    total = chain.total(account, "")
    return dataset.currency.nothing if total is None else cost_of(total)


def share(part: Cost, whole: Cost) -> str:
    """The largest share over the components, in per cent.

    >>> share(Cost((Fraction(1), Fraction(1))), Cost((Fraction(4), Fraction(8))))
    '25 %'
    """
    return f"{_most_share(part, whole):.4g} %"


def least_share(part: Cost, whole: Cost) -> str:
    """The least share over the components, in per cent: of what is left, the scarcest part counts.

    >>> least_share(Cost((Fraction(1), Fraction(1))), Cost((Fraction(4), Fraction(8))))
    '12.5 %'
    """
    return f"{_least_share(part, whole):.4g} %"


def _shares(part: Cost, whole: Cost) -> list[Fraction]:
    """Each component of a part in per cent of the whole; components that are zero in the whole are left out."""
    pairs = zip(
        (*part.amounts, part.total_variation, part.failure),
        (*whole.amounts, whole.total_variation, whole.failure),
        strict=True,
    )
    return [100 * a / b for a, b in pairs if b > 0]


def _most_share(part: Cost, whole: Cost) -> float:
    return float(max(_shares(part, whole), default=0))


def _least_share(part: Cost, whole: Cost) -> float:
    return float(min(_shares(part, whole), default=0))


def _as_shown(share: float) -> float:
    """The share with as many digits as the page shows."""
    return float(f"{share:.4g}")


def _finite_or_none(value: float) -> float | None:
    return None if math.isinf(value) else float(f"{value:.6g}")


def _round_step(largest: float) -> float:
    """A round number by which the range from 0 to `largest` has at most 30 steps.

    >>> _round_step(2.0), _round_step(0.31)
    (0.1, 0.02)
    """
    decade = 10.0 ** math.floor(math.log10(largest / _MOST_STEPS))
    return next(decade * m for m in (1, 2, 5, 10) if largest / (decade * m) <= _MOST_STEPS + 1e-9)


def history(
    chain: Chain, *, after: int = -1, kind: Kind | None = None, dataset: str | None = None
) -> Iterator[LedgerEntry]:
    """The entries after a number in order, all or those of a kind, about a dataset or both."""
    if dataset is None:
        yield from chain.entries(after=after, kind=kind)
        return
    names = {name for name, _, _ in chain.accounts(dataset)}
    for row in chain.rows(after=after):
        about_account = row.account in names
        if kind not in (None, row.kind) or not (about_account or row.kind in ("dataset", "reset", "refusal")):
            continue
        entry = LedgerEntry.parse(row.text, row.hash)
        if entry.body.get("dataset", dataset if about_account else None) == dataset:
            yield entry

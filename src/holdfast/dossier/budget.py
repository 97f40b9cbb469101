"""The budget behind a release: what the ledger allows, what is spent, what is left, and what one more would leave.

Everything is derived from the ledger's entries up to one head, so that whoever checks the page later, when the
ledger has moved on, comes to the same numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from holdfast.errors import ParameterError
from holdfast.ledger import Dataset, Ledger, LedgerEntry
from holdfast.ledger.replay import Book
from holdfast.ledger.report import share
from holdfast.privacy.currency import Cost
from holdfast.privacy.curve import ApproxDP, PrivacyCurve, PureDP
from holdfast.privacy.rounding import round_down

USUAL_DELTA = 1e-6
"""Where epsilon is read if the limit names no delta."""
_MOST_STEPS = 30


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Where a dataset stood at one entry of the ledger."""

    dataset: Dataset
    spent: Cost
    held: Cost
    reset: LedgerEntry | None
    head: str
    number: int

    @classmethod
    def of(cls, entries: tuple[LedgerEntry, ...], name: str, *, head: str) -> Standing:
        """Replay the entries up to this head."""
        book, opened, reached = Book(), None, None
        by_number = {}
        for entry in entries:
            book.apply(entry)
            by_number[entry.number] = entry
            if entry.kind == "dataset" and entry.body["dataset"] == name:
                opened = Dataset.of(entry)
            if entry.hash == head:
                reached = entry.number
                break
        if opened is None or reached is None:
            raise ParameterError(
                f"the ledger must hold dataset {name!r} and the head of the dossier; "
                "it is an older copy, or another ledger"
            )
        state = book.datasets[name]
        spent = held = opened.currency.nothing
        for account in book.accounts.values():
            if account.dataset == name and account.opened >= state.period:
                spent = spent + account.spent
                held = held + (account.amount - account.spent) if account.closed is None else held
        reset = by_number[state.period] if state.period != state.opened else None
        return cls(dataset=opened, spent=spent, held=held, reset=reset, head=head, number=reached)

    @property
    def free(self) -> Cost:
        """What new accounts can be opened on."""
        return self.dataset.amount - self.spent - self.held

    @property
    def delta(self) -> float:
        """Where epsilon is read."""
        point = self.dataset.limit.as_approximate()
        return USUAL_DELTA if point is None else float(point[1])

    def point(self, cost: Cost) -> dict[str, float | None]:
        """An amount as (epsilon, delta)."""
        if not any(cost.amounts):
            return {"epsilon": 0.0, "delta": self.delta}
        curve = self.dataset.currency.promise(cost)
        named = curve.as_approximate()
        if named is not None:
            return {"epsilon": _short(float(named[0])), "delta": float(named[1])}
        return {"epsilon": _short(curve.epsilon(self.delta)), "delta": self.delta}

    def what_if(self) -> list[dict[str, Any]]:
        """What accounts of round epsilons would take, and leave; computed as the ledger computes it."""
        most = self.point(self.free)["epsilon"]
        if not most:
            return []
        step = _step(most)
        rows = [self._row(Cost((Fraction(0),) * len(self.free.amounts)), 0.0, self.delta)]
        for place in range(1, math.floor(most / step + 1e-9) + 1):
            epsilon = float(f"{place * step:.6g}")
            limit = self._limit(epsilon, most)
            try:
                cost = self.dataset.currency.limit(limit)
            except ParameterError:
                continue  # too small to be promised at all at the Renyi order that the ledger fixed
            if cost.fits(self.free):
                named = limit.as_approximate()
                rows.append(self._row(cost, epsilon, float(named[1]) if named else self.delta))
        return rows

    def _limit(self, epsilon: float, most: float) -> PrivacyCurve:
        if self.delta == 0:
            return PureDP(epsilon)
        if self.dataset.currency.name == "basic":  # deltas add up too: take as large a part of both
            part = Fraction(epsilon) / Fraction(most)
            return ApproxDP(epsilon, round_down(self.free.amounts[1] * min(part, Fraction(1))))
        return ApproxDP(epsilon, self.delta)

    def _row(self, cost: Cost, epsilon: float, delta: float) -> dict[str, Any]:
        left = self.free - cost
        return {
            "epsilon": epsilon,
            "delta": delta,
            "takes": share(cost, self.dataset.amount),
            "leaves": self.point(left),
            "leaves_share": least_share(left, self.dataset.amount),
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
                {"name": name, "share": _percent(part), **self.point(cost)}
                for name, cost, part in (
                    ("spent", self.spent, share(self.spent, whole)),
                    ("held", self.held, share(self.held, whole)),
                    ("free", self.free, least_share(self.free, whole)),
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


def standing(ledger: Ledger, dataset: str, *, head: str | None = None) -> Standing:
    """Where the dataset stands now, or stood at a head."""
    return Standing.of(ledger.history(), dataset, head=ledger.head if head is None else head)


def least_share(part: Cost, whole: Cost) -> str:
    """The least share over the components, in per cent: of what is left, the scarcest part counts.

    >>> least_share(Cost((Fraction(1), Fraction(1))), Cost((Fraction(4), Fraction(8))))
    '12.5 %'
    """
    pairs = zip(
        (*part.amounts, part.total_variation, part.failure),
        (*whole.amounts, whole.total_variation, whole.failure),
        strict=True,
    )
    shares = [100 * a / b for a, b in pairs if b > 0]
    return f"{float(min(shares, default=0)):.4g} %"


def _percent(text: str) -> float:
    return float(text.removesuffix(" %"))


def _short(value: float) -> float | None:
    return None if math.isinf(value) else float(f"{value:.6g}")


def _step(most: float) -> float:
    """A round number that divides the range into at most 30 steps.

    >>> _step(2.0), _step(0.31)
    (0.1, 0.02)
    """
    decade = 10.0 ** math.floor(math.log10(most / _MOST_STEPS))
    return next(decade * m for m in (1, 2, 5, 10) if most / (decade * m) <= _MOST_STEPS + 1e-9)

"""Measure: one part of a plan. It asks the engine for whole numbers, pays, and gives noisy ones.

A measurement is public: it follows from the questions and the schema. Questions name the one that they need
(`TableQuestion.demand`), the plan merges those that one release can serve, and gives each a share of the budget.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from holdfast.data._table import Table
from holdfast.privacy._account import Account
from holdfast.privacy._mechanisms.mechanism import Mechanism
from holdfast.statistics._shares import Currency, Share
from holdfast.statistics._table_facts import TableFacts


@dataclass(frozen=True, kw_only=True)
class Purse:
    """What pays for one measurement: an account, the share of it, and the names of its charges.

    `release` charges first and draws then, as the account does; nothing else takes anything from the table to a result.
    """

    account: Account
    share: Share
    label: str
    key: str | None = None

    def release(self, mechanism: Mechanism, value: Any, *, step: str = "") -> Any:
        """Charge a mechanism and draw from it around an exact value."""
        name = f"{self.label}, {step}" if step else self.label
        key = None if self.key is None else f"{self.key}/{name}"
        return self.account.release(mechanism, value, key=key, label=name)

    def parts(self, *weights: float) -> tuple[Purse, ...]:
        """Purses of parts of the share, for measurements of several steps."""
        return tuple(
            Purse(account=self.account, share=share, label=self.label, key=self.key)
            for share in self.share.parts(weights)
        )


class Measure(ABC):
    """A noisy release that questions are answered from. Frozen and comparable: equal ones are measured once."""

    @property
    @abstractmethod
    def label(self) -> str:
        """What ledgers and plans call it."""

    def merged(self, other: Measure, facts: TableFacts) -> Measure | None:
        """One measurement that serves the questions of both at the price of one, or None."""
        return self if self == other else None

    @abstractmethod
    def check(self, facts: TableFacts) -> None:
        """Refuse, before anything is spent, what the schema does not declare."""

    @abstractmethod
    def expected(self, share: Share, facts: TableFacts) -> Any:
        """Public: what `measure` will give but for the table's own numbers; plans read noise and widths from it."""

    def example(self, share: Share, facts: TableFacts, rows: int) -> Any | None:
        """Public: what `measure` would give for groups of so many rows in the middle of the declared bounds.

        None where that says nothing about the width of an interval.
        """
        return None

    def typical(self, share: Share, facts: TableFacts, rows: float) -> Any:
        """Public: what it would give of so many rows spread evenly over groups and values, without noise.

        Widths of intervals are planned from it. By default as of an empty table.
        """
        return self.expected(share, facts)

    @abstractmethod
    def deviation(self, share: Share, facts: TableFacts) -> float:
        """Public: the noise of a count of rows, in rows, that this share buys; plans compare measurements by it."""

    @abstractmethod
    def measure(self, table: Table, purse: Purse, facts: TableFacts) -> Any:
        """Ask the engine, pay, draw. What it gives is public."""

    def currencies(self) -> tuple[Currency, ...]:
        """In which currencies it can be paid."""
        return ("pure", "zcdp", "gdp")

"""Replay: the state of a ledger derived from its entries alone, checking every rule on the way.

This shares no code with what writes charges, so that `verify` compares two independent answers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from holdfast.ledger._entry import LedgerEntry
from holdfast.ledger._journal import cost_of
from holdfast.privacy._account.currency import Cost
from holdfast.privacy._account.journal import add_up, shares_above


class BrokenRule(Exception):
    """An entry that a sound ledger cannot hold."""


def _rule(condition: object, text: str) -> None:
    """Raise `BrokenRule`, whose text goes on after the number of the entry, unless the condition holds."""
    if not condition:
        raise BrokenRule(text)


@dataclass
class _Dataset:
    opened: int
    period: int
    amount: Cost
    terms: tuple[Any, ...]
    taken: Cost
    """What its accounts of this period hold or have spent."""


@dataclass
class _Account:
    dataset: str
    opened: int
    hash: str
    amount: Cost
    closed: int | None = None
    totals: dict[str, Cost] = field(default_factory=dict)
    """The running total of each share."""
    last_charges: dict[str, int] = field(default_factory=dict)
    """The number of the last charge to each share."""
    keys: set[str] = field(default_factory=set)
    charges: list[LedgerEntry] = field(default_factory=list)

    @property
    def spent(self) -> Cost:
        """The total of its charges: zero in every component of the cost where there are none."""
        return self.totals.get("", self.amount.times_factor(Fraction(0)))


@dataclass
class _Charge:
    account: str
    key: str | None
    settled: int | None = None
    payload: str | None = None


@dataclass
class Book:
    """The datasets, accounts and charges that follow from the entries so far."""

    datasets: dict[str, _Dataset] = field(default_factory=dict)
    accounts: dict[str, _Account] = field(default_factory=dict)
    charges: dict[int, _Charge] = field(default_factory=dict)
    signatures: list[LedgerEntry] = field(default_factory=list)
    approvals: list[LedgerEntry] = field(default_factory=list)
    ledger: str = ""
    durable: int | None = None

    def apply(self, entry: LedgerEntry) -> None:
        """Account for one more entry; `BrokenRule` says what is wrong with it."""
        try:
            _rule(entry.number > 0 or entry.kind == "ledger", "does not start a ledger")
            getattr(self, f"_{entry.kind}")(entry, entry.body)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise BrokenRule("lacks a field, or has one of the wrong kind") from error
        if entry.must_last:
            self.durable = entry.number

    def pointers(self) -> dict[str, list[tuple[Any, ...]]]:
        """What the tables of pointers must hold."""
        return {
            "datasets": sorted((name, d.opened, d.period) for name, d in self.datasets.items()),
            "accounts": sorted((name, a.dataset, a.opened, a.closed) for name, a in self.accounts.items()),
            "totals": sorted(
                (name, share, n) for name, a in self.accounts.items() for share, n in a.last_charges.items()
            ),
            "charges": [(number, c.account, c.key, c.settled) for number, c in sorted(self.charges.items())],
            "durable": [] if self.durable is None else [(self.durable,)],
        }

    def _ledger(self, entry: LedgerEntry, body: Any) -> None:
        _rule(entry.number == 0, "starts a ledger in the middle of one")
        self.ledger = body["ledger"]

    def _dataset(self, entry: LedgerEntry, body: Any) -> None:
        _rule(body["dataset"] not in self.datasets, "opens a dataset twice")
        amount = cost_of(body["amount"])
        taken = amount.times_factor(Fraction(0))
        self.datasets[body["dataset"]] = _Dataset(entry.number, entry.number, amount, _terms(body), taken)

    def _account(self, entry: LedgerEntry, body: Any) -> None:
        _rule(body["account"] not in self.accounts, "opens an account twice")
        dataset = self.datasets[body["dataset"]]
        _rule(_terms(body) == dataset.terms, "opens an account on other terms than its dataset's")
        account = _Account(body["dataset"], entry.number, entry.hash, cost_of(body["amount"]))
        dataset.taken = dataset.taken + account.amount
        _rule(dataset.taken.fits(dataset.amount), "gives an account more than its dataset has left")
        self.accounts[body["account"]] = account

    def _charge(self, entry: LedgerEntry, body: Any) -> None:
        account = self._open_account(body)
        cost = cost_of(body["cost"])
        _rule(type(body["times"]) is int and body["times"] >= 1, "charges for no use")
        _rule(body["key"] is None or body["key"] not in account.keys, "charges one key twice")
        _rule(
            cost_of(body["caps"][""]) == account.amount,
            "was checked against another limit than its account's",
        )
        shares = shares_above(body["share"])
        _rule(
            set(body["totals"]) == set(shares) == set(body["caps"]),
            "does not charge every share above its own",
        )
        for share in shares:
            total = add_up(account.totals.get(share), cost)
            _rule(
                total.to_json() == body["totals"][share],
                "writes down a total that its charges do not add up to",
            )
            _rule(total.fits(cost_of(body["caps"][share])), "exceeds its limit")
            account.totals[share], account.last_charges[share] = total, entry.number
        if body["key"] is not None:
            account.keys.add(body["key"])
        self.charges[entry.number] = _Charge(body["account"], body["key"])
        account.charges.append(entry)

    def _settle(self, entry: LedgerEntry, body: Any) -> None:
        charge = self.charges.get(body["entry"])
        _rule(charge is not None and charge.account == body["account"], "settles what was not charged")
        assert charge is not None
        _rule(charge.settled is None, "settles a charge twice")
        _rule(body["state"] in ("released", "abandoned"), "settles a charge to an unknown state")
        charge.settled, charge.payload = entry.number, body["payload"]

    def _refusal(self, entry: LedgerEntry, body: Any) -> None:
        if "dataset" in body:
            _rule(body["dataset"] in self.datasets, "refuses an account of an unknown dataset")
        else:
            self._open_account(body)

    def _close(self, entry: LedgerEntry, body: Any) -> None:
        account = self._open_account(body)
        _rule(
            cost_of(body["spent"]) == account.spent, "closes an account with another total than its charges'"
        )
        account.closed = entry.number
        dataset = self.datasets[account.dataset]
        dataset.taken = dataset.taken - (account.amount - account.spent)

    def _reset(self, entry: LedgerEntry, body: Any) -> None:
        dataset = self.datasets[body["dataset"]]
        still_open = [a for a in self.accounts.values() if a.dataset == body["dataset"] and a.closed is None]
        _rule(not still_open, "resets a dataset that has open accounts")
        _rule(body["reason"] and body["approver"], "resets a dataset without a reason and an approver")
        dataset.period, dataset.taken = entry.number, dataset.amount.times_factor(Fraction(0))

    def _signature(self, entry: LedgerEntry, body: Any) -> None:
        _rule(body["ledger"] == self.ledger, "signs another ledger")
        _rule(
            body["number"] == entry.number - 1 and body["head"] == entry.previous,
            "signs another head than its own",
        )
        self.signatures.append(entry)

    def _release(self, entry: LedgerEntry, body: Any) -> None:
        _rule(body["account"] in self.accounts, "closes a release of an unknown account")
        _rule(_is_hash(body["sha256"]), "closes a release without its hash")
        charges = [
            charge.body for charge in self.accounts[body["account"]].charges if charge.number <= body["last"]
        ]
        paid = [charge for charge in charges if charge["share"].startswith(body["share"])]
        _rule(body["charges"] == len(paid), "closes a release with other charges than were made")
        for name, best in (("noise", "secure"), ("arithmetic", "strict")):
            _rule(
                body[name] != best or all(charge[name] == best for charge in paid),
                f"closes a release as {best} that was paid by charges which were not",
            )

    def _page(self, entry: LedgerEntry, body: Any) -> None:
        _rule(
            all(_is_hash(digest) for digest in (body["sha256"], *body["releases"])),
            "closes a page without its hash",
        )

    def _approval(self, entry: LedgerEntry, body: Any) -> None:
        account = self.accounts.get(body["account"])
        _rule(account is not None, "approves an unknown account")
        assert account is not None
        _rule(
            (body["ledger"], body["entry"], body["hash"]) == (self.ledger, account.opened, account.hash),
            "approves another account than the one that it names",
        )
        self.approvals.append(entry)

    def _open_account(self, body: Any) -> _Account:
        account = self.accounts.get(body["account"])
        _rule(account is not None and account.closed is None, "uses an account that is not open")
        assert account is not None
        return account


def _is_hash(text: object) -> bool:
    return isinstance(text, str) and len(text) == 64 and set(text) <= set("0123456789abcdef")


def _terms(body: Any) -> tuple[Any, ...]:
    return body["adjacency"], body["unit"], body["currency"]

"""Replay: every rule of a ledger, and every pointer, held against its entries one after the other.

This shares no code with what writes charges, so that `verify` compares two independent answers.

It needs no memory of its own. What was so before an entry is looked up in the entries before it, which were checked
when they came; the tables that are looked into keep their former rows, and at each entry it is checked that the rows
are there which the entry makes. That no others are there is a matter of counting, at the end. So a check may also begin
in the middle, after an entry up to which an earlier one found everything in order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeVar

from holdfast.ledger._amounts import cost_of
from holdfast.ledger._chain import Chain, ChargeRow, StoredEntry
from holdfast.ledger._entry import LedgerEntry
from holdfast.privacy._account.currency import Cost
from holdfast.privacy._account.journal import add_up, shares_above

_MOST_CURSORS = 64
_MOST_REMEMBERED = 16_384
"""Accounts, and totals of shares, that are remembered from one entry to the next, to be looked up less often."""
Key = TypeVar("Key")
Value = TypeVar("Value")


class BrokenRule(Exception):
    """An entry that a sound ledger cannot hold."""


def _rule(condition: object, text: str) -> None:
    """Raise `BrokenRule`, whose text goes on after the number of the entry, unless the condition holds."""
    if not condition:
        raise BrokenRule(text)


def _row(condition: object, table: str) -> None:
    """Raise `BrokenRule` unless a table has the row that the entry makes."""
    _rule(condition, f"the table {table} does not say what the entries say")


@dataclass
class _Dataset:
    opened: int
    period: int
    amount: Cost
    terms: tuple[Any, ...]
    taken: Cost
    """What its accounts of this period hold or have spent."""
    spent: Cost
    open_accounts: int
    moved: int
    """The entry that last changed what its accounts take."""
    taken_written: tuple[Cost | None, list[str]] = (None, [])
    """What they take as entries write it, since most entries do not change it."""


@dataclass(frozen=True)
class _Account:
    dataset: str
    opened: int
    hash: str
    amount: Cost
    closed: int | None


@dataclass(frozen=True)
class _Total:
    """What was charged to a share; how often, with secure noise, and with strict arithmetic; the last entry."""

    cost: Cost | None = None
    counts: tuple[int, ...] = (0, 0, 0)
    number: int | None = None


class Book:
    """The datasets, accounts and charges that follow from the entries of a chain, in their order."""

    def __init__(self, chain: Chain, *, ledger: str = "") -> None:
        self.ledger = ledger
        self.durable: int | None = None
        self.rows: Counter[str] = Counter()
        """How many rows the entries so far make, by the names of `Chain.row_counts`."""
        self._chain = chain
        self._datasets: dict[str, _Dataset] = {}
        self._accounts: dict[str, _Account] = {}
        self._totals: dict[tuple[str, str], _Total] = {}
        self._charge_rows: dict[int, ChargeRow | None] = {}
        self._budget_numbers: dict[str, Iterator[int]] = {}

    def apply(self, entry: LedgerEntry, stored: StoredEntry | None = None) -> None:
        """Account for one more entry; `BrokenRule` says what is wrong with it."""
        try:
            _rule(entry.number > 0 or entry.kind == "ledger", "does not start a ledger")
            if stored is not None:
                _row((stored.kind, stored.account) == (entry.kind, entry.body.get("account")), "entries")
            getattr(self, f"_{entry.kind}")(entry, entry.body)
        except (AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
            raise BrokenRule("lacks a field, or has one of the wrong kind") from error
        if entry.must_last:
            self.durable = entry.number

    def require_rows(self) -> None:
        """After the last entry of a whole chain: no table has a row that no entry made."""
        counts = self._chain.row_counts()
        for table, count in counts.items():
            _row(count == self.rows[table], table)
        for name, dataset in self._datasets.items():
            _row(self._chain.dataset(name) == (dataset.opened, dataset.period), "datasets")

    def _ledger(self, entry: LedgerEntry, body: Any) -> None:
        _rule(entry.number == 0, "starts a ledger in the middle of one")
        self.ledger = body["ledger"]

    def _dataset(self, entry: LedgerEntry, body: Any) -> None:
        row = self._chain.dataset(body["dataset"])
        _rule(row is None or row.opened >= entry.number, "opens a dataset twice")
        _row(row is not None and row.opened == entry.number, "datasets")
        dataset = _new_dataset(entry)
        self._datasets[body["dataset"]] = dataset
        self._moved(body["dataset"], dataset, entry, before=None)
        self.rows["datasets"] += 1

    def _account(self, entry: LedgerEntry, body: Any) -> None:
        row = self._chain.account(body["account"])
        _rule(row is None or row.opened >= entry.number, "opens an account twice")
        _row(row is not None and (row.dataset, row.opened) == (body["dataset"], entry.number), "accounts")
        dataset = self._known_dataset(body["dataset"], entry)
        _rule(_terms(body) == dataset.terms, "opens an account on other terms than its dataset's")
        account = _Account(body["dataset"], entry.number, entry.hash, cost_of(body["amount"]), None)
        taken = dataset.taken + account.amount
        _rule(taken.fits(dataset.amount), "gives an account more than its dataset has left")
        dataset.open_accounts += 1
        self._take(body["dataset"], dataset, entry, taken=taken)
        _remember(self._accounts, body["account"], account)
        self.rows["accounts"] += 1

    def _charge(self, entry: LedgerEntry, body: Any) -> None:
        name, cost = body["account"], cost_of(body["cost"])
        account = self._open_account(entry, body)
        _rule(type(body["times"]) is int and body["times"] >= 1, "charges for no use")
        self._charge_row(entry, name, body["key"])
        _rule(
            cost_of(body["caps"][""]) == account.amount,
            "was checked against another limit than its account's",
        )
        shares = shares_above(body["share"])
        _rule(
            set(body["totals"]) == set(shares) == set(body["caps"]) == set(body["counts"]),
            "does not charge every share above its own",
        )
        more = (1, int(body["noise"] == "secure"), int(body["arithmetic"] == "strict"))
        for share in shares:
            before = self._total(name, share, entry)
            total = add_up(before.cost, cost)
            counts = tuple(a + b for a, b in zip(before.counts, more, strict=True))
            _rule(
                total.to_json() == body["totals"][share],
                "writes down a total that its charges do not add up to",
            )
            _rule(list(counts) == body["counts"][share], "counts other charges than there are")
            _rule(total.fits(cost_of(body["caps"][share])), "exceeds its limit")
            _remember(self._totals, (name, share), _Total(total, counts, entry.number))
        dataset = self._known_dataset(account.dataset, entry)
        dataset.spent = add_up(dataset.spent, cost)
        self._budget(account.dataset, dataset, entry)
        self.rows["charges"] += 1
        self.rows["totals"] += len(shares)

    def _charge_row(self, entry: LedgerEntry, account: str, key: str | None) -> None:
        if key is not None:
            first = self._chain.charge_of_key(account, key)
            _rule(first is None or first >= entry.number, "charges one key twice")
            _row(first == entry.number, "charges")
        row = self._chain.charge_row(entry.number)
        _remember(self._charge_rows, entry.number, row)
        _row(row is not None and (row.account, row.key) == (account, key), "charges")
        _row(row is not None and (row.settled is None or row.settled > entry.number), "charges")

    def _settle(self, entry: LedgerEntry, body: Any) -> None:
        charged = body["entry"]
        row = self._charge_rows.pop(charged, None)
        if row is None and charged < entry.number:
            row = self._chain.charge_row(charged)
        _rule(row is not None and row.account == body["account"], "settles what was not charged")
        assert row is not None
        _rule(row.settled is None or row.settled >= entry.number, "settles a charge twice")
        _row(row.settled == entry.number, "charges")
        _rule(body["state"] in ("released", "abandoned"), "settles a charge to an unknown state")
        if body["payload"] is not None:
            kept = self._chain.payload_digest(body["entry"])
            _rule(kept is not None, f"the value that was kept for entry {body['entry']} is gone")
            _rule(kept == body["payload"], f"the value that is kept for entry {body['entry']} was changed")
            self.rows["payloads"] += 1
        self.rows["charges that are settled"] += 1

    def _refusal(self, entry: LedgerEntry, body: Any) -> None:
        if "dataset" in body:
            self._known_dataset(body["dataset"], entry)
        else:
            self._open_account(entry, body)

    def _close(self, entry: LedgerEntry, body: Any) -> None:
        account = self._open_account(entry, body)
        row = self._chain.account(body["account"])
        _row(row is not None and row.closed == entry.number, "accounts")
        newest = self._newest_charge(body["account"], "", upto=entry.number)
        spent = account.amount - account.amount if newest.cost is None else newest.cost
        _rule(cost_of(body["spent"]) == spent, "closes an account with another total than its charges'")
        _remember(self._accounts, body["account"], replace(account, closed=entry.number))
        dataset = self._known_dataset(account.dataset, entry)
        dataset.open_accounts -= 1
        self._take(account.dataset, dataset, entry, taken=dataset.taken - (account.amount - spent))
        self.rows["accounts that are closed"] += 1

    def _reset(self, entry: LedgerEntry, body: Any) -> None:
        dataset = self._known_dataset(body["dataset"], entry)
        _rule(dataset.open_accounts == 0, "resets a dataset that has open accounts")
        _rule(body["reason"] and body["approver"], "resets a dataset without a reason and an approver")
        nothing = dataset.amount.times_factor(Fraction(0))
        dataset.period, dataset.taken, dataset.spent = entry.number, nothing, nothing
        self._moved(body["dataset"], dataset, entry, before=dataset.moved)

    def _signature(self, entry: LedgerEntry, body: Any) -> None:
        _rule(body["ledger"] == self.ledger, "signs another ledger")
        _rule(
            body["number"] == entry.number - 1 and body["head"] == entry.previous,
            "signs another head than its own",
        )

    def _release(self, entry: LedgerEntry, body: Any) -> None:
        self._known_account(body["account"], entry, "closes a release of an unknown account")
        _rule(_is_hash(body["sha256"]), "closes a release without its hash")
        upto = min(body["last"], entry.number)
        charges, secure, strict = self._newest_charge(body["account"], body["share"], upto=upto).counts
        _rule(body["charges"] == charges, "closes a release with other charges than were made")
        for name, best, count in (("noise", "secure", secure), ("arithmetic", "strict", strict)):
            _rule(
                body[name] != best or count == charges,
                f"closes a release as {best} that was paid by charges which were not",
            )

    def _page(self, entry: LedgerEntry, body: Any) -> None:
        _rule(
            all(_is_hash(digest) for digest in (body["sha256"], *body["releases"])),
            "closes a page without its hash",
        )

    def _approval(self, entry: LedgerEntry, body: Any) -> None:
        account = self._known_account(body["account"], entry, "approves an unknown account")
        _rule(
            (body["ledger"], body["entry"], body["hash"]) == (self.ledger, account.opened, account.hash),
            "approves another account than the one that it names",
        )

    # What was so before an entry.

    def _known_dataset(self, name: str, entry: LedgerEntry) -> _Dataset:
        if name not in self._datasets:
            row = self._chain.dataset(name)
            _rule(row is not None and row.opened < entry.number, "is about an unknown dataset")
            assert row is not None
            opening = self._chain.entry(row.opened)
            _row(opening.kind == "dataset" and opening.body["dataset"] == name, "datasets")
            self._datasets[name] = self._dataset_before(name, opening, entry)
        return self._datasets[name]

    def _dataset_before(self, name: str, opening: LedgerEntry, entry: LedgerEntry) -> _Dataset:
        """A dataset as the entries left it that an earlier check found in order."""
        dataset = _new_dataset(opening)
        for reset in self._chain.entries(kind="reset"):
            if reset.body["dataset"] == name and reset.number < entry.number:
                dataset.period = reset.number
        moved = self._chain.budget_entry(name, upto=entry.number - 1)
        dataset.moved = moved.number
        if moved.kind not in ("dataset", "reset"):
            sums = moved.body["budget"]
            dataset.taken, dataset.spent = cost_of(sums["taken"]), cost_of(sums["spent"])
            dataset.open_accounts = sums["open"]
        return dataset

    def _take(self, name: str, dataset: _Dataset, entry: LedgerEntry, *, taken: Cost) -> None:
        """Take more or less of a dataset; long fractions are rounded up, but not past the limit."""
        rounded = add_up(None, taken)
        dataset.taken = rounded if rounded.fits(dataset.amount) else _lesser(rounded, dataset.amount)
        self._budget(name, dataset, entry)

    def _budget(self, name: str, dataset: _Dataset, entry: LedgerEntry) -> None:
        """Hold the sums that an entry writes down against those that follow."""
        if dataset.taken is not dataset.taken_written[0]:
            dataset.taken_written = (dataset.taken, dataset.taken.to_json())
        sums = {
            "taken": dataset.taken_written[1],
            "spent": dataset.spent.to_json(),
            "open": dataset.open_accounts,
        }
        _rule(entry.body["budget"] == sums, "writes down another budget than its accounts add up to")
        self._moved(name, dataset, entry, before=dataset.moved)

    def _moved(self, name: str, dataset: _Dataset, entry: LedgerEntry, *, before: int | None) -> None:
        numbers = self._budget_numbers.get(name)
        if numbers is None:
            numbers = self._chain.budget_numbers(name, after=-1 if before is None else before)
            _remember(self._budget_numbers, name, numbers, most=_MOST_CURSORS)
        _row(next(numbers, None) == entry.number, "budgets")
        dataset.moved = entry.number
        self.rows["budgets"] += 1

    def _known_account(self, name: str, entry: LedgerEntry, otherwise: str) -> _Account:
        account = self._accounts.get(name)
        if account is None:
            row = self._chain.account(name)
            _rule(row is not None and row.opened < entry.number, otherwise)
            assert row is not None
            opening = self._chain.entry(row.opened)
            facts = (opening.kind, opening.body.get("account"), opening.body.get("dataset"))
            _row(facts == ("account", name, row.dataset), "accounts")
            closed = row.closed if row.closed is not None and row.closed < entry.number else None
            account = _Account(row.dataset, row.opened, opening.hash, cost_of(opening.body["amount"]), closed)
            _remember(self._accounts, name, account)
        return account

    def _open_account(self, entry: LedgerEntry, body: Any) -> _Account:
        account = self._known_account(body["account"], entry, "uses an account that is not open")
        _rule(account.closed is None, "uses an account that is not open")
        return account

    def _total(self, account: str, share: str, entry: LedgerEntry) -> _Total:
        """What was charged to a share before the entry, which charges it too."""
        numbers = self._chain.share_charges(account, share, upto=entry.number, most=2)
        _row(numbers[:1] == [entry.number], "totals")
        return self._total_at(account, share, numbers[1] if len(numbers) > 1 else None)

    def _newest_charge(self, account: str, share: str, *, upto: int) -> _Total:
        """What was charged to a share up to an entry."""
        numbers = self._chain.share_charges(account, share, upto=upto, most=1)
        return self._total_at(account, share, numbers[0] if numbers else None)

    def _total_at(self, account: str, share: str, number: int | None) -> _Total:
        if number is None:
            return _Total()
        total = self._totals.get((account, share))
        if total is None or total.number != number:
            body = self._chain.entry(number).body
            _row(body.get("account") == account and share in body.get("totals", {}), "totals")
            total = _Total(cost_of(body["totals"][share]), tuple(body["counts"][share]), number)
        return total


def _new_dataset(opening: LedgerEntry) -> _Dataset:
    amount = cost_of(opening.body["amount"])
    nothing = amount.times_factor(Fraction(0))
    number = opening.number
    return _Dataset(number, number, amount, _terms(opening.body), nothing, nothing, 0, number)


def _lesser(one: Cost, other: Cost) -> Cost:
    amounts = tuple(min(a, b) for a, b in zip(one.amounts, other.amounts, strict=True))
    total_variation = min(one.total_variation, other.total_variation)
    return Cost(amounts, total_variation, min(one.failure, other.failure))


def _remember(memory: dict[Key, Value], key: Key, value: Value, *, most: int | None = None) -> None:
    """Keep a value at hand; where too many are, all others are forgotten and looked up when they are needed."""
    if len(memory) >= (most or _MOST_REMEMBERED) and key not in memory:
        memory.clear()
    memory[key] = value


def _is_hash(text: object) -> bool:
    return isinstance(text, str) and len(text) == 64 and set(text) <= set("0123456789abcdef")


def _terms(body: Any) -> tuple[Any, ...]:
    return body["adjacency"], body["unit"], body["currency"]

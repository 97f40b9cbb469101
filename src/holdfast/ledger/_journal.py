"""LedgerJournal: an account's charges, checked and written to the ledger file before any noise is drawn.

The check of the budget and the new entry are one transaction (`BEGIN IMMEDIATE`): of any number of
processes only one at a time reads the totals and adds to them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any, Protocol

from holdfast.errors import BudgetExceeded, LedgerError, require
from holdfast.ledger._amounts import cost_of
from holdfast.ledger._budget import RunningBudget
from holdfast.ledger._chain import Chain
from holdfast.ledger._entry import LedgerEntry, canonical, entry_digest, restored_entry
from holdfast.ledger._holder import note_holder
from holdfast.ledger._store import Store
from holdfast.privacy._account.currency import Cost
from holdfast.privacy._account.journal import (
    Charge,
    Entry,
    State,
    add_up,
    check_caps,
    same_limits,
    same_payment,
    shares_above,
)
from holdfast.privacy._account.payload import decode_payload

_LONGEST_CURVE = 65_536


class LedgerJournal:
    """The journal of one account of a ledger."""

    def __init__(
        self, store: Store, account: str, *, ledger: str, limit: Cost, dataset: str, dataset_limit: Cost
    ) -> None:
        self._store = store
        self._account = account
        self._limit = limit
        self._dataset, self._dataset_limit = dataset, dataset_limit
        self._name = f"{ledger}/{dataset}/{account}"
        self._refused_last = False
        self._process = os.getpid()

    def charge(self, charge: Charge, caps: Sequence[tuple[str, Cost]]) -> Entry:
        """Check the limit that the ledger recorded and every cap, then append; a refusal is recorded too."""
        charge = stored_form(charge)
        # The whole account's limit is the one that the ledger recorded, whoever asks.
        caps = (("", self._limit), *((share, cap) for share, cap in caps if share))
        # After one refusal the next charge is likely refused as well, and a refusal need not wait
        # for the disk. If it does fit after all, the second round writes it durably.
        for durable in (not self._refused_last, True):
            with self._store.writing(durable=durable) as chain:
                if os.getpid() != self._process:  # a fork goes on with the account of its parent
                    note_holder(chain, self._account)
                earlier = self._earlier_charge(chain, charge)
                if earlier is not None:
                    return earlier
                same_limits(caps, [_cost(chain.cap(self._account, share)) for share, _ in caps])
                refusal = self._refusal(chain, charge, caps)
                self._refused_last = refusal is not None
                if refusal is not None:
                    chain.append("refusal", self._body(charge))
                elif durable:
                    entry = chain.append("charge", self._body(charge) | self._sums(chain, charge, caps))
                    return Entry(number=entry.number, charge=charge)
            if refusal is not None:
                raise refusal
        raise AssertionError("the second round is durable")

    def settle(self, number: int, state: State, payload: str | None) -> Entry:
        """Move an entry on from `charged`, once; a kept value is on the disk before it is handed out."""
        with self._store.writing(durable=payload is not None) as chain:
            entry = self._entry(chain, number)
            if entry.state != "charged":
                return entry
            digest = None if payload is None else entry_digest(payload)
            body = {"account": self._account, "entry": number, "state": state, "payload": digest}
            chain.append("settle", body, payload=payload)
        return Entry(number=number, charge=entry.charge, state=state, payload=payload)

    def close_release(self, facts: dict[str, Any]) -> None:
        """Write down the hash of a release that these charges paid for: any other file is then known not to be it."""
        with self._store.writing() as chain:
            chain.append("release", {"account": self._account} | facts)

    def spent(self, share: str) -> Cost | None:
        """The running total of a share."""
        with self._store.reading() as chain:
            return _cost(chain.total(self._account, share))

    def cap(self, share: str) -> Cost | None:
        """The limit of a share, from the last charge to it."""
        with self._store.reading() as chain:
            return _cost(chain.cap(self._account, share))

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Everything charged to this account so far."""
        with self._store.reading() as chain:
            return tuple(self._entry(chain, number) for number in chain.charges(self._account))

    @property
    def head(self) -> str:
        """The hash of the newest entry that is known to be on the disk."""
        with self._store.reading() as chain:
            return chain.durable().hash

    @property
    def name(self) -> str:
        """Ledger, dataset and account."""
        return self._name

    # Inside a transaction.

    def _earlier_charge(self, chain: Chain, charge: Charge) -> Entry | None:
        """The charge that was made under the same key before; refused where the account is closed."""
        row = chain.account(self._account)
        if row is None or not row.is_open:
            raise LedgerError(f"account {self._account!r} is closed; open another one. Nothing was charged")
        number = None if charge.key is None else chain.charge_of_key(self._account, charge.key)
        if number is None:
            return None
        entry = self._entry(chain, number)
        same_payment(entry.charge, charge)
        return entry

    def _refusal(
        self, chain: Chain, charge: Charge, caps: Sequence[tuple[str, Cost]]
    ) -> BudgetExceeded | None:
        try:
            check_caps(charge, caps, [_cost(chain.total(self._account, share)) for share, _ in caps])
        except BudgetExceeded as refusal:
            return refusal
        return None

    def _sums(self, chain: Chain, charge: Charge, caps: Sequence[tuple[str, Cost]]) -> dict[str, Any]:
        """What the charge makes of every share that pays and of the dataset, and the caps that were checked."""
        totals, counts = {}, {}
        for share in shares_above(charge.share):
            totals[share] = add_up(_cost(chain.total(self._account, share)), charge.cost).to_json()
            last = chain.last_charge(self._account, share)
            earlier = (0, 0, 0) if last is None else last["counts"][share]
            more = (True, charge.noise == "secure", charge.arithmetic == "strict")
            counts[share] = [before + one for before, one in zip(earlier, more, strict=True)]
        return {
            "totals": totals,
            "caps": {share: cap.to_json() for share, cap in caps},
            "counts": counts,
            "budget": RunningBudget.of(chain, self._dataset, self._dataset_limit).charged(charge.cost),
        }

    def _body(self, charge: Charge) -> dict[str, Any]:
        return {
            "account": self._account,
            "mechanism": charge.mechanism,
            "curve": charge.curve,
            "times": charge.times,
            "cost": charge.cost.to_json(),
            "arithmetic": charge.arithmetic,
            "noise": charge.noise,
            "key": charge.key,
            "label": charge.label,
            "share": charge.share,
        }

    def _entry(self, chain: Chain, number: int) -> Entry:
        charging = chain.entry(number)
        if charging.kind != "charge" or charging.body["account"] != self._account:
            raise LedgerError(
                f"entry {number} is no charge of account {self._account!r}; nothing was released"
            )
        charge, row = charge_of(charging), chain.charge_row(number)
        settling = None if row is None else row.settled
        if settling is None:
            return Entry(number=number, charge=charge)
        settlement = chain.entry(settling).body
        if settlement.get("entry") != number:
            raise LedgerError(f"entry {number} is settled by the wrong entry; nothing was released")
        payload = chain.payload(number)
        if settlement["payload"] != (None if payload is None else entry_digest(payload)):
            raise LedgerError(f"the value that is kept for entry {number} was changed; nothing was released")
        return Entry(number=number, charge=charge, state=settlement["state"], payload=payload)


class _HasStore(Protocol):
    """A ledger, as far as this file needs to know it."""

    _store: Store


def kept_value(ledger: _HasStore, number: int) -> Any:
    """The value that a charge released, where the ledger keeps it under a key; else None."""
    with ledger._store.reading() as chain:
        payload = chain.payload(number)
    return None if payload is None else decode_payload(payload)


def stored_form(charge: Charge) -> Charge:
    """The charge as it will be read back; a charge that cannot be stored is refused.

    A curve of many numbers is stored as its hash: the mechanism is always stored with all its
    parameters, so the curve can be computed again.
    """
    require_text("key", "" if charge.key is None else charge.key)
    require_text("label", charge.label)
    require_text("share", charge.share)
    text = canonical(charge.curve)
    long = len(text) > _LONGEST_CURVE
    return Charge(
        mechanism=restored_entry(json.loads(canonical(charge.mechanism))),
        curve={"kind": charge.curve.get("kind"), "sha256": entry_digest(text)}
        if long
        else restored_entry(json.loads(text)),
        times=charge.times,
        cost=cost_of(charge.cost.to_json()),
        arithmetic=charge.arithmetic,
        noise=charge.noise,
        key=charge.key,
        label=charge.label,
        share=charge.share,
    )


def require_text(name: str, text: object) -> None:
    """Refuse what is no text of at most 1,000 characters that every system can store."""
    fine = isinstance(text, str) and len(text) <= 1000 and text.isprintable()
    require(fine, name, type(text).__name__, "a printable text of at most 1,000 characters")


def checked_texts(**texts: str) -> dict[str, str]:
    """These texts; refused unless each of them can be stored."""
    for name, text in texts.items():
        require_text(name, text)
    return texts


def charge_of(entry: LedgerEntry) -> Charge:
    """The charge that an entry records."""
    body = entry.body
    return Charge(
        mechanism=restored_entry(body["mechanism"]),
        curve=restored_entry(body["curve"]),
        times=body["times"],
        cost=cost_of(body["cost"]),
        arithmetic=body["arithmetic"],
        noise=body["noise"],
        key=body["key"],
        label=body["label"],
        share=body["share"],
    )


def _cost(data: Any) -> Cost | None:
    return None if data is None else cost_of(data)

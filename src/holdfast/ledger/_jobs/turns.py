"""Turns: the accounts of one key. The first has the key as its name, the second is `key~2`, and so on.

A closed account stays closed, and its name is never used again. So a key needs another account where the last one was
closed without a result, or where the work is to be done again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from holdfast.ledger._amounts import cost_of
from holdfast.ledger._chain import Chain
from holdfast.ledger._holder import Holder, other_living_holder
from holdfast.ledger._jobs.keeping import Shelf
from holdfast.ledger._ledger import Ledger
from holdfast.privacy._account.currency import Cost
from holdfast.release import Release


def turn(key: str, number: int) -> str:
    """The name of a key's account: the first is the key itself.

    >>> turn("june", 1), turn("june", 2)
    ('june', 'june~2')
    """
    return key if number == 1 else f"{key}~{number}"


def turns(chain: Chain, key: str) -> list[str]:
    """The accounts of a key, in the order of opening."""
    names: list[str] = []
    while chain.account(turn(key, len(names) + 1)) is not None:
        names.append(turn(key, len(names) + 1))
    return names


State = Literal["empty", "begun", "gone", "kept", "closed", "nothing spent"]


@dataclass(frozen=True, kw_only=True)
class Latest:
    """The newest account of a key.

    An open account is `empty`, `begun` (the same work can go on) or `gone` (it drew noise under no key, which is
    lost). A closed one is `closed`, or closed with `nothing spent`. The result of either may be `kept`.
    """

    account: str
    following: str
    """What the next account of the key is called."""
    paid_by: str
    is_open: bool
    state: State
    held: Cost
    about: str
    living: Holder | None
    """Another running process that has the account open."""

    @classmethod
    def of(cls, ledger: Ledger, key: str) -> Latest | None:
        """The newest account of a key; None where the key was never used."""
        with ledger._store.reading() as chain:
            names = turns(chain, key)
            if not names:
                return None
            row = chain.account(names[-1])
            assert row is not None
            opening, is_open = chain.opening("account", names[-1]).body, row.is_open
            keys = chain.some_keys(names[-1])
            living = other_living_holder(chain, names[-1]) if is_open else None
        return cls(
            account=names[-1],
            following=turn(key, len(names) + 1),
            paid_by=f"{ledger.id}/{row.dataset}/{names[-1]}",
            is_open=is_open,
            state="kept" if Shelf(ledger.path).place(names[-1]).exists() else state_of(keys, is_open=is_open),
            held=cost_of(opening["amount"]),
            about=opening["about"],
            living=living,
        )


def state_of(keys: list[str | None], *, is_open: bool) -> State:
    """The state of an account without a kept result, by the keys of its charges; None for a charge without one."""
    if not is_open:
        return "closed" if keys else "nothing spent"
    return "empty" if not keys else "gone" if None in keys else "begun"


def payer(ledger: Ledger, dataset: str, release: Release[Any]) -> str:
    """The key whose account paid for a release that the ledger closed with these very bytes; empty for any other."""
    prefix = f"{ledger.id}/{dataset}/"
    if not release.provenance.account.startswith(prefix):
        return ""
    key = re.sub(r"~[0-9]+\Z", "", release.provenance.account.removeprefix(prefix))
    return key if paid_for(ledger, dataset, key, release) else ""


def paid_for(ledger: Ledger, dataset: str, key: str, release: Release[Any]) -> bool:
    """Whether an account of this key paid for the release, and the ledger closed it with these very bytes."""
    with ledger._store.reading() as chain:
        accounts = turns(chain, key)
        if release.provenance.account not in {f"{ledger.id}/{dataset}/{name}" for name in accounts}:
            return False
        closed = [
            entry.body["account"] for entry in chain.closings(release.sha256()) if entry.kind == "release"
        ]
    return any(account in accounts for account in closed)

"""Turns: the accounts of one key. The first has the key as its name, the second is `key~2`, and so on.

An account that is closed stays closed, and names are never used again; a key whose account came to nothing, or whose
work is wanted anew, needs another one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from holdfast.ledger._chain import Chain
from holdfast.ledger._holder import Holder, in_use
from holdfast.ledger._jobs.keeping import Shelf
from holdfast.ledger._journal import cost_of
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

    Open, it is `empty`, `begun` (the same work can go on) or `gone` (what it drew was kept under no key). Its result
    may be `kept`. Else it is `closed`, or closed with `nothing spent`.
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
    """Another process that has it open."""

    @classmethod
    def of(cls, ledger: Ledger, key: str) -> Latest | None:
        """None where the key was never used."""
        with ledger._store.reading() as chain:
            names = turns(chain, key)
            if not names:
                return None
            known = chain.account(names[-1])
            assert known is not None
            opening, is_open = chain.entry(known[1]).body, known[2] is None
            keys = [chain.entry(number).body["key"] for number in chain.charges(names[-1])]
            living = in_use(chain, names[-1]) if is_open else None
        return cls(
            account=names[-1],
            following=turn(key, len(names) + 1),
            paid_by=f"{ledger.id}/{known[0]}/{names[-1]}",
            is_open=is_open,
            state="kept" if Shelf(ledger.path).place(names[-1]).exists() else state_of(keys, is_open=is_open),
            held=cost_of(opening["amount"]),
            about=opening["about"],
            living=living,
        )


def state_of(keys: list[str | None], *, is_open: bool) -> State:
    """By the keys of its charges."""
    if not is_open:
        return "closed" if keys else "nothing spent"
    return "empty" if not keys else "gone" if None in keys else "begun"


def paid_for(ledger: Ledger, dataset: str, key: str, release: Release[Any]) -> bool:
    """Whether an account of this key paid for the release."""
    with ledger._store.reading() as chain:
        return release.provenance.account in {f"{ledger.id}/{dataset}/{name}" for name in turns(chain, key)}

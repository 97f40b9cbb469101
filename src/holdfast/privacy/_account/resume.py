"""ResumableAccount: a job that was killed and runs again neither pays twice nor draws twice.

Every release gets a key from its place in the job. A job that runs again asks the same questions in the same order
and is given the values that were released then, until it comes to the first one that was not. Whatever a method
decides from what remains, it decides again in the same way: charges that wait to be repeated count as not yet spent.
The limits themselves are checked by the journal, against everything that was ever charged.
"""

from __future__ import annotations

import hashlib
import re
from fractions import Fraction
from itertools import count
from typing import Any

from holdfast.errors import BudgetExceeded, ParameterError, require
from holdfast.noise._source import Source
from holdfast.privacy._account.account import Account, Permit
from holdfast.privacy._account.currency import Cost
from holdfast.privacy._account.journal import Charge
from holdfast.privacy._account.witness import Witness
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.privacy._mechanisms.mechanism import Mechanism

MARK = "#"
"""Stands between a key and the digest of what its job asks."""
SHARE_MARK = "@"
"""Stands between the place of a share and the digest of the key whose job split it off."""
_ABOUT = re.compile(f"{MARK}[0-9a-f]+")


class ResumableAccount(Account):
    """An account whose releases are numbered, so that each can be given back.

    Ledgers hold the keys, so both schemes stay as they are. With a `key` the account may serve several jobs: keys
    are `key/0`, `key/1`, ..., and a permit is charged use by use, each under its own key. With `key=None` the whole
    account is one job, whose limit is fixed when it is opened: keys are the share and the number, and a permit has
    none, because what was drawn from it is gone; asking for it again is a new charge, which may not fit.

    >>> from holdfast.privacy import Gaussian, ZCDP
    >>> account = Account(ZCDP(1.0), seed=1)
    >>> first = ResumableAccount.of(account, "job").release(Gaussian(sigma=1.0, l2_sensitivity=1.0), [3])
    >>> again = ResumableAccount.of(account, "job").release(Gaussian(sigma=1.0, l2_sensitivity=1.0), [3])
    >>> bool(first == again), account.remaining()
    (True, ZCDP(rho=0.5))
    """

    _paying: Account
    _key: str | None
    _mark: str
    """Part of the names of its shares, so that jobs which split one account have shares of their own."""
    _numbers: count[int]
    _waiting: dict[str | int, Charge]
    """Charges of an earlier run that this one has not asked for yet: by key, or by number where they have none."""

    @classmethod
    def of(cls, account: Account, key: str | None, *, about: str = "") -> ResumableAccount:
        """The same account, for a job of this key; without one, for the job that the account was opened for.

        `about` is a digest of what the job asks. It becomes part of the keys, `key#about/0`, so that a key gives
        nothing back to a job that asks something else; such a job is refused.
        """
        require(key is None or (isinstance(key, str) and bool(key)), "key", key, "None or a non-empty text")
        keys = [entry.charge.key for entry in account.journal.entries if entry.charge.key is not None]
        job = key
        if key is not None and about:
            job = f"{key}{MARK}{about}"
            of_key = [known for known in keys if known.startswith((f"{key}/", f"{key}{MARK}"))]
            if any(not known.startswith(f"{job}/") for known in of_key):
                raise ParameterError(
                    f"key {key!r} belongs to a job with another schema, workload, certificate, method or options; "
                    "ask as that job did, or use another key, which is charged again"
                )
        waiting: dict[str | int, Charge] = {}
        for entry in account.journal.entries:
            known = entry.charge.key
            if job is None or (known is not None and known.startswith(f"{job}/")):
                waiting[entry.number if known is None else known] = entry.charge
        mark = "" if job is None else f"{SHARE_MARK}{_digest(job)[:4].hex()}"
        return cls._with_own_numbers(account, job, waiting, mark, {})

    @classmethod
    def _with_own_numbers(
        cls,
        account: Account,
        key: str | None,
        waiting: dict[str | int, Charge],
        mark: str,
        places: dict[str, count[int]],
    ) -> ResumableAccount:
        resumed = object.__new__(cls)
        resumed.__dict__.update(account.__dict__)
        resumed._paying, resumed._key, resumed._waiting = account, key, waiting
        # A job that runs again begins to count anew, numbers and shares, and comes to the same names.
        resumed._mark, resumed._places, resumed._numbers = mark, places, count(1 if key is None else 0)
        if key is not None:
            # Noise is drawn by the account that pays. Coins that a method flips besides protect nobody, and a job
            # that runs again must flip them alike: they are made from the key.
            resumed.source = Source(seed=int.from_bytes(_digest(key)[:16], "little"))
        return resumed

    def watch(self, witness: Witness) -> None:
        """The account that pays is seen; under a key, the job's own coins stay what the key makes them."""
        self._paying.watch(witness)
        if self._key is None:
            self.source = witness

    def release(self, mechanism: Mechanism, value: Any, *, key: str | None = None, label: str = "") -> Any:
        """Charge and draw, or give back what the first run drew, under the next number.

        A name given as `key` takes the number's place.
        """
        self._refuse_secret_coins(mechanism)
        number = self._key_or_number(key)
        self._waiting.pop(number, None)
        return self._paying.release(mechanism, value, key=number, label=label)

    def permit(
        self,
        mechanism: Mechanism,
        *,
        times: int,
        parts: int = 1,
        delta: float | None = None,
        key: str | None = None,
        label: str = "",
    ) -> Permit:
        """Under a key, uses that are charged one by one as they are drawn, so that each can be given back.

        The sum is the same in every currency in which charges add up; another has no such permit.
        """
        if self._key is None:
            return self._paying.permit(mechanism, times=times, parts=parts, delta=delta, key=key, label=label)
        self._refuse_secret_coins(mechanism)
        mechanism.require_adjacency(self.adjacency)
        require(times >= 1, "times", times, "a whole number >= 1")
        require(parts == 1 and delta is None, "parts", parts, "1, and delta left out, in a job with a key")
        cost = self.currency.cost(mechanism, times)
        left = self.currency.amounts(self.remaining())
        if left is None or not all(amount <= free for amount, free in zip(cost.amounts, left, strict=True)):
            raise BudgetExceeded(
                f"{times} uses of {mechanism.name} do not fit into what is left; nothing was charged"
            )
        return _OneByOne(self, mechanism, times, label or mechanism.name)

    def remaining(self) -> PrivacyCurve:
        """What is left, with the charges of an earlier run that this one has not asked for yet."""
        left = []
        for share, limit in self._caps:
            spent = self.journal.spent(share) or self.currency.nothing
            for charge in self._waiting.values():
                if charge.share.startswith(share):
                    spent = spent - charge.cost
            left.append(limit - spent)
        amounts = tuple(
            max(Fraction(0), min(cost.amounts[part] for cost in left)) for part in range(self.currency.parts)
        )
        slack = (min(cost.total_variation for cost in left), min(cost.failure for cost in left))
        return self.currency.promise(Cost(amounts, *slack))

    @property
    def seeded(self) -> bool:
        """As the account that pays: it draws the noise."""
        return self._paying.seeded

    def split(self, *shares: float) -> tuple[Account, ...]:
        """Shares that are resumed with the whole, each with numbers of its own."""
        exact = self._fractions(shares)
        children = [self._paying._child(share, self._places, self._mark) for share in exact]
        return tuple(
            self._with_own_numbers(child, self._key_of(child), self._waiting, self._mark, self._places)
            for child in children
        )

    @property
    def pays_at_once(self) -> bool:
        """Not in a job of a key, whose charges are made one by one as values are asked for."""
        return self._key is None

    def _key_of(self, child: Account) -> str | None:
        place = child.share.removeprefix(self.share).removesuffix("/").partition(SHARE_MARK)[0]
        return None if self._key is None else f"{self._key}/{place}"

    def _key_or_number(self, name: str | None) -> str:
        """Numbers begin with 0 under a key, and with 1 where there is none."""
        before = self.share if self._key is None else f"{self._key}/"
        return f"{before}{next(self._numbers) if name is None else name}"

    def _refuse_secret_coins(self, mechanism: Mechanism) -> None:
        """Coins that are made from a key can be flipped again by whoever knows it."""
        if self._key is not None and mechanism.secret_sample:
            raise ParameterError(
                f"{mechanism.name} needs a secret sample, and the coins of a job with a key are made from its key; "
                "open the account for this job alone, without a key"
            )


def _digest(key: str) -> bytes:
    return hashlib.sha256(f"{_ABOUT.sub('', key)}/".encode()).digest()


class _OneByOne(Permit):
    """A permit of a resumable account: each use is charged, under a key of its own, when it is drawn."""

    def __init__(self, account: ResumableAccount, mechanism: Mechanism, times: int, label: str) -> None:
        super().__init__(account, mechanism, times, -1, account.source)
        self._resumed = account
        self._label = label

    def release(self, value: Any) -> Any:
        """Draw once, or be given what was drawn."""
        self.mechanism.check(value)
        self._count_one_use()
        return self._resumed.release(self.mechanism, value, label=self._label)

    def _settle(self) -> None:
        """Each use is settled by itself."""

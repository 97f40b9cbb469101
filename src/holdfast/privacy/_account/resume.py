"""ResumableAccount: a job that was killed and runs again neither pays twice nor draws twice.

Every release gets a key from its place in the job. A job that runs again makes the same releases in the same order. It
gets the values that were released before, until it comes to the first one that was not. Methods decide by what remains
in the account, so charges of the earlier run count as not yet spent until they are repeated. The journal still checks
all limits against everything that was ever charged.
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

DIGEST_MARK = "#"
"""Separates a key from the digest of its job's request."""
SHARE_MARK = "@"
"""Separates the number of a share from the digest of the key whose job split it off."""
_DIGEST_IN_KEY = re.compile(f"{DIGEST_MARK}[0-9a-f]+")


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
    """Part of the names of its shares, so that different jobs that split one account have different shares."""
    _numbers: count[int]
    _not_repeated: dict[str | int, Charge]
    """Charges of an earlier run that this run has not repeated yet: by key, or by number if they have none."""

    @classmethod
    def of(cls, account: Account, key: str | None, *, about: str = "") -> ResumableAccount:
        """The same account, for a job of this key; without a key, for the one job that the account was opened for.

        `about` is a digest of the job's request. It becomes part of the keys, `key#about/0`. A job with the same key
        and another request is refused.
        """
        require(key is None or (isinstance(key, str) and bool(key)), "key", key, "None or a non-empty text")
        keys = [entry.charge.key for entry in account.journal.entries if entry.charge.key is not None]
        job = key
        if key is not None and about:
            job = f"{key}{DIGEST_MARK}{about}"
            of_key = [known for known in keys if known.startswith((f"{key}/", f"{key}{DIGEST_MARK}"))]
            if any(not known.startswith(f"{job}/") for known in of_key):
                raise ParameterError(
                    f"key {key!r} belongs to a job with another schema, workload, certificate, method or options; "
                    "ask as that job did, or use another key, which is charged again"
                )
        not_repeated: dict[str | int, Charge] = {}
        for entry in account.journal.entries:
            known = entry.charge.key
            if job is None or (known is not None and known.startswith(f"{job}/")):
                not_repeated[entry.number if known is None else known] = entry.charge
        mark = "" if job is None else f"{SHARE_MARK}{_digest(job)[:4].hex()}"
        return cls._with_own_numbers(account, job, not_repeated, mark, {})

    @classmethod
    def _with_own_numbers(
        cls,
        account: Account,
        key: str | None,
        not_repeated: dict[str | int, Charge],
        mark: str,
        share_numbers: dict[str, count[int]],
    ) -> ResumableAccount:
        resumed = object.__new__(cls)
        resumed.__dict__.update(account.__dict__)
        resumed._paying, resumed._key, resumed._not_repeated = account, key, not_repeated
        # A job that runs again counts releases and shares from the start, so it comes to the same names.
        resumed._mark, resumed._share_numbers, resumed._numbers = (
            mark,
            share_numbers,
            count(1 if key is None else 0),
        )
        if key is not None:
            # The paying account draws the noise. Other random choices of a method protect nobody and must be the
            # same when the job runs again, so their seed is made from the key.
            resumed.source = Source(seed=int.from_bytes(_digest(key)[:16], "little"))
        return resumed

    def watch(self, witness: Witness) -> None:
        """Let the witness see the paying account; under a key, the job's own coins still come from the key."""
        self._paying.watch(witness)
        if self._key is None:
            self.source = witness

    def release(self, mechanism: Mechanism, value: Any, *, key: str | None = None, label: str = "") -> Any:
        """Charge and draw under the next number, or return what the first run drew under it.

        A name that is given as `key` is used in place of the number.
        """
        self._refuse_secret_coins(mechanism)
        number = self._key_or_number(key)
        self._not_repeated.pop(number, None)
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
        """A permit; under a key its uses are charged one by one as they are drawn, so that each can be returned again.

        The sum is the same in every currency in which charges add up; in others such a permit is refused.
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
        return _PermitChargedByUse(self, mechanism, times, label or mechanism.name)

    def remaining(self) -> PrivacyCurve:
        """What is left, counting charges of an earlier run that were not repeated yet as unspent."""
        left = []
        for share, limit in self._caps:
            spent = self.journal.spent(share) or self.currency.nothing
            for charge in self._not_repeated.values():
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
        """Whether the paying account, which draws the noise, is seeded."""
        return self._paying.seeded

    def split(self, *shares: float) -> tuple[Account, ...]:
        """Shares that are resumed together with the whole account, each with its own numbers."""
        exact = self._fractions(shares)
        children = [self._paying._child(share, self._share_numbers, self._mark) for share in exact]
        return tuple(
            self._with_own_numbers(
                child, self._key_of(child), self._not_repeated, self._mark, self._share_numbers
            )
            for child in children
        )

    @property
    def pays_at_once(self) -> bool:
        """False in a job with a key, which charges use by use."""
        return self._key is None

    def _key_of(self, child: Account) -> str | None:
        place = child.share.removeprefix(self.share).removesuffix("/").partition(SHARE_MARK)[0]
        return None if self._key is None else f"{self._key}/{place}"

    def _key_or_number(self, name: str | None) -> str:
        """The key of the next release; numbers begin with 0 under a key and with 1 without one."""
        before = self.share if self._key is None else f"{self._key}/"
        return f"{before}{next(self._numbers) if name is None else name}"

    def _refuse_secret_coins(self, mechanism: Mechanism) -> None:
        """Refuse a mechanism that needs a secret sample: coins that are made from a key are not secret."""
        if self._key is not None and mechanism.secret_sample:
            raise ParameterError(
                f"{mechanism.name} needs a secret sample, and the coins of a job with a key are made from its key; "
                "open the account for this job alone, without a key"
            )


def _digest(key: str) -> bytes:
    return hashlib.sha256(f"{_DIGEST_IN_KEY.sub('', key)}/".encode()).digest()


class _PermitChargedByUse(Permit):
    """A permit of a resumable account: each use is charged, under a key of its own, when it is drawn."""

    def __init__(self, account: ResumableAccount, mechanism: Mechanism, times: int, label: str) -> None:
        super().__init__(account, mechanism, times, -1, account.source)
        self._resumed = account
        self._label = label

    def release(self, value: Any) -> Any:
        """Draw once, or return what was drawn before."""
        self.mechanism.check(value)
        self._count_one_use()
        return self._resumed.release(self.mechanism, value, label=self._label)

    def _settle(self) -> None:
        """Nothing to do: each use is settled when it is released."""

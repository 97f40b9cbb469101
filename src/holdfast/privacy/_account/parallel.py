"""Accounts for disjoint parts of the data: the cost is the largest, not the sum (soundness, section 19).

This is valid only if each row, or user, is assigned to a part independently of all others and of its values. Neighbours
then differ in one part only, and what the other parts reveal has the same distribution for both.
"""

from __future__ import annotations

from fractions import Fraction

from holdfast.errors import BudgetExceeded, require
from holdfast.privacy._account.account import Account
from holdfast.privacy._mechanisms.gaussian import Gaussian
from holdfast.privacy._mechanisms.laplace import Laplace
from holdfast.privacy._mechanisms.mechanism import Mechanism


def accounts_for_parts(account: Account, *, parts: int, label: str) -> tuple[Account, ...]:
    """Accounts for so many disjoint parts, each with all that remains of this one, which is charged once, at this call.

    The charge is recorded as the Gaussian (or, in pure DP, Laplace) mechanism that costs all that remains.

    >>> from holdfast.privacy import PureDP
    >>> whole = Account(PureDP(1.0), seed=0)
    >>> [part.remaining() for part in accounts_for_parts(whole, parts=2, label="halves")], whole.remaining()
    ([PureDP(epsilon=1), PureDP(epsilon=1)], PureDP(epsilon=0))
    """
    require(parts >= 1, "parts", parts, ">= 1")
    # Nothing is drawn from the permit below, so it must be charged at once and not use by use.
    require(
        account.pays_at_once,
        "account",
        "of a job with a key",
        "one that pays at once",
        "open it for this job alone",
    )
    charged_mechanism = _mechanism_of_all_that_remains(account)
    account.permit(charged_mechanism, times=1, label=f"{label}: disjoint parts, each spends at most this")
    cost = account.currency.cost(charged_mechanism)
    limit = account.currency.promise(cost)
    accounts = []
    for _ in range(parts):
        part = Account(
            limit,
            adjacency=account.adjacency,
            unit=account.unit,
            currency=account.currency,
            translated=cost,  # exactly what was charged, not a rounded promise of it
        )
        part.source, part.within = account.source, account
        accounts.append(part)
    return tuple(accounts)


def _mechanism_of_all_that_remains(account: Account) -> Mechanism:
    left = account.remaining()
    pure = left.as_pure()
    if pure is None:
        return Gaussian.within(left, l2_sensitivity=1.0)
    if pure <= 0:
        raise BudgetExceeded("nothing remains in the account; nothing was drawn")
    return Laplace(scale=Fraction(1) / pure, l1_sensitivity=1.0)
